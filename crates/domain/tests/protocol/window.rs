//! The one window that stays open, and how wide it is.
//!
//! A turn can have two live sessions only when a session that exists is not seen by a complete listing that was taken
//! after the grace. That takes one of two things, because a process that holds an intent calls Jules within its validity or
//! not at all:
//!
//! - **A late listing.** No process settles the turn within the grace (the answer is lost, or its process dies), *and* the
//!   listing still does not show the session at the end of the grace.
//! - **A late request.** The process, or its request, stands still between the check of the deadline and its arrival at
//!   Jules for longer than the grace less the validity, *and* still goes out.
//!
//! With the grace `G`, the validity `V`, the client's time-out `T`, the chance `q` that a created session is not settled
//! by its own process, a lag of listings that is exponential with mean `L`, `r` stalls of more than `G - V` an hour of a
//! process, and `d` between the check and the arrival, the chance of a double in a turn is
//!
//! ```text
//! p = q * exp(-(G - V - T) / L) + r * d
//! ```
//!
//! Without a key of idempotency at Jules neither can be brought to zero. A double costs one session: it is recorded as
//! the turn's duplicate and archived as soon as a listing shows it.

// Minutes of the grace, of an intent's validity, and of the client's time-out.
const GRACE: f64 = 15.0;
const VALIDITY: f64 = 2.0;
const TIME_OUT: f64 = 0.5;

/// What is assumed of the world.
struct Assumed {
    /// The chance that the process which created a session does not settle it.
    unsettled: f64,
    /// The mean lag of listings, in minutes.
    lag: f64,
    /// Stalls of a process for longer than the grace less the validity, an hour.
    stalls: f64,
    /// Seconds between the check of the deadline and the arrival of the request.
    exposed: f64,
}

/// The chance of a double in one turn, by a late listing and by a late request.
fn chance(assumed: &Assumed) -> (f64, f64) {
    let listing = assumed.unsettled * (-(GRACE - VALIDITY - TIME_OUT) / assumed.lag).exp();
    let request = assumed.stalls * assumed.exposed / 3600.0;
    (listing, request)
}

#[test]
fn the_window_is_as_wide_as_is_said() {
    // One create in a thousand goes unsettled; one session in a hundred is unseen after five minutes; a process stands
    // still for a quarter of an hour once in a thousand hours; a request takes a second.
    let assumed = Assumed {
        unsettled: 1e-3,
        lag: 5.0 / 100_f64.ln(),
        stalls: 1e-3,
        exposed: 1.0,
    };
    let (listing, request) = chance(&assumed);
    let a_year = (listing + request) * 5.0 * 365.0 * 100.0;
    println!(
        "the window: {listing:.1e} a turn by a late listing, {request:.1e} by a late request; in a hundred \
         repositories of five turns a day {a_year:.2} doubles a year"
    );
    assert!((9e-9..1.1e-8).contains(&listing));
    assert!((2.7e-7..2.8e-7).contains(&request));
    // A grace of five minutes instead would let ten thousand times as many late listings through.
    let hasty = assumed.unsettled * (-(5.0 - VALIDITY - TIME_OUT) / assumed.lag).exp();
    assert!(hasty > 5_000.0 * listing);
}
