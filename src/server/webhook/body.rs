//! Reading bodies within limits of size, time and memory.
//!
//! A body up to [`SMALL_BODY`] is bounded by the number of connections. What a larger one needs beyond that is taken
//! from [`LARGE_ROOM`], which all of them share, so that neither many nor large bodies fill the memory, and large ones
//! never keep small ones waiting.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The largest body in bytes: GitHub's own cap.
pub const MAX_BODY: usize = 25 << 20;
/// How long a body may take, from its first byte to its last. GitHub gives up after 10 s.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Up to here a body needs no room of the large ones, in bytes. Most deliveries have 8 to 30 KB.
pub const SMALL_BODY: usize = 64 << 10;
/// How much all larger bodies may take together, in bytes.
pub const LARGE_ROOM: usize = 64 << 20;
/// The unit in which that is given out, in bytes.
const UNIT: usize = 64 << 10;
const _: () = assert!(LARGE_ROOM >= 2 * MAX_BODY);

/// The room of large bodies.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_ROOM / UNIT)))
    }
}

/// A body that was read, and the room that it takes.
#[derive(Debug)]
pub(super) struct Read {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl Read {
    /// The body as it came.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
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
pub(super) async fn read(
    body: Body,
    announced: Option<usize>,
    room: &Room,
) -> Result<Read, Refused> {
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(Refused::TooLarge);
    }
    // A body without a length may become as large as any.
    let wanted = announced
        .or_else(|| body.is_end_stream().then_some(0))
        .unwrap_or(MAX_BODY);
    let room = if wanted > SMALL_BODY {
        let units = u32::try_from(wanted.div_ceil(UNIT)).expect("the largest body has 400 units");
        let given = timeout(BODY_TIMEOUT, Arc::clone(&room.0).acquire_many_owned(units)).await;
        Some(
            given
                .map_err(|_| Refused::NoRoom)?
                .map_err(|_| Refused::NoRoom)?,
        )
    } else {
        None
    };
    let bytes = timeout(BODY_TIMEOUT, collect(body, wanted))
        .await
        .map_err(|_| Refused::TooSlow)??;
    Ok(Read { bytes, _room: room })
}

async fn collect(mut body: Body, most: usize) -> Result<Bytes, Refused> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refused::CutOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > most {
            return Err(Refused::TooLarge);
        }
        if whole.is_empty() {
            if body.is_end_stream() {
                // The usual case: it came in one piece, and needs no copy.
                return Ok(data);
            }
            // What was announced is allocated once, so that growing never doubles it.
            whole.reserve_exact(most.min(SMALL_BODY).max(data.len()));
        } else if whole.capacity() < whole.len() + data.len() {
            let grown = (whole.capacity() * 2).clamp(whole.len() + data.len(), most);
            whole.reserve_exact(grown - whole.len());
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
}
