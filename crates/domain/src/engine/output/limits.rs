//! Every time span and bound that the engine uses, in one place.

use jiff::SignedDuration;

/// An intent's session may exist, unseen, for this long: the client's time-out, skew of clocks, lag of listings.
pub(crate) const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// By how much two clocks may differ before a session counts as older than its intent.
pub(crate) const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(2);

/// How long the holder of an intent may wait before it calls Jules.
pub(crate) const INTENT_VALID: SignedDuration = SignedDuration::from_mins(2);

/// How many sessions one commit may announce.
pub(crate) const INTENTS_PER_COMMIT: usize = 3;

/// The longest pause from an attempt that has no session to the next one; it doubles from [`GRACE`].
pub(crate) const ABSENT_PAUSE_LIMIT: SignedDuration = SignedDuration::from_mins(30);

/// How many sessions of one turn may show up after a complete listing without them. Then a listing proves nothing any more,
/// and a person decides.
pub(crate) const LATE_FINDS_LIMIT: u32 = 2;

/// How long sessions that Jules does not show, or a listing that does not reach far enough, may hold a turn before a person
/// decides.
pub(crate) const UNREAD_PATIENCE: SignedDuration = SignedDuration::from_hours(1);

/// How soon a running session is looked at again.
pub(crate) const POLL: SignedDuration = SignedDuration::from_mins(1);

/// How soon an open pull request is looked at again when no webhook tells of it.
pub(crate) const PULL_POLL: SignedDuration = SignedDuration::from_mins(30);

/// How long after a session's end its pull request may still appear.
pub(crate) const PULL_LAG: SignedDuration = SignedDuration::from_mins(10);

/// How long a session's state may lag behind its own log, clocks that differ included. What it says meanwhile may be no
/// question, whatever its state says.
pub(crate) const STATE_LAG: SignedDuration = SignedDuration::from_mins(3);

/// How long a session's state may lag behind a message that was sent to it.
pub(crate) const MESSAGE_LAG: SignedDuration = SignedDuration::from_mins(15);

/// Nothing is left alone for longer than this.
pub(crate) const RECONCILE: SignedDuration = SignedDuration::from_hours(1);

/// The pause after the first sign that the key's quota is spent; it doubles.
pub(crate) const QUOTA_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// The longest pause of a spent key.
pub(crate) const QUOTA_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(6);

/// The pause after a create that was never sent, or whose key was refused.
pub(crate) const UNSENT_PAUSE: SignedDuration = SignedDuration::from_mins(2);

/// The pause after a create that Jules refused; it doubles.
pub(crate) const REFUSED_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// The longest pause of a refused create.
pub(crate) const REFUSED_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// The pause after an effect that GitHub refused; it doubles.
pub(crate) const EFFECT_PAUSE: SignedDuration = SignedDuration::from_mins(30);

/// The longest pause of a refused effect.
pub(crate) const EFFECT_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// How long failed checks are left to Jules' own CI Fixer, from the last commit, check or activity on.
pub(crate) const CHECKS_GRACE: SignedDuration = SignedDuration::from_mins(20);

/// A day.
pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The rolling day of budgets. Sessions are dated by Jules' clock and looked at by GitHub's, so a budget's day is longer
/// than a day by what the two may differ.
pub(crate) const BUDGET_DAY: SignedDuration = SignedDuration::from_mins(24 * 60 + 2);

/// How late a slot may be answered where missed slots are forgotten: one hourly run and its delay.
pub(crate) const CATCH_UP_TOLERANCE: SignedDuration = SignedDuration::from_mins(90);

/// A rest in a track ends after this long for each cycle of it, also when the track stands still.
pub(crate) const REST_DAYS_PER_CYCLE: i64 = 7;

/// A rest of a schedule lasts this many days for each cycle.
pub(crate) const REST_DAYS_PER_SLOT: i64 = 1;

/// An open pull request that nobody looked at for this long counts as ignored.
pub(crate) const IGNORED_AFTER: SignedDuration = SignedDuration::from_hours(14 * 24);

/// How many open pull requests of finished turns are followed.
pub(crate) const PULLS_FOLLOWED: usize = 50;

/// An open pull request that GitHub has not had for so long after its session was started counts as closed.
pub(crate) const GONE_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many numbers of pull requests one line names.
pub(crate) const NUMBERS_NAMED: usize = 10;

/// Finished requests are remembered for this long.
pub(crate) const REQUEST_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How many slots of one schedule are answered one by one.
pub(crate) const SLOTS_LIMIT: usize = 50;

/// How many roles of a roster one step of a layer starts.
pub(crate) const ROLES_AT_ONCE: usize = 40;

/// How many work items one step of a layer starts.
pub(crate) const ITEMS_AT_ONCE: usize = 5;

/// How many deciders' sessions one pass has for one stream.
pub(crate) const DECIDER_BATCHES: usize = 8;

/// How many issues are opened for proposals in one go.
pub(crate) const PUBLISHED_AT_ONCE: usize = 6;

