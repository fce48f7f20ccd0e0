//! A PostgreSQL of the tests' own, on loopback. It ends with the process of the tests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use phileas::adapters::inbox::postgres::DatabaseUrl;
use secrecy::SecretString;

use crate::support::unused_port;

/// How long the server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    /// Whether what it has committed is on disk; otherwise it is with the system, which is quicker.
    on_disk: bool,
    /// It ends the server when this process is gone: its standard input is closed then.
    _guard: Child,
}

/// A database of its own for one test.
pub(crate) struct Database {
    server: &'static Server,
    name: String,
}

/// Where Debian keeps the server's programs; elsewhere they are on the path.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin").join(name)))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(name))
}

/// The server does not run as root: there it runs as the user that Debian's package has made.
fn command(name: &str) -> Command {
    let program = program(name);
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if root {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn run(command: &mut Command) -> String {
    let ran = command.current_dir("/").output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}; PostgreSQL is missing: Debian's package is `postgresql`")
    });
    let told = format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(ran.status.success(), "{command:?}: {told}");
    told
}

impl Server {
    /// The one server of these tests.
    pub(crate) fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// Another one that waits for the disk as those of people do, for tests that crash it.
    pub(crate) fn on_disk() -> Self {
        Self::begun(true)
    }

    fn start() -> Self {
        Self::begun(false)
    }

    fn begun(on_disk: bool) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let data = folder.join("data");
        run(command("initdb")
            .args(["--auth=trust", "--username=postgres", "--no-sync", "-D"])
            .arg(&data));
        let port = unused_port();
        let stop = format!(
            "read -r _; {} -D '{}' -m immediate stop >/dev/null 2>&1; rm -rf '{}'",
            shown(&command("pg_ctl")),
            data.display(),
            folder.display()
        );
        let guard = Command::new("sh")
            .args(["-c", &stop])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self {
            folder,
            port,
            on_disk,
            _guard: guard,
        };
        server.begin();
        server
    }

    /// Starts the server's processes.
    pub(crate) fn begin(&self) {
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c fsync={} -c max_connections=400",
            self.port,
            self.folder.display(),
            if self.on_disk { "on" } else { "off" }
        );
        let log = self.folder.join("log");
        let begun = Instant::now();
        let started = command("pg_ctl")
            .arg("-D")
            .arg(self.folder.join("data"))
            .args(["-w", "-o", &options, "-l"])
            .arg(&log)
            .arg("start")
            .current_dir("/")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let told = fs::read_to_string(&log).unwrap_or_default();
        assert!(started.success(), "{told}");
        assert!(begun.elapsed() < PATIENCE);
    }

    /// Ends all its processes as they stand: nothing is tidied, and what they had not given to the system is lost.
    pub(crate) fn crash(&self) {
        run(command("pg_ctl")
            .arg("-D")
            .arg(self.folder.join("data"))
            .args(["-m", "immediate", "-w", "stop"]));
    }

    /// Runs a statement in a database, and answers with what it says.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let url = self.address(database);
        run(Command::new("psql").args(["-X", "-A", "-t", "-c", statement, &url]))
    }

    fn address(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Database {
    /// A new, empty one on the shared server.
    pub(crate) fn new() -> Self {
        Self::on(Server::shared())
    }

    /// A new, empty one.
    pub(crate) fn on(server: &'static Server) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        server.sql("postgres", &format!("CREATE DATABASE {name}"));
        Self { server, name }
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        self.server.address(&self.name)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its address, parsed.
    pub(crate) fn url(&self) -> DatabaseUrl {
        DatabaseUrl::parse(&SecretString::from(self.address())).unwrap()
    }

    /// Runs a statement, and answers with what it says.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.server.sql(&self.name, statement)
    }

    /// Drops it, with all connections to it.
    pub(crate) fn drop_it(&self) {
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        self.server.sql("postgres", &statement);
    }

    /// Cuts all connections to it, and waits until they are gone.
    pub(crate) fn cut(&self) {
        self.sql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    }
}

/// A command as a shell takes it.
fn shown(command: &Command) -> String {
    let word = |word: &std::ffi::OsStr| format!("'{}'", Path::new(word).display());
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(word)
        .collect();
    words.join(" ")
}
