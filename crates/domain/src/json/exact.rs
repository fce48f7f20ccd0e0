//! Values that this version does not know, kept without losing a digit.

use serde_json::{Map, Number};

use super::node::{Node, Value};

/// Why a value cannot be kept: the byte offset and the number as written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inexact {
    pub(crate) at: usize,
    pub(crate) digits: String,
}

/// The value for a later write.
///
/// # Errors
///
/// [`Inexact`] for a number that neither 64-bit integers nor doubles hold: it would come back changed.
pub(crate) fn keep(node: &Node<'_>) -> Result<serde_json::Value, Inexact> {
    Ok(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Number(digits) => number(digits)
            .ok_or_else(|| Inexact {
                at: node.at,
                digits: (*digits).to_owned(),
            })?
            .into(),
        Value::List(items) => items
            .iter()
            .map(keep)
            .collect::<Result<Vec<_>, _>>()?
            .into(),
        Value::Object(members) => members
            .iter()
            .map(|member| Ok((member.key.to_string(), keep(&member.node)?)))
            .collect::<Result<Map<_, _>, _>>()?
            .into(),
    })
}

/// The number that these digits write; `None` where neither 64-bit integers nor doubles hold it.
pub(crate) fn number(digits: &str) -> Option<Number> {
    let whole = || -> Option<Number> {
        let whole: i64 = digits.parse().ok()?;
        Some(whole.into()).filter(|_| digits != "-0")
    };
    let number = match digits.parse::<u64>() {
        Ok(whole) => whole.into(),
        // The standard library rounds to the nearest double; `serde_json` may miss by one.
        Err(_) => whole().or_else(|| Number::from_f64(digits.parse().ok()?))?,
    };
    (decimal(digits) == decimal(&number.to_string())).then_some(number)
}

/// A decimal number without its way of writing: sign, significant digits, and the power of ten of the last digit.
/// `None` when the exponent is absurd.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((negative, String::new(), 0));
    }
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let exponent: i64 = exponent.parse().ok()?;
    let power = exponent
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(dropped)?;
    Some((negative, significant.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn kept(text: &str) -> Result<serde_json::Value, Inexact> {
        keep(&parse("f", text).unwrap())
    }

    #[test]
    fn numbers_that_survive_are_kept() {
        for text in [
            "0",
            "-0",
            "18446744073709551615",
            "-9223372036854775808",
            "1.50",
            "1e3",
            "0.1",
            "-2.5E-3",
            "1E+2",
            "100000000000000000000",
            "2.6228690708216306e-264",
            "-2.5219117599542196e+246",
        ] {
            let again = kept(text).unwrap().to_string();
            assert_eq!(decimal(&again), decimal(text), "{text} became {again}");
        }
    }

    #[test]
    fn numbers_that_would_change_are_refused() {
        for text in [
            "18446744073709551617",
            "0.12345678901234567891",
            "1e400",
            "-1e400",
            "1e99999999999999999999",
            "9007199254740993.0",
        ] {
            assert_eq!(
                kept(&format!("[{text}]")),
                Err(Inexact {
                    at: 1,
                    digits: text.to_owned()
                }),
                "{text}"
            );
        }
    }
}
