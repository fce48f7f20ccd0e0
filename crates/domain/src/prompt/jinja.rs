//! Adds the parts of Jinja2 that the template engine lacks, so that a template means the same here.
//!
//! The reference is Jinja2 3.1 (<https://jinja.palletsprojects.com/en/stable/templates/>); `tests/parts/jinja.py`
//! compares both. Random functions (`random`, `lipsum`) are left out, because the same request must give the same
//! prompt.

use std::borrow::Cow;
use std::fmt::Write as _;

use minijinja::value::{Kwargs, ObjectRepr, Rest, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::call_error::invalid_call;
use super::cycler::new_cycler;
use super::limits::{FUEL_LIMIT_STEPS, RECURSION_LIMIT};
use super::percent::{PERCENT, format_percent};
use super::python::{self, Side, pad_text};
use super::wrap::{Wrapping, wrap_line};
use minijinja_contrib::{filters as contributed, globals};

/// An engine with the functions and limits that all prompts share.
pub(super) fn new_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // A condition may use an undefined name, as in Jinja2; printing it is an error.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL_LIMIT_STEPS));
    environment.set_recursion_limit(RECURSION_LIMIT);
    // Only in this mode do errors name the undefined expression.
    environment.set_debug(true);
    environment.set_unknown_method_callback(python::call_method);
    add_texts(&mut environment);
    add_values(&mut environment);
    add_numbers(&mut environment);
    environment.add_function("cycler", |items: Rest<Value>| new_cycler(items.0));
    environment.add_function("dict", function_dict);
    environment.add_function("joiner", globals::joiner);
    environment.add_test("callable", |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|object| object.repr() == ObjectRepr::Plain)
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::String | ValueKind::Map
        )
    });
    environment
}

/// Filters for texts.
fn add_texts(environment: &mut Environment<'static>) {
    environment.add_filter(PERCENT, format_percent);
    environment.add_filter(
        "center",
        |value: &Value, placed: Rest<Value>, named: Kwargs| {
            let width = by_name(["width"], placed, &named)?.get::<Option<usize>>("width")?;
            pad_text(&as_text(value)?, width.unwrap_or(80), ' ', Side::Both)
        },
    );
    for name in ["e", "escape"] {
        environment.add_filter(name, |value: &Value| match value.is_safe() {
            true => Ok(value.clone()),
            false => Ok::<_, Error>(Value::from_safe_string(escape_html(&as_text(value)?))),
        });
    }
    environment.add_filter("forceescape", |value: &Value| {
        Ok::<_, Error>(Value::from_safe_string(escape_html(&as_text(value)?)))
    });
    environment.add_filter("indent", filter_indent);
    environment.add_filter("replace", filter_replace);
    environment.add_filter("striptags", contributed::striptags);
    environment.add_filter("truncate", filter_truncate);
    environment.add_filter("urlencode", filter_urlencode);
    environment.add_filter("wordcount", |value: &Value| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let text = as_text(value)?;
        let words = text.split(|c| !is_word(c));
        Ok::<_, Error>(words.filter(|word| !word.is_empty()).count())
    });
    environment.add_filter("wordwrap", filter_wordwrap);
    environment.add_filter("xmlattr", filter_xmlattr);
}

/// Filters for other values. Most are the engine's own, which accept their arguments only by name.
fn add_values(environment: &mut Environment<'static>) {
    use minijinja::filters;
    for name in ["d", "default"] {
        environment.add_filter(name, filter_default);
    }
    environment.add_filter(
        "dictsort",
        |value: &Value, placed: Rest<Value>, named: Kwargs| {
            let names = ["case_sensitive", "by", "reverse"];
            filters::dictsort(value, by_name(names, placed, &named)?)
        },
    );
    environment.add_filter(
        "sort",
        |state: &State, value: Value, placed: Rest<Value>, named: Kwargs| {
            let names = ["reverse", "case_sensitive", "attribute"];
            filters::sort(state, value, by_name(names, placed, &named)?)
        },
    );
    environment.add_filter("tojson", filter_tojson);
    environment.add_filter(
        "unique",
        |state: &State, value: Value, placed: Rest<Value>, named: Kwargs| {
            filters::unique(
                state,
                value,
                by_name(["case_sensitive", "attribute"], placed, &named)?,
            )
        },
    );
}

