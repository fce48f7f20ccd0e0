//! The script on a machine.

use std::process::Command;

use super::{Machine, logging_script, well};

/// Every tool of phileas, installed from nothing by stand-ins of its installers; a second run asks for nothing.
#[test]
fn every_tool_is_installed_once() {
    let machine = Machine::with("tools: [gh, just, uv, swift, node, rust, go, python, pnpm]");
    let ended = machine.generate().expect(0);
    assert!(
        ended
            .out
            .contains("installs gh, go, just, node, rust, swift, uv, pnpm, python"),
        "{ended}"
    );
    well(&machine.install());
    for (line, says) in [
        ("gh --version", "gh version 2.74.0 (2025-05-29)"),
        ("go version", "go version go1.24.3 linux/amd64"),
        ("just --version", "just 1.40.0"),
        ("node --version", "v24.1.0"),
        ("rustc --version", "rustc 1.95.0 (2026-01-01)"),
        (
            "swift --version",
            "Swift version 6.1.2 (swift-6.1.2-RELEASE)",
        ),
        ("uv --version", "uv 0.7.13"),
        ("pnpm --version", "10.12.1"),
        ("python3 --version", "Python 3.13.1"),
    ] {
        assert_eq!(machine.later(line), says, "{line}");
    }
    let asked = machine.downloads();
    assert!(asked.len() >= 9, "{asked:?}");
    let profile = std::fs::read_to_string(machine.machine.join("home/.profile")).unwrap();
    let home = machine.home();
    assert!(home.len() >= 9, "{:?}", home.keys());
    well(&machine.install());
    assert_eq!(
        machine.downloads(),
        asked,
        "the second run downloads nothing"
    );
    let changed: Vec<_> = machine
        .home()
        .into_iter()
        .filter(|one| !home.contains_key(&one.0) || home[&one.0] != one.1)
        .collect();
    assert!(changed.is_empty(), "the second run writes {changed:?}");
    assert_eq!(
        machine.home().len(),
        home.len(),
        "the second run removes nothing"
    );
    let again = std::fs::read_to_string(machine.machine.join("home/.profile")).unwrap();
    assert_eq!(again, profile);
    assert_eq!(profile.lines().count(), 1, "{profile}");
}

#[test]
fn versions_are_those_of_vars_toml_unless_the_environment_says_otherwise() {
    let machine = Machine::with("tools: [node, uv, gh, go, python]");
    machine.repository.write(
        ".jlo/setup/vars.toml",
        "[NODE_VERSION]\nvalue = 22\n[UV_VERSION]\nvalue = \"0.6.1\"\nnote = \"pinned\"\n[GO_VERSION]\nvalue = \"1.23.0\"\n\
         [GH_VERSION]\nvalue = \"2.70.0\"\n[PYTHON_VERSION]\nvalue = \"3.12\"\n",
    );
    machine.generate().expect(0);
    well(&machine.install_with(&[("GO_VERSION", "1.22.0")]));
    assert_eq!(machine.later("node --version"), "v22.16.0");
    assert_eq!(machine.later("uv --version"), "uv 0.6.1");
    assert_eq!(
        machine.later("gh --version"),
        "gh version 2.70.0 (2025-05-29)"
    );
    assert_eq!(
        machine.later("go version"),
        "go version go1.22.0 linux/amd64"
    );
    assert_eq!(machine.later("python --version"), "Python 3.12.1");
    // Another version is wanted than the one that is there.
    let before = machine.downloads().len();
    well(&machine.install_with(&[("GO_VERSION", "1.22.0"), ("UV_VERSION", "0.7.0")]));
    assert_eq!(machine.later("uv --version"), "uv 0.7.0");
    assert_eq!(
        machine.downloads().len(),
        before + 1,
        "{:?}",
        machine.downloads()
    );
}

#[test]
fn dependencies_come_first_and_the_alphabet_decides_the_rest() {
    let machine = Machine::with("tools: [b, z]");
    machine.component("b", "dependencies = [\"y\"]", &logging_script("b"));
    machine.component("y", "dependencies = [\"x\"]", &logging_script("y"));
    machine.component("x", "", &logging_script("x"));
    machine.component("z", "", &logging_script("z"));
    machine.component("absent", "", &logging_script("absent"));
    machine.generate().expect(0);
    well(&machine.install());
    assert_eq!(machine.run_log(), ["x", "z", "y", "b"]);
}

/// The defect that this is for: a part that ends with `exit 0` once its tool is there skipped all that came after it.
#[test]
fn a_tool_concerns_no_other() {
    let machine = Machine::with("tools: [a, b]");
    let rude = format!(
        "{}cd /\nset +eu\nset -f\nOWN=1\nexport OWN\nPATH=/nowhere\nHOME=/nowhere\numask 777\n\
         curl() {{ false; }}\ntrap 'exit 9' EXIT\ntrap - EXIT\nexec >/dev/null\nif true; then\n  exit 0\nfi\n",
        logging_script("a")
    );
    machine.component("a", "", &rude);
    let looks = "\
{ echo b; echo \"own=${OWN:-}\"; pwd; case $- in *e*u*) echo strict ;; esac; type -t curl; umask; } >>\"$HOME/told\"
echo seen
";
    machine.component("b", "", looks);
    machine.generate().expect(0);
    let ran = machine.install();
    well(&ran);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "seen\n");
    let here = machine.repository.path().canonicalize().unwrap();
    let told = machine.run_log();
    assert_eq!(
        &told[..5],
        ["a", "b", "own=", here.to_str().unwrap(), "strict"]
    );
    assert_eq!(told[5], "file", "the function of another tool is gone");
    assert_ne!(told[6], "0777");
}

