//! Coming to a service's data directory from beside it, whether or not the service is running.

use std::io::ErrorKind;
use std::path::PathBuf;

use jiff::Timestamp;

use super::arguments::Kept;
use super::exit::Stopped;
use super::serve;
use crate::adapters::inbox::sqlite::{DATABASE, SqliteInbox};
use crate::server::audit::{Audit, Deed};

/// The inbox of a service, and where it is.
pub(super) struct Visit {
    pub(super) inbox: SqliteInbox,
    pub(super) data_dir: PathBuf,
}

impl Visit {
    /// Opens the inbox of the directory that was named, or that the file of settings names.
    pub(super) fn begin(kept: &Kept) -> Result<Self, Stopped> {
        let data_dir = match &kept.data_dir {
            Some(named) => named.clone(),
            None => serve::file(kept.config.as_deref())?.data_dir.ok_or_else(|| {
                Stopped::usage(
                    "there is no data directory; name one with --data-dir, PHILEAS_DATA_DIR, or `data_dir` in phileas.toml",
                )
            })?,
        };
        let path = data_dir.join(DATABASE);
        if let Err(error) = std::fs::metadata(&path)
            && error.kind() == ErrorKind::PermissionDenied
        {
            return Err(Stopped::usage(format!(
                "{}: {error}; run this as the user whose service it is",
                path.display()
            )));
        }
        Ok(Self {
            inbox: SqliteInbox::visit(&data_dir)?,
            data_dir,
        })
    }

    /// Writes into the service's audit log what was done. The deed stands all the same where that cannot be.
    pub(super) fn record(&self, what: &str, about: &str, result: &str, at: Timestamp) {
        let deed = Deed {
            at,
            who: &who(),
            what,
            about: Some(about),
            result,
            request: "",
        };
        match Audit::beside(&self.data_dir) {
            Ok(audit) => audit.record(&deed),
            Err(error) => tracing::error!(
                "the audit log in {} misses a line: {error}",
                self.data_dir.display()
            ),
        }
    }
}

/// Somebody at a console of this machine; where the system tells, by the number of their account.
pub(super) fn who() -> String {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let Ok(own) = std::fs::metadata("/proc/self") {
            return format!("cli:{}", own.uid());
        }
    }
    "cli".to_owned()
}