/// Filters for numbers.
fn add_numbers(environment: &mut Environment<'static>) {
    use minijinja::filters;
    environment.add_filter(
        "filesizeformat",
        |value: f64, placed: Rest<Value>, named: Kwargs| {
            let binary = by_name(["binary"], placed, &named)?.get::<Option<bool>>("binary")?;
            Ok::<_, Error>(contributed::filesizeformat(value, binary))
        },
    );
    environment.add_filter(
        "float",
        |state: &State, value: &Value, placed: Rest<Value>, named: Kwargs| {
            let default = by_name(["default"], placed, &named)?.get::<Option<Value>>("default")?;
            let default = default.unwrap_or(Value::from(0.0));
            filters::float(state, value, Some(default), no_names())
        },
    );
    environment.add_filter(
        "int",
        |state: &State, value: &Value, placed: Rest<Value>, named: Kwargs| {
            let arguments = by_name(["default", "base"], placed, &named)?;
            let default = arguments.get::<Option<Value>>("default")?;
            let (default, base) = (default.unwrap_or(Value::from(0)), arguments.get("base")?);
            filters::int(state, value, Some(default), base, no_names())
        },
    );
    environment.add_filter(
        "max",
        |state: &State, value: Value, placed: Rest<Value>, named: Kwargs| {
            let named = by_name(["case_sensitive", "attribute"], placed, &named)?;
            // Of equal values the engine takes the last, and Python the first.
            filters::max(state, filters::reverse(&value)?, named)
        },
    );
    environment.add_filter(
        "min",
        |state: &State, value: Value, placed: Rest<Value>, named: Kwargs| {
            filters::min(
                state,
                value,
                by_name(["case_sensitive", "attribute"], placed, &named)?,
            )
        },
    );
}

/// A value as text. An untrusted value is refused, because taking it apart would remove its fence.
fn as_text(value: &Value) -> Result<Cow<'_, str>, Error> {
    match (value.as_str(), value.kind()) {
        (Some(text), _) => Ok(Cow::Borrowed(text)),
        (None, ValueKind::Undefined) => Err(Error::from(ErrorKind::UndefinedError)),
        (None, ValueKind::Plain) => Err(invalid_call("this is not text")),
        (None, _) => Ok(Cow::Owned(value.to_string())),
    }
}

