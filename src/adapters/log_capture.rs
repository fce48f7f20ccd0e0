//! What the adapters write to the log, kept for tests that look for secrets in it.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Everything that the present thread logs, down to the spans and their fields, until [`LogCapture::end`].
///
/// What other threads log is not in it, so the runtime of the test must have one thread only.
pub(crate) struct LogCapture {
    written: Written,
    here: DefaultGuard,
    _second: Dispatch,
}

impl LogCapture {
    pub(crate) fn begin() -> Self {
        // With one subscriber alive, tracing asks the thread that meets a span first whether anybody listens, and
        // other tests' threads say no for everybody, for good. With two alive it asks both of them.
        let second = Dispatch::new(tracing_subscriber::registry());
        let written = Written::default();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::FULL)
            .with_writer(written.clone())
            .finish();
        Self {
            written,
            here: tracing::subscriber::set_default(subscriber),
            _second: second,
        }
    }

    /// The log from the beginning until now.
    pub(crate) fn end(self) -> String {
        drop(self.here);
        String::from_utf8(self.written.0.lock().unwrap().clone()).unwrap()
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
