//! `phileas stop --all` and `phileas resume`: the emergency brake, and its release.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Ledger, ListingNeed, Session};
use phileas_domain::model::{Holder, Marker, SessionId, TrackName};
use phileas_domain::state::{Pause, State, Turn};
use serde_json::json;

use super::arguments::Repository;
use super::connect::{self, Connection};
use super::exit::{Exit, Stopped};
use super::lines::short;
use super::output::Screen;
use crate::adapters::pause::{Pause as Waiting, SystemPause};
use crate::runtime::ports::{WriteGitHub, WriteJules};
use crate::runtime::{Edit, EditError, edit, ledger_of};

/// What the state says of a pause that this command made.
const REASON: &str = "phileas stop --all";

/// How long after an intent's deadline the call that it announced may take to end: a request's longest time, and some.
const CALL_LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// How long after its intent a session may exist without being listed.
const LISTING_LAG: SignedDuration = SignedDuration::from_mins(15);

/// How often everything is looked at anew while announced sessions are waited for.
const MOST_LOOKS: usize = 4;

/// How to stop a repository without its ledger.
const BY_HAND: &str =
    "set the repository variable PHILEAS_PAUSED, or put the label `phileas:pause` on an open issue";

/// Pauses the repository, then archives every live session of ours. Whatever fails, the rest is still done.
pub(super) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let variable = connect::variable("PHILEAS_PAUSED").filter(|value| connect::is_set(value));
    let brake = Brake {
        github: &connection.github,
        jules: &connection.jules,
        pause: &SystemPause,
        paused_otherwise: variable.is_some(),
        json: arguments.json,
    };
    brake.pull(screen).await
}

/// The emergency brake of one repository.
struct Brake<'a, G, J> {
    github: &'a G,
    jules: &'a J,
    pause: &'a dyn Waiting,
    /// The repository's variable pauses it already.
    paused_otherwise: bool,
    json: bool,
}

/// What one look found.
struct Found {
    /// GitHub's time.
    now: Timestamp,
    live: Vec<SessionId>,
    announced: Vec<Announced>,
    paused_by_label: bool,
}

/// A session that was announced and is not to be seen: somebody may be about to create it, or has just done so.
struct Announced {
    track: TrackName,
    turn: Turn,
    created_at: Timestamp,
    not_after: Timestamp,
    holder: Holder,
}

impl<G: WriteGitHub, J: WriteJules> Brake<'_, G, J> {
    async fn pull(&self, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
        // The pause comes first, so that nothing starts behind our back.
        let paused = pause(self.github).await;
        match &paused {
            Ok(by) => self.say(
                screen,
                &json!({ "paused": true, "by": by }),
                &format!("paused by {}", by.as_deref().unwrap_or("this command")),
            )?,
            Err(error) => self.say(
                screen,
                &json!({ "paused": false, "detail": error.to_string(), "mend": BY_HAND }),
                &format!("NOT paused: {error}; to keep it from starting anything, {BY_HAND}"),
            )?,
        }
        let mut exit = Exit::Done;
        let mut found = self.look().await?;
        let mut archived = BTreeSet::new();
        for announced in &found.announced {
            self.name(announced, screen)?;
        }
        for look in 1..=MOST_LOOKS {
            for session in &found.live {
                if archived.insert(session.clone()) && !self.archive(session, screen).await? {
                    exit = Exit::Unavailable;
                }
            }
            let called = found.announced.iter().map(Announced::called_before).max();
            let Some(called) = called.filter(|called| *called > found.now) else {
                break;
            };
            if look == MOST_LOOKS {
                break;
            }
            let wait = called.duration_since(found.now);
            if !self.json {
                screen.line(&format!("looking again at {} UTC", short(called)))?;
                screen.flush()?;
            }
            self.pause.pause(wait.unsigned_abs()).await;
            found = self.look().await?;
        }
        if archived.is_empty() && found.announced.is_empty() && !self.json {
            screen.line("no session of ours is live")?;
        }
        for announced in &found.announced {
            // Nobody can say yet that nothing of it goes on.
            exit = worse(exit);
            self.doubt(announced, screen)?;
        }
        screen.flush()?;
        match paused {
            Ok(_) => Ok(exit),
            Err(EditError::NoLedger) if self.paused_otherwise || found.paused_by_label => Ok(exit),
            // The first tick may give birth to the ledger at any time, and start what is due.
            Err(EditError::NoLedger) => Ok(worse(exit)),
            Err(error) => Err(error.into()),
        }
    }

    async fn archive(
        &self,
        session: &SessionId,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, Stopped> {
        let id = session.as_str();
        let done = self.jules.archive(session).await;
        match &done {
            Ok(()) => self.say(
                screen,
                &json!({ "session_id": id, "archived": true }),
                &format!("session {id} archived"),
            )?,
            Err(failure) => self.say(
                screen,
                &json!({ "session_id": id, "archived": false, "detail": failure.detail }),
                &format!("session {id} NOT archived: {failure}"),
            )?,
        }
        Ok(done.is_ok())
    }

    fn name(&self, one: &Announced, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        self.say(
            screen,
            &json!({
                "announced": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "holder": one.holder.as_str(), "not_after": one.not_after.to_string(),
            }),
            &format!(
                "{track}: {} has announced a session of {persona} and may create it until {} UTC",
                one.holder,
                short(one.not_after)
            ),
        )
    }

    fn doubt(&self, one: &Announced, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        let listed_by = one.listed_before();
        self.say(
            screen,
            &json!({
                "may_still_start": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "certain_at": listed_by.to_string(),
            }),
            &format!(
                "{track}: the announced session of {persona} is not to be seen, and may be at work all the same; run \
                 this again after {} UTC",
                short(listed_by)
            ),
        )
    }

    fn say(
        &self,
        screen: &mut Screen<impl Write>,
        document: &serde_json::Value,
        text: &str,
    ) -> Result<(), Stopped> {
        if self.json {
            screen.line(&document.to_string())?;
        } else {
            screen.line(text)?;
        }
        Ok(())
    }
}

