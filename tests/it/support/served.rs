//! A world on loopback ports of its own, for the program's own processes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use phileas::sandbox::SharedWorld;
use phileas_world::Face;
use phileas_world::http::{ClockMode, Gate, serve};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Both faces of a world, served until this is dropped.
pub(crate) struct Served {
    pub(crate) github: SocketAddr,
    pub(crate) jules: SocketAddr,
    end: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves a world whose time stands still until a test moves it on.
    pub(crate) fn start(shared: &SharedWorld, gate: Option<Arc<dyn Gate>>) -> Self {
        let world = shared.shared_world();
        let (tell, addresses) = mpsc::channel();
        let (end, ending) = watch::channel(false);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let github = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let jules = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send((github.local_addr().unwrap(), jules.local_addr().unwrap()))
                    .unwrap();
                let face = |listener, face| {
                    let mut ending = ending.clone();
                    let ended = async move { ending.wait_for(|end| *end).await.map(drop) };
                    serve(
                        Arc::clone(&world),
                        listener,
                        face,
                        ClockMode::Manual,
                        gate.clone(),
                        ended,
                    )
                };
                tokio::join!(face(github, Face::Github), face(jules, Face::Jules));
            });
        });
        let (github, jules) = addresses.recv().unwrap();
        Self {
            github,
            jules,
            end,
            thread: Some(thread),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the served world panicked"
            );
        }
    }
}
