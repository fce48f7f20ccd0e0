//! A branch of git in memory, whose answers get lost as scripted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use phileas_domain::model::Oid;

use crate::adapters::ledger::{CHECK_DELAYS, CommitFacts, Remote, Swap, full_message};
use crate::runtime::ports::{Commit, Disposition, Failure};

/// The message of `commit_on`.
pub(super) const OURS: &str =
    "phileas: intent default#1 curator\n\nPhileas-Turn: k3v9w2m1q8zt\nPhileas-Holder: serve:a:1";

/// The result of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptResult {
    Lands,
    LandsUnheard,
    /// It lands while we wait, if it still can.
    LandsLate,
    IsLost,
    /// It lands, and a copy of the request is refused; only the refusal arrives.
    LandsAndIsRefused,
    Refused,
}

impl AttemptResult {
    pub(super) const ALL: [Self; 6] = [
        Self::Lands,
        Self::LandsUnheard,
        Self::LandsLate,
        Self::IsLost,
        Self::LandsAndIsRefused,
        Self::Refused,
    ];
}

/// When another writer commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rival {
    Never,
    BeforeUs,
    AfterOurFirstAttempt,
    TwiceAfterOurFirstAttempt,
}

pub(super) struct FakeRemote {
    fates: [AttemptResult; 2],
    rival: Rival,
    lag: u32,
    git: Mutex<Git>,
}

#[derive(Default)]
struct Git {
    commits: BTreeMap<String, (CommitFacts, BTreeMap<String, Option<String>>)>,
    /// Heads of the branch, oldest first.
    heads: Vec<String>,
    /// The head that lagging reads show.
    old: Option<String>,
    stale_reads: u32,
    late: Vec<(Option<String>, String)>,
    sent: u32,
    reads: u32,
    waited: Duration,
}

impl Git {
    fn make(&mut self, parent: Option<&str>, text: &str, commit: Option<&Commit>) -> String {
        let oid = match (self.commits.len(), parent) {
            (0, _) => "base".to_owned(),
            (made, _) => format!("c{made}"),
        };
        let recorded = CommitFacts {
            message: text.to_owned(),
            parents: parent.into_iter().map(Oid::from).collect(),
        };
        let files = commit
            .map(|commit| commit.files.clone())
            .unwrap_or_default();
        self.commits.insert(oid.clone(), (recorded, files));
        oid
    }

    /// Moves the branch if its head is what was expected.
    fn land(&mut self, expected: Option<&str>, oid: &str, lag: u32) -> bool {
        if self.heads.last().map(String::as_str) != expected {
            return false;
        }
        self.old = expected.map(str::to_owned);
        self.stale_reads = lag;
        self.heads.push(oid.to_owned());
        true
    }

    fn rival(&mut self, lag: u32) {
        let parent = self.heads.last().cloned();
        let oid = self.make(parent.as_deref(), "a rival's", None);
        self.land(parent.as_deref(), &oid, lag);
    }
}

impl FakeRemote {
    pub(super) fn new(exists: bool, fates: [AttemptResult; 2], rival: Rival, lag: u32) -> Self {
        let mut git = Git::default();
        let base = git.make(None, "an old one", None);
        if exists {
            git.heads.push(base);
        }
        if rival == Rival::BeforeUs {
            git.rival(lag);
        }
        Self {
            fates,
            rival,
            lag,
            git: Mutex::new(git),
        }
    }

    pub(super) fn transcript(&self) -> String {
        let heads = self.git.lock().unwrap().heads.clone();
        format!(
            "{:?} {:?} lag {} {heads:?}",
            self.fates, self.rival, self.lag
        )
    }

    /// Whether a commit may show up only after all of [`CHECK_DELAYS`]: the first of them comes before what lands late.
    pub(super) fn is_beyond_looking(&self) -> bool {
        let late = u32::from(self.fates.contains(&AttemptResult::LandsLate));
        self.lag + late >= u32::try_from(CHECK_DELAYS.len()).unwrap()
    }

    pub(super) fn sent(&self) -> u32 {
        self.git.lock().unwrap().sent
    }

    pub(super) fn reads(&self) -> u32 {
        self.git.lock().unwrap().reads
    }

    pub(super) fn waited(&self) -> Duration {
        self.git.lock().unwrap().waited
    }

