//! Where a client's tokens come from, and the one that an App has minted last.

use std::sync::PoisonError;

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::token::{App, Token};
use crate::runtime::ports::Failure;

/// Where tokens come from.
#[derive(Debug)]
pub(crate) enum Tokens {
    Fixed(Token),
    App(Box<Minted>),
}

/// An App, and the token that it minted last.
#[derive(Debug)]
pub(crate) struct Minted {
    pub(super) app: App,
    /// The installation whose tokens are good for all its repositories. `None`: that of the client's own repository,
    /// with tokens that are good for it alone.
    pub(super) installation: Option<u64>,
    // Held while minting, so that whoever comes meanwhile waits for the same token.
    pub(super) last: Mutex<Option<Fresh>>,
    // How often minting failed, and how it did last. Whoever waited meanwhile has had this answer: one after another
    // they would each wait as long again, the last of them for longer than a tick may.
    failed: std::sync::Mutex<(u64, Option<Failure>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Fresh {
    pub(super) token: Token,
    pub(super) expires_at: Timestamp,
}

impl Tokens {
    pub(crate) fn of_app(app: App, installation: Option<u64>) -> Self {
        Self::App(Box::new(Minted {
            app,
            installation,
            last: Mutex::new(None),
            failed: std::sync::Mutex::default(),
        }))
    }

    /// A token was refused. Whether it is worth while to ask for another one.
    pub(crate) async fn refused(&self, token: &Token) -> bool {
        let Self::App(minted) = self else {
            return false;
        };
        let mut last = minted.last.lock().await;
        // Somebody else may have renewed it already.
        if last
            .as_ref()
            .is_some_and(|fresh| fresh.token.expose() == token.expose())
        {
            *last = None;
        }
        true
    }
}

impl Minted {
    /// How often minting failed so far, and how it did last.
    pub(super) fn failures(&self) -> (u64, Option<Failure>) {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn fail(&self, failure: &Failure) {
        let failed = self.failed.lock();
        let mut failed = failed.unwrap_or_else(PoisonError::into_inner);
        *failed = (failed.0 + 1, Some(failure.clone()));
    }
}
