//! The source of a client's tokens, and the token that an App minted last.

use std::sync::PoisonError;

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::token::{App, Token};
use crate::runtime::ports::Failure;

/// The source of tokens.
#[derive(Debug)]
pub(crate) enum TokenSource {
    Fixed(Token),
    App(Box<AppTokens>),
}

/// An App, and the token that it minted last.
#[derive(Debug)]
pub(crate) struct AppTokens {
    pub(super) app: App,
    /// The installation whose tokens are valid for all its repositories. `None`: that of the client's own repository,
    /// with tokens for it alone.
    pub(super) installation: Option<u64>,
    // Locked while a token is minted, so that other requests wait for the same token.
    pub(super) last: Mutex<Option<MintedToken>>,
    // How often minting failed, and the last failure. Requests that waited for the lock get this failure: minting
    // again one after another, the last of them would wait longer than a tick may take.
    failed: std::sync::Mutex<(u64, Option<Failure>)>,
}

#[derive(Debug, Clone)]
pub(super) struct MintedToken {
    pub(super) token: Token,
    pub(super) expires_at: Timestamp,
}

impl TokenSource {
    pub(crate) fn from_app(app: App, installation: Option<u64>) -> Self {
        Self::App(Box::new(AppTokens {
            app,
            installation,
            last: Mutex::new(None),
            failed: std::sync::Mutex::default(),
        }))
    }

    /// Drops a refused token. Returns whether another one can be minted.
    pub(crate) async fn drop_refused(&self, token: &Token) -> bool {
        let Self::App(minted) = self else {
            return false;
        };
        let mut last = minted.last.lock().await;
        // Another request may already have renewed it.
        if last
            .as_ref()
            .is_some_and(|fresh| fresh.token.expose() == token.expose())
        {
            *last = None;
        }
        true
    }
}

impl AppTokens {
    /// How often minting has failed, and the last failure.
    pub(super) fn mint_failures(&self) -> (u64, Option<Failure>) {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn record_failure(&self, failure: &Failure) {
        let failed = self.failed.lock();
        let mut failed = failed.unwrap_or_else(PoisonError::into_inner);
        *failed = (failed.0 + 1, Some(failure.clone()));
    }
}
