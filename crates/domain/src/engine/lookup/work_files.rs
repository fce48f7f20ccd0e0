//! The files of work records.

use crate::Diagnostic;
use crate::engine::input::snapshot::Ledger;
use crate::engine::output::builder::DecisionBuilder;
use crate::work::{HOT_PATH, WorkFile};

/// The records of open and remembered work. `None`: they are being read, or cannot be read.
pub(crate) fn hot_records(builder: &mut DecisionBuilder<'_>) -> Option<WorkFile> {
    match &builder.work {
        Some(known) => Some(known.clone()),
        None => work_file(builder, HOT_PATH),
    }
}

/// The records in a file of the ledger; none where the file does not exist. `None`: it is being read, or cannot be
/// read. Such a file is left as it is.
pub(crate) fn work_file(builder: &mut DecisionBuilder<'_>, path: &str) -> Option<WorkFile> {
    let snapshot = builder.snapshot;
    let Ledger::Present { head, .. } = &snapshot.ledger else {
        return None;
    };
    let read = snapshot.work_files.as_ref();
    let read = read.filter(|read| read.head == *head);
    let Some(text) = read.and_then(|read| read.texts.get(path)) else {
        builder.reads.work_files.insert(path.to_owned());
        return None;
    };
    let Some(text) = text else {
        return Some(WorkFile::default());
    };
    match WorkFile::parse(text) {
        Ok(file) => Some(file),
        Err(error) => {
            let what = format!("these work records cannot be read: {error}");
            let help = "put an earlier version of the file back, or remove it";
            builder.add_diagnostics(vec![Diagnostic::warning(path, what).help(help)]);
            None
        }
    }
}
