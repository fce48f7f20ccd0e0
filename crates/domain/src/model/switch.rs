//! Variables and inputs that switch something on or off.

/// What switches something on.
const ON: [&str; 4] = ["1", "true", "yes", "on"];
/// What switches it off; an empty text is as good as none.
const OFF: [&str; 5] = ["", "0", "false", "no", "off"];

/// A text that is none of the words for on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write 1, true, yes or on to switch it on, and 0, false, no or off to switch it off")]
pub struct SwitchError;

/// Reads a text that switches something on or off, in capitals or small letters.
///
/// # Errors
///
/// When it is no such word.
pub fn parse_switch(text: &str) -> Result<bool, SwitchError> {
    let word = text.trim().to_ascii_lowercase();
    if ON.contains(&word.as_str()) {
        Ok(true)
    } else if OFF.contains(&word.as_str()) {
        Ok(false)
    } else {
        Err(SwitchError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_the_same_in_every_case() {
        for word in ON {
            assert_eq!(parse_switch(word), Ok(true), "{word}");
            assert_eq!(parse_switch(&word.to_uppercase()), Ok(true), "{word}");
        }
        for word in OFF {
            assert_eq!(parse_switch(word), Ok(false), "{word}");
            assert_eq!(parse_switch(&format!(" {word}\n")), Ok(false), "{word}");
        }
        for word in ["2", "y", "enabled", "truly", "-1"] {
            assert_eq!(parse_switch(word), Err(SwitchError), "{word}");
        }
    }
}
