//! `pipeline archive`: nothing is written over, nothing is deleted.

use super::{CONTENT, PLAN, PROPOSED, names, on, repository, write};
use crate::commands::bench::text_of;

#[test]
fn a_run_is_archived_once() {
    let folder = repository();
    on(&folder, &["archive"]).refused(2, "pipeline directory not found");
    write(&folder, "plan", PLAN).done();
    on(&folder, &["archive"]).refused(1, "git-result.json of the run of X-1 is missing");
    write(&folder, "git-result", PROPOSED).done();
    folder.write(".pipeline/X-1/notes.md", "mine");
    let ran = on(&folder, &["archive", "--json"]).done();
    assert_eq!(ran.json()["archived"], ".pipeline/completed/X-1");
    let archived = folder.join(".pipeline/completed/X-1");
    let all = [
        "git-result.json",
        "notes.md",
        "pipeline-trace.json",
        "plan.json",
    ];
    assert_eq!(names(&archived), all);
    // A later call does not begin what is over again.
    write(&folder, "review-result", CONTENT).refused(
        1,
        "the run of X-1 was archived in .pipeline/completed/X-1, so nothing was written",
    );
    assert_eq!(names(&folder.join(".pipeline")), ["completed"]);
    assert_eq!(names(&archived), all);
    // The same issue comes back by hand.
    folder.write(".pipeline/X-1/git-result.json", PROPOSED);
    write(&folder, "git-result", PROPOSED).done();
    on(&folder, &["archive"]).refused(1, "exists already and is not overwritten");
    assert_eq!(names(&archived), all);
    assert_eq!(text_of(&archived.join("notes.md")), "mine");
    assert_eq!(names(&folder.join(".pipeline")), ["X-1", "completed"]);
}

#[test]
fn an_empty_folder_is_not_written_over_either() {
    let folder = repository();
    write(&folder, "plan", PLAN).done();
    std::fs::create_dir_all(folder.join(".pipeline/completed/X-1")).unwrap();
    on(&folder, &["archive", "--unfinished"]).refused(1, "exists already");
    assert_eq!(names(&folder.join(".pipeline/completed/X-1")), [""; 0]);
    std::fs::remove_dir(folder.join(".pipeline/completed/X-1")).unwrap();
    on(&folder, &["archive", "--unfinished"]).done();
    assert_eq!(
        names(&folder.join(".pipeline/completed/X-1")),
        ["pipeline-trace.json", "plan.json"]
    );
}
