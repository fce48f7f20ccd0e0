//! Provides randomness to ticks. It is injected, so that a run against the models can be repeated.

use std::fmt;

/// A source of randomness.
pub trait Entropy: Send + Sync {
    /// Draws 32 unpredictable bytes.
    ///
    /// # Errors
    ///
    /// When the system cannot provide them.
    fn draw(&self) -> Result<[u8; 32], getrandom::Error>;
}

impl fmt::Debug for dyn Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}

/// The randomness of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn draw(&self) -> Result<[u8; 32], getrandom::Error> {
        let mut drawn = [0; 32];
        getrandom::fill(&mut drawn)?;
        Ok(drawn)
    }
}
