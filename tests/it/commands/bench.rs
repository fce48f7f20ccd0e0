//! The models on loopback, and the built program run against them.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use jiff::SignedDuration;
use phileas::sandbox::{SharedWorld, WorldSetup, world_setup};
use phileas_domain::state::{STATE_PATH, State, codec};
use phileas_world::Face;
use phileas_world::github::RepoId;
use phileas_world::http::{ClockMode, serve};
use phileas_world::jules::Tier;
use phileas_world::maintainer::ReviewPolicy;
use serde_json::Value;
use tokio::sync::watch;

use crate::support::Folder;

/// A world on loopback that ends with its test.
pub(super) struct Bench {
    pub(super) shared: SharedWorld,
    pub(super) repo: RepoId,
    github: SocketAddr,
    jules: SocketAddr,
    /// Where the program keeps what it has read: what another world's run left is not found.
    cache: Folder,
    end: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// What a run of the program left.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// The only JSON document on standard output.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON documents on standard output, one a line.
    pub(super) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap();
        self.out.lines().map(parse).collect()
    }

    #[track_caller]
    pub(super) fn done(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    #[track_caller]
    pub(super) fn refused(self, code: i32, word: &str) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.contains(word), "{word:?} is not in {self:?}");
        self
    }
}

/// The newcomer's repository, without reviews, questions and faults.
pub(super) fn bench() -> Bench {
    bench_with(|_| {})
}

pub(super) fn bench_with(set: impl FnOnce(&mut WorldSetup)) -> Bench {
    let mut setup = WorldSetup::new(7);
    setup.review_policy = ReviewPolicy::absent();
    setup.tier = Tier::Pro;
    setup.jules.asks = 0.0;
    set(&mut setup);
    let (world, repo) = setup.build_world().unwrap();
    let shared = SharedWorld::new(world);
    let (end, ending) = watch::channel(false);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listen = || {
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
        let listener = listener.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    };
    let ((github, github_at), (jules, jules_at)) = (listen(), listen());
    let world = shared.shared_world();
    let thread = std::thread::spawn(move || {
        let face = |listener, face| {
            let mut ending = ending.clone();
            let shutdown = async move {
                let _ = ending.wait_for(|end| *end).await;
            };
            serve(
                std::sync::Arc::clone(&world),
                listener,
                face,
                ClockMode::Manual,
                None,
                shutdown,
            )
        };
        runtime.block_on(async {
            tokio::join!(face(github, Face::Github), face(jules, Face::Jules));
        });
    });
    Bench {
        shared,
        repo,
        github: github_at,
        jules: jules_at,
        cache: Folder::empty(),
        end,
        thread: Some(thread),
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.end.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The program without anything of the machine's environment that it would listen to.
pub(super) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phileas"));
    command.args(arguments).stdin(Stdio::null());
    for (name, _) in std::env::vars() {
        let ours = ["GITHUB_", "GH_", "JULES_", "PHILEAS_", "HTTP", "http"];
        if ours.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the program to its end.
pub(super) fn run(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program without any credential.
pub(super) fn alone(arguments: &[&str]) -> Ran {
    run(program(arguments))
}

impl Bench {
    /// The program with the credentials and addresses of this world.
    pub(super) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command
            .env(
                "GITHUB_REPOSITORY",
                world_setup::repository_name().to_string(),
            )
            .env("GITHUB_TOKEN", world_setup::GITHUB_TOKEN)
            .env("GITHUB_API_URL", format!("http://{}", self.github))
            .env(
                "GITHUB_GRAPHQL_URL",
                format!("http://{}/graphql", self.github),
            )
            .env("JULES_API_KEY", world_setup::JULES_KEY)
            .env("JULES_API_BASE", format!("http://{}/v1alpha", self.jules))
            .env("XDG_CACHE_HOME", self.cache.path());
        command
    }

    /// The base URLs of GitHub and of Jules.
    pub(super) fn addresses(&self) -> (String, String) {
        let base = |address| format!("http://{address}");
        (base(self.github), base(self.jules) + "/v1alpha")
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        run(self.program(arguments))
    }

    pub(super) fn tick(&self) -> Ran {
        self.run(&["tick", "--json"]).done()
    }

    /// Ticks and lets time pass until the state is as wanted.
    pub(super) fn until(&self, wanted: impl Fn(&State) -> bool) -> State {
        for _ in 0..50 {
            self.tick();
            let state = self.state();
            if wanted(&state) {
                return state;
            }
            self.pass(10);
        }
        panic!("the state never became what was wanted: {:?}", self.state());
    }

    pub(super) fn pass(&self, minutes: i64) {
        let mut world = self.shared.lock_world();
        let until = world.now() + SignedDuration::from_mins(minutes);
        world.advance_to(until);
    }

    /// The state file as the branch holds it.
    pub(super) fn state_text(&self) -> String {
        let world = self.shared.lock_world();
        let head = world.github().branch_head(self.repo, "jules").unwrap();
        let bytes = world.github().read_file(self.repo, head, STATE_PATH);
        String::from_utf8(bytes.unwrap().to_vec()).unwrap()
    }

    pub(super) fn state(&self) -> State {
        codec::load(&self.state_text()).unwrap().state
    }

    /// A person writes files to the branch `jules`, with git and without phileas.
    pub(super) fn write_ledger(&self, text: &str) {
        let mut world = self.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let files = [(STATE_PATH.to_owned(), Some(text.to_owned().into()))];
        let head = github.branch_head(self.repo, "jules");
        let commit = github.commit_files(self.repo, head, &files, "maintainer", "By hand", now);
        github.move_branch(self.repo, "jules", commit, "maintainer", now);
    }

    /// A person deletes the ledger branch.
    pub(super) fn delete_ledger(&self) {
        let mut world = self.shared.lock_world();
        let now = world.now();
        world
            .github_mut()
            .delete_branch(self.repo, "jules", "maintainer", now);
    }

    /// The head of the ledger branch.
    pub(super) fn head(&self) -> String {
        let world = self.shared.lock_world();
        let head = world.github().branch_head(self.repo, "jules");
        head.map_or_else(String::new, |head| head.to_string())
    }
}

/// The text of a file.
pub(super) fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
