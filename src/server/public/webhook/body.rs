//! Reading bodies within limits of size, time and memory.
//!
//! A body up to [`SMALL_BODY`] is bounded by the number of connections. What a larger one needs beyond that is taken
//! from [`LARGE_ROOM`], which all of them share, so that neither many nor large bodies fill the memory, and large ones
//! never keep small ones waiting. A client gets no more memory than it has sent already: to announce a large body costs nothing.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::server::public::listen::{BODY_TIMEOUT, BodyError};

/// The largest body in bytes: GitHub's own cap.
pub const MAX_BODY: usize = 25 << 20;
/// Up to here a body needs no room of the large ones, in bytes. Most deliveries have 8 to 30 KB.
pub const SMALL_BODY: usize = 64 << 10;
/// How much all larger bodies may take together, in bytes.
pub const LARGE_ROOM: usize = 64 << 20;
/// The unit in which that is given out, in bytes.
const UNIT: usize = 64 << 10;
const _: () = assert!(LARGE_ROOM >= 2 * MAX_BODY);

/// The room of large bodies.
#[derive(Debug, Clone)]
pub(super) struct BodyMemory(Arc<Semaphore>);

impl Default for BodyMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_ROOM / UNIT)))
    }
}

/// A body that was read, and the room that it takes.
#[derive(Debug)]
pub(super) struct ReadBody {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl ReadBody {
    /// The body as it came.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyRefusal {
    /// It is larger than [`MAX_BODY`].
    TooLarge,
    /// It did not come within [`BODY_TIMEOUT`].
    TooSlow,
    /// It ended before its end.
    CutOff,
    /// Other large bodies took all the room for as long as this one could wait.
    NoRoom,
}

/// Reads a body whole. `announced` is the length that its head tells.
pub(super) async fn read_body(
    body: Body,
    announced: Option<usize>,
    room: &BodyMemory,
) -> Result<ReadBody, BodyRefusal> {
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(BodyRefusal::TooLarge);
    }
    // A body without a length may become as large as any.
    let most = announced.unwrap_or(MAX_BODY);
    let mut growing = GrowingBody {
        bytes: Vec::new(),
        most,
        granted: most.min(SMALL_BODY),
        room,
        taken: None,
    };
    let mut body = body;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| refusal_reason(&error))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if growing.bytes.is_empty() && data.len() <= growing.granted && body.is_end_stream() {
            // The usual case: it came in one piece, and needs no copy.
            return Ok(ReadBody {
                bytes: data,
                _room: None,
            });
        }
        growing.add_chunk(&data).await?;
    }
    Ok(ReadBody {
        bytes: growing.bytes.into(),
        _room: growing.taken,
    })
}

/// A body of several pieces.
struct GrowingBody<'a> {
    bytes: Vec<u8>,
    /// How large it may become.
    most: usize,
    /// How large it may become without more room.
    granted: usize,
    room: &'a BodyMemory,
    taken: Option<OwnedSemaphorePermit>,
}

impl GrowingBody<'_> {
    async fn add_chunk(&mut self, data: &[u8]) -> Result<(), BodyRefusal> {
        let length = self.bytes.len() + data.len();
        if length > self.most {
            return Err(BodyRefusal::TooLarge);
        }
        if length > self.granted {
            self.grow_memory(length).await?;
        }
        if self.bytes.capacity() < length {
            // What is granted is allocated at once, so that growing never takes more than that.
            self.bytes
                .reserve_exact(self.granted.max(length) - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Takes room for twice of what there is, or for all that there will be.
    async fn grow_memory(&mut self, length: usize) -> Result<(), BodyRefusal> {
        let wanted = (2 * self.granted).max(length).min(self.most);
        let units = (wanted - self.granted).div_ceil(UNIT);
        let units = u32::try_from(units).expect("the largest body has 400 units");
        let given = timeout(
            BODY_TIMEOUT,
            Arc::clone(&self.room.0).acquire_many_owned(units),
        );
        let given = given.await.map_err(|_| BodyRefusal::NoRoom)?;
        let given = given.map_err(|_| BodyRefusal::NoRoom)?;
        match &mut self.taken {
            Some(taken) => taken.merge(given),
            None => self.taken = Some(given),
        }
        self.granted = wanted;
        Ok(())
    }
}

/// Why the listener has ended a body.
fn refusal_reason(error: &(dyn Error + 'static)) -> BodyRefusal {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(BodyError::TooSlow) = error.downcast_ref() {
            return BodyRefusal::TooSlow;
        }
        cause = error.source();
    }
    BodyRefusal::CutOff
}
