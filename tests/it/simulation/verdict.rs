//! The verdict, recounted from the world's books and from the ledgers as they lie on their branches. Nothing that
//! phileas says of itself counts. The rules are those of `tests/parts/judge.py`, for several repositories at once, and
//! stricter where the world is calm at the end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_world::World;
use phileas_world::books::{Books, Session};
use phileas_world::github::{Oid, RepoId};
use serde_json::Value;

use super::play::TAKE_A_NOTE;
use super::stage::{OURS, RESERVED_SESSIONS};
use super::swept::swept;

/// Who is asked for by labels.
const WISH: &str = "phileas:fixer";
/// What our status comments bear.
const STATUS: &str = "<!-- phileas:status -->";
/// How long it may take at most until a session is found, or a wish is taken up, where nothing goes wrong.
const PATIENCE: SignedDuration = SignedDuration::from_mins(60);
/// What is said of a turn that was doubled.
pub(super) const TWO_SESSIONS: &str = "has two sessions";
/// What is said of a ledger that was moved by force.
pub(super) const BY_FORCE: &str = "was moved by force";
/// What is said of a session whose title does not say whose turn it is.
pub(super) const NO_MARKER: &str = "bears no marker";
/// Where the ledger's own files are.
const HOME: &str = ".jules/";

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What must not be.
    pub(super) findings: Vec<String>,
    pub(super) turns: usize,
    pub(super) sessions: usize,
    pub(super) wishes: usize,
    pub(super) imports: usize,
    /// Lost deliveries that were found by a sweep.
    pub(super) swept: usize,
}

/// What the last line of a session's prompt says.
#[derive(Debug, Clone)]
struct Marked<'a> {
    turn: &'a str,
    attempt: u32,
    repository: u64,
    /// Whether a person asked for it.
    asked_for: bool,
    session: &'a Session,
    at: Timestamp,
}

fn marked(session: &Session) -> Option<Marked<'_>> {
    let line = session.prompt.trim_end().lines().last()?;
    let mut words = line.strip_prefix("phileas-turn: ")?.split(' ');
    let (turn, attempt) = words.next()?.split_once('.')?;
    let repository = words.find_map(|word| word.strip_prefix("repository="))?;
    let track = words.find_map(|word| word.strip_prefix("track="))?;
    Some(Marked {
        turn,
        attempt: attempt.parse().ok()?,
        repository: repository.parse().ok()?,
        asked_for: track.starts_with("request:"),
        session,
        at: session.created_at?,
    })
}

/// Judges a world whose time is over, in which the plans of the first repository and of the others allow so many sessions
/// a day.
pub(super) fn judge(
    world: &World,
    books: &Books,
    repositories: &[RepoId],
    (first, others): (usize, usize),
) -> Verdict {
    let mut verdict = Verdict::default();
    let ours: Vec<Marked<'_>> = books.sessions.iter().filter_map(marked).collect();
    for one in &ours {
        let marker = format!(" [phileas:{}.{}]", one.turn, one.attempt);
        let title = one.session.title.as_deref().unwrap_or_default();
        if !title.ends_with(&marker) {
            let text = format!("session {} {NO_MARKER}: {title}", one.session.id);
            verdict.findings.push(text);
        }
    }
    verdict.sessions = ours.len();
    let turns: BTreeSet<&str> = ours.iter().map(|one| one.turn).collect();
    verdict.turns = turns.len();
    doubles(&ours, &mut verdict);
    messages(&ours, &mut verdict);
    merges(books, &mut verdict);
    let swept = swept(books, world.now());
    verdict.swept = swept.found;
    verdict.findings.extend(swept.findings);
    for (index, repo) in repositories.iter().enumerate() {
        let own: Vec<&Marked<'_>> = ours.iter().filter(|one| one.repository == repo.0).collect();
        Judge {
            world,
            books,
            repo: *repo,
            daily_sessions: if index == 0 { first } else { others },
            verdict: &mut verdict,
        }
        .judge(&own);
    }
    verdict
}

