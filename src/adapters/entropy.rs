//! Randomness, as ticks need it. Injected, so that a run against models can be repeated.

use std::fmt;

/// Where ticks draw their randomness from.
pub trait Entropy: Send + Sync {
    /// 32 bytes that nobody can foretell.
    ///
    /// # Errors
    ///
    /// When the system has none to give.
    fn draw(&self) -> Result<[u8; 32], getrandom::Error>;
}

impl fmt::Debug for dyn Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}

/// The operating system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn draw(&self) -> Result<[u8; 32], getrandom::Error> {
        let mut drawn = [0; 32];
        getrandom::fill(&mut drawn)?;
        Ok(drawn)
    }
}