/// Positional and named arguments, all by name.
fn by_name<const N: usize>(
    names: [&'static str; N],
    placed: Rest<Value>,
    named: &Kwargs,
) -> Result<Kwargs, Error> {
    if placed.0.len() > N {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let mut placed = placed.0.into_iter();
    let mut all = Vec::new();
    for name in names {
        let value = match placed.next() {
            Some(value) => Some(value),
            None => named.get::<Option<Value>>(name)?,
        };
        all.extend(value.map(|value| (name, value)));
    }
    named.assert_all_used()?;
    Ok(all.into_iter().collect())
}

fn no_names() -> Kwargs {
    std::iter::empty::<(&str, Value)>().collect()
}

/// Escapes like `markupsafe.escape`.
pub(super) fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

fn filter_default(value: &Value, placed: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let arguments = by_name(["default_value", "boolean"], placed, &named)?;
    let boolean = arguments.get::<Option<bool>>("boolean")?.unwrap_or(false);
    if value.is_undefined() || (boolean && !value.is_true()) {
        let instead = arguments.get::<Option<Value>>("default_value")?;
        return Ok(instead.unwrap_or(Value::from("")));
    }
    Ok(value.clone())
}

fn filter_indent(value: &Value, placed: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let arguments = by_name(["width", "first", "blank"], placed, &named)?;
    let width = arguments
        .get::<Option<Value>>("width")?
        .unwrap_or(Value::from(4));
    let signs = match width.as_str() {
        Some(signs) => signs.to_owned(),
        None => pad_text("", usize::try_from(width)?, ' ', Side::Left)?,
    };
    let flag = |name| Ok::<_, Error>(arguments.get::<Option<bool>>(name)?.unwrap_or(false));
    let (first, blank) = (flag("first")?, flag("blank")?);
    let text = as_text(value)?;
    let mut out = String::new();
    // A line feed at the end begins another, empty line.
    for (number, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if number > 0 {
            out.push('\n');
        }
        let is_meant = if number == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        if is_meant {
            out.push_str(&signs);
        }
        out.push_str(line);
    }
    Ok(out)
}

fn filter_replace(value: &Value, placed: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let arguments = by_name(["old", "new", "count"], placed, &named)?;
    let (old, new): (Value, Value) = (arguments.get("old")?, arguments.get("new")?);
    let (value, old, new) = (as_text(value)?, as_text(&old)?, as_text(&new)?);
    Ok(match arguments.get::<Option<usize>>("count")? {
        Some(count) => value.replacen(&*old, &new, count),
        None => value.replace(&*old, &new),
    })
}

fn filter_truncate(
    state: &mut State,
    value: &Value,
    placed: Rest<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let arguments = by_name(["length", "killwords", "end", "leeway"], placed, &named)?;
    contributed::truncate(state, &Value::from(as_text(value)?), arguments)
}

/// A text as a URL component; a map or a list of pairs as a query string.
fn filter_urlencode(value: &Value) -> Result<String, Error> {
    if !matches!(value.kind(), ValueKind::Map | ValueKind::Seq) {
        return minijinja::filters::urlencode(value);
    }
    let part = |value: &Value| {
        let coded = minijinja::filters::urlencode(&Value::from(as_text(value)?))?;
        Ok::<_, Error>(coded.replace('/', "%2F").replace("%20", "+"))
    };
    let mut parts = Vec::new();
    for item in value.try_iter()? {
        let (key, value) = match value.kind() {
            ValueKind::Map => (item.clone(), value.get_item(&item)?),
            _ => (item.get_item_by_index(0)?, item.get_item_by_index(1)?),
        };
        parts.push(format!("{}={}", part(&key)?, part(&value)?));
    }
    Ok(parts.join("&"))
}

fn filter_wordwrap(value: &Value, placed: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let arguments = by_name(names, placed, &named)?;
    let flag = |name| Ok::<_, Error>(arguments.get::<Option<bool>>(name)?.unwrap_or(true));
    let wrapping = Wrapping {
        width: arguments.get::<Option<usize>>("width")?.unwrap_or(79),
        break_long_words: flag("break_long_words")?,
        break_on_hyphens: flag("break_on_hyphens")?,
    };
    if wrapping.width == 0 {
        return Err(invalid_call("`wordwrap` takes a width of at least 1"));
    }
    let between = arguments.get::<Option<&str>>("wrapstring")?.unwrap_or("\n");
    let text = as_text(value)?;
    let lines = text
        .lines()
        .map(|line| wrap_line(line, wrapping).join(between));
    Ok(lines.collect::<Vec<_>>().join(between))
}

/// The attributes of an element, with a leading space if there are any.
fn filter_xmlattr(value: &Value, autospace: Option<bool>) -> Result<String, Error> {
    let mut out = String::new();
    for key in value.try_iter()? {
        let attribute = value.get_item(&key)?;
        if attribute.is_none() || attribute.is_undefined() {
            continue;
        }
        let name = as_text(&key)?;
        if name.contains(['/', '>', '=']) || name.contains(char::is_whitespace) {
            return Err(invalid_call(format!(
                "`{name}` cannot be the name of an attribute"
            )));
        }
        if !out.is_empty() || autospace.unwrap_or(true) {
            out.push(' ');
        }
        let _ = write!(
            out,
            "{}=\"{}\"",
            escape_html(&name),
            escape_html(&as_text(&attribute)?)
        );
    }
    Ok(out)
}

/// JSON with sorted keys in ASCII, as Jinja2 writes it.
fn filter_tojson(value: &Value, placed: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let indent = by_name(["indent"], placed, &named)?.get::<Option<Value>>("indent")?;
    let json = minijinja::filters::tojson(&in_order(value)?, indent, no_names())?;
    let mut out = String::new();
    for c in json.to_string().chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Ok(Value::from_safe_string(out))
}

/// The same value with the keys of its maps sorted.
fn in_order(value: &Value) -> Result<Value, Error> {
    Ok(match value.kind() {
        ValueKind::Map => {
            let mut keys: Vec<Value> = value.try_iter()?.collect();
            keys.sort();
            let mut entries = Vec::new();
            for key in keys {
                let value = in_order(&value.get_item(&key)?)?;
                entries.push((key, value));
            }
            Value::from_pairs(entries)
        }
        ValueKind::Seq => {
            let items: Result<Vec<_>, Error> =
                value.try_iter()?.map(|item| in_order(&item)).collect();
            Value::from(items?)
        }
        _ => value.clone(),
    })
}

/// A map from a map or from pairs, and from named arguments.
fn function_dict(first: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let mut entries = Vec::new();
    if let Some(first) = first {
        for item in first.try_iter()? {
            entries.push(match first.kind() {
                ValueKind::Map => (item.clone(), first.get_item(&item)?),
                _ => (item.get_item_by_index(0)?, item.get_item_by_index(1)?),
            });
        }
    }
    for name in named.args() {
        entries.push((Value::from(name), named.get::<Value>(name)?));
    }
    named.assert_all_used()?;
    Ok(Value::from_pairs(entries))
}

/// What Jinja2 prints for a value, if the engine prints something else.
pub(super) fn print_value(auto_escape: &AutoEscape, value: &Value) -> Option<String> {
    match (auto_escape, value.kind()) {
        (AutoEscape::Html, _) if !value.is_safe() => Some(escape_html(&value.to_string())),
        (_, ValueKind::Number) if !value.is_integer() => {
            f64::try_from(value.clone()).ok().and_then(python_float)
        }
        _ => None,
    }
}

/// A number as Python prints it: very small and very large ones with an exponent.
fn python_float(number: f64) -> Option<String> {
    const FIXED: std::ops::Range<f64> = 1e-4..1e16;
    if number == 0.0 || !number.is_finite() || FIXED.contains(&number.abs()) {
        return None;
    }
    let shown = format!("{number:e}");
    let (digits, exponent) = shown.split_once('e')?;
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    Some(format!("{digits}e{sign}{exponent:0>2}"))
}
