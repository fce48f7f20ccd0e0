//! Scalars: how they are written, and what they mean.

use saphyr_parser::ScalarStyle;

use super::Value;

/// A text as YAML, on one line, in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    // JSON's texts are YAML's, but for what YAML counts as breaks.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{85}', "\\N")
        .replace('\u{2028}', "\\L")
        .replace('\u{2029}', "\\P")
        .replace('\u{7f}', "\\x7f")
}

/// How many bytes at the beginning of `rest` write a scalar, where they are told by themselves: the parser's own end may
/// lie behind a comment.
pub(super) fn written(rest: &str, value: &str, style: ScalarStyle) -> Option<usize> {
    match style {
        ScalarStyle::Plain => rest.starts_with(value).then_some(value.len()),
        ScalarStyle::DoubleQuoted => {
            let mut escaped = false;
            let inside = rest.strip_prefix('"')?;
            let end = inside.bytes().position(|b| {
                let ends = b == b'"' && !escaped;
                escaped = b == b'\\' && !escaped;
                ends
            });
            end.map(|end| end + 2)
        }
        ScalarStyle::SingleQuoted => {
            let mut inside = rest.strip_prefix('\'')?;
            loop {
                let (_, after) = inside.split_once('\'')?;
                match after.strip_prefix('\'') {
                    // Two of them write one.
                    Some(further) => inside = further,
                    None => return Some(rest.len() - after.len()),
                }
            }
        }
        ScalarStyle::Literal | ScalarStyle::Folded => None,
    }
}

/// What an unquoted scalar means in YAML 1.2's core schema.
pub(super) fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Flag(true),
        "false" | "False" | "FALSE" => return Value::Flag(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Value::Float(f64::INFINITY);
    }
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    if let Some(number) = text.strip_prefix("0x").and_then(|rest| radix(rest, 16)) {
        return Value::Integer(number);
    }
    if let Some(number) = text.strip_prefix("0o").and_then(|rest| radix(rest, 8)) {
        return Value::Integer(number);
    }
    let digit = unsigned
        .strip_prefix('.')
        .unwrap_or(unsigned)
        .starts_with(|c: char| c.is_ascii_digit());
    let figures = unsigned
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if digit && figures {
        if let Ok(number) = text.parse::<i64>() {
            return Value::Integer(number);
        }
        if let Ok(number) = text.parse::<f64>() {
            return Value::Float(number);
        }
    }
    Value::Text(text.to_owned())
}