/// An issue that did not open, or did not close, is asked for again after this; each time twice as long.
pub(crate) const PUBLISH_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// So many times. Then it is told of, and asked for once a day: what GitHub refuses for good, a person has to mend.
pub(crate) const PUBLISH_REPEATS: u32 = 6;

/// How many work items wait for a person as issues at the same time.
pub(crate) const OFFERED_AT_ONCE: usize = 12;

/// How many of the issues that show work are looked at to see whether somebody has closed them, the newest.
pub(crate) const OFFERS_LOOKED: usize = 40;

/// Of how many accounts that spoke of one pull request it is asked what they may do.
pub(crate) const SPEAKERS_LOOKED: usize = 30;

/// How many remarks of people who may write the next implementer is told, the newest.
pub(crate) const REMARKS_KEPT: usize = 10;

/// How much of one remark is told, in characters.
pub(crate) const REMARK_CHARS: usize = 400;

/// Of how many pull requests an integrator is told what people said.
pub(crate) const PULLS_TALKED_OF: usize = 10;

/// How many issues of proposals are remembered.
pub(crate) const PUBLISHED_KEPT: usize = 300;

/// What an import could not take, as the turn's note tells it, is cut here, in characters.
pub(crate) const FINDINGS_NOTE_CHARS: usize = 800;

/// A commit's subject is cut here, in characters.
pub(crate) const HEADLINE_LIMIT: usize = 160;

/// A person who was called by an issue that is not there any more, or never was, is called again after this.
pub(crate) const CALL_AGAIN: SignedDuration = SignedDuration::from_hours(6);

/// How often an answer or a reminder that does not arrive is sent again.
pub(crate) const MESSAGE_REPEATS: u32 = 6;

/// How long after its end a session that was given up is still looked for, to archive it.
pub(crate) const GIVEN_UP_SEEN: SignedDuration = SignedDuration::from_hours(2);

/// Among so many of the newest entries.
pub(crate) const GIVEN_UP_LOOKED: usize = 50;

/// How far a listing reaches back, at the most, to see whether somebody put an older ledger back.
pub(crate) const ROLLBACK_SEEN: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The longest pause that Jules itself can ask for.
pub(crate) const RETRY_AFTER_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// How many sessions of unknown origin are looked at in one go.
pub(crate) const SESSIONS_READ: usize = 20;

/// A request that could not be started for this long is refused.
pub(crate) const REQUEST_VALID: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many issues and pull requests with labels are looked at in one go.
pub(crate) const SUBJECTS_READ: usize = 20;

/// Of how many accounts it is asked what they may do, in one go.
pub(crate) const ACCOUNTS_READ: usize = 50;

/// Of so many of them at the most that neither the ledger nor GitHub calls close to the repository. The others find room
/// beside a crowd.
pub(crate) const OUTSIDERS_READ: usize = 20;

/// A command of one of them whose author could not be looked up for this long is left alone, and that is said.
pub(crate) const LOOK_UP_PATIENCE: SignedDuration = SignedDuration::from_hours(6);

/// How many wishes one commit takes up or acknowledges; what stops something always is.
pub(crate) const WISHES_TAKEN: usize = 20;

/// A status comment that is not confirmed is written again after this.
pub(crate) const STATUS_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// What is new waits so long for a first comment that is not confirmed: its writer may be at it for as long as an intent is
/// good, and who looks for it right afterwards may not be shown it yet.
pub(crate) const STATUS_SETTLES: SignedDuration = SignedDuration::from_mins(3);

/// So many times; a comment that GitHub does not let us write is not worth more.
pub(crate) const STATUS_REPEATS: u32 = 6;

/// While something waits, its status comment changes no more often than this.
pub(crate) const STATUS_CALM: SignedDuration = SignedDuration::from_mins(15);

/// How many requests that are over one status comment shows.
pub(crate) const STATUS_REQUESTS: usize = 5;

/// How much current work one status comment shows.
pub(crate) const STATUS_WORK: usize = 10;

/// How many lines the answer to `status` or `explain` has. It is written into the ledger.
pub(crate) const ANSWER_LINES: usize = 40;

/// Above so many refused personas and turns at a time, one issue lists them in the place of one issue each.
pub(crate) const REFUSALS_APART: usize = 3;

/// How many of them it names.
pub(crate) const REFUSALS_SHOWN: usize = 30;

/// A refusal is forgotten so long after the persona could have been tried again: the plan has it no more.
pub(crate) const REFUSAL_KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// How many mistakes of a plan its notice names.
pub(crate) const MISTAKES_SHOWN: usize = 20;

/// How many steps of a plan people are shown.
pub(crate) const PLAN_STEPS: usize = 30;

/// How many lines of them, titles and descriptions together.
pub(crate) const PLAN_LINES: usize = 80;

/// How long each line is, in characters.
pub(crate) const PLAN_LINE: usize = 160;

/// How many plans one status comment shows.
pub(crate) const PLANS_SHOWN: usize = 3;

/// Jules' own account on GitHub.
pub(crate) const JULES_LOGIN: &str = "google-labs-jules[bot]";

/// How many messages about failed checks one pull request's session gets, over all its commits.
pub(crate) const MAX_FIX_ROUNDS: u32 = 2;

