//! A fresh repository of git, and the program within it.

use std::process::{Command, Stdio};

use super::bench::{Ran, program, run};
use crate::support::Folder;

/// An empty repository whose `origin` is acme/widget.
pub(super) fn repository() -> Folder {
    let folder = Folder::empty();
    git(&folder, &["init", "--quiet", "--initial-branch", "main"]);
    let origin = "git@github.com:acme/widget.git";
    git(&folder, &["remote", "add", "origin", origin]);
    folder
}

#[track_caller]
pub(super) fn git(folder: &Folder, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
        .args(arguments)
        .current_dir(folder.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The program in a folder, without any credential.
pub(super) fn within(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = program(arguments);
    command.current_dir(folder.path());
    run(command)
}

/// The same where no file may grow beyond 8 blocks, which are 4 or 8 KiB.
pub(super) fn within_little_room(folder: &Folder, arguments: &[&str]) -> Ran {
    let phileas = program(arguments);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"])
        .arg(phileas.get_program())
        .args(phileas.get_args())
        .stdin(Stdio::null())
        .current_dir(folder.path());
    for (name, _) in phileas.get_envs() {
        limited.env_remove(name);
    }
    run(limited)
}