/// One session an attempt, and a second attempt only after the first has failed.
fn doubles(ours: &[Marked<'_>], verdict: &mut Verdict) {
    let mut turns: BTreeMap<&str, Vec<&Marked<'_>>> = BTreeMap::new();
    for one in ours {
        turns.entry(one.turn).or_default().push(one);
    }
    for (turn, mut sessions) in turns {
        sessions.sort_by_key(|one| (one.attempt, one.at));
        for pair in sessions.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            let failed = before
                .session
                .states
                .iter()
                .any(|(_, word)| word == "FAILED");
            if before.attempt == after.attempt || !failed {
                let waited = after.at.duration_since(before.at);
                verdict.findings.push(format!(
                    "turn {turn} {TWO_SESSIONS}: {} of attempt {} and {} of attempt {}, {waited:#} later",
                    before.session.id, before.attempt, after.session.id, after.attempt
                ));
            }
        }
    }
}

/// Nothing is said to a session twice.
fn messages(ours: &[Marked<'_>], verdict: &mut Verdict) {
    for one in ours {
        let mut said = BTreeSet::new();
        let acts = one.session.acts.iter();
        for act in acts.filter(|act| act.what == "message" && !act.in_web_app) {
            if !said.insert(&act.text) {
                let id = &one.session.id;
                let text = format!("session {id} was told twice: {}", act.text);
                verdict.findings.push(text);
            }
        }
    }
}

/// Merging is off, so nobody of ours merges.
fn merges(books: &Books, verdict: &mut Verdict) {
    for write in &books.github_writes {
        if write.what == "pull.merged" && OURS.contains(&write.actor.as_str()) {
            let text = format!("{} merged without right: {}", write.actor, write.detail);
            verdict.findings.push(text);
        }
    }
}

/// One repository.
struct Judge<'a> {
    world: &'a World,
    books: &'a Books,
    repo: RepoId,
    daily_sessions: usize,
    verdict: &'a mut Verdict,
}

