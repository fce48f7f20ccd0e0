//! Adds methods of Python's strings, lists and maps that minijinja-contrib lacks.

use minijinja::value::{Tuple, ValueKind, from_args};
use minijinja::{Error, State, Value};

use super::call_error::invalid_call;
use minijinja_contrib::pycompat;

/// The largest width of `center` and similar methods, in characters.
const WIDTH_LIMIT_CHARS: usize = 10_000;

/// The side on which a text is padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    Both,
}

/// A text padded to a width.
pub(super) fn pad_text(text: &str, width: usize, fill: char, side: Side) -> Result<String, Error> {
    if width > WIDTH_LIMIT_CHARS {
        return Err(invalid_call(format!(
            "{width} characters are more than {WIDTH_LIMIT_CHARS}"
        )));
    }
    let missing = width.saturating_sub(text.chars().count());
    let before = match side {
        Side::Left => missing,
        Side::Right => 0,
        // If the width is odd, Python puts the extra character before the text.
        Side::Both => missing / 2 + (missing & width & 1),
    };
    let signs = |many| fill.to_string().repeat(many);
    Ok(format!(
        "{}{text}{}",
        signs(before),
        signs(missing - before)
    ))
}

/// Calls a method of a value that has none of its own.
pub(super) fn call_method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str()
        && let Some(result) = changing_method(text, name, arguments)
            .or_else(|| querying_method(text, name, arguments))
    {
        return result;
    }
    match (value.kind(), name) {
        (ValueKind::Seq, "index") => {
            let (wanted,): (&Value,) = from_args(arguments)?;
            let place = value.try_iter()?.position(|item| item == *wanted);
            place
                .map(Value::from)
                .ok_or_else(|| invalid_call(format!("`{wanted}` is not in the list")))
        }
        (ValueKind::Seq | ValueKind::Map, "copy") => {
            let () = from_args(arguments)?;
            Ok(value.clone())
        }
        _ => pycompat::unknown_method_callback(state, value, name, arguments),
    }
}

/// Methods that return a changed text.
fn changing_method(text: &str, name: &str, arguments: &[Value]) -> Option<Result<Value, Error>> {
    Some(match name {
        "casefold" => {
            from_args(arguments).map(|()| Value::from(text.replace('ß', "ss").to_lowercase()))
        }
        "center" => pad_method(text, arguments, Side::Both),
        "expandtabs" => {
            from_args(arguments).and_then(|(size,): (Option<usize>,)| expand_tabs(text, size))
        }
        "ljust" => pad_method(text, arguments, Side::Right),
        "partition" => {
            from_args(arguments).map(|(between,): (&str,)| match text.split_once(between) {
                Some((before, rest)) => three_parts(before, between, rest),
                None => three_parts(text, "", ""),
            })
        }
        "removeprefix" => from_args(arguments)
            .map(|(prefix,): (&str,)| Value::from(text.strip_prefix(prefix).unwrap_or(text))),
        "removesuffix" => from_args(arguments)
            .map(|(suffix,): (&str,)| Value::from(text.strip_suffix(suffix).unwrap_or(text))),
        "rjust" => pad_method(text, arguments, Side::Left),
        "rpartition" => {
            from_args(arguments).map(|(between,): (&str,)| match text.rsplit_once(between) {
                Some((before, rest)) => three_parts(before, between, rest),
                None => three_parts("", "", text),
            })
        }
        "rsplit" => split_from_right(text, arguments),
        "swapcase" => from_args(arguments).map(|()| Value::from(swap_case(text))),
        "zfill" => zfill_method(text, arguments),
        _ => return None,
    })
}

/// Methods that return a property of a text.
fn querying_method(text: &str, name: &str, arguments: &[Value]) -> Option<Result<Value, Error>> {
    let is = |holds: bool| from_args(arguments).map(|()| Value::from(holds));
    Some(match name {
        "index" => {
            from_args(arguments).and_then(|(part,): (&str,)| position_value(text, text.find(part)))
        }
        "isdecimal" => is(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        "isidentifier" => is(text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')),
        "isprintable" => is(!text.contains(char::is_control)),
        "istitle" => is(is_title(text)),
        "rindex" => {
            from_args(arguments).and_then(|(part,): (&str,)| position_value(text, text.rfind(part)))
        }
        _ => return None,
    })
}

fn pad_method(text: &str, arguments: &[Value], side: Side) -> Result<Value, Error> {
    let (width, fill): (usize, Option<&str>) = from_args(arguments)?;
    let mut signs = fill.unwrap_or(" ").chars();
    let (Some(fill), None) = (signs.next(), signs.next()) else {
        return Err(invalid_call("the sign to fill with must be one character"));
    };
    pad_text(text, width, fill, side).map(Value::from)
}

fn zfill_method(text: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (width,): (usize,) = from_args(arguments)?;
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => text.split_at(text.len() - digits.len()),
        None => ("", text),
    };
    let digits = pad_text(digits, width.saturating_sub(sign.len()), '0', Side::Left)?;
    Ok(Value::from(format!("{sign}{digits}")))
}

fn expand_tabs(text: &str, size: Option<usize>) -> Result<Value, Error> {
    let size = size.unwrap_or(8);
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' if size > 0 => {
                let spaces = size - column % size;
                out.push_str(&pad_text("", spaces, ' ', Side::Left)?);
                column += spaces;
            }
            '\t' => {}
            _ => {
                out.push(c);
                column = if c == '\n' { 0 } else { column + 1 };
            }
        }
    }
    Ok(Value::from(out))
}

fn swap_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_uppercase() {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
    }
    out
}

/// Whether each word has a capital at its start and nowhere else.
fn is_title(text: &str) -> bool {
    let mut after_letter = false;
    let mut has_capital = false;
    for c in text.chars() {
        if (c.is_uppercase() && after_letter) || (c.is_lowercase() && !after_letter) {
            return false;
        }
        has_capital |= c.is_uppercase();
        after_letter = c.is_alphabetic();
    }
    has_capital
}

fn position_value(text: &str, at: Option<usize>) -> Result<Value, Error> {
    let at = at.ok_or_else(|| invalid_call("the text does not contain it"))?;
    Ok(Value::from(text[..at].chars().count()))
}

fn three_parts(before: &str, found: &str, rest: &str) -> Value {
    Value::from(Tuple::from([before, found, rest].map(Value::from)))
}

fn split_from_right(text: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (between, most): (Option<&str>, Option<i64>) = from_args(arguments)?;
    let most = most.and_then(|most| usize::try_from(most).ok());
    let parts = most.map_or(usize::MAX, |most| most.saturating_add(1));
    let mut split: Vec<&str> = match between {
        Some("") => return Err(invalid_call("the text to split at is empty")),
        Some(between) => text.rsplitn(parts, between).collect(),
        None => rsplit_at_spaces(text, parts),
    };
    split.reverse();
    Ok(Value::from(
        split.into_iter().map(Value::from).collect::<Vec<_>>(),
    ))
}

/// The words from the end, split at most into so many parts; the last part is the rest.
fn rsplit_at_spaces(text: &str, parts: usize) -> Vec<&str> {
    let mut split = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let cut = rest
            .rfind(char::is_whitespace)
            .filter(|_| split.len() + 1 < parts);
        let Some(cut) = cut else {
            split.push(rest);
            break;
        };
        split.push(rest[cut..].trim_start());
        rest = rest[..cut].trim_end();
    }
    split
}
