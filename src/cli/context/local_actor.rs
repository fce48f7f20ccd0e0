//! How the audit log names a person at a console of this machine.

/// Somebody at a console of this machine; where the system tells, by the number of their account.
pub(crate) fn who() -> String {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let Ok(own) = std::fs::metadata("/proc/self") {
            return format!("cli:{}", own.uid());
        }
    }
    "cli".to_owned()
}