impl Announced {
    /// When whoever announced it has called Jules and has the answer, if it calls at all.
    fn called_before(&self) -> Timestamp {
        later(self.not_after, CALL_LIMIT)
    }

    /// When a listing shows it, if it exists.
    fn listed_before(&self) -> Timestamp {
        later(self.created_at, LISTING_LAG)
    }
}

fn later(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// Something may still start. A failure that is known already says more.
fn worse(exit: Exit) -> Exit {
    if exit == Exit::Done {
        Exit::Findings
    } else {
        exit
    }
}

/// Writes the pause; one that stands already is left as it is. Answers with who paused.
async fn pause(github: &impl WriteGitHub) -> Result<Option<String>, EditError> {
    let holder = connect::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline: "stop",
        holder: &holder,
        moves_pointer_of: None,
    };
    let by = RefCell::new(None);
    edit(github, &wish, |state, observation| {
        let pause = state.paused.get_or_insert_with(|| Pause {
            at: Some(observation.now),
            by: connect::actor(),
            reason: Some(REASON.to_owned()),
            ..Pause::default()
        });
        by.replace(pause.by.clone());
        Ok(())
    })
    .await?;
    Ok(by.into_inner())
}

impl<G: WriteGitHub, J: WriteJules> Brake<'_, G, J> {
    /// The live sessions that are ours (those of the ledger's turns, and those that bear the marker of this repository),
    /// and the announced ones that are not to be seen.
    async fn look(&self) -> Result<Found, Stopped> {
        let observation = self.github.observe().await?;
        let state = match ledger_of(observation.ledger) {
            Ledger::Present { state, .. } => *state,
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => State::default(),
        };
        let need = ListingNeed::Since(Timestamp::MIN);
        let now = observation.now;
        let repository = &observation.repository;
        let listing = self.jules.list(repository, &need, now).await?;
        let known = known(&state);
        let ours = |session: &Session| {
            let line = session.prompt.as_deref().and_then(Marker::in_prompt);
            let by_marker = match (line, &session.prompt) {
                (Some(line), _) => line.repository == repository.id,
                (None, Some(_)) => false,
                // The listing hides the prompt: the title's marker counts where the ledger knows its turn.
                (None, None) => Marker::in_title(&session.title).is_some_and(|marker| {
                    state.live_turn(marker.turn.as_str()).is_some()
                        || state.entry_named(marker.turn.as_str()).is_some()
                }),
            };
            by_marker || known.contains(&session.id)
        };
        let mut live: Vec<SessionId> = listing
            .sessions
            .iter()
            .filter(|session| stops(session) && ours(session))
            .map(|session| session.id.clone())
            .collect();
        // A listing may lag behind; what the ledger follows is looked at one by one.
        let of_turns = state.tracks.values().flat_map(|track| track.turns.values());
        for id in of_turns.filter_map(|turn| turn.session_id.as_ref()) {
            if live.contains(id) || listing.get(id).is_some() {
                continue;
            }
            let session = self.jules.session(id).await?;
            if session.as_ref().is_some_and(stops) {
                live.push(id.clone());
            }
        }
        let mut announced = announced(&state);
        announced.retain(|one| one.listed_before() > now && !one.is_among(&listing.sessions));
        Ok(Found {
            now,
            live,
            announced,
            paused_by_label: observation.paused_by_label.is_some(),
        })
    }
}