impl Judge<'_> {
    fn find(&mut self, text: String) {
        let name = self.world.github().full_name(self.repo);
        self.verdict.findings.push(format!("{name}: {text}"));
    }

    fn judge(&mut self, ours: &[&Marked<'_>]) {
        let github = self.world.github();
        let Some(head) = github.branch_head(self.repo, "jules") else {
            return self.find("there is no ledger".to_owned());
        };
        let state = github.read_file(self.repo, head, ".jules/cycle_state.json");
        let state: Option<Value> = state.and_then(|text| serde_json::from_slice(&text).ok());
        let Some(state) = state else {
            return self.find("the ledger's state cannot be read".to_owned());
        };
        let announced = self.chain(head);
        self.turns(&state, &announced, ours);
        self.history(&state);
        self.budget(ours);
        self.wishes(&state);
    }

    /// The ledger is one line that begins with an orphan, and each commit of ours touches files of ours alone. Answers
    /// with the turns that it announced.
    fn chain(&mut self, head: Oid) -> BTreeSet<(String, u64)> {
        let mut announced = BTreeSet::new();
        let mut wrong = Vec::new();
        let mut imports = 0;
        if let Some(objects) = self.world.github().objects(self.repo) {
            let mut at = Some(head);
            while let Some(oid) = at {
                let Some(commit) = objects.commit(oid) else {
                    wrong.push(format!("commit {oid} of the ledger is not there"));
                    break;
                };
                let parent = commit.parents.first().copied();
                let is_ours = commit.message.contains("Phileas-Holder: ");
                let changed = objects.differences(
                    parent.and_then(|parent| objects.tree_of(parent)),
                    objects.tree_of(oid),
                );
                let foreign = changed.iter().find(|one| !one.path.starts_with(HOME));
                let stranger = commit.headline() == TAKE_A_NOTE;
                match foreign {
                    Some(one) if !stranger => wrong.push(format!(
                        "commit {oid} of the ledger touches {}: {}",
                        one.path,
                        commit.headline()
                    )),
                    _ => {}
                }
                if !is_ours && !stranger {
                    let text = format!(
                        "commit {oid} of the ledger is nobody's: {}",
                        commit.headline()
                    );
                    wrong.push(text);
                }
                if commit.parents.len() > 1 {
                    wrong.push(format!("commit {oid} of the ledger is a merge"));
                }
                let brings = |path: &str| {
                    super::stage::AGENTS_PATHS
                        .iter()
                        .any(|below| path.starts_with(below))
                };
                imports += usize::from(changed.iter().any(|one| brings(&one.path)));
                announced.extend(intents(commit.headline()));
                at = parent;
            }
        }
        for write in &self.books.github_writes {
            let detail = &write.detail;
            let name = self.world.github().full_name(self.repo);
            if write.what == "ref.moved"
                && detail["ref"] == "refs/heads/jules"
                && detail["forced"] == true
                && write.repository == name
            {
                wrong.push(format!("the ledger {BY_FORCE} at {}", write.at));
            }
        }
        self.verdict.imports += imports;
        for text in wrong {
            self.find(text);
        }
        announced
    }

    /// Each turn that was announced has an entry or is under way, and its session is known.
    fn turns(&mut self, state: &Value, announced: &BTreeSet<(String, u64)>, ours: &[&Marked<'_>]) {
        let empty = serde_json::Map::new();
        let tracks = state["tracks"].as_object().unwrap_or(&empty);
        let entries = entries(state);
        let recorded: BTreeSet<(String, u64)> = entries
            .iter()
            .filter_map(|entry| {
                let track = entry["track"].as_str()?.to_owned();
                Some((track, entry["seq"].as_u64()?))
            })
            .collect();
        let (mut under_way, mut expected, mut live) =
            (BTreeSet::new(), announced.clone(), BTreeMap::new());
        for (name, track) in tracks {
            let seq = track["seq"].as_u64().unwrap_or_default();
            expected.extend((1..=seq).map(|seq| (name.clone(), seq)));
            let turns = track["turns"].as_object().unwrap_or(&empty);
            if !turns.is_empty() {
                under_way.insert((name.clone(), seq));
            }
            for turn in turns.values() {
                if let Some(id) = turn["turn"].as_str() {
                    live.insert(
                        id.to_owned(),
                        turn["session_id"].as_str().map(str::to_owned),
                    );
                }
            }
        }
        for (track, seq) in expected {
            let turn = (track, seq);
            if !recorded.contains(&turn) && !under_way.contains(&turn) {
                self.find(format!("turn {} of track {} is lost", turn.1, turn.0));
            }
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for entry in &entries {
            known.extend(entry["session_id"].as_str());
            let duplicates = entry["duplicates"].as_array();
            known.extend(duplicates.into_iter().flatten().filter_map(Value::as_str));
        }
        known.extend(live.values().flatten().map(String::as_str));
        let end = self.world.now();
        for one in ours {
            let young = end.duration_since(one.at) < PATIENCE;
            if !young && !known.contains(one.session.id.as_str()) {
                let (id, turn) = (&one.session.id, one.turn);
                self.find(format!("session {id} of turn {turn} is in no ledger"));
            }
        }
    }

    /// The keys of the history follow one another, and no turn and no session stands in it twice.
    fn history(&mut self, state: &Value) {
        let empty = serde_json::Map::new();
        let history = state["history"].as_object().unwrap_or(&empty);
        let keys: BTreeSet<u64> = history.keys().filter_map(|key| key.parse().ok()).collect();
        let first = keys.first().copied().unwrap_or_default();
        if !keys.iter().copied().eq(first..first + history.len() as u64) {
            self.find(format!("the history's keys are {keys:?}"));
        }
        let mut sessions = BTreeSet::new();
        let mut twice = Vec::new();
        for entry in history.values() {
            if let Some(id) = entry["session_id"].as_str()
                && !sessions.insert(id)
            {
                twice.push(format!("session {id} stands in the history twice"));
            }
        }
        for text in twice {
            self.find(text);
        }
    }

    /// A day has so many sessions by the clock, and some more that people ask for.
    fn budget(&mut self, ours: &[&Marked<'_>]) {
        let by_clock = ours.iter().filter(|one| !one.asked_for);
        let by_clock = busiest_day(by_clock.map(|one| one.at).collect());
        if by_clock > self.daily_sessions {
            self.find(format!("{by_clock} sessions by the clock within a day"));
        }
        let all = busiest_day(ours.iter().map(|one| one.at).collect());
        if all > self.daily_sessions + RESERVED_SESSIONS {
            self.find(format!("{all} sessions within a day"));
        }
    }

    /// Each wish by label is taken up, and told in one comment. A race may write a second one, which has to go again.
    fn wishes(&mut self, state: &Value) {
        // The App and the workflow's token are two authors to GitHub, and one phileas to people.
        let mut comments: BTreeMap<u64, BTreeMap<&str, usize>> = BTreeMap::new();
        let mut gone = BTreeSet::new();
        for write in &self.books.github_writes {
            if write.what == "comment.deleted" {
                gone.insert((&write.repository, write.detail["id"].as_u64()));
            }
        }
        let mut labelled = Vec::new();
        let end = self.world.now();
        let names = self.names();
        for write in &self.books.github_writes {
            if !names.contains(&write.repository) {
                continue;
            }
            let detail = &write.detail;
            let body = detail["body"].as_str().unwrap_or_default();
            let stays = !gone.contains(&(&write.repository, detail["id"].as_u64()));
            if write.what == "comment.created" && body.contains(STATUS) && stays {
                let number = detail["number"].as_u64().unwrap_or_default();
                let authors = comments.entry(number).or_default();
                *authors.entry(&write.actor).or_default() += 1;
            }
            let is_wish = write.what == "label.added" && detail["label"] == WISH;
            if is_wish && end.duration_since(write.at) > PATIENCE {
                labelled.push((detail["number"].as_u64().unwrap_or_default(), write.at));
            }
        }
        for (number, authors) in comments {
            let count: usize = authors.values().sum();
            if count > 1 {
                self.find(format!("{count} status comments on #{number}: {authors:?}"));
            }
        }
        let requests = state["requests"].as_object().into_iter().flatten();
        let requests = requests.filter(|(_, request)| request["kind"] == "label");
        let taken: Vec<u64> = requests
            .map(|(_, request)| request["number"].as_u64().unwrap_or_default())
            .collect();
        if taken.len() < labelled.len() {
            self.find(format!(
                "{} wishes by label, {labelled:?}, and {} were taken up, {taken:?}",
                labelled.len(),
                taken.len(),
            ));
        }
        self.verdict.wishes += taken.len();
    }

    /// Every name that the repository has had.
    fn names(&self) -> BTreeSet<String> {
        let now = self.world.github().full_name(self.repo);
        let mut names = BTreeSet::from([now.clone()]);
        let first = super::stage::first_names();
        if first.contains(&now.as_str()) {
            names.extend(first.iter().map(|name| (*name).to_owned()));
        }
        names
    }
}

/// The most of them within 24 hours.
fn busiest_day(mut created: Vec<Timestamp>) -> usize {
    created.sort_unstable();
    let day = SignedDuration::from_hours(24);
    let mut first = 0;
    let mut most = 0;
    for (last, at) in created.iter().enumerate() {
        while at.duration_since(created[first]) >= day {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// All entries of the history.
fn entries(state: &Value) -> Vec<&Value> {
    let history = state["history"].as_object();
    history
        .into_iter()
        .flat_map(serde_json::Map::values)
        .collect()
}

/// The turns that a commit's headline announces: `intent cycle#7 curator`.
fn intents(headline: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = headline.split([' ', ';', ',']).collect();
    let after = words.windows(2).filter(|pair| pair[0] == "intent");
    after
        .filter_map(|pair| {
            let (track, seq) = pair[1].rsplit_once('#')?;
            Some((track.to_owned(), seq.parse().ok()?))
        })
        .collect()
}
