//! One commit on the ledger branch, by compare-and-swap.
//!
//! # What is wanted
//!
//! 1. **A win is a fact.** `Ok(oid)` is said only when a commit with this very parent, message and content is on the
//!    branch. Whoever is told so may call Jules.
//! 2. **A loss is a fact, or harmless.** `Stale` is said when the branch has moved, and nothing of ours is on it as
//!    far as GitHub shows. Should a replica have hidden our own commit so long, the next read finds it as an intent
//!    with our name and without a session, which is settled by looking at Jules, never by starting once more.
//! 3. **At most once.** Whatever is repeated demands the same parent, so that of all repetitions one can land.
//! 4. **Nothing of others is lost.** No force, no merge of texts, no deletion: a lost race is decided anew above.
//! 5. **It ends.** Each look, wait and repetition is counted: at most two swaps, and 12 s of waiting after each.
//!
//! # The races, and what was chosen
//!
//! **Two writers with the same parent.** `createCommitOnBranch` moves the branch only when its head is
//! `expectedHeadOid`. One wins; the other is told `STALE_DATA`, or one of two texts.
//!
//! **The answer is lost** (cut connection, time-out, 5xx) **or is an error beside a status of 200.** Whether the
//! commit landed is seen on the branch only. Its chain is walked from the head down to our parent: the commit that
//! stands on our parent is either ours, and we have won, or another's, and we have lost. Walking, instead of looking
//! at the head alone, matters when somebody has committed on top of ours meanwhile.
//!
//! **The head is still our parent.** Either nothing landed, or a replica lags, or the commit is still under way. We
//! look again after some seconds ([`LOOKS`]) and then repeat the same compare-and-swap, once. If the first one landed
//! after all, the repetition is refused as stale, and the walk finds our commit. If nothing is known even then, the
//! call fails as `Retry`: the tick ends without an effect, and a late commit is harmless by point 2.
//!
//! **Stale, though it was us.** Something between us and GitHub may repeat a request of its own accord: the first
//! copy lands, the second is refused, and only the refusal is seen. So a refusal is believed only after the same walk;
//! this costs two reads in a case that is rare.
//!
//! **Which commit is ours?** Its parent is our parent and its message is our message, which names the holder. An
//! earlier tick of this process may have tried to commit something else with the same words on the same parent, so
//! the contents are compared too, as far as GitHub shows them whole.
//!
//! **The branch is born.** There is no compare-and-swap against nothing, but creating a ref refuses when it exists.
//! Tree and commit are written first; nobody sees them until the ref does. Of two that give birth at once, one gets
//! 422 and is stale. When that answer is lost, the head tells: commit ids cannot be guessed, so a branch that stands
//! on our orphan, or has it at its root, was made by us. A repository without any commit cannot take objects (409).

mod birth;
mod commit;
mod limits;
mod message;
mod remote;
mod trace;

pub use commit::commit;
pub use limits::{LOOKS, MAX_SWAPS};
pub use message::message;
pub use remote::{Recorded, Remote, Swap};

#[cfg(test)]
mod tests;
