//! `phileas setup`: what it writes, and what its script does on a machine whose only installers are stand-ins.

mod files;
mod list;
mod mistakes;
mod script;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::child::Ended;
use crate::support::{Folder, Phileas};

/// What a bare machine has beside bash.
const PROGRAMS: [&str; 22] = [
    "bash",
    "cat",
    "chmod",
    "cp",
    "cut",
    "dirname",
    "env",
    "grep",
    "gzip",
    "head",
    "install",
    "ln",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "tail",
    "tar",
    "uname",
];

/// A repository, and the machine that its script is run on.
struct Machine {
    repository: Folder,
    machine: Folder,
}

impl Machine {
    /// A repository that asks for these tools, and a machine that has none of them.
    fn with(tools: &str) -> Self {
        let machine = Folder::empty();
        for folder in ["bin", "home", "stand"] {
            std::fs::create_dir(machine.join(folder)).unwrap();
        }
        for name in PROGRAMS {
            let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
                .map(|folder| folder.join(name))
                .find(|path| path.is_file());
            let found = found.unwrap_or_else(|| panic!("{name} is not on this machine"));
            symlink(found, machine.join("bin").join(name)).unwrap();
        }
        let curl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/setup/curl");
        symlink(curl, machine.join("bin/curl")).unwrap();
        let repository = Folder::empty();
        repository.write(".jlo/setup/tools.yml", tools);
        Self {
            repository,
            machine,
        }
    }

    /// A tool of the repository's own.
    fn component(&self, name: &str, meta: &str, script: &str) {
        let folder = format!(".jlo/setup/components/{name}");
        self.repository.write(&format!("{folder}/meta.toml"), meta);
        self.repository
            .write(&format!("{folder}/install.sh"), script);
    }

    fn generate(&self) -> Ended {
        Phileas::new(&["setup", "gen", self.repository.text()]).run()
    }

    /// Runs the script as Jules would: in the repository, with nothing but a home and a path.
    fn install(&self) -> Output {
        self.install_with(&[])
    }

    fn install_with(&self, environment: &[(&str, &str)]) -> Output {
        Command::new(self.machine.join("bin/bash"))
            .arg(self.path("install.sh"))
            .current_dir(self.repository.path())
            .env_clear()
            .env("PATH", self.machine.join("bin"))
            .env("HOME", self.machine.join("home"))
            .env("STAND", self.machine.join("stand"))
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    }

    /// A file of the set-up.
    fn path(&self, name: &str) -> PathBuf {
        self.repository.join(".jlo/setup").join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Who may do what with a file of the set-up.
    fn mode(&self, name: &str) -> u32 {
        let meta = std::fs::metadata(self.path(name)).unwrap();
        meta.permissions().mode() & 0o777
    }

    /// What the machine was told by its tools, a line each.
    fn run_log(&self) -> Vec<String> {
        let path = self.machine.join("home/told");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What was downloaded.
    fn downloads(&self) -> Vec<String> {
        let path = self.machine.join("stand/asked");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Everything below the home folder: where links point, and what files hold.
    fn home(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.machine.join("home")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let (entry, path) = entry
                    .map(|entry| (entry.file_type(), entry.path()))
                    .unwrap();
                let kind = entry.unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    let to = std::fs::read_link(&path).unwrap();
                    found.insert(path, to.as_os_str().as_encoded_bytes().to_vec());
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    found.insert(path, bytes);
                }
            }
        }
        found
    }

    /// What a program says in a later shell.
    fn later(&self, line: &str) -> String {
        let output = Command::new(self.machine.join("bin/bash"))
            .args(["-c", &format!(". ~/.profile; {line}")])
            .env_clear()
            .env("PATH", self.machine.join("bin"))
            .env("HOME", self.machine.join("home"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// A part of a script that tells that it ran.
fn logging_script(name: &str) -> String {
    format!("echo {name} >>\"$HOME/told\"\n")
}

#[track_caller]
fn well(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .status();
    assert!(status.unwrap().success(), "{arguments:?}");
}
