//! Binds a listener, and explains how to fix an address that cannot be used.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::cli::exit::CliError;

/// Binds a listener to an address. `said_by` names the setting that changes the address, such as a flag.
pub(crate) async fn bind_listener(
    said_by: &str,
    address: SocketAddr,
) -> Result<TcpListener, CliError> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| bind_error(said_by, address, &error))
}

/// The error of an address that cannot be bound.
pub(crate) fn bind_error(said_by: &str, address: SocketAddr, error: &Error) -> CliError {
    CliError::usage(format!("{address}: {error}; {}", bind_help(error, said_by)))
}

/// Why the admin listener cannot be opened while the public one is open, if that is the reason.
pub(crate) fn excluded_listener(
    public: SocketAddr,
    admin: SocketAddr,
    error: &Error,
) -> Option<String> {
    let is_own = error.kind() == ErrorKind::AddrInUse && public.port() == admin.port();
    is_own.then(|| {
        format!("--listen is {public} and --admin-listen is {admin}; give one of them another port")
    })
}

/// How to fix it.
pub(crate) fn bind_help(error: &Error, said_by: &str) -> String {
    match error.kind() {
        ErrorKind::AddrInUse => {
            format!("end what listens there already, or name another address with {said_by}")
        }
        ErrorKind::AddrNotAvailable => {
            format!("this machine has no such address; name one that it has with {said_by}")
        }
        ErrorKind::PermissionDenied => {
            format!("this user may not listen there; name a port from 1024 on with {said_by}")
        }
        _ => format!("name another address with {said_by}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_own_help() {
        for (kind, told) in [
            (ErrorKind::AddrInUse, "end what listens there already, or"),
            (
                ErrorKind::AddrNotAvailable,
                "this machine has no such address",
            ),
            (ErrorKind::PermissionDenied, "a port from 1024 on with --x"),
            (ErrorKind::Unsupported, "name another address with --x"),
        ] {
            let help = bind_help(&kind.into(), "--x");
            assert!(help.contains(told) && help.ends_with("with --x"), "{help}");
        }
    }
}
