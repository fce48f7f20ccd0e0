//! What a client says, to its end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::mcp::Server;

/// Standard input. Some clients leave out the end of the last line; what they said counts all the same. At its end the
/// server lets go whoever waits, or it would wait with them.
pub(super) struct ToItsEnd<R> {
    input: R,
    server: Server,
    is_closed: bool,
}

impl<R> ToItsEnd<R> {
    pub(super) fn new(input: R, server: Server) -> Self {
        Self {
            input,
            server,
            is_closed: false,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for ToItsEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_closed {
            self.server.end();
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        if matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() == before {
            self.is_closed = true;
            buffer.put_slice(b"\n");
        }
        read
    }
}
