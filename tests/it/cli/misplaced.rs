//! A folder where a file should be, and a file where a folder should be: what stands there is said, and how to fix it.

use super::phileas;
use crate::support::{Folder, Phileas};

#[test]
fn a_folder_in_the_place_of_the_jobs_file_is_called_one() {
    let folder = Folder::empty();
    folder.write("jobs.jsonl/x", "");
    let place = folder.join("jobs.jsonl");
    let place = place.to_str().unwrap();
    for arguments in [
        vec!["agent", "jobs", "list", "--jobs", place],
        vec!["agent", "jobs", "add", "1", "--jobs", place],
    ] {
        let ended = phileas(&arguments).expect(2);
        for part in [place, "it is a folder", "move it", "--jobs"] {
            assert!(ended.err.contains(part), "{part}: {ended}");
        }
        assert!(!ended.err.contains("os error"), "{ended}");
    }
    let file = folder.join("jobs");
    folder.write("jobs", "\"1\"\n");
    let listed = [
        "agent",
        "jobs",
        "list",
        "--json",
        "--jobs",
        file.to_str().unwrap(),
    ];
    assert_eq!(phileas(&listed).expect(0).lines().len(), 1);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_called_one() {
    let folder = Folder::empty();
    folder.write("here", "text\n");
    let file = folder.join("here");
    let file = file.to_str().unwrap();
    for arguments in [vec!["bootstrap", "--output", file], vec!["validate", file]] {
        let ended = Phileas::new(&arguments).run().expect(2);
        assert!(
            ended.err.contains("it is a file, and a folder is wanted"),
            "{ended}"
        );
    }
    let nowhere = folder.join("nowhere");
    let ended = phileas(&["validate", nowhere.to_str().unwrap()]).expect(2);
    assert!(ended.err.contains("there is no such folder"), "{ended}");
}
