//! The files that open pull requests of Jules change.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::protected_paths::is_protected_by;
use super::work_files::{changed_files, hot_records};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::WORK_AT_ONCE;
use crate::model::PullNumber;
use crate::work::{Fingerprint, HOT_PATH};

/// The files that these open pull requests mainly change: those of their records, or of GitHub where a record is missing
/// or is of an earlier commit. Those that GitHub does not show now are as an earlier record has them, if there is one.
/// `None`: some are being read.
pub(crate) fn open_paths(
    builder: &mut DecisionBuilder<'_>,
    numbers: &[PullNumber],
) -> Option<BTreeMap<PullNumber, Vec<String>>> {
    let hot = match builder.state.work.remembered {
        0 => Rc::default(),
        _ => match hot_records(builder) {
            Some(hot) => hot,
            None if builder.reads.work_files.contains(HOT_PATH) => return None,
            // Records that cannot be read must not hold a turn for ever.
            None => Rc::default(),
        },
    };
    let snapshot = builder.snapshot;
    let mut paths = BTreeMap::new();
    let mut unrecorded = Vec::new();
    for pull in numbers
        .iter()
        .filter_map(|number| snapshot.pulls.get(number))
    {
        let facts = builder.state.work.facts.get(&pull.number);
        let is_of_head = facts.is_some_and(|facts| facts.head == pull.head_oid);
        let record = hot.get(pull.number.0);
        match record.filter(|record| is_of_head && record.is_open()) {
            Some(record) => {
                paths.insert(pull.number, record.fingerprint.paths.clone());
            }
            None => unrecorded.push(pull),
        }
    }
    let is_protected = is_protected_by(&snapshot.plan);
    let mut is_known = true;
    for (index, pull) in unrecorded.into_iter().enumerate() {
        let Some(files) = snapshot.pull_files.get(&pull.number) else {
            // The next ticks record those beyond. A read that fails must not hold a turn for ever.
            if index < WORK_AT_ONCE && !snapshot.unread_pull_files.contains(&pull.number) {
                builder.request_pull_files(pull.number);
                is_known = false;
            } else if let Some(earlier) = hot.get(pull.number.0) {
                paths.insert(pull.number, earlier.fingerprint.paths.clone());
            }
            continue;
        };
        let files = changed_files(files.as_deref().unwrap_or_default());
        let work = Fingerprint::from_pull(&pull.title, &files, &is_protected);
        paths.insert(pull.number, work.paths);
    }
    is_known.then_some(paths)
}