/// Whether archiving stops it.
fn stops(session: &Session) -> bool {
    !session.archived && session.state.is_live()
}

/// Turns whose intent stands and whose session the ledger does not know.
fn announced(state: &State) -> Vec<Announced> {
    let turns = state
        .tracks
        .iter()
        .flat_map(|(name, track)| track.turns.values().map(move |turn| (name, turn)));
    turns
        .filter(|(_, turn)| turn.session_id.is_none())
        .filter_map(|(name, turn)| {
            let intent = turn.intent.as_ref()?;
            Some(Announced {
                track: name.clone(),
                turn: turn.clone(),
                created_at: intent.created_at,
                not_after: intent.not_after,
                holder: intent.holder.clone(),
            })
        })
        .collect()
}

impl Announced {
    fn is_among(&self, sessions: &[Session]) -> bool {
        let marker = Marker {
            turn: self.turn.turn.clone(),
            attempt: self.turn.attempt,
        };
        sessions.iter().any(|session| {
            let line = session.prompt.as_deref().and_then(Marker::in_prompt);
            let own = line.map(|line| line.marker);
            own.or_else(|| Marker::in_title(&session.title)) == Some(marker.clone())
        })
    }
}

fn known(state: &State) -> BTreeSet<SessionId> {
    let history = state
        .history
        .values()
        .flat_map(|entry| entry.session_id.iter().chain(&entry.duplicates));
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    let live = turns.flat_map(|turn| turn.session_id.iter().chain(&turn.duplicates));
    history.chain(live).cloned().collect()
}

