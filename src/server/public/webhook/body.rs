//! Reads bodies within limits of size, time and memory.
//!
//! The number of connections limits the memory of bodies up to [`SMALL_BODY`]. Larger bodies take
//! the rest from [`LARGE_ROOM`], which all of them share. So neither many nor large bodies fill the
//! memory, and large ones never block small ones. A client gets no more memory than it has sent:
//! the announcement of a large body costs nothing.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::server::public::listen::{BODY_TIMEOUT, BodyError};

/// The largest body in bytes: GitHub's own cap.
pub const MAX_BODY: usize = 25 << 20;
/// Up to this size, in bytes, a body needs no shared room. Most deliveries have 8 to 30 KB.
pub const SMALL_BODY: usize = 64 << 10;
/// The shared room of all larger bodies, in bytes.
pub const LARGE_ROOM: usize = 64 << 20;
/// The unit of that room, in bytes.
const UNIT: usize = 64 << 10;
const _: () = assert!(LARGE_ROOM >= 2 * MAX_BODY);

/// The shared room of large bodies.
#[derive(Debug, Clone)]
pub(super) struct BodyMemory(Arc<Semaphore>);

impl Default for BodyMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_ROOM / UNIT)))
    }
}

/// A body that was read, and its share of the room.
#[derive(Debug)]
pub(super) struct ReadBody {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl ReadBody {
    /// The received bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyRefusal {
    /// It is larger than [`MAX_BODY`].
    TooLarge,
    /// It did not arrive within [`BODY_TIMEOUT`].
    TooSlow,
    /// It ended early.
    CutOff,
    /// Other large bodies used all the room for as long as this one could wait.
    NoRoom,
}

/// Reads a whole body. `announced` is the length in its head.
pub(super) async fn read_body(
    body: Body,
    announced: Option<usize>,
    room: &BodyMemory,
) -> Result<ReadBody, BodyRefusal> {
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(BodyRefusal::TooLarge);
    }
    // A body without a length may have the largest size.
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
            // The usual case: the body arrived in one piece, and needs no copy.
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

/// A body in several pieces.
struct GrowingBody<'a> {
    bytes: Vec<u8>,
    /// Its largest possible size.
    most: usize,
    /// The size that it may reach without more room.
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
            // The granted room is allocated at once, so that a growing body never takes more.
            self.bytes
                .reserve_exact(self.granted.max(length) - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Takes room for twice the present size, or for the largest possible size.
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
