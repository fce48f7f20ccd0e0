//! Captures the log for tests that search it for secrets.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Everything that the current thread logs, including spans and their fields, until [`LogCapture::end`].
///
/// Logs of other threads are missing, so the runtime of the test must have one thread only.
pub(crate) struct LogCapture {
    written: Written,
    here: DefaultGuard,
    _second: Dispatch,
}

impl LogCapture {
    pub(crate) fn begin() -> Self {
        // With one subscriber, tracing asks only the thread that reaches a span first, and the answer of another
        // test's thread would disable it for all. With two subscribers it asks both.
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

    /// Returns the captured log.
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
