//! All time spans and limits of the engine.

use jiff::SignedDuration;

/// An intent's session may exist without being listed for this long: the client's time-out, clock skew, lag of
/// listings.
pub(crate) const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// How much two clocks may differ before a session counts as older than its intent.
pub(crate) const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(2);

/// How long the holder of an intent may wait before it calls Jules.
pub(crate) const INTENT_VALID: SignedDuration = SignedDuration::from_mins(2);

/// Maximum sessions that one commit announces.
pub(crate) const INTENTS_PER_COMMIT: usize = 3;

/// The longest pause between an attempt without a session and the next one; it doubles from [`GRACE`].
pub(crate) const ABSENT_PAUSE_LIMIT: SignedDuration = SignedDuration::from_mins(30);

/// Maximum sessions of one turn that may appear after a complete listing without them. After that no listing is proof,
/// and a person decides.
pub(crate) const LATE_FINDS_LIMIT: u32 = 2;

/// How long unreadable sessions, or a listing that is too short, may hold a turn before a person decides.
pub(crate) const UNREAD_PATIENCE: SignedDuration = SignedDuration::from_hours(1);

/// Interval between checks of a running session.
pub(crate) const POLL: SignedDuration = SignedDuration::from_mins(1);

/// Interval between checks of an open pull request without a webhook.
pub(crate) const PULL_POLL: SignedDuration = SignedDuration::from_mins(30);

/// How long after a session's end its pull request may still appear.
pub(crate) const PULL_LAG: SignedDuration = SignedDuration::from_mins(10);

/// How long a session's state may lag behind its own activities, clock skew included. A message within this time may be
/// no question, whatever the state says.
pub(crate) const STATE_LAG: SignedDuration = SignedDuration::from_mins(3);

/// How long a session's state may lag behind a message to it.
pub(crate) const MESSAGE_LAG: SignedDuration = SignedDuration::from_mins(15);

/// The longest time between two checks of a repository.
pub(crate) const RECONCILE: SignedDuration = SignedDuration::from_hours(1);

/// The pause after the first quota failure of the key; it doubles.
pub(crate) const QUOTA_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// The longest pause after quota failures.
pub(crate) const QUOTA_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(6);

/// The pause after a create call that was never sent, or whose key was refused.
pub(crate) const UNSENT_PAUSE: SignedDuration = SignedDuration::from_mins(2);

/// The pause after a create call that Jules refused; it doubles.
pub(crate) const REFUSED_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// The longest pause after refused create calls.
pub(crate) const REFUSED_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// The pause after an effect that GitHub refused; it doubles.
pub(crate) const EFFECT_PAUSE: SignedDuration = SignedDuration::from_mins(30);

/// The longest pause of a refused effect.
pub(crate) const EFFECT_PAUSE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// How long Jules' own CI Fixer has for failed checks, from the last commit, check or activity on.
pub(crate) const CHECKS_GRACE: SignedDuration = SignedDuration::from_mins(20);

/// A day.
pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The rolling day of budgets. Jules' clock dates sessions and GitHub's clock judges them, so a budget's day is longer
/// by what the two may differ.
pub(crate) const BUDGET_DAY: SignedDuration = SignedDuration::from_mins(24 * 60 + 2);

/// How late a slot may start with `catch_up = "none"`: one hourly run and its delay.
pub(crate) const CATCH_UP_TOLERANCE: SignedDuration = SignedDuration::from_mins(90);

/// A rest in a track ends after this many days for each cycle, also when the track does not advance.
pub(crate) const REST_DAYS_PER_CYCLE: i64 = 7;

/// A rest of a schedule lasts this many days for each cycle.
pub(crate) const REST_DAYS_PER_SLOT: i64 = 1;

/// An open pull request without a review for this long counts as ignored.
pub(crate) const IGNORED_AFTER: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Maximum open pull requests of finished turns that are followed, and of earlier ones whose titles a prompt needs.
pub(crate) const PULLS_FOLLOWED: usize = 50;

/// An open pull request that GitHub does not show counts as closed this long after its session was created.
pub(crate) const GONE_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Maximum pull requests that one line names.
pub(crate) const NUMBERS_NAMED: usize = 10;

/// How long finished requests stay in the state.
pub(crate) const REQUEST_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Maximum missed slots of one schedule that start one by one.
pub(crate) const SLOTS_LIMIT: usize = 50;

