//! Renders prompts in a child process that limits itself.
//!
//! A repository's template can use unlimited memory and time: the engine's fuel counts instructions, and one filter
//! or comparison is one instruction. In the service, one template would stop or kill it for all repositories. So the
//! program starts itself once more, with the hidden argument [`ARGUMENT`]. The child limits its memory, processor
//! time, files and processes before it reads anything. It then answers [requests](RenderRequest) from its standard
//! input, one a line, and exits when the input ends. Its environment is empty, so that no secret reaches it, and it
//! has no network.
//!
//! A template then affects only its own persona's turn: if a child dies, the prompt that it was rendering fails, and
//! the next prompts go to a new child. At most [`MAX_CHILDREN`] run at once. They stay while a tick or a command
//! holds a [guard](Renderer::keep_ready), so that a tick starts one child, and an idle service has none.
//!
//! If a child cannot be started, or is ended from outside, the machine is to blame: the turn waits.
//!
//! | limit | where it is kept |
//! |---|---|
//! | [`MEMORY_LIMIT_BYTES`] | the child: `RLIMIT_DATA`. It counts what a process may write to: heap, private maps and the stack that a prompt is rendered on. `RLIMIT_AS` would count the program's own code as well, which has 30 MB as a release and 300 MB as a build for tests. Linux counts private maps since 4.7 ([getrlimit(2)](https://man7.org/linux/man-pages/man2/getrlimit.2.html)). Other systems have no such limit, or do not keep it |
//! | [`PROCESSOR_LIMIT_SECS`] | the child: `RLIMIT_CPU`, moved on before each prompt |
//! | [`WALL_LIMIT`] | the parent, which kills |
//! | [`ROUND_LIMIT`] | the parent: all prompts of one round |

mod child;
mod limits;
mod pool;
mod process_limits;
mod protocol;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use phileas_domain::prompt::{InProcess, RenderAnswer, RenderPrompts, RenderRequest};
use tokio::sync::Semaphore;

pub use limits::{
    ARGUMENT, MAX_CHILDREN, MEMORY_LIMIT_BYTES, PATIENCE, PROCESSOR_LIMIT_SECS, ROUND_LIMIT,
    STACK_LIMIT_BYTES, START_LIMIT, WALL_LIMIT,
};

use crate::runtime::ports::{Renderer, RendererGuard};
use pool::Pool;
use protocol::unavailable_answer;

static OF_THIS_PROGRAM: OnceLock<Arc<ChildRenderer>> = OnceLock::new();

/// Whether this process was started as a rendering child.
#[must_use]
pub fn is_child() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|word| word == ARGUMENT) && arguments.next().is_none()
}

/// Runs a child until its input ends.
#[must_use]
pub fn child_main() -> ExitCode {
    child::run()
}

/// Makes this process render its prompts in children of the same program. The program calls it first; users of the
/// library alone have no such children.
pub fn use_children() {
    OF_THIS_PROGRAM.get_or_init(|| Arc::new(ChildRenderer::new(own_program())));
}

/// The renderer of this process: children, once [`use_children`] was called.
#[must_use]
pub fn shared_renderer() -> Arc<dyn Renderer> {
    match OF_THIS_PROGRAM.get() {
        Some(children) => Arc::clone(children) as Arc<dyn Renderer>,
        None => Arc::new(InProcess),
    }
}

/// The file of this program. Linux keeps it available for a process even after it was replaced on the disk.
fn own_program() -> PathBuf {
    const OF_LINUX: &str = "/proc/self/exe";
    if cfg!(target_os = "linux") && std::fs::read_link(OF_LINUX).is_ok() {
        return OF_LINUX.into();
    }
    // Without `/proc`, only the name by which it was called is known.
    let called = || std::env::args_os().next().map(PathBuf::from);
    let known = std::env::current_exe().ok().or_else(called);
    let known = known.unwrap_or_default();
    std::path::absolute(&known).unwrap_or(known)
}

/// Renders prompts in children of one program.
#[derive(Debug)]
pub struct ChildRenderer {
    pool: Arc<Pool>,
    /// Ticks wait here for their turn: a tick that waited in the pool would take a thread for as long.
    turns: Arc<Semaphore>,
}

impl ChildRenderer {
    /// Children of the program at this path.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            pool: Arc::new(Pool::new(program)),
            turns: Arc::new(Semaphore::new(MAX_CHILDREN)),
        }
    }

    /// How many children were started.
    #[must_use]
    pub fn started_children(&self) -> usize {
        self.pool.started_children()
    }
}

impl RenderPrompts for ChildRenderer {
    fn render(&self, requests: &[RenderRequest]) -> Vec<RenderAnswer> {
        self.pool.render(requests)
    }
}

impl Renderer for ChildRenderer {
    fn keep_ready(&self) -> RendererGuard {
        let pool = Arc::clone(&self.pool);
        pool.keep_children();
        RendererGuard::new(move || pool.release_children())
    }

    fn render_later(
        &self,
        requests: Vec<RenderRequest>,
    ) -> Pin<Box<dyn Future<Output = Vec<RenderAnswer>> + Send>> {
        let (pool, turns) = (Arc::clone(&self.pool), Arc::clone(&self.turns));
        let wanted = requests.len();
        Box::pin(async move {
            // Without a turn within this time the pool says why, after it has waited as long itself.
            let _turn = tokio::time::timeout(PATIENCE, turns.acquire_owned()).await;
            let rendering = tokio::task::spawn_blocking(move || pool.render(&requests));
            rendering.await.unwrap_or_else(|error| {
                let failed = || unavailable_answer(format!("rendering ended: {error}"));
                std::iter::repeat_with(failed).take(wanted).collect()
            })
        })
    }
}
