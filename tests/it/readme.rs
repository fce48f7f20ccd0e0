//! What the README shows, as somebody who copies it meets it.

use std::process::Command;

use crate::support::{Folder, Phileas};

/// The first block of a language below a heading, without its fences.
#[track_caller]
fn block(heading: &str, opening: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, below) = readme.split_once(heading).unwrap();
    let (_, block) = below.split_once(opening).unwrap();
    block.split_once("\n```\n").unwrap().0.to_owned() + "\n"
}

#[test]
fn the_plan_is_whole_as_it_stands() {
    let folder = Folder::empty();
    let script = block("\n## The plan\n", "```sh\n");
    let written = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(folder.path())
        .status();
    assert!(written.unwrap().success());
    let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
    assert!(
        ended
            .out
            .contains("1 track with 2 steps, 1 schedule, 3 personas; 0 errors, 0 warnings"),
        "{ended}"
    );
    let forecast = Phileas::new(&["simulate", folder.text()]).run().expect(0);
    for persona in ["curator", "tester", "auditor"] {
        assert!(forecast.out.contains(persona), "{forecast}");
    }
}

#[test]
fn the_faults_can_be_replayed() {
    let folder = Folder::empty();
    folder.write(
        "faults.toml",
        &block("# phileas\n", "```toml\n# faults.toml\n"),
    );
    let faults = folder.join("faults.toml");
    let arguments = ["sandbox", "--headless", "--until", "2h", "--faults"];
    let arguments = [&arguments[..], &[faults.to_str().unwrap()]].concat();
    let ended = Phileas::new(&arguments).run().expect(0);
    assert!(ended.out.contains("sessions"), "{ended}");
}
