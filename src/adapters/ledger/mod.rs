//! One commit on the ledger branch, by compare-and-swap.
//!
//! # Guarantees
//!
//! 1. **A win is a fact.** `Ok(oid)` is returned only if a commit with this parent, message and content is on the
//!    branch. The caller may then call Jules.
//! 2. **A loss is a fact, or harmless.** `Stale` is returned if the branch has moved and none of our commits is on it
//!    as far as GitHub shows. If a replica hid our commit for that long, the next read finds it as an intent with our
//!    name and without a session. It is then settled by searching Jules, never by creating another session.
//! 3. **At most once.** Every repetition demands the same parent, so only one of them can land.
//! 4. **Commits of others survive.** No force-push, no textual merge, no deletion: after a lost race the runtime
//!    decides again.
//! 5. **It ends.** Checks, waits and repetitions are counted: at most two swaps, and 12 s of waiting after each.
//!
//! # Races
//!
//! **Two writers with the same parent.** `createCommitOnBranch` moves the branch only if its head is
//! `expectedHeadOid`. One wins; the other gets `STALE_DATA`, or one of two texts.
//!
//! **The answer is lost** (closed connection, time-out, 5xx) **or is an error beside a status of 200.** Only the
//! branch shows whether the commit landed. Its commits are walked from the head down to our parent: the commit on top
//! of our parent is either ours, and we have won, or another's, and we have lost. The walk, instead of a check of the
//! head alone, matters if another commit was made on top of ours meanwhile.
//!
//! **The head is still our parent.** Either nothing landed, or a replica lags, or the commit is still in progress.
//! The branch is checked again after some seconds ([`CHECK_DELAYS`]), and then the same compare-and-swap is sent once more.
//! If the first one landed after all, the repetition is refused as stale, and the walk finds our commit. If nothing
//! is known even then, the call fails as `Retry`: the tick ends without an effect, and a late commit is harmless by
//! point 2.
//!
//! **Stale, though it was us.** A proxy may repeat a request: the first copy lands, the second is refused, and only
//! the refusal arrives. So a refusal is believed only after the same walk, which costs two reads in a rare case.
//!
//! **Which commit is ours?** Its parent is our parent and its message is our message, which names the holder. An
//! earlier tick of this process may have tried another commit with the same message on the same parent, so the
//! contents are compared too, as far as GitHub shows them whole.
//!
//! **The first commit.** There is no compare-and-swap against a missing branch, but creating a ref fails if it
//! exists. Tree and commit are written first and stay invisible until the ref exists. If two processes create it at
//! once, one gets 422 and is stale. If that answer is lost, the head decides: commit ids cannot be guessed, so a
//! branch at our root commit, or with it at its root, was created by us. A repository without any commit accepts no
//! objects (409).

mod commit;
mod commit_check;
mod first_commit;
mod limits;
mod message;
mod remote;

pub use commit::commit;
pub use limits::{CHECK_DELAYS, MAX_SWAPS};
pub use message::full_message;
pub use remote::{CommitFacts, Remote, Swap};

#[cfg(test)]
mod tests;