    pub(super) fn is_on_branch(&self, oid: &str) -> bool {
        self.git
            .lock()
            .unwrap()
            .heads
            .iter()
            .any(|head| head == oid)
    }

    pub(super) fn message_of(&self, oid: &str) -> Option<String> {
        let git = self.git.lock().unwrap();
        git.commits
            .get(oid)
            .map(|(recorded, _)| recorded.message.clone())
    }

    /// How many of our commits the branch has.
    pub(super) fn ours(&self) -> usize {
        let git = self.git.lock().unwrap();
        let is_ours = |oid: &&String| git.commits[oid.as_str()].0.message == OURS;
        git.heads.iter().filter(is_ours).count()
    }

    pub(super) fn let_late_ones_land(&self) {
        let mut git = self.git.lock().unwrap();
        for (expected, oid) in std::mem::take(&mut git.late) {
            git.land(expected.as_deref(), &oid, self.lag);
        }
    }

    fn attempt(&self, expected: Option<&str>, oid: &str) -> Swap {
        let mut git = self.git.lock().unwrap();
        let fate = self.fates[(git.sent as usize).min(1)];
        git.sent += 1;
        let failure = |disposition| Failure {
            disposition,
            detail: format!("{fate:?}"),
        };
        let doubtful = Swap::Unknown(failure(Disposition::Unknown));
        let answer = match fate {
            AttemptResult::Lands if git.land(expected, oid, self.lag) => Swap::Done(oid.into()),
            AttemptResult::Lands => Swap::Stale,
            AttemptResult::LandsUnheard => {
                git.land(expected, oid, self.lag);
                doubtful
            }
            AttemptResult::LandsLate => {
                git.late.push((expected.map(str::to_owned), oid.to_owned()));
                doubtful
            }
            AttemptResult::IsLost => doubtful,
            AttemptResult::LandsAndIsRefused => {
                git.land(expected, oid, self.lag);
                Swap::Stale
            }
            AttemptResult::Refused => Swap::Failed(failure(Disposition::Denied)),
        };
        let rivals = match self.rival {
            Rival::AfterOurFirstAttempt => 1,
            Rival::TwiceAfterOurFirstAttempt => 2,
            Rival::Never | Rival::BeforeUs => 0,
        };
        if git.sent == 1 {
            for _ in 0..rivals {
                git.rival(self.lag);
            }
        }
        answer
    }
}

impl Remote for FakeRemote {
    async fn swap_head(&self, base: &Oid, commit: &Commit) -> Swap {
        let oid =
            self.git
                .lock()
                .unwrap()
                .make(Some(base.as_str()), &full_message(commit), Some(commit));
        self.attempt(Some(base.as_str()), &oid)
    }

    async fn read_head(&self) -> Result<Option<Oid>, Failure> {
        let mut git = self.git.lock().unwrap();
        git.reads += 1;
        let shown = if git.stale_reads > 0 {
            git.stale_reads -= 1;
            git.old.clone()
        } else {
            git.heads.last().cloned()
        };
        Ok(shown.map(Oid::new))
    }

    async fn read_commit(&self, oid: &Oid) -> Result<Option<CommitFacts>, Failure> {
        let mut git = self.git.lock().unwrap();
        git.reads += 1;
        Ok(git
            .commits
            .get(oid.as_str())
            .map(|(recorded, _)| recorded.clone()))
    }

    async fn read_texts(
        &self,
        at: &Oid,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let git = self.git.lock().unwrap();
        let (_, files) = &git.commits[at.as_str()];
        Ok(files
            .iter()
            .filter(|(path, _)| paths.contains(*path))
            .filter_map(|(path, text)| Some((path.clone(), text.clone()?)))
            .collect())
    }

    async fn write_orphan(&self, commit: &Commit) -> Result<Oid, Failure> {
        let mut git = self.git.lock().unwrap();
        Ok(Oid::new(git.make(
            None,
            &full_message(commit),
            Some(commit),
        )))
    }

    async fn create_branch(&self, at: &Oid) -> Swap {
        self.attempt(None, at.as_str())
    }

    async fn pause(&self, length: Duration) {
        self.git.lock().unwrap().waited += length;
        self.let_late_ones_land();
    }
}
