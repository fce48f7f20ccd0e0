//! Starting, refusing to start, and ending.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use super::client::{Line, Post, ask, until_ready_is};
use super::hook::SECRET;
use super::served::{Service, arguments, deliveries};
use crate::support::{Phileas, unused_port};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what another process logs.
const LOOK: Duration = Duration::from_millis(20);

#[test]
fn r1_nothing_starts_without_a_secret() {
    let data = tempdir().unwrap();
    let arguments = arguments(data.path());
    for secret in ["", " ", ",", " , "] {
        let ended = Phileas::new(&arguments)
            .env("PHILEAS_WEBHOOK_SECRET", secret)
            .run()
            .expect(3);
        assert!(ended.err.contains("PHILEAS_WEBHOOK_SECRET"), "{ended}");
    }
    let ended = Phileas::new(&arguments)
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
        .env("PHILEAS_WEBHOOK_SECRET_FILE", "/nowhere")
        .run()
        .expect(3);
    assert!(ended.err.contains("both set"), "{ended}");
    assert!(!ended.err.contains(SECRET), "{ended}");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

/// A secret that can be guessed is none, and a file that was named was meant.
#[test]
fn r1_weak_and_empty_credentials_are_refused() {
    let data = tempdir().unwrap();
    let empty = data.path().join("empty");
    std::fs::write(&empty, "\n").unwrap();
    let short = data.path().join("short");
    std::fs::write(&short, "canary").unwrap();
    let (empty, short) = (empty.to_str().unwrap(), short.to_str().unwrap());
    let folder = data.path().join("data");
    let arguments = arguments(&folder);
    let refuse = |variables: &[(&str, &str)], words: &[&str]| {
        let program = Phileas::new(&arguments).env("PHILEAS_WEBHOOK_SECRET", SECRET);
        let program = variables
            .iter()
            .fold(program, |program, (name, value)| program.env(name, value));
        let ended = program.run().expect(3);
        for word in words {
            assert!(ended.err.contains(word), "{word}: {ended}");
        }
        assert!(!ended.err.contains("canary"), "{ended}");
    };
    let split = "0123456789abcdef0123456789abcdef,canary";
    refuse(&[("PHILEAS_WEBHOOK_SECRET", "canary")], &["32 bytes"]);
    refuse(
        &[("PHILEAS_WEBHOOK_SECRET", split)],
        &["secret 2 of 2", "comma"],
    );
    refuse(
        &[
            ("PHILEAS_WEBHOOK_SECRET", ""),
            ("PHILEAS_WEBHOOK_SECRET_FILE", short),
        ],
        &["PHILEAS_WEBHOOK_SECRET_FILE", "short"],
    );
    refuse(
        &[("PHILEAS_ADMIN_TOKEN", "canary")],
        &["PHILEAS_ADMIN_TOKEN"],
    );
    for name in ["PHILEAS_ADMIN_TOKEN", "GITHUB_TOKEN", "JULES_API_KEY"] {
        let name = format!("{name}_FILE");
        refuse(&[(&name, empty)], &[&name, "is empty"]);
    }
    refuse(
        &[
            ("GITHUB_APP_ID", "abc def"),
            ("GITHUB_APP_PRIVATE_KEY", "canary"),
        ],
        &["GITHUB_APP_ID"],
    );
}

/// Every account of the machine reaches a loopback address.
#[test]
fn tools_are_not_served_without_a_token() {
    let data = tempdir().unwrap();
    let folder = data.path().join("data");
    let refuse = |more: &[&str], variables: &[(&str, &str)], code: i32| {
        let mut words = arguments(&folder);
        words.extend(more);
        let mut program = Phileas::new(&words).env("PHILEAS_WEBHOOK_SECRET", SECRET);
        for (name, value) in variables {
            program = program.env(name, value);
        }
        let ended = program.run().expect(code);
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains("PHILEAS_ADMIN_TOKEN"), "{ended}");
        assert!(said.contains("--mcp"), "{ended}");
    };
    refuse(&["--mcp"], &[], 3);
    refuse(&[], &[("PHILEAS_MCP", "true")], 3);
    refuse(&["--mcp"], &[("PHILEAS_ADMIN_TOKEN", " ")], 3);
    assert!(!folder.exists(), "nothing was begun");
    refuse(&["--mcp", "--check"], &[], 3);
}

