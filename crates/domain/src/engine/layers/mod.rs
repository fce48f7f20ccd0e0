//! Turns of layers: what narrator, observers, decider, planner, implementer, innovators and integrator do by way of
//! sessions, and how their work comes into the ledger.
//!
//! A layer's step **fans out into slots** (see [`Seat`]): one for each role of a roster, or each work item that is ready.
//! All slots of a step are announced in one commit, as live turns of one sequence number; budgets and
//! `INTENTS_PER_COMMIT` decide how many get their session at once, the others are started as there is room. The step is
//! done when its last slot is.
//!
//! **What is read when.** The exchange and the files of layers are read only when a step of a layer is due, or when a
//! session ended whose work is to be imported. A pass that is over leaves the pointer at its last step, also where the
//! last layers had nothing to do, so that nothing is read before the next pass begins.
//!
//! **A hop costs one tick.** The tick that sees a session end imports what it wrote, passes over layers that have nothing
//! to do, each with its reason, and announces the next layer's sessions, all in one commit: the draft of a decision
//! holds the exchange as that commit leaves it, so the next prompt is made of what was imported a moment ago.
//!
//! **Nothing is doubled, nothing is lost.** What a session wrote is imported in the commit that ends its turn. Who dies
//! before it has imported nothing; its successor finds the turn live and the session ended, and imports the same. A
//! work item leaves with the merge of its pull request and not before; when that is closed, or its session comes to
//! nothing, the item goes back with the reason and one attempt more.
//!
//! | file | question it answers |
//! |---|---|
//! | `seat` | whose turn is a slot? |
//! | `cast` | which roles and labels take part? |
//! | `documents` | which documents stand on the ledger beside the exchange? |
//! | `picture` | what does the exchange look like, as this decision leaves it? |
//! | `due` | what does a step fan out into, and why not? |
//! | `idle` | can layers that had nothing to do have something to do now? |
//! | `narrated` | what is there to tell of? |
//! | `speak` | what is a slot's session told? |
//! | `outcome` | what has its session come to? |
//! | `bring_in` | what of its work enters the ledger? |
//! | `publish` | which proposals become issues? |
//! | `offer` | which work waits for a person's word, and is it the work that was let through? |
//! | `reviewed` | why was a pull request turned down? |
//! | `settle` | what becomes of a work item? |

mod bring_in;
mod cast;
mod documents;
mod due;
mod idle;
mod narrated;
mod offer;
mod outcome;
mod picture;
mod publish;
mod reviewed;
mod seat;
mod settle;
mod speak;

pub(super) use bring_in::bring_in;
pub(super) use cast::Cast;
pub use documents::LEDGER_DOCUMENTS;
pub(super) use documents::write_documents;
pub(super) use due::{Due, due};
pub(super) use idle::{remember, sight};
pub use offer::WORK_LABEL;
pub(super) use offer::{
    asked_for as offered_by, closed, is_about as is_offer, seat_of, shown, stands,
    work as offered_work,
};
pub(super) use outcome::outcome;
pub(super) use picture::{Picture, at_hand, unread_for};
pub(super) use publish::{everybody as publish, published};
pub(super) use seat::Seat;
pub(super) use settle::{settle, settles_later};
pub(super) use speak::speak;
