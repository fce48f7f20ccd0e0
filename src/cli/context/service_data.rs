//! Coming to a service's data directory from beside it, whether or not the service is running.

use std::io::ErrorKind;
use std::path::PathBuf;

use jiff::Timestamp;

use super::local_actor::who;
use super::{service_config, service_inbox};
use crate::adapters::inbox::postgres::PostgresInbox;
use crate::adapters::inbox::served::ServedInbox;
use crate::adapters::inbox::sqlite::{DATABASE, SqliteInbox};
use crate::cli::arguments::Kept;
use crate::cli::exit::Stopped;
use crate::server::admin::audit::{Audit, Deed};

/// The inbox of a service, and where it is.
pub(crate) struct Visit {
    pub(crate) inbox: ServedInbox,
    /// Where the audit log is; `None` where nobody has said, and the inbox is in a database.
    data_dir: Option<PathBuf>,
}

impl Visit {
    /// Opens the inbox of the directory that was named, or that the file of settings names.
    pub(crate) async fn begin(kept: &Kept) -> Result<Self, Stopped> {
        let data_dir = match &kept.data_dir {
            Some(named) => Some(named.clone()),
            None => service_config::file(kept.config.as_deref())?.data_dir,
        };
        if let Some(url) = service_inbox::database(kept.database_url.as_deref())? {
            return Ok(Self {
                inbox: ServedInbox::Database(PostgresInbox::visit(&url).await?, None),
                data_dir,
            });
        }
        let data_dir = data_dir.ok_or_else(|| {
            Stopped::usage(
                "there is no data directory; name one with --data-dir, PHILEAS_DATA_DIR, or `data_dir` in phileas.toml",
            )
        })?;
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
            inbox: ServedInbox::File(SqliteInbox::visit(&data_dir)?),
            data_dir: Some(data_dir),
        })
    }

    /// How another command is told of the same inbox.
    pub(crate) fn option(&self) -> String {
        match (&self.inbox, &self.data_dir) {
            (ServedInbox::File(_), Some(folder)) => format!(" --data-dir {}", folder.display()),
            _ => String::new(),
        }
    }

    /// Writes into the service's audit log what was done. The deed stands all the same where that cannot be.
    pub(crate) fn record(&self, what: &str, about: &str, result: &str, at: Timestamp) {
        let deed = Deed {
            at,
            who: &who(),
            what,
            about: Some(about),
            result,
            request: "",
        };
        let Some(data_dir) = &self.data_dir else {
            tracing::warn!(
                "no audit log has a line of this; --data-dir names the service whose log should have it"
            );
            return;
        };
        match Audit::beside(data_dir) {
            Ok(audit) => audit.record(&deed),
            Err(error) => tracing::error!(
                "the audit log in {} misses a line: {error}",
                data_dir.display()
            ),
        }
    }
}
