//! The names under which a layer's and a role's files may lie. Seed 000 says `deciders`, seed 001 `decider`; the one has
//! its layers in `.jules/roles`, the other in `.jules/layers` and its roles in `.jlo/roles`.

/// Where layers lie usually.
pub(super) const USUAL_FOLDER: &str = ".jules/layers";
/// Where layers may lie, the usual place first.
const LAYER_FOLDERS: [&str; 2] = [USUAL_FOLDER, ".jules/roles"];
/// Where roles lie usually.
pub(super) const USUAL_ROLES: &str = ".jlo/roles";
/// Where roles may lie, the usual place first. Files of layers lie in the same folders.
pub(super) const ROLE_FOLDERS: [&str; 3] = [USUAL_ROLES, USUAL_FOLDER, ".jules/roles"];

/// The two spellings of a layer, the plan's first.
pub(super) fn spellings(layer: &str) -> [String; 2] {
    let bare = layer.trim_end_matches('s');
    let other = if bare == layer {
        format!("{bare}s")
    } else {
        bare.to_owned()
    };
    [layer.to_owned(), other]
}

/// The folders in which a layer's files may lie, in the order in which they count, each with its own last part.
pub(super) fn folders(layer: &str) -> Vec<(String, String)> {
    let below = |folder: &str| spellings(layer).map(|name| (format!("{folder}/{name}"), name));
    LAYER_FOLDERS
        .iter()
        .flat_map(|folder| below(folder))
        .collect()
}

/// The folders in which the folders of a layer's roles may lie, in the order in which they count.
pub(super) fn role_folders(layer: &str) -> Vec<String> {
    let below = |folder: &str| spellings(layer).map(|name| format!("{folder}/{name}"));
    let mut folders = Vec::new();
    for folder in ROLE_FOLDERS.iter().flat_map(|folder| below(folder)) {
        let deeper = format!("{folder}/roles");
        folders.extend([folder, deeper]);
    }
    folders
}

/// The usual path of a role's file.
pub(super) fn usual_role(layer: &str, role: &str) -> String {
    format!("{USUAL_ROLES}/{layer}/{role}/role.yml")
}