#[test]
fn wrong_settings_are_told() {
    let data = tempdir().unwrap();
    let config = data.path().join("phileas.toml");
    std::fs::write(&config, "data_dir = \"x\"\nlissten = \"127.0.0.1:1\"\n").unwrap();
    let config = config.to_str().unwrap();
    let refuse = |arguments: &[&str], word: &str| {
        let ended = Phileas::new(arguments)
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .run()
            .expect(2);
        assert!(ended.err.contains(word), "{word}: {ended}");
    };
    refuse(&["serve", "--config", config], "phileas.toml:2:1");
    refuse(&["serve", "--config", "/nowhere.toml"], "/nowhere.toml");
    refuse(&["serve"], "--data-dir");
    let arguments = arguments(data.path());
    let with = |more: &[&'static str]| [arguments.as_slice(), more].concat();
    refuse(&with(&["--inbox-max-bytes", "lots"]), "512MiB");
    refuse(&with(&["--inbox-max-bytes", "1MiB"]), "16MiB");
    refuse(
        &["service", "deliveries", "--data-dir", "/nowhere"],
        "phileas serve",
    );
    refuse(&["service", "deliveries"], "--data-dir");
    let elsewhere = "mysql://ada:s3cret@somewhere/d";
    refuse(
        &with(&["--database-url", elsewhere]),
        "begin with postgres://",
    );
    refuse(&["serve", "--listen", "localhost:8080"], "127.0.0.1:8080");
    refuse(&with(&["--public-url", "phileas.example.com"]), "https://");
    refuse(&with(&["--jules-keys-dir", "/nowhere"]), "/nowhere");
}

/// A user who sets it means a database; with a file of its own each service would tick what the others tick.
#[test]
fn an_empty_address_of_the_database_is_no_sqlite() {
    let data = tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    for name in ["PHILEAS_DATABASE_URL", "PHILEAS_DATABASE_URL_FILE"] {
        for command in [&["serve"][..], &["service", "deliveries"]] {
            let words = [command, &["--data-dir", folder]].concat();
            let ended = Phileas::new(&words)
                .env("PHILEAS_WEBHOOK_SECRET", SECRET)
                .env(name, " ")
                .run()
                .expect(2);
            let words = format!("{name} is set and empty; ");
            assert!(ended.err.contains(&words), "{ended}");
        }
    }
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

#[test]
fn the_check_names_the_inbox_and_no_password() {
    let data = tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let check = |more: &[&str], code: i32| {
        let words = [&["serve", "--check", "--data-dir", folder], more].concat();
        Phileas::new(&words)
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .run()
            .expect(code)
    };
    let file = check(&[], 3);
    let line = format!("ok: inbox: SQLite, {folder}/inbox.sqlite3: ");
    assert!(file.out.contains(&line), "{file}");
    let away = [
        "--database-url",
        "postgres://ada:s3cret@127.0.0.1:1/phileas",
    ];
    let away = check(&away, 3);
    let line = "unavailable: inbox: PostgreSQL, ada@127.0.0.1:1/phileas: ";
    assert!(away.out.contains(line), "{away}");
    assert!(!away.out.contains("s3cret"), "{away}");
}

/// What `serve` would refuse, `--check` refuses before it, in the same words.
#[test]
fn a_data_directory_that_cannot_be_made_is_found_by_the_check() {
    let refused = |more: &[&str]| {
        let words = [&["serve", "--data-dir", "/proc/nope"], more].concat();
        Phileas::new(&words)
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .env("GITHUB_API_URL", "http://127.0.0.1:1")
            .run()
    };
    let served = refused(&[]).expect(2);
    let checked = refused(&["--check"]).expect(3);
    let words = "/proc/nope: No such file or directory";
    assert!(served.err.contains(words), "{served}");
    let line = format!("configuration: data directory: {words}");
    assert!(checked.out.contains(&line), "{checked}");
}

/// A container makes a folder where a file that is to be mounted is missing.
#[test]
fn settings_that_are_a_folder_are_not_passed_over() {
    let data = tempdir().unwrap();
    let here = tempdir().unwrap();
    std::fs::create_dir(here.path().join("phileas.toml")).unwrap();
    let program = Phileas::new(&arguments(data.path())).env("PHILEAS_WEBHOOK_SECRET", SECRET);
    let mut command = program.into_command();
    let ended = command.current_dir(here.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("phileas.toml: Is a directory"), "{said}");
}

#[test]
fn an_address_that_is_in_use_is_reported_with_its_fix() {
    let data = tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let held = held.local_addr().unwrap().to_string();
    for (public, admin, help) in [
        (
            held.as_str(),
            "127.0.0.1:0",
            "--listen (`listen` in phileas.toml)",
        ),
        (
            "127.0.0.1:0",
            &held,
            "--admin-listen (`admin_listen` in phileas.toml)",
        ),
    ] {
        let listeners = ["--listen", public, "--admin-listen", admin];
        let ended = Phileas::new(&[&["serve", "--data-dir", data], &listeners[..]].concat())
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .run()
            .expect(2);
        assert!(ended.err.contains(&format!("{held}: ")), "{ended}");
        assert!(
            ended.err.contains("end what listens there already"),
            "{ended}"
        );
        assert!(ended.err.contains(help), "{ended}");
    }
}

/// Its own other listener would be called another program's.
#[test]
fn listeners_that_exclude_each_other_are_both_named() {
    let data = tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let port = unused_port();
    let admin = format!("127.0.0.1:{port}");
    for public in [admin.clone(), format!("0.0.0.0:{port}")] {
        let said = format!("--listen is {public} and --admin-listen is {admin}");
        for check in [&["--check"][..], &[]] {
            let words = ["serve", "--data-dir", data, "--listen", &public];
            let more = ["--admin-listen", &admin];
            let serve = Phileas::new(&[&words[..], &more, check].concat());
            let ended = serve.env("PHILEAS_WEBHOOK_SECRET", SECRET).run();
            assert!(ended.to_string().contains(&said), "{ended}");
            assert!(!ended.status.success(), "{ended}");
        }
    }
}

#[test]
fn a_second_service_hears_who_has_the_directory() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let ended = Phileas::new(&arguments(data.path()))
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
        .run()
        .expect(2);
    let holder = format!("process {} ", service.id());
    assert!(ended.err.contains(&holder), "{ended}");
    service.kill();
    // A kill leaves no lock behind.
    Service::start(data.path());
}

#[test]
fn an_asked_service_finishes_what_it_is_at() {
    let data = tempdir().unwrap();
    let mut service = Service::start(data.path());
    let post = Post::about("at-work", 7).with("expect", "100-continue");
    let mut line = Line::open(service.public).unwrap();
    let mut idle = Line::open(service.public).unwrap();
    assert_eq!(
        idle.ask(&Post::about("idle", 7).bytes())
            .unwrap()
            .unwrap()
            .status,
        202
    );
    let (half, rest) = post.body.split_at(20);
    line.send(&[post.head(), half.to_vec()].concat()).unwrap();
    // The request is being read now.
    assert_eq!(line.reply().unwrap().unwrap().status, 100);
    service.ask_to_end();
    assert_eq!(idle.reply().unwrap(), None, "idle connections are closed");
    assert_eq!(line.ask(rest).unwrap().unwrap().status, 202);
    assert_eq!(service.wait().code(), Some(0));
    assert!(
        Line::open(service.public).is_err(),
        "no connection is accepted any more"
    );
    assert_eq!(deliveries(data.path()).len(), 2);
}

/// GitHub and Jules may be away for hours; what is delivered meanwhile must not be lost.
#[test]
fn while_nothing_can_be_reached_it_takes_deliveries_and_says_so() {
    let data = tempdir().unwrap();
    let config = data.path().join("phileas.toml");
    std::fs::write(&config, "[[repository]]\nname = \"acme/r7\"\nid = 7\n").unwrap();
    let log = data.path().join("log");
    // Held, and never answered: connections wait for ever instead of being refused.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    // Nothing listens there, and no other test is given this port meanwhile.
    let refusing = "127.0.0.1:1";
    let more = ["--config", config.to_str().unwrap()];
    let folder = data.path().join("data");
    let service = Service::start_with(&folder, &more, |program| {
        program
            .env("GITHUB_TOKEN", "test-token")
            .env("JULES_API_KEY", "test-key")
            .env("GITHUB_API_URL", &format!("http://{refusing}"))
            .env("GITHUB_GRAPHQL_URL", &format!("http://{refusing}/graphql"))
            .env(
                "JULES_API_BASE",
                &format!("http://{}/v1alpha", silent.local_addr().unwrap()),
            )
            .logging_to(std::fs::File::create(&log).unwrap())
    });
    assert_eq!(
        ask(service.public, &Post::about("meanwhile", 7).bytes()).status,
        202
    );
    until_ready_is(service.admin, 200);
    let begun = Instant::now();
    loop {
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("acme/r7 cannot be read") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it says nothing: {said}");
        std::thread::sleep(LOOK);
    }
    assert_eq!(service.terminate().code(), Some(0));
    assert_eq!(deliveries(&folder).len(), 1);
}

#[test]
fn a_variable_counts_before_the_file_and_an_option_before_both() {
    let data = tempdir().unwrap();
    let config = data.path().join("phileas.toml");
    std::fs::write(
        &config,
        "data_dir = \"/dev/null/never\"\nlisten = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let more = ["--config", config.to_str().unwrap()];
    let named = data.path().join("data");
    let service = Service::start_with(&named, &more, |program| {
        program.env("PHILEAS_DATA_DIR", "/dev/null/neither")
    });
    assert!(named.join("inbox.sqlite3").is_file());
    assert_eq!(service.terminate().code(), Some(0));
}
