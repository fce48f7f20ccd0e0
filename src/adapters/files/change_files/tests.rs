use super::FileWrite::{Gone, New, Text};
use super::*;

fn text(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn all_of_it_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("new/root");
    change_files(&root, &[("a/b/c", New("1")), ("d", Text("2"))]).unwrap();
    change_files(&root, &[("d", Text("3")), ("a/b/c", Gone), ("e", New("4"))]).unwrap();
    assert_eq!(names(&root), ["d", "e"]);
    assert_eq!(text(&root, "d").as_deref(), Some("3"));
    assert_eq!(text(&root, "e").as_deref(), Some("4"));
    change_files(&root, &[]).unwrap();
}

#[test]
fn what_cannot_be_done_is_found_before_anything_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    change_files(root, &[("there", New("1"))]).unwrap();
    fs::create_dir(root.join("folder")).unwrap();
    for (last, said) in [
        (("folder", Text("2")), "it is a folder"),
        (("folder", Gone), "it is a folder"),
        (("nothing", Gone), "not found"),
        (("there", New("2")), "already exists"),
        (("../out", Text("2")), "leaves the folder"),
        (("there/below", Text("2")), "there/below"),
    ] {
        let wanted = [("there", Text("2")), ("x/y/new", New("2")), last];
        let unchanged = change_files(root, &wanted).unwrap_err();
        assert!(unchanged.to_string().contains(said), "{unchanged}");
        assert!(unchanged.left.is_empty());
        assert_eq!(names(root), ["folder", "there"], "{last:?}");
        assert_eq!(text(root, "there").as_deref(), Some("1"));
    }
}

/// Changes by another process: one file has just appeared, another one has just gone.
#[test]
fn what_was_changed_before_is_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    change_files(root, &[("a/old", New("1")), ("gone", New("2"))]).unwrap();
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions();
    let mut read_only = mode("gone");
    read_only.set_readonly(true);
    fs::set_permissions(root.join("gone"), read_only.clone()).unwrap();
    for (twice, place) in [(("b/new", New("5")), "b/new"), (("gone", Gone), "gone")] {
        let wanted = [
            ("gone", Gone),
            ("a/old", Text("3")),
            ("b/new", New("4")),
            twice,
            ("c/new", New("6")),
        ];
        let unchanged = change_files(root, &wanted).unwrap_err();
        assert!(unchanged.error.path.ends_with(place), "{unchanged}");
        assert_eq!(unchanged.left, Vec::<PathBuf>::new());
        assert_eq!(names(root), ["a", "gone"]);
        assert_eq!(text(root, "a/old").as_deref(), Some("1"));
        assert_eq!(text(root, "gone").as_deref(), Some("2"));
        assert_eq!(mode("gone"), read_only);
    }
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    for kept in [None, Some(dir.path().join("b"))] {
        let path = path.clone();
        let older = Original { path, kept };
        assert_eq!(older.put_back(), Some(dir.path().join("a")));
    }
}

/// A second name of one file stands for the same name in other letters, which this file system may tell apart.
#[test]
fn a_file_whose_name_only_changes_its_letters_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("a.YML"), "1").unwrap();
    fs::hard_link(root.join("a.YML"), root.join("a.yml")).unwrap();
    let wanted = [("a.yml", Text("2")), ("a.YML", Gone), ("b", New("3"))];
    let order: Vec<&str> = in_order(root, &wanted).iter().map(|one| one.0).collect();
    assert_eq!(order, ["a.YML", "a.yml", "b"]);
    change_files(root, &wanted).unwrap();
    assert_eq!(names(root), ["a.yml", "b"]);
    assert_eq!(text(root, "a.yml").as_deref(), Some("2"));
}

/// Each text is a file of its own until all are there, and a process may have few open at once.
#[cfg(target_os = "linux")]
#[test]
fn files_are_not_kept_open() {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<String> = (0..50).map(|number| format!("{number}")).collect();
    let wanted: Vec<_> = paths.iter().map(|path| (path.as_str(), New("1"))).collect();
    let (aside, changes) =
        prepare_changes(dir.path(), &wanted, &mut CreatedFolders::default()).unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let open = open.filter_map(|one| fs::read_link(one.unwrap().path()).ok());
    assert_eq!(open.filter(|one| one.starts_with(dir.path())).count(), 0);
    assert_eq!(changes.len(), 50);
    assert!(aside.path().join("49.new").exists());
}

#[cfg(unix)]
#[test]
fn a_link_may_go_and_nothing_is_written_through_one() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), dir.path().join("link")).unwrap();
    for last in [("link/b", Text("2")), ("link", Text("2")), ("link/b", Gone)] {
        let unchanged = change_files(dir.path(), &[("a", New("1")), last]).unwrap_err();
        assert!(unchanged.to_string().contains("through a link"));
        assert_eq!(names(dir.path()), ["link"]);
        assert_eq!(names(outside.path()), Vec::<String>::new());
    }
    // Where the rest cannot be done, the link is there as it was.
    let wanted = [("link", Gone), ("link", Gone)];
    change_files(dir.path(), &wanted).unwrap_err();
    assert!(dir.path().join("link").is_symlink());
    change_files(dir.path(), &[("link", Gone)]).unwrap();
    assert_eq!(names(dir.path()), Vec::<String>::new());
    assert!(outside.path().is_dir());
}

#[cfg(unix)]
#[test]
fn a_file_stays_as_readable_as_it_was() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, "1").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let usual = fs::metadata(dir.path().join("a")).unwrap();
    change_files(dir.path(), &[("a", Text("2")), ("b", New("3"))]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), usual.permissions().mode() & 0o777);
    // A new file has the default permissions of the user.
    fs::write(dir.path().join("c"), "").unwrap();
    assert_eq!(mode(&dir.path().join("b")), mode(&dir.path().join("c")));
}
