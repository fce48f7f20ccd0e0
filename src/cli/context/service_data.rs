//! Access to a service's data directory from another process, whether or not the service is running.

use std::io::ErrorKind;
use std::path::PathBuf;

use jiff::Timestamp;

use super::local_actor::local_actor;
use super::{service_config, service_inbox};
use crate::adapters::inbox::postgres::PostgresInbox;
use crate::adapters::inbox::served::ServedInbox;
use crate::adapters::inbox::sqlite::{DATABASE, SqliteInbox};
use crate::cli::arguments::InboxLocation;
use crate::cli::exit::CliError;
use crate::server::admin::audit::{Audit, AuditEntry};
use crate::server::config::NO_DATA_DIR;

/// The inbox of a service, and its data directory.
pub(crate) struct DataDirAccess {
    pub(crate) inbox: ServedInbox,
    /// The directory of the audit log. `None` if no setting names one and the inbox is in a database.
    data_dir: Option<PathBuf>,
}

impl DataDirAccess {
    /// Opens the inbox of the named directory, or of the one in the settings file.
    pub(crate) async fn open_inbox(kept: &InboxLocation) -> Result<Self, CliError> {
        let data_dir = match &kept.data_dir {
            Some(named) => Some(named.clone()),
            None => service_config::config_file(kept.config.as_deref())?.data_dir,
        };
        if let Some(url) = service_inbox::inbox_database(kept.database_url.as_deref())? {
            return Ok(Self {
                inbox: ServedInbox::Database(
                    PostgresInbox::open_beside_services(&url).await?,
                    None,
                ),
                data_dir,
            });
        }
        let data_dir = data_dir.ok_or_else(|| CliError::usage(NO_DATA_DIR))?;
        let path = data_dir.join(DATABASE);
        if let Err(error) = std::fs::metadata(&path)
            && error.kind() == ErrorKind::PermissionDenied
        {
            return Err(CliError::usage(format!(
                "{}: {error}; run this as the user whose service it is",
                path.display()
            )));
        }
        Ok(Self {
            inbox: ServedInbox::File(SqliteInbox::open_beside_service(&data_dir)?),
            data_dir: Some(data_dir),
        })
    }

    /// The option that names the same inbox to another command.
    pub(crate) fn data_dir_option(&self) -> String {
        match (&self.inbox, &self.data_dir) {
            (ServedInbox::File(_), Some(folder)) => format!(" --data-dir {}", folder.display()),
            _ => String::new(),
        }
    }

    /// Writes an entry into the service's audit log. A failure to write it does not undo the action.
    pub(crate) fn record_action(&self, what: &str, about: &str, result: &str, at: Timestamp) {
        let entry = AuditEntry {
            at,
            who: &local_actor(),
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
        match Audit::in_data_dir(data_dir) {
            Ok(audit) => audit.record_entry(&entry),
            Err(error) => tracing::error!(
                "the audit log in {} misses a line: {error}",
                data_dir.display()
            ),
        }
    }
}
