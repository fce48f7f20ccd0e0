//! Lists the folders and spellings of a layer's and a role's files. Seed 000 writes `deciders` and keeps layers in
//! `.jules/roles`; seed 001 writes `decider` and keeps layers in `.jules/layers` and roles in `.jlo/roles`.

/// The usual folder of layers.
pub(super) const USUAL_FOLDER: &str = ".jules/layers";
/// The folders of layers, the usual one first.
const LAYER_FOLDERS: [&str; 2] = [USUAL_FOLDER, ".jules/roles"];
/// The usual folder of roles.
pub(super) const USUAL_ROLES: &str = ".jlo/roles";
/// The folders of roles, the usual one first. Files of layers are in the same folders.
pub(super) const ROLE_FOLDERS: [&str; 3] = [USUAL_ROLES, USUAL_FOLDER, ".jules/roles"];

/// The two spellings of a layer, the plan's first.
pub(super) fn layer_spellings(layer: &str) -> [String; 2] {
    let bare = layer.trim_end_matches('s');
    let other = if bare == layer {
        format!("{bare}s")
    } else {
        bare.to_owned()
    };
    [layer.to_owned(), other]
}

/// The folders of a layer's files, by precedence, each with its last segment.
pub(super) fn layer_folders(layer: &str) -> Vec<(String, String)> {
    let below =
        |folder: &str| layer_spellings(layer).map(|name| (format!("{folder}/{name}"), name));
    LAYER_FOLDERS
        .iter()
        .flat_map(|folder| below(folder))
        .collect()
}

/// The folders that contain the folders of a layer's roles, by precedence.
pub(super) fn role_folders(layer: &str) -> Vec<String> {
    let below = |folder: &str| layer_spellings(layer).map(|name| format!("{folder}/{name}"));
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