/// Maximum roles that one layer step starts.
pub(crate) const ROLES_AT_ONCE: usize = 40;

/// Maximum work items that one layer step starts.
pub(crate) const ITEMS_AT_ONCE: usize = 5;

/// Maximum decider sessions in one pass for one stream.
pub(crate) const DECIDER_BATCHES: usize = 8;

/// Maximum proposals that one decision publishes.
pub(crate) const PUBLISHED_AT_ONCE: usize = 6;

/// The pause before an issue that did not open or close is tried again; it doubles.
pub(crate) const PUBLISH_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// After this many attempts the report says so, and one attempt a day follows, because a person has to fix a lasting
/// refusal.
pub(crate) const PUBLISH_REPEATS: u32 = 6;

/// Maximum work items that wait for a person as issues at the same time.
pub(crate) const WORK_ITEMS_SHOWN: usize = 12;

/// Maximum issues of work items whose state is read, newest first.
pub(crate) const WORK_ITEMS_READ: usize = 40;

/// Maximum authors of remarks on one pull request whose permission is read.
pub(crate) const REMARK_AUTHORS_READ: usize = 30;

/// Maximum remarks of people with write access that the next implementer gets, newest first.
pub(crate) const REMARKS_KEPT: usize = 10;

/// Maximum length of one remark, in characters.
pub(crate) const REMARK_CHARS: usize = 400;

/// Maximum pull requests whose remarks an integrator gets.
pub(crate) const REMARK_PULLS: usize = 10;

/// Maximum published proposals that the state keeps.
pub(crate) const PUBLISHED_KEPT: usize = 300;

/// Maximum length of an import's diagnostics in the turn's note, in characters.
pub(crate) const FINDINGS_NOTE_CHARS: usize = 800;

/// Maximum length of a commit's subject, in characters.
pub(crate) const HEADLINE_LIMIT: usize = 160;

/// The pause before a notice that is missing is opened again.
pub(crate) const NOTICE_AGAIN: SignedDuration = SignedDuration::from_hours(6);

/// Maximum repetitions of a message that is not delivered.
pub(crate) const MESSAGE_REPEATS: u32 = 6;

/// How long after its end a session that was given up is searched for, to archive it.
pub(crate) const GIVEN_UP_SPAN: SignedDuration = SignedDuration::from_hours(2);

/// The number of newest history entries in which it is searched.
pub(crate) const GIVEN_UP_ENTRIES: usize = 50;

/// The longest reach of a listing that looks for signs of a rolled-back ledger.
pub(crate) const ROLLBACK_SEEN: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The longest pause that Jules itself can request.
pub(crate) const RETRY_AFTER_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// Maximum sessions of unknown origin that are read in one decision.
pub(crate) const SESSIONS_READ: usize = 20;

/// A request that did not start within this time is refused.
pub(crate) const REQUEST_VALID: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Maximum issues and pull requests with labels that are read in one decision.
pub(crate) const SUBJECTS_READ: usize = 20;

/// Maximum accounts whose permission is read in one decision.
pub(crate) const ACCOUNTS_READ: usize = 50;

/// Maximum of these that are outsiders to both the ledger and GitHub, so that the others find room beside them.
pub(crate) const OUTSIDERS_READ: usize = 20;

/// A command of an outsider is dropped, and the report says so, when its author's permission could not be read for this
/// long.
pub(crate) const PERMISSION_PATIENCE: SignedDuration = SignedDuration::from_hours(6);

/// Maximum requests that one commit accepts or acknowledges; requests that stop something are always accepted.
pub(crate) const REQUESTS_ACCEPTED: usize = 20;

/// The pause before an unconfirmed status comment is written again.
pub(crate) const STATUS_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// How long an update waits for an unconfirmed first comment. Its writer may act as long as an intent is valid, and a
/// search right after that may not show the comment yet.
pub(crate) const STATUS_SETTLES: SignedDuration = SignedDuration::from_mins(3);

/// Maximum repetitions of a status comment.
pub(crate) const STATUS_REPEATS: u32 = 6;

/// The shortest time between two changes of a status comment while its request waits.
pub(crate) const STATUS_INTERVAL: SignedDuration = SignedDuration::from_mins(15);

/// Maximum finished requests that one status comment shows.
pub(crate) const STATUS_REQUESTS: usize = 5;

