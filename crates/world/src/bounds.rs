//! Checks the bounds of values in files and requests, beyond which a world could not do what they ask.

use std::fmt::Display;

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error};

/// The largest count or number of seconds; about thirty years.
const MOST: u64 = 1_000_000_000;
/// The longest duration of a session, in minutes or seconds; in seconds it is about ninety years.
const LONGEST: f64 = 3e9;
/// The statuses that a reply can have. A status below 200 is not final, so no server may end with it.
const STATUSES: std::ops::RangeInclusive<u16> = 200..=599;

/// A value that has bounds.
pub(crate) trait Bounded {
    /// What is wrong with the value and how to fix it; none when it is within its bounds.
    fn out_of_bounds(&self) -> Option<String> {
        None
    }
}

impl Bounded for bool {}
impl Bounded for u32 {}

impl Bounded for u64 {
    fn out_of_bounds(&self) -> Option<String> {
        (*self > MOST).then(|| range_error(self, &format!("a whole number from 0 to {MOST}")))
    }
}

impl Bounded for i64 {
    fn out_of_bounds(&self) -> Option<String> {
        (self.unsigned_abs() > MOST)
            .then(|| range_error(self, &format!("a whole number from -{MOST} to {MOST}")))
    }
}

/// Every fraction in the settings is a probability or a share.
impl Bounded for f64 {
    fn out_of_bounds(&self) -> Option<String> {
        (!(0.0..=1.0).contains(self))
            .then(|| range_error(number_text(*self), "a number from 0 to 1, such as 0.2"))
    }
}

impl<T: Bounded> Bounded for Option<T> {
    fn out_of_bounds(&self) -> Option<String> {
        self.as_ref().and_then(Bounded::out_of_bounds)
    }
}

/// Reads a value and checks its bounds.
pub(crate) fn read_bounded<'de, D: Deserializer<'de>, T: Deserialize<'de> + Bounded>(
    from: D,
) -> Result<T, D::Error> {
    let value = T::deserialize(from)?;
    match value.out_of_bounds() {
        Some(wrong) => Err(D::Error::custom(wrong)),
        None => Ok(value),
    }
}

/// Reads the status of a reply.
pub(crate) fn read_status<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    let status = u16::deserialize(from)?;
    if STATUSES.contains(&status) {
        return Ok(status);
    }
    let (least, most) = (STATUSES.start(), STATUSES.end());
    let status = format!("the status {status}");
    Err(D::Error::custom(range_error(
        status,
        &format!("one from {least} to {most}"),
    )))
}

/// Reads an ordinal number, counted from 1.
pub(crate) fn read_nth<'de, D: Deserializer<'de>, T: Deserialize<'de> + PartialEq + From<u8>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let nth = Option::<T>::deserialize(from)?;
    if nth.as_ref().is_some_and(|nth| *nth == T::from(0)) {
        return Err(D::Error::custom(range_error(
            0,
            "a whole number of 1 or more",
        )));
    }
    Ok(nth)
}

/// Reads an optional instant.
pub(crate) fn read_instant<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        D::Error::custom(format!(
            "`{text}` is not a time; write one such as `2026-01-05T00:00:00Z`"
        ))
    })
}

/// Reads an optional duration.
pub(crate) fn read_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let time = Option::<f64>::deserialize(from)?;
    time.map(check_duration)
        .transpose()
        .map_err(D::Error::custom)
}

/// Reads a delay.
pub(crate) fn read_delay<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    check_duration(f64::deserialize(from)?).map_err(D::Error::custom)
}

fn check_duration(time: f64) -> Result<f64, String> {
    if (0.0..=LONGEST).contains(&time) {
        Ok(time)
    } else {
        Err(range_error(
            number_text(time),
            &format!("a number from 0 to {LONGEST}"),
        ))
    }
}

/// A number, without dozens of zeros.
fn number_text(number: f64) -> String {
    match number.abs() {
        size if size == 0.0 || (1e-6..1e15).contains(&size) => number.to_string(),
        _ => format!("{number:e}"),
    }
}

fn range_error(value: impl Display, shape: &str) -> String {
    format!("{value} is out of range; write {shape}")
}
