//! Values that cannot be: each is refused with its place, what may stand there, and nothing done.

use std::fs::File;
use std::process::Stdio;

use super::phileas;
use crate::support::{Folder, Phileas};

const FAULT: &str = "fault = { kind = \"drop-before\" }\n";

/// Refused as a wrong command line, in words that hold these.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let ended = phileas(arguments).expect(2);
    assert!(ended.out.is_empty(), "{ended}");
    for word in words {
        assert!(ended.err.contains(word), "`{word}` is missing\n{ended}");
    }
    for raw in ["unknown field", "invalid digit", "unexpected argument"] {
        assert!(!ended.err.contains(raw), "`{raw}`\n{ended}");
    }
}

#[test]
fn faults_that_cannot_be_are_refused_with_their_place_and_range() {
    let folder = Folder::empty();
    let file = folder.join("f.toml");
    let file = file.to_str().unwrap();
    for (text, place, words) in [
        (
            "[knobs]\nwebhook-lost = 20\n".to_owned(),
            ":2:16: ",
            ["from 0 to 1", "knobs.webhook-lost"],
        ),
        (
            "[knobs]\ntitle = \"dropped\"\nwebhook-lost = -0.2\n".to_owned(),
            ":3:16: ",
            ["from 0 to 1", "knobs.webhook-lost"],
        ),
        (
            "[knobs]\nwebhook-lots = 0.2\n".to_owned(),
            ":2:1: ",
            ["unknown key `webhook-lots`", "did you mean `webhook-lost`?"],
        ),
        (
            "[knobs]\ntitle = \"droped\"\n".to_owned(),
            ":2:9: ",
            ["unknown value `droped`", "did you mean `dropped`?"],
        ),
        (
            format!("[[rules]]\nprobability = 7\n{FAULT}"),
            ":2:15: ",
            ["7 is out of range", "from 0 to 1"],
        ),
        (
            format!("[[rules]]\nnth = 0\n{FAULT}"),
            ":2:7: ",
            ["0 is out of range", "1 or more"],
        ),
        (
            "[[rules]]\nfault = { kind = \"status\", status = 7 }\n".to_owned(),
            ":2:37: ",
            ["the status 7 is out of range", "from 200 to 599"],
        ),
        (
            "[[rules]]\nfault = { kind = \"drop-after\", seconds = 3 }\n".to_owned(),
            ":2:32: ",
            ["unknown key `seconds`", "(at rules[0].fault.seconds)"],
        ),
    ] {
        folder.write("f.toml", &text);
        let place = format!("--faults {file}{place}");
        refused(
            &["sandbox", "--headless", "--until", "1h", "--faults", file],
            &[&place, words[0], words[1]],
        );
    }
}

#[test]
fn all_mistakes_of_a_faults_file_are_told_at_once() {
    let folder = Folder::empty();
    let file = folder.join("f.toml");
    let file = file.to_str().unwrap();
    folder.write(
        "f.toml",
        "[knobs]\nwebhook-lost = 20\ntitel = \"dropped\"\ndraft-pulls: true\n\
         [[rules]]\nface = \"gitlab\"\nfault = { kind = \"status\", status = 7, retry-aftr = 3 }\n",
    );
    let ended = phileas(&["sandbox", "--headless", "--faults", file]).expect(2);
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!(lines.len(), 6, "{ended}");
    for (line, [place, key, fix]) in lines.iter().zip([
        [":2:16: ", "(at knobs.webhook-lost)", "from 0 to 1"],
        [":3:1: ", "(at knobs.titel)", "did you mean `title`?"],
        [":4:12: ", "(at knobs.draft-pulls)", "`draft-pulls = true`"],
        [":6:8: ", "(at rules[0].face)", "did you mean `github`?"],
        [":7:37: ", "(at rules[0].fault.status)", "from 200 to 599"],
        [
            ":7:40: ",
            "(at rules[0].fault.retry-aftr)",
            "`retry-after`?",
        ],
    ]) {
        let begin = format!("error: --faults {file}{place}");
        assert!(line.starts_with(&begin), "{ended}");
        assert_eq!(line.matches("error:").count(), 1, "{ended}");
        for word in [key, fix] {
            assert!(line.contains(word), "`{word}` is missing\n{ended}");
        }
    }
}