/// Maximum current turns that one status comment shows.
pub(crate) const STATUS_WORK: usize = 10;

/// Maximum lines of an answer to `status` or `explain`. The ledger keeps the answer.
pub(crate) const ANSWER_LINES: usize = 40;

/// Above this number of refused personas and turns, one issue lists them all.
pub(crate) const REFUSALS_APART: usize = 3;

/// Maximum refusals that this issue names.
pub(crate) const REFUSALS_SHOWN: usize = 30;

/// How long a refusal is kept after its retry time has passed without a retry, because the plan no longer has the
/// persona.
pub(crate) const REFUSAL_KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Maximum mistakes that the plan's notice names.
pub(crate) const MISTAKES_SHOWN: usize = 20;

/// Maximum steps of a session's plan that a comment shows.
pub(crate) const PLAN_STEPS: usize = 30;

/// Maximum lines of these steps, titles and descriptions together.
pub(crate) const PLAN_LINES: usize = 80;

/// Maximum length of each line, in characters.
pub(crate) const PLAN_LINE: usize = 160;

/// Maximum plans that one status comment shows.
pub(crate) const PLANS_SHOWN: usize = 3;

/// Maximum pull requests whose work one commit records.
pub(crate) const WORK_AT_ONCE: usize = 10;

/// Maximum refused or closed pull requests that a prompt lists.
pub(crate) const WORK_REFUSED_SHOWN: usize = 20;

/// Maximum refused pull requests whose reasons a prompt quotes.
pub(crate) const REFUSALS_QUOTED: usize = 5;

/// Maximum reviews of one pull request that a prompt quotes.
pub(crate) const REVIEWS_QUOTED: usize = 2;

/// Maximum merged pull requests that a prompt lists.
pub(crate) const WORK_MERGED_SHOWN: usize = 40;

/// Maximum files of which a change ends a persona's rest.
pub(crate) const REST_PATHS: usize = 50;

/// Maximum rests for which commits are compared in one decision.
pub(crate) const RESTS_COMPARED: usize = 5;

/// A persona's newest records whose files tell which work is near.
pub(crate) const WORK_COMPARED: usize = 20;

/// Jules' own account on GitHub.
pub(crate) const JULES_LOGIN: &str = "google-labs-jules[bot]";

/// Maximum messages about failed checks to the session of one pull request, over all commits.
pub(crate) const MAX_FIX_ROUNDS: u32 = 2;

/// Maximum messages about reviews to the session of one pull request, over all commits. A person requests each of them,
/// so they have a limit of their own.
pub(crate) const MAX_REVIEW_ROUNDS: u32 = 6;

/// Maximum pull requests whose reviews are read in one decision.
pub(crate) const REVIEWS_READ: usize = 5;

/// Maximum reviewers of one pull request whose permission is read, newest first.
pub(crate) const REVIEW_AUTHORS_READ: usize = 15;

/// Maximum messages about the base branch to the session of one pull request, over all commits.
pub(crate) const MAX_BASE_ROUNDS: u32 = 3;

/// The age at which reviewers are reminded of a pull request without a review.
pub(crate) const STALE_AFTER: SignedDuration = SignedDuration::from_hours(3 * 24);

/// Maximum reminders in one decision.
pub(crate) const REMINDED_AT_ONCE: usize = 5;

/// Files of a pull request that are read; one with as many may have more.
pub(crate) const PULL_FILES_READ: usize = 300;

/// A pull request with at most this many files, and lines, is small: it is reviewed in one go.
pub(crate) const SMALL_FILES: u64 = 10;
pub(crate) const SMALL_LINES: u64 = 200;

/// How long after a merge a revert is one.
pub(crate) const REVERTED_WITHIN: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Maximum reverts that are judged in one decision.
pub(crate) const REVERTS_READ: usize = 5;

/// Maximum pull requests that are labelled or closed in one decision.
pub(crate) const MARKED_AT_ONCE: usize = 5;

/// How long after its label an unwanted pull request is closed.
pub(crate) const CLOSED_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// Maximum repetitions of an action on a pull request whose success is unknown.
pub(crate) const ACTION_REPEATS: u32 = 2;

/// The pause before such a repetition.
pub(crate) const ACTION_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// Maximum commits whose checks are read in one decision.
pub(crate) const CHECKS_READ: usize = 5;