/// How many messages about what reviewers want changed one pull request's session gets, over all its commits. A person asks
/// for each of them, and what fails by itself neither uses them up nor is used up by them.
pub(crate) const MAX_REVIEW_ROUNDS: u32 = 6;

/// How many pull requests' reviews are read in one go.
pub(crate) const REVIEWS_READ: usize = 5;

/// Of how many reviewers of one pull request it is asked what they may do: the newest.
pub(crate) const REMARKERS_READ: usize = 15;

/// How many messages about merging its base one pull request's session gets, over all its commits.
pub(crate) const MAX_BASE_ROUNDS: u32 = 3;

/// People are reminded of a pull request that nobody has reviewed for this long.
pub(crate) const STALE_AFTER: SignedDuration = SignedDuration::from_hours(3 * 24);

/// How many pull requests people are reminded of in one go.
pub(crate) const REMINDED_AT_ONCE: usize = 5;

/// How often something about a pull request is done again that is not known to have been done.
pub(crate) const DOING_REPEATS: u32 = 2;

/// How long to wait before that.
pub(crate) const DONE_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// How many commits' checks are read one by one in one go.
pub(crate) const CHECKS_READ: usize = 5;

/// A merge that GitHub was asked for and that does not show is asked for again after this.
pub(crate) const MERGE_AGAIN: SignedDuration = SignedDuration::from_mins(5);

/// How often GitHub is asked to merge one pull request.
pub(crate) const MERGE_ATTEMPTS: u32 = 3;

/// How long a merge that was put off waits; each time twice as long, up to [`PULL_POLL`].
pub(crate) const MERGE_PUT_OFF: SignedDuration = SignedDuration::from_mins(1);

/// How many pull requests are looked at right before their merge in one go.
pub(crate) const MERGES_READ: usize = 5;

/// How often a merge waits for GitHub to work out whether it can be done; about two hours.
pub(crate) const MERGE_UNKNOWN_LOOKS: u32 = 8;

/// How long after a commit its checks may still begin; before that, green is not yet green.
pub(crate) const CHECKS_BEGIN: SignedDuration = SignedDuration::from_mins(2);

/// How soon checks that a merge waits for are looked at again when no webhook tells of them.
pub(crate) const CHECKS_POLL: SignedDuration = SignedDuration::from_mins(5);

/// How many reviewers' permissions are looked at before one merge.
pub(crate) const REVIEWERS_READ: usize = 20;

/// How many sessions are looked at by themselves in one go, because something is to be said to them.
pub(crate) const LISTENERS_READ: usize = 5;

/// A session or checks that nothing can be done about are looked at again after five minutes, and at last after this.
pub(crate) const LOOKS_APART: SignedDuration = SignedDuration::from_hours(6);

/// How long after a word a session counts as at work again, unless it is seen to be done or has pushed.
pub(crate) const REOPENED: SignedDuration = SignedDuration::from_hours(1);

/// How long a session has to answer a message about its pull request by a new commit, before a person is called.
pub(crate) const FIX_PATIENCE: SignedDuration = SignedDuration::from_hours(6);

/// A session that is at work is not spoken to, unless it has been quiet for this long: some never say that they are done.
pub(crate) const QUIET: SignedDuration = SignedDuration::from_mins(30);

/// A commit that was made later than this after its session last moved is somebody else's.
pub(crate) const PUSH_LAG: SignedDuration = SignedDuration::from_mins(15);

/// How often a person is called about one pull request.
pub(crate) const PULL_CALLS: u32 = 2;

/// How long after its pull request was merged or closed, and after it last moved, a session is archived: a reopened one
/// is still found until then, and nobody is interrupted.
pub(crate) const ARCHIVED_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// A session that could not be archived for this long after it was due is left as it is.
pub(crate) const ARCHIVING_GIVEN_UP: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How often a session is to be archived before it is left as it is.
pub(crate) const ARCHIVE_TRIES: u32 = 8;

/// How many sessions are looked at in one go, to archive them.
pub(crate) const ARCHIVED_AT_ONCE: usize = 5;

/// How many edits of an issue's text GitHub is asked for, the newest. Behind so many there may be another one that counts.
pub(crate) const EDITS_SHOWN: usize = 20;

/// The dashboard issue changes no more often than this, unless a person did something to it.
pub(crate) const DASHBOARD_CALM: SignedDuration = SignedDuration::from_mins(15);

/// A text of the dashboard issue that did not arrive is written again after this.
pub(crate) const DASHBOARD_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// So many times.
pub(crate) const DASHBOARD_REPEATS: u32 = 6;

/// How many tracks, schedules and requests the dashboard issue shows.
pub(crate) const DASHBOARD_TRACKS: usize = 60;

/// How many personas it shows.
pub(crate) const DASHBOARD_PERSONAS: usize = 40;

/// How many personas have a box to be started by.
pub(crate) const DASHBOARD_BOXES: usize = 20;

/// How many requests that were made by its boxes it shows.
pub(crate) const DASHBOARD_REQUESTS: usize = 5;

/// A cell of its tables is cut here, in characters.
pub(crate) const DASHBOARD_CELL: usize = 160;