#[test]
fn a_scenario_that_cannot_be_is_refused_with_its_place() {
    let folder = Folder::empty();
    let file = folder.join("s.toml");
    let file = file.to_str().unwrap();
    folder.write(
        "s.toml",
        "title = \"a\"\nabout = \"b\"\nlasts = \"2h\"\n[[sessions]]\nminuts = 3\n",
    );
    let place = format!("--scenario {file}:5:1: ");
    refused(
        &["sandbox", "--scenario", file],
        &[&place, "did you mean `minutes`?"],
    );
}

#[test]
fn keys_that_no_action_has_are_refused() {
    let folder = Folder::empty();
    let file = folder.join("s.toml");
    let file = file.to_str().unwrap();
    let act = |lines: &str| {
        let start = "title = \"a\"\nabout = \"b\"\nlasts = \"2h\"\n[[acts]]\nat = \"1h\"\n";
        folder.write("s.toml", &format!("{start}{lines}"));
    };
    for (lines, help) in [
        ("numbr = 2\nact = \"close\"\n", "did you mean `number`?"),
        (
            "act = \"close\"\nnumber = 2\nmessage = \"Enough\"\n",
            "`message`",
        ),
        (
            "act = \"push-files\"\nbranch = \"main\"\nfile = { a = \"b\" }\n",
            "did you mean `files`?",
        ),
    ] {
        act(lines);
        let place = format!("--scenario {file}:");
        refused(&["sandbox", "--scenario", file], &[&place, "acts[0]", help]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_reported_with_its_option_and_a_fix() {
    for (arguments, option, fix) in [
        (
            &["sandbox", "--headless", "--faults", "/nowhere/f.toml"][..],
            "--faults",
            "give --faults a text file",
        ),
        (
            &["sandbox", "--scenario", "/nowhere/f.toml"],
            "--scenario",
            "give --scenario a text file",
        ),
        (
            &["sandbox", "--headless", "--ledger", "/nowhere/f.toml"],
            "--ledger",
            "name a folder that has",
        ),
        (
            &["serve", "--config", "/nowhere/f.toml"],
            "--config",
            "give --config or PHILEAS_CONFIG a file",
        ),
    ] {
        refused(arguments, &["/nowhere/f.toml", option, fix]);
    }
    // The whole of an export, or a checkout of the default branch.
    let folder = Folder::empty();
    folder.write("branches/jules/.jules/cycle_state.json", "{}");
    folder.write(".jules/schedules.toml", "cycle = [\"curator\"]\n");
    std::fs::create_dir_all(folder.join(".jules/exchange")).unwrap();
    let words = [
        "no files of the branch `jules`",
        "`branches/jules` of an export",
    ];
    refused(
        &["sandbox", "--headless", "--ledger", folder.text()],
        &words,
    );
    // Nothing starts after a ledger that cannot be read, and the sandbox says why, once.
    folder.write(".jules/cycle_state.json", "{broken");
    let arguments = [
        "sandbox",
        "--headless",
        "--until",
        "6h",
        "--ledger",
        folder.text(),
    ];
    let ended = phileas(&arguments).expect(0);
    let reason = ended.out.matches(".jules/cycle_state.json:1:2: error: ");
    assert_eq!(reason.count(), 1, "{ended}");
}

#[test]
fn numbers_that_cannot_be_are_told_their_range() {
    for (arguments, word) in [
        (
            &["sandbox", "--until", "-1d"][..],
            "`-1d` is not a duration",
        ),
        (&["sandbox", "--until=-1d"], "`-1d` is not a duration"),
        (&["sandbox", "--until", "99999999999999d"], "366 days"),
        (
            &["sandbox", "--until", "999999999999999999999999d"],
            "366 days",
        ),
        (
            &["sandbox", "--seed", "-1"],
            "from 0 to 18446744073709551615",
        ),
        (&["sandbox", "--seed=-1"], "from 0 to 18446744073709551615"),
        (&["sandbox", "--speed", "-1"], "above 0"),
        (
            &["simulate", "--session", "-30m"],
            "`-30m` is not a duration",
        ),
        (&["simulate", "--review", "-2h"], "`-2h` is not a duration"),
        (&["simulate", "--days", "-1"], "from 1 to 90"),
    ] {
        refused(arguments, &[word]);
    }
}

/// Time goes by neither in an empty repository before its first commit, nor on models whose clock stands.
#[test]
fn what_would_be_ignored_beside_another_option_is_refused() {
    for (mode, more) in [
        ("--empty", &["--until", "1h"][..]),
        ("--world-only", &["--until", "5h"]),
        ("--world-only", &["--maintainer", "eager"]),
        ("--world-only", &["--speed", "20"]),
        ("--world-only", &["--admin-listen", "127.0.0.1:0"]),
    ] {
        let arguments = [&["sandbox", mode], more].concat();
        refused(&arguments, &[mode, more[0], "cannot be used with"]);
    }
}

#[test]
fn a_data_directory_that_is_no_folder_is_told() {
    let folder = Folder::empty();
    folder.write("file", "");
    let file = folder.join("file");
    let below = file.join("below");
    for (place, named) in [
        ("/dev/null", "/dev/null is not a folder"),
        ("/dev/null/below", "/dev/null is not a folder"),
        (file.to_str().unwrap(), "file is not a folder"),
        (below.to_str().unwrap(), "file is not a folder"),
    ] {
        for more in [&[][..], &["--check"], &["--setup"]] {
            let arguments = [&["serve", "--data-dir", place], more].concat();
            refused(&arguments, &["--data-dir: ", named, "name a folder"]);
        }
    }
}

#[test]
fn a_wrong_value_of_the_service_s_file_is_told_with_its_place_there() {
    let folder = Folder::empty();
    let file = folder.join("phileas.toml");
    let file = file.to_str().unwrap();
    for (text, place, words) in [
        (
            "public_url = \"phileas.example.com\"",
            ":2:14: ",
            ["(at public_url)", "https://phileas.example.com"],
        ),
        (
            "jules_keys_dir = \"/nowhere\"",
            ":2:18: ",
            [
                "/nowhere is not a folder (at jules_keys_dir)",
                "name a folder",
            ],
        ),
        (
            "inbox_max_bytes = \"1MiB\"",
            ":2:19: ",
            ["(at inbox_max_bytes)", "16MiB"],
        ),
        (
            "drain = \"15\"",
            ":2:9: ",
            ["`15` is not a valid drain", "`15s`"],
        ),
        ("lisen = 5", ":2:1: ", ["`lisen`", "did you mean `listen`?"]),
        (
            "github_token = \"canary\"",
            ":2:1: ",
            ["`github_token`", "set GITHUB_TOKEN"],
        ),
    ] {
        folder.write("phileas.toml", &format!("data_dir = \"data\"\n{text}\n"));
        let ended = phileas(&["serve", "--config", file]).expect(2);
        for word in [&format!("error: {file}{place}")[..], words[0], words[1]] {
            assert!(ended.err.contains(word), "`{word}` is missing\n{ended}");
        }
        assert!(!ended.err.contains("--"), "it is not an option's\n{ended}");
    }
    // The same mistake of an option, or of its variable, is told as the option's.
    folder.write("phileas.toml", "data_dir = \"/dev/null\"\n");
    refused(
        &["serve", "--config", file],
        &[":1:12: ", "/dev/null is not a folder"],
    );
    let ended = Phileas::new(&["serve", "--config", file, "--data-dir", folder.text()])
        .env("PHILEAS_PUBLIC_URL", "phileas.example.com")
        .run()
        .expect(2);
    assert!(ended.err.contains("--public-url: "), "{ended}");
}

#[test]
fn all_mistakes_of_the_service_s_file_and_of_the_options_are_told_at_once() {
    let folder = Folder::empty();
    let file = folder.join("phileas.toml");
    let file = file.to_str().unwrap();
    folder.write(
        "phileas.toml",
        "listen = \"localhost\"\nlisten = 5\ngithub_token = \"canary\"\njules_keys_dir = \"/nowhere\"\n\
         public_url: \"x\"\n[[repository]]\nname = \"acme\"\n[[repository]]\nname = \"acme/a\"\nid = \"7\"\n\
         [[repository]]\nname = \"acme/a\"\n",
    );
    let arguments = ["serve", "--config", file, "--inbox-max-bytes", "1MiB"];
    let ended = phileas(&arguments).expect(2);
    for words in [
        [":1:10: ", "(at listen)", "127.0.0.1:8080"],
        [":2:1: ", "(at listen)", "line 1"],
        [":3:1: ", "(at github_token)", "set GITHUB_TOKEN"],
        [":4:18: ", "(at jules_keys_dir)", "name a folder"],
        [":5:11: ", "(at public_url)", "write `public_url = "],
        [":7:8: ", "(at repository[0].name)", "owner/name"],
        [":10:6: ", "(at repository[1].id)", "a whole number"],
        [":11:1: ", "acme/a is here twice", "remove one"],
        ["", "error: --inbox-max-bytes: ", "16MiB"],
        ["", "error: there is no data directory", "--data-dir"],
    ] {
        let told = |line: &&str| words.iter().all(|word| line.contains(word));
        assert_eq!(
            ended.err.lines().filter(told).count(),
            1,
            "{words:?}\n{ended}"
        );
    }
    assert_eq!(ended.err.lines().count(), 10, "{ended}");
    assert_eq!(ended.err.matches("error:").count(), 10, "{ended}");
    assert!(!ended.err.contains("canary"), "{ended}");
}

/// The data directory may be in what could not be read.
#[test]
fn a_data_directory_that_the_file_may_name_is_not_reported_as_missing() {
    let folder = Folder::empty();
    let file = folder.join("phileas.toml");
    let file = file.to_str().unwrap();
    for text in [
        "data-dir = \"x\"\n".to_owned(),
        "data_dir = 5\n".to_owned(),
        "data_dir = \n".to_owned(),
        "a = [\n".repeat(70),
        (0..80).map(|n| format!("x{n} = 1\n")).collect(),
    ] {
        folder.write("phileas.toml", &text);
        let ended = phileas(&["serve", "--config", file]).expect(2);
        assert!(!ended.err.contains("there is no data directory"), "{ended}");
    }
    folder.write("phileas.toml", "lisen = 5\n");
    refused(
        &["serve", "--config", file],
        &["`lisen`", "there is no data directory"],
    );
}

/// Each further mistake took as long as reading the whole file.
#[test]
fn a_file_of_thousands_of_mistakes_is_refused() {
    let folder = Folder::empty();
    let file = folder.join("f.toml");
    let file = file.to_str().unwrap();
    let more = "further mistakes are not listed";
    folder.write(
        "f.toml",
        &"[[repository]]\nname = \"acme/a\"\n".repeat(10_000),
    );
    let twice = "acme/a is here twice (at repository[1])";
    refused(&["serve", "--config", file], &[twice, more]);
    let acts = "[[acts]]\nat = \"3h\"\nact = \"close\"\nnumber = 1\n".repeat(10_000);
    let begin = "title = \"a\"\nabout = \"b\"\nlasts = \"2h\"\n";
    folder.write("f.toml", &format!("{begin}{acts}"));
    let late = "after the end (at acts[0].at)";
    refused(&["sandbox", "--scenario", file], &[late, more]);
    let keys: String = (0..10_000).map(|n| format!(", k{n} = 1")).collect();
    folder.write(
        "f.toml",
        &format!("[[rules]]\nfault = {{ kind = \"status\", status = 200{keys} }}\n"),
    );
    let unknown = "(at rules[0].fault.k";
    let faults = ["sandbox", "--headless", "--faults", file];
    refused(&faults, &[unknown, more]);
}

#[test]
fn mistakes_are_reported_in_plain_words_with_a_fix() {
    let folder = Folder::empty();
    let file = folder.join("f.toml");
    let file = file.to_str().unwrap();
    let begin = "title = \"a\"\nabout = \"b\"\n";
    let scenario = ["sandbox", "--scenario", file];
    let faults = ["sandbox", "--headless", "--faults", file];
    let service = ["serve", "--config", file];
    for (arguments, text, words) in [
        (
            &scenario[..],
            String::new(),
            &["`title` is missing", "`about` is missing", "`lasts` is missing"][..],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"x\"\n"),
            &["`x` is not a span of time (at lasts); write one such as `1h30m`"],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\n[[acts]]\nat = 1\nact = \"clos\"\n"),
            &[
                ":5:6: expected a text, found a whole number (at acts[0].at); write a text",
                ":6:7: unknown value `clos` (at acts[0].act); did you mean `close`?",
            ],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\n[[acts]]\nact = \"clos\"\n"),
            &["`at` is missing (at acts[0])", "did you mean `close`?"],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\n[[sessions]]\nminutes = 1e300\n"),
            &[":5:11: 1e300 is out of range (at sessions[0].minutes)"],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\nmaintainer = 3\n"),
            &["expected a text, found a whole number (at maintainer); write a text"],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\n[[sessions]]\nwhen = {{ title = \"(\" }}\n"),
            &["`(` is not a regular expression: unclosed group (at sessions[0].when.title)"],
        ),
        (
            &scenario,
            format!("{begin}lasts = \"2h\"\n\n[[acts]]\nat = \"1h\"\nact = \"close\"\nnumber = 99\n"),
            &["f.toml:6:6: number: there is no issue or pull request 99"],
        ),
        (
            &faults,
            "[[rules]]\nfrom = \"y\"\nfault = { kind = \"drop-after\" }\n".to_owned(),
            &["`y` is not a time (at rules[0].from); write one such as `2026-01-05T00:00:00Z`"],
        ),
        (&faults, "[knobs\n".to_owned(), &["for example `[knobs]`"]),
        (
            &service,
            "[[repository]\nname = \"acme/a\"\n".to_owned(),
            &["for example `[[repository]]`"],
        ),
        (
            &service,
            "drain = 2020-01-01\n".to_owned(),
            &["expected a text, found a date or time (at drain)"],
        ),
        (
            &service,
            "[[repository]]\nname = \"acme/a\"\nid = 1\n[[repository]]\nname = \"acme/b\"\nid = 1\n"
                .to_owned(),
            &[":4:1: acme/b has the id 1, which is that of acme/a (at repository[1])"],
        ),
    ] {
        folder.write("f.toml", &text);
        let ended = phileas(arguments).expect(2);
        for word in words {
            assert!(ended.err.contains(word), "`{word}` is missing\n{ended}");
        }
    }
    std::fs::write(file, b"# \xe9\n").unwrap();
    for (arguments, option) in [
        (&scenario[..], "--scenario"),
        (&faults, "--faults"),
        (&service, ""),
    ] {
        let ended = phileas(arguments).expect(2);
        let said = format!(
            "error: {option} {file}: line 1, column 3 is not text in UTF-8; save it as UTF-8\n"
        );
        assert_eq!(ended.err, said.replace("error:  ", "error: "), "{ended}");
    }
    std::fs::write(file, vec![b'#'; 2 << 20]).unwrap();
    refused(&service, &["is larger than 1048576 bytes; shorten it"]);
}

#[test]
fn an_event_that_is_none_is_told_by_where_it_came_from() {
    let folder = Folder::empty();
    folder.write("garbage", "garbage\n");
    let config = folder.join("config.json");
    folder.write("config.json", "{}");
    let arguments = ["handle-event", "--config", config.to_str().unwrap()];
    let ended = Phileas::new(&arguments)
        .into_command()
        .stdin(Stdio::from(File::open(folder.join("garbage")).unwrap()))
        .output()
        .unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("standard input: "), "{said}");
    assert!(!said.contains("JULES_EVENT"), "{said}");
    let variable = Phileas::new(&arguments).env("JULES_EVENT", "garbage").run();
    let variable = variable.expect(2);
    assert!(variable.err.contains("JULES_EVENT: "), "{variable}");
    let option = [&arguments[..], &["--event", "garbage"]].concat();
    refused(&option, &["--event: "]);
}