/// The pause before GitHub is asked again for a merge without a visible result.
pub(crate) const MERGE_AGAIN: SignedDuration = SignedDuration::from_mins(5);

/// Maximum merge calls for one pull request.
pub(crate) const MERGE_ATTEMPTS: u32 = 3;

/// The pause of a postponed merge; it doubles, up to [`PULL_POLL`].
pub(crate) const MERGE_POSTPONED: SignedDuration = SignedDuration::from_mins(1);

/// Maximum pull requests that are read right before their merge in one decision.
pub(crate) const MERGES_READ: usize = 5;

/// Maximum checks of a merge whose mergeability GitHub has not computed; about two hours.
pub(crate) const MERGE_UNKNOWN_CHECKS: u32 = 8;

/// How long after a commit its checks may still begin; before that, passed checks are no proof.
pub(crate) const CHECKS_BEGIN: SignedDuration = SignedDuration::from_mins(2);

/// Interval between checks of a pull request whose merge waits for its checks.
pub(crate) const CHECKS_POLL: SignedDuration = SignedDuration::from_mins(5);

/// Maximum reviewers whose permission is read before one merge.
pub(crate) const REVIEWERS_READ: usize = 20;

/// Maximum sessions that are read one by one in one decision, to message them.
pub(crate) const RECIPIENTS_READ: usize = 5;

/// The longest interval between checks of a session or commit that needs no action; it doubles from five minutes.
pub(crate) const CHECK_INTERVAL_LIMIT: SignedDuration = SignedDuration::from_hours(6);

/// How long after a message a session counts as at work, unless it is seen to be done or has pushed.
pub(crate) const REOPENED: SignedDuration = SignedDuration::from_hours(1);

/// How long a session has to answer a message by a new commit, before a notice is opened.
pub(crate) const FIX_PATIENCE: SignedDuration = SignedDuration::from_hours(6);

/// How long a working session must be quiet before it gets a message; some never report that they are done.
pub(crate) const QUIET: SignedDuration = SignedDuration::from_mins(30);

/// A commit that is this much newer than the session's last activity was pushed by another account.
pub(crate) const PUSH_LAG: SignedDuration = SignedDuration::from_mins(15);

/// Maximum notices about one pull request.
pub(crate) const PULL_NOTICES: u32 = 2;

/// How long after the end of its pull request, and after its last activity, a session is archived. Until then a
/// reopened pull request still finds its session.
pub(crate) const ARCHIVED_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// How long phileas tries to archive a session.
pub(crate) const ARCHIVING_GIVEN_UP: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Maximum attempts to archive a session.
pub(crate) const ARCHIVE_TRIES: u32 = 8;

/// Maximum sessions that are archived in one decision.
pub(crate) const ARCHIVED_AT_ONCE: usize = 5;

/// Maximum edits of an issue's text that are read, newest first. Older edits may exist beyond them.
pub(crate) const EDITS_SHOWN: usize = 20;

/// The shortest time between two changes of the dashboard issue without a person's action.
pub(crate) const DASHBOARD_INTERVAL: SignedDuration = SignedDuration::from_mins(15);

/// The pause before an unconfirmed text of the dashboard issue is written again.
pub(crate) const DASHBOARD_AGAIN: SignedDuration = SignedDuration::from_mins(15);

/// Maximum repetitions of an unconfirmed text.
pub(crate) const DASHBOARD_REPEATS: u32 = 6;

/// Maximum items of a list on the dashboard issue.
pub(crate) const DASHBOARD_TRACKS: usize = 40;

/// Maximum length of such an item, in characters. GitHub takes 65,536 in all.
pub(crate) const DASHBOARD_ITEM: usize = 320;

/// Maximum personas on it.
pub(crate) const DASHBOARD_PERSONAS: usize = 40;

/// Maximum checkboxes that start a persona.
pub(crate) const DASHBOARD_BOXES: usize = 20;

/// Maximum checkbox requests that it shows.
pub(crate) const DASHBOARD_REQUESTS: usize = 5;

/// Maximum length of a table cell, in characters.
pub(crate) const DASHBOARD_CELL: usize = 160;

/// Maximum pull requests of each lane of the review on it.
pub(crate) const DASHBOARD_REVIEWS: usize = 8;

/// Maximum length of a pull request's title on it, in characters.
pub(crate) const DASHBOARD_TITLE: usize = 80;