#[test]
fn a_failure_ends_the_script_with_the_tool_s_name() {
    for part in [
        "false\necho on >>\"$HOME/told\"",
        "exit 3",
        "cat \"$UNSET\"",
        "false | cat",
    ] {
        let machine = Machine::with("tools: [a, b]");
        machine.component("a", "", part);
        machine.component("b", "dependencies = [\"a\"]", &logging_script("b"));
        machine.generate().expect(0);
        let ran = machine.install();
        assert!(!ran.status.success(), "{part}: {ran:?}");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(
            said.contains("install.sh: a could not be installed (exit code "),
            "{part}: {said}"
        );
        assert!(
            machine.run_log().is_empty(),
            "{part}: {:?}",
            machine.run_log()
        );
    }
    let machine = Machine::with("tools: [a]");
    machine.component("a", "", "true");
    machine.generate().expect(0);
    let ran = machine.install();
    well(&ran);
    assert!(ran.stderr.is_empty() && ran.stdout.is_empty(), "{ran:?}");
}

/// A download that does not have its sum is not installed.
#[test]
fn a_wrong_sum_installs_nothing() {
    let machine = Machine::with("tools: [gh]");
    machine.generate().expect(0);
    let machine_name = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "amd64"
    };
    let archive = format!("gh_2.74.0_linux_{machine_name}.tar.gz");
    // The check of the sum refuses what was put in its place.
    let curl = machine.machine.join("bin/curl");
    std::fs::rename(&curl, machine.machine.join("bin/honest")).unwrap();
    let script = format!(
        "#!/usr/bin/env bash\nhonest \"$@\"\ncase $* in *{archive}) echo evil >>\"$5\" ;; esac\n"
    );
    machine.machine.write("bin/curl", &script);
    std::fs::set_permissions(&curl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = machine.install();
    assert!(!ran.status.success(), "{ran:?}");
    assert!(
        String::from_utf8_lossy(&ran.stderr).contains("gh could not be installed"),
        "{ran:?}"
    );
    assert!(!machine.machine.join("home/.local/bin/gh").exists());
}

/// Values are data, whatever they hold.
#[test]
fn a_value_is_never_run() {
    let machine = Machine::with("tools: [a]");
    let value = "a}b\"c$(touch \"$HOME/run\")`touch \"$HOME/run\"`\\d'e' $HOME\n#\\";
    machine.component("a", "[vars.OWN]\n", "printf %s \"$OWN\" >\"$HOME/told\"");
    let quoted = serde_json::to_string(value).unwrap();
    machine
        .repository
        .write(".jlo/setup/vars.toml", &format!("OWN = {quoted}\n"));
    machine.generate().expect(0);
    well(&machine.install());
    assert_eq!(
        std::fs::read_to_string(machine.machine.join("home/told")).unwrap(),
        value
    );
    assert!(!machine.machine.join("home/run").exists());
}

/// `v` before a version is no other version, and a minor version of Node.js is the newest of that minor version.
#[test]
fn versions_may_be_written_as_people_write_them() {
    let machine = Machine::with("tools: [node, uv, gh, go]");
    machine.generate().expect(0);
    let versions = [
        ("NODE_VERSION", "v22.16"),
        ("UV_VERSION", "v0.6.1"),
        ("GH_VERSION", "v2.70.0"),
        ("GO_VERSION", "go1.22.0"),
    ];
    well(&machine.install_with(&versions));
    assert_eq!(machine.later("node --version"), "v22.16.1");
    assert_eq!(machine.later("uv --version"), "uv 0.6.1");
    assert_eq!(
        machine.later("gh --version"),
        "gh version 2.70.0 (2025-05-29)"
    );
    assert_eq!(
        machine.later("go version"),
        "go version go1.22.0 linux/amd64"
    );
    let before = machine.downloads();
    well(&machine.install_with(&versions));
    assert_eq!(
        machine.downloads(),
        before,
        "what is there is what was wanted"
    );
    let output = machine.install_with(&[&versions[1..], &[("NODE_VERSION", "22.99")]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success()
            && said.contains("there is no Node.js 22.99; write a version such as 22 or 22.16.0"),
        "{said}"
    );
}

/// `curl … | bash` and `bash <install.sh` give the script by the standard input, which a part must not eat.
#[test]
fn a_part_that_reads_its_input_does_not_eat_the_script() {
    let machine = Machine::with("tools: [a, b]");
    machine.component("a", "", "cat >/dev/null\n");
    machine.component("b", "", &logging_script("b"));
    machine.generate().expect(0);
    let output = Command::new(machine.machine.join("bin/bash"))
        .stdin(std::fs::File::open(machine.path("install.sh")).unwrap())
        .env_clear()
        .env("PATH", machine.machine.join("bin"))
        .env("HOME", machine.machine.join("home"))
        .output()
        .unwrap();
    well(&output);
    assert_eq!(machine.run_log(), ["b"]);
}

#[test]
fn the_last_line_of_a_profile_stays_a_line() {
    let machine = Machine::with("tools: [a]");
    machine.component("a", "paths = [\".a/bin\"]", "true\n");
    machine.generate().expect(0);
    let profile = machine.machine.join("home/.profile");
    std::fs::write(&profile, "export MINE=1").unwrap();
    well(&machine.install());
    well(&machine.install());
    let text = std::fs::read_to_string(&profile).unwrap();
    assert_eq!(text, "export MINE=1\nexport PATH=\"$HOME/.a/bin:$PATH\"\n");
}
