//! The name of a local user in the audit log.

/// `cli:<uid>`, if the system tells the number of the account.
pub(crate) fn local_actor() -> String {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let Ok(own) = std::fs::metadata("/proc/self") {
            return format!("cli:{}", own.uid());
        }
    }
    "cli".to_owned()
}
