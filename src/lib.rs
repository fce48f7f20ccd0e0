//! phileas keeps Google's Jules working on a GitHub repository by the clock: it reads a plan of personas, starts the
//! next Jules session when its turn has come, follows it to its outcome, and keeps the ledger of all this in git, on the
//! branch `jules`.
//!
//! # The house
//!
//! Three packages, so that the compiler, not a convention, keeps the core pure and the judge independent.
//!
//! | room | question it answers |
//! |---|---|
//! | [`phileas_domain`] | what is true, and what should happen next? Pure: no clock, no randomness, no I/O |
//! | [`adapters`] | how do GitHub, Jules, git and files say it? Each behind a port of the runtime |
//! | [`runtime`] | observe, decide, commit, execute, and again |
//! | [`action`] | how is a run of a workflow told of it? |
//! | [`jobs`] | what is somebody's own agent woken for, and how? |
//! | [`server`] | how do deliveries come in, and what stays when the process ends? |
//! | [`mcp`] | how does somebody's own agent hire Jules through it? |
//! | [`starter`] | what does a repository begin with? |
//! | [`cli`] | how do people and programs reach it? |
//! | [`sandbox`] | what does all this look like with models at the other ends of the wires? |
//! | [`phileas_world`] | those models: GitHub, Jules, a maintainer, fault plans; they share no type with the domain |
//!
//! Arrows: `domain` uses nothing of ours; adapters use the domain and the ports, and not one another
//! (`adapters/repository.rs` alone puts `github` and `ledger` together, and both send through `transport`); the runtime
//! uses the domain and its own ports; the command line and the sandbox use everything. A test holds the arrows.
//!
//! # One tick
//!
//! ```text
//! observe   one GraphQL read of GitHub; of Jules only what the decision still needs
//! decide    pure: one commit, effects, a report, and when to look again
//! commit    compare-and-swap on the head that was read; at most three sessions are announced by one commit
//! execute   the effects in order; what came of each is an event
//! again     decide with these events, until there is nothing left to do
//! ```
//!
//! # What is deliberately absent
//!
//! 1. `decide` performs no I/O, reads no clock, draws no randomness, and cannot fail. Bad input becomes a diagnostic;
//!    one broken persona stops one slot, never a track.
//! 2. Same snapshot, same events: same bytes out.
//! 3. An effect carries every value that carrying it out needs. Executing chooses nothing.
//! 4. No session without an intent: the turn is announced by a commit before Jules is called, and only the winner of
//!    that commit calls, once. A successor finds the session by its marker.
//! 5. Nobody but phileas writes the ledger.
//! 6. The state changes only by a commit whose parent is the head that was read. No merge of texts, no force, no
//!    deleted branch.
//! 7. History never shrinks. A corrupt ledger is not an absent one, and an absent one is not a fresh one.
//! 8. An event only says that something may be due. Every tick reads everything afresh.
//! 9. One tick at a time for a repository in a process; between processes the comparison at the branch decides.
//! 10. A 2xx to GitHub means that the delivery is on the disk. What cannot be stored is answered 503.
//! 11. Plan and prompts come from the default branch at one commit; from `jules` only data is read.
//! 12. Every loop, queue, retry, page walk and prompt has a named limit.
//! 13. Secrets never reach arguments, addresses, logs, state, comments or any host but their own.
//! 14. A dry run has no client that could write: it is given the reading ports alone.
//! 15. No template of a repository is rendered in this process: a child process does it, within limits of memory and time.
//!     Only tests and simulations render in process.
//!
//! # Where this differs from the first design
//!
//! - The repository variable `PHILEAS_PAUSED` is read from the environment. GraphQL does not show variables, the
//!   workflow's own token may not read them, and an idle tick is to cost one request; a workflow passes
//!   `vars.PHILEAS_PAUSED`.
//! - Journals are listed by the one read and fetched by a second one only for a persona that is about to start, so that
//!   years of journals do not travel with every tick. Of tasks and papers of sprints it tells only whether there are any;
//!   the same second one fetches those that are open, or of this sprint, and the files that its prompt is made from. Where
//!   those name others, one more read fetches these.
//! - What must still be read is asked of the engine itself (`engine::read_requests`), so that no second program guesses what
//!   the decision will look at.
//! - A listing may hide prompts and titles may be rewritten; then each session of unknown origin is looked at by its id
//!   before anybody says that a session does not exist.
//! - The Action runs `phileas action`, a command of its own, and not `phileas tick` when `GITHUB_ACTIONS` is set: people
//!   run `tick` in steps of their own and read its lines, and a variable that every workflow sets must change neither
//!   what it prints nor which events it heeds.
//! - A persona is skipped as sensitive on a public repository only when it says `sensitive: true`, unless the plan names
//!   it with `sensitive = true`.
//! - Labels are seen on the hundred issues that were touched last, for GitHub does not find labels by a prefix; and the
//!   text, the timeline and the permission that a wish is judged by are read only while it is undecided. A tick without
//!   wishes still costs one request.
//! - A look asks GitHub for as much as one point pays for, and again in full where that is not all: a page costs by what it
//!   may hold, so that one full question cost six points of every repository at rest. Of an account it is remembered which
//!   repositories are busy; those are asked in full at once.
//! - Two ports show all of a Jules key: `runtime/ports/account.rs` to those who watch it, `runtime/ports/hire.rs` to those
//!   who work with it by hand. They stay two. The one answers with what an event is judged by, is generic, and tells apart
//!   failures that make a whole key wait; the other answers with every text and page, and stands behind a `dyn`, since a
//!   service puts many keys behind it. One port would be both lists under one name.
//! - An agent is woken for a turn of a cycle by what the ledger says, and not by every question that Jules asks: what
//!   phileas answers, approves or tries again by itself needs nobody.
//! - What people ask for may go beyond `daily_sessions` by `reserve_for_people`, as it already goes beyond what the clock
//!   may take of the key: else the clock takes every place first, and whoever asks waits for most of a day.
//! - `/phileas retry` on the open pull request of a session starts nobody anew: what writers want changed goes back to that
//!   session, which knows what it did and why.
//! - What is shipped is built for its size (`--profile dist`: `opt-level = "s"`), but for what every delivery passes
//!   through. A plain release build is for people who build it themselves, and waits for no optimisation across crates.
//! - A lease lasts 15 seconds and is extended every five, in the embedded inbox, too: on PostgreSQL a service that died is
//!   to be taken over within 20, and one length for all is one less to reason about. Times come from the machines, as in
//!   the embedded inbox; one whose clock is far from the database's claims nothing.
//! - A tick ends when its lease is over by its own process' clock, too, and not only when the inbox says so: a process that
//!   stood still, or that waits for its database, would act by a lease that another holds by now, and learn of it later.
//! - Services that share an inbox need not know and reach the same. So a driver asks its ticker before it claims, and leaves
//!   for a minute to others what it could not do; and who is on no list is forgotten only after the list was read again,
//!   for another service may have heard of it first.
//! - The history keeps an index of what is not over and of what was turned down, made when it is first asked for and
//!   shared by every copy until somebody writes to one of them. Going through ten thousand entries for each track took
//!   most of a decision.
//! - Two replicas that look at the same moment may both write a request's first status comment, and no look before a write
//!   ends that. So whoever tells the next thing takes its own younger copies away; the oldest stays, whoever looks. A
//!   copy is what bears the same marker, was written by the same account within ten minutes and was edited by nobody else.
//! - Beside the one black-box binary of the tests stands `tests/postgres`, which needs a program that plain `cargo test`
//!   must do without; it takes its suite and its services from the same files.
//! - A push that brings a new commit of the service to the ledger is written down and wakes nobody. Whoever made the
//!   commit knows what it says and when to look again; heard, each would cost three ticks. What is older, forced or
//!   somebody else's is news. Two services on one repository with an inbox each learn of one another by the hour.
//! - Lost deliveries are asked for ten at first, from all over the list, and no further while those are refused: a full
//!   inbox would use up every event's five asks in vain.
//! - The webhook refuses no address for asking often: behind a proxy all of them are one. What bounds it is the number
//!   of connections, of bodies under way and of places in the queue, by network where it is seen.

pub mod action;
pub mod adapters;
pub mod cli;
pub mod jobs;
pub mod mcp;
pub mod runtime;
pub mod sandbox;
pub mod server;
pub mod starter;
