//! Where a command listens, and how an address is mended that it cannot listen at.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::cli::exit::Stopped;

/// Listens at an address. `said_by` is what says another one, such as a flag.
pub(crate) async fn bind(said_by: &str, address: SocketAddr) -> Result<TcpListener, Stopped> {
    TcpListener::bind(address)
        .await
        .map_err(|error| Stopped::usage(format!("{address}: {error}; {}", mend(&error, said_by))))
}

/// How it is mended.
pub(crate) fn mend(error: &Error, said_by: &str) -> String {
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
    fn each_refusal_has_its_own_mend() {
        for (kind, told) in [
            (ErrorKind::AddrInUse, "end what listens there already, or"),
            (
                ErrorKind::AddrNotAvailable,
                "this machine has no such address",
            ),
            (ErrorKind::PermissionDenied, "a port from 1024 on with --x"),
            (ErrorKind::Unsupported, "name another address with --x"),
        ] {
            let mend = mend(&kind.into(), "--x");
            assert!(mend.contains(told) && mend.ends_with("with --x"), "{mend}");
        }
    }
}