/// Takes the pause out of the state. Other pauses are named, because they stay.
pub(super) async fn resume(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let github = connect::github(&arguments.repo)?;
    let holder = connect::this_run()?;
    let wish = Edit {
        headline: "resume",
        holder: &holder,
        moves_pointer_of: None,
    };
    let seen = RefCell::new((false, None));
    edit(&github, &wish, |state, observation| {
        let was = state.paused.take().is_some();
        seen.replace((was, observation.paused_by_label));
        Ok(())
    })
    .await?;
    let (was_paused, label) = seen.into_inner();
    let variable = connect::variable("PHILEAS_PAUSED").filter(|value| connect::is_set(value));
    if arguments.json {
        let document = json!({
            "resumed": was_paused, "paused_by_label": label, "paused_by_variable": variable,
        });
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    screen.line(if was_paused {
        "resumed; the next tick starts what is due"
    } else {
        "the state says nothing of a pause"
    })?;
    if let Some(number) = label {
        screen.line(&format!(
            "still paused: issue #{number} carries the label `phileas:pause`"
        ))?;
    }
    if let Some(value) = variable {
        screen.line(&format!(
            "still paused: the variable PHILEAS_PAUSED says `{value}`"
        ))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use phileas_domain::engine::{Ask, CreateSession};
    use phileas_domain::model::PromptLine;
    use phileas_domain::plan::Driver;
    use phileas_domain::state::{STATE_PATH, codec};
    use phileas_world::maintainer::Temper;
    use phileas_world::{Face, Fault, FaultPlan, FaultRule};
    use serde_json::Value;

    use super::*;
    use crate::adapters::transport::BoxFuture;
    use crate::runtime::{Settings, Tick};
    use crate::sandbox::{Clients, Scene, Shared, scene};

    struct Stage {
        shared: Shared,
        clients: Clients,
    }

    impl Stage {
        fn new() -> Self {
            let mut scene = Scene::new(7);
            scene.temper = Temper::away();
            let shared = Shared::new(scene.build().unwrap().0);
            let clients = Clients::new(&shared, scene::repository(), 7);
            Self { shared, clients }
        }

        /// A process announces sessions, and what it asks of Jules gets lost on the way there.
        async fn announced() -> Self {
            let stage = Self::new();
            let lost = FaultRule {
                face: Some(Face::Jules),
                method: Some("POST".to_owned()),
                path: Some("*/sessions".to_owned()),
                body: None,
                nth: None,
                probability: None,
                from: None,
                until: None,
                fault: Fault::DropBefore,
            };
            let faults = FaultPlan { rules: vec![lost] };
            stage.shared.world().faults_mut().replace(faults);
            let tick = Tick {
                github: &stage.clients.github,
                jules: &stage.clients.jules,
                stopwatch: &stage.clients.time,
            };
            let settings = Settings {
                holder: "another".into(),
                driver: Driver::Any,
                ask: Ask::Due,
                entropy: [7; 32],
                paused_by_variable: None,
            };
            tick.run(&settings).await.unwrap();
            stage
                .shared
                .world()
                .faults_mut()
                .replace(FaultPlan::default());
            assert!(!announced(&stage.state()).is_empty());
            stage
        }

        fn state(&self) -> State {
            let world = self.shared.world();
            let github = world.github();
            let repo = github
                .repository_by_name(scene::OWNER, scene::NAME)
                .unwrap();
            let head = github.branch_head(repo, "jules").unwrap();
            let bytes = github.read_file(repo, head, STATE_PATH).unwrap();
            codec::load(std::str::from_utf8(&bytes).unwrap())
                .unwrap()
                .state
        }

        async fn stop(&self, pause: &dyn Waiting, variable: bool) -> (Exit, Vec<Value>) {
            let brake = Brake {
                github: &self.clients.github,
                jules: &self.clients.jules,
                pause,
                paused_otherwise: variable,
                json: true,
            };
            let mut out = Vec::new();
            let exit = brake.pull(&mut Screen::plain(&mut out)).await.unwrap();
            let lines = String::from_utf8(out).unwrap();
            let lines = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap());
            (exit, lines.collect())
        }
    }

    fn count(lines: &[Value], key: &str) -> usize {
        lines.iter().filter(|line| !line[key].is_null()).count()
    }

    #[tokio::test]
    async fn an_announced_session_is_waited_for_and_doubted_until_it_must_be_listed() {
        let stage = Stage::announced().await;
        let announced = announced(&stage.state());
        let called = announced
            .iter()
            .map(Announced::called_before)
            .max()
            .unwrap();
        let (exit, lines) = stage.stop(&stage.clients.time, false).await;
        assert_eq!(exit, Exit::Findings);
        assert_eq!(count(&lines, "announced"), announced.len(), "{lines:?}");
        assert_eq!(
            count(&lines, "may_still_start"),
            announced.len(),
            "{lines:?}"
        );
        assert_eq!(lines[1]["holder"], "another");
        assert!(stage.shared.now() >= called);

        stage.shared.pass(Duration::from_secs(15 * 60));
        let (exit, lines) = stage.stop(&stage.clients.time, false).await;
        assert_eq!((exit, lines.len()), (Exit::Done, 1), "{lines:?}");
    }

    /// While somebody waits by this clock, the process that announced a session creates it.
    struct Meanwhile<'a> {
        stage: &'a Stage,
        create: CreateSession,
    }

    impl Waiting for Meanwhile<'_> {
        fn now(&self) -> Timestamp {
            self.stage.shared.now()
        }

        fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
            Box::pin(async move {
                self.stage.shared.pass(Duration::from_secs(30));
                self.stage.clients.jules.create(&self.create).await.unwrap();
                self.stage.shared.pass(length);
            })
        }
    }

    #[tokio::test]
    async fn a_session_that_is_created_behind_our_back_is_archived() {
        let stage = Stage::announced().await;
        let state = stage.state();
        let all = announced(&state);
        let [one] = &all[..] else {
            panic!("{} are announced", all.len());
        };
        let line = PromptLine {
            marker: Marker {
                turn: one.turn.turn.clone(),
                attempt: one.turn.attempt,
            },
            repository: state.genesis.clone().unwrap().repository_id,
            track: one.track.clone(),
            seq: 1,
            slot: "".into(),
            persona: one.turn.persona_id.clone(),
        };
        let create = CreateSession {
            track: line.track.clone(),
            slot: line.slot.clone(),
            marker: line.marker.clone(),
            persona: line.persona.clone(),
            title: "late".to_owned(),
            prompt: line.render(),
            source: scene::repository(),
            branch: "main".into(),
            make_branch: None,
            open_pull: true,
            require_plan_approval: false,
            not_after: one.not_after,
        };
        let stage = &stage;
        let (exit, lines) = stage.stop(&Meanwhile { stage, create }, false).await;
        assert_eq!(exit, Exit::Done, "{lines:?}");
        assert_eq!(count(&lines, "announced"), 1);
        assert_eq!(count(&lines, "archived"), 1, "{lines:?}");
        assert_eq!(count(&lines, "may_still_start"), 0, "{lines:?}");
        let books = stage.shared.world().complete_books();
        assert!(books.sessions.iter().all(|session| session.archived));
    }

    #[tokio::test]
    async fn without_a_ledger_only_variable_or_label_stop_anything() {
        let stage = Stage::new();
        let (exit, lines) = stage.stop(&stage.clients.time, false).await;
        assert_eq!(exit, Exit::Findings);
        assert_eq!(lines[0]["paused"], false);
        assert_eq!(lines[0]["mend"], BY_HAND);
        assert_eq!(stage.stop(&stage.clients.time, true).await.0, Exit::Done);
    }
}
