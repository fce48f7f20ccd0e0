//! Implements the operator `%` for texts: `'%s: %d' % (name, number)`.
//!
//! The engine supports it for numbers only, and its operators cannot be extended. So the operator is replaced by a
//! filter before parsing: `left % right` becomes `left|percent(right)`, on the same line.

use minijinja::formatting::{FormatStyle, format};
use minijinja::machinery::{Token, tokenize};
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};

use super::call_error::invalid_call;
use super::syntax::seed_syntax;

/// The filter's name, which no template uses by chance.
pub(super) const PERCENT: &str = "__percent";

/// The replacement of the operator. It ends with [`CLOSE`], which no template contains by chance, so that positions can
/// be mapped back to the original template.
const OPEN: &str = "|__percent(";
const CLOSE: &str = "\r)";

/// How many operators are replaced at most; further ones work for numbers only.
const OPERATORS_LIMIT: usize = 500;

/// The template with each operator replaced that may have a text on its left. A template that cannot be parsed is
/// returned unchanged, so that the engine reports the error.
pub(super) fn with_percent(source: &str) -> String {
    if !source.contains('%') {
        return source.to_owned();
    }
    let mut tokens = Vec::new();
    for token in tokenize(source, false, seed_syntax()) {
        let Ok((token, span)) = token else {
            return source.to_owned();
        };
        tokens.push((token, span.start_offset as usize, span.end_offset as usize));
    }
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    let mut replaced = Vec::new();
    for at in 0..tokens.len() {
        if !matches!(tokens[at].0, Token::Mod) || replaced.len() == OPERATORS_LIMIT {
            continue;
        }
        let is_text = left_operand(&tokens, at)
            .is_some_and(|start| may_be_text(&tokens, start, at, &replaced));
        if let (true, Some(end)) = (is_text, right_operand(&tokens, at + 1)) {
            let (_, start, stop) = tokens[at];
            edits.push((start, stop, OPEN));
            edits.push((end, end, CLOSE));
            replaced.push(at);
        }
    }
    edits.sort_by_key(|(start, _, _)| *start);
    let mut out = String::with_capacity(source.len() + edits.len() * OPEN.len());
    let mut from = 0;
    for (start, stop, text) in edits {
        out.push_str(&source[from..start]);
        out.push_str(text);
        from = stop;
    }
    out.push_str(&source[from..]);
    out
}

/// A part of [`with_percent`]'s result, as it was in the original.
pub(super) fn without_percent(part: &str) -> String {
    part.replace(OPEN, "%").replace(CLOSE, "")
}

/// The line and column in the original template of an offset in [`with_percent`]'s result.
pub(super) fn line_and_column(made: &str, at: usize) -> (u32, u32) {
    let is_within = |begun: &usize| {
        made.get(*begun..)
            .is_some_and(|rest| rest.starts_with(OPEN))
    };
    let mut begun = (1..OPEN.len()).filter_map(|back| at.checked_sub(back));
    let mut at = begun.find(is_within).unwrap_or(at).min(made.len());
    while !made.is_char_boundary(at) {
        at -= 1;
    }
    let before = without_percent(made[..at].trim_end_matches('\r'));
    crate::diagnostic::line_and_column(&before, before.len())
}

/// `left % right`: a text is a format, as in Python; any other value is a number.
pub(super) fn format_percent(state: &State, left: &Value, right: &Value) -> Result<Value, Error> {
    let Some(pattern) = left.as_str() else {
        let numbers = minijinja::context! { left => left, right => right };
        return state
            .env()
            .compile_expression("left % right")?
            .eval(numbers);
    };
    let mut arguments: Vec<Value> = match right.is_tuple() {
        true => right.try_iter()?.collect(),
        false => vec![right.clone()],
    };
    if arguments.iter().any(Value::is_undefined) {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let is_named = !right.is_tuple() && matches!(right.kind(), ValueKind::Map | ValueKind::Seq);
    let pattern = with_representations(pattern, &mut arguments, is_named)?;
    format(FormatStyle::Printf, &pattern, &arguments).map(Value::from)
}

/// The pattern without `%r`, which the engine does not support: the argument is replaced by its Python representation.
/// Too many arguments are an error, as in Python.
fn with_representations(
    pattern: &str,
    arguments: &mut [Value],
    is_named: bool,
) -> Result<String, Error> {
    let mut out = String::with_capacity(pattern.len());
    let mut used = 0;
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        let (before, spec) = rest.split_at(at);
        out.push_str(before);
        let is_type =
            |(_, c): &(usize, char)| c.is_ascii_alphabetic() && !matches!(*c, 'h' | 'l' | 'L');
        let ends = |pair: &(usize, char)| pair.1 == '%' || is_type(pair);
        let name = spec[1..].strip_prefix('(').and_then(|rest| rest.find(')'));
        let skipped = name.map_or(1, |end| end + 3);
        let Some((end, kind)) = spec
            .char_indices()
            .skip_while(|(at, _)| *at < skipped)
            .find(ends)
        else {
            out.push_str(spec);
            return Ok(out);
        };
        used += spec[skipped..end].matches('*').count();
        out.push_str(&spec[..end]);
        if kind == 'r'
            && let Some(argument) = arguments.get_mut(used).filter(|_| name.is_none())
        {
            let listed = Value::from(vec![argument.clone()]).to_string();
            *argument = Value::from(listed.trim_start_matches('[').trim_end_matches(']'));
            out.push('s');
        } else {
            out.push(kind);
        }
        used += usize::from(kind != '%' && name.is_none());
        rest = &spec[end + kind.len_utf8()..];
    }
    out.push_str(rest);
    if used < arguments.len() && !is_named {
        return Err(invalid_call("more values are given than the pattern takes"));
    }
    Ok(out)
}

type Tokens<'s> = [(Token<'s>, usize, usize)];

/// The start of the operand that ends before a token: a literal, a name or a bracketed expression, with its calls,
/// look-ups and filters.
fn left_operand(tokens: &Tokens<'_>, end: usize) -> Option<usize> {
    let mut at = end.checked_sub(1)?;
    loop {
        match tokens[at].0 {
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                at = opening_bracket(tokens, at)?;
                // A call or look-up continues with its target.
                let is_of = at.checked_sub(1).is_some_and(|before| {
                    matches!(
                        tokens[before].0,
                        Token::ParenClose | Token::BracketClose | Token::Str(_) | Token::String(_)
                    ) || matches!(tokens[before].0, Token::Ident(name) if !is_keyword(name))
                });
                if is_of {
                    at -= 1;
                    continue;
                }
            }
            Token::Ident(_) | Token::Str(_) | Token::String(_) => {}
            _ => return None,
        }
        match at.checked_sub(1).map(|before| &tokens[before].0) {
            Some(Token::Dot | Token::Pipe) => at = at.checked_sub(2)?,
            _ => return Some(at),
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "in" | "is" | "not" | "and" | "or" | "if" | "else" | "elif" | "set" | "call"
    )
}

fn opening_bracket(tokens: &Tokens<'_>, close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..=close).rev() {
        match tokens[at].0 {
            Token::ParenClose | Token::BracketClose | Token::BraceClose => depth += 1,
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// If the operator before an operand binds tighter than `%`, both are numbers.
fn may_be_text(tokens: &Tokens<'_>, start: usize, end: usize, replaced: &[usize]) -> bool {
    let Some(before) = start.checked_sub(1) else {
        return false;
    };
    let is_number = match tokens[before].0 {
        Token::Mul | Token::Div | Token::FloorDiv | Token::Pow | Token::Minus | Token::Plus => {
            // `a + '%s' % b` adds afterwards; a sign before a number is part of it.
            !matches!(tokens[before].0, Token::Plus)
                || before == 0
                || !ends_operand(&tokens[before - 1].0)
        }
        Token::Mod => replaced.last() != Some(&before),
        _ => false,
    };
    !is_number && start < end
}

fn ends_operand(token: &Token<'_>) -> bool {
    match token {
        Token::Ident(name) => !is_keyword(name),
        Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Int128(_) | Token::Float(_) => {
            true
        }
        Token::ParenClose | Token::BracketClose | Token::BraceClose => true,
        _ => false,
    }
}

/// The end of the operand that begins at a token.
fn right_operand(tokens: &Tokens<'_>, mut at: usize) -> Option<usize> {
    loop {
        while matches!(tokens.get(at)?.0, Token::Minus | Token::Plus) {
            at += 1;
        }
        at = match tokens.get(at)?.0 {
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                closing_bracket(tokens, at)?
            }
            Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_) => at,
            _ => return None,
        };
        loop {
            at = match tokens.get(at + 1).map(|(token, _, _)| token) {
                Some(Token::Dot | Token::Pipe) => at + 2,
                Some(Token::ParenOpen | Token::BracketOpen) => closing_bracket(tokens, at + 1)?,
                _ => break,
            };
        }
        match tokens.get(at + 1).map(|(token, _, _)| token) {
            Some(Token::Pow) => at += 2,
            _ => return tokens.get(at).map(|(_, _, end)| *end),
        }
    }
}

fn closing_bracket(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, (token, _, _)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => depth += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_becomes_a_filter_where_a_text_may_stand() {
        for (source, expected) in [
            ("{{ '%s' % x }}", "{{ '%s' |__percent( x) }}"),
            (
                "{{ '%s' % x|upper ~ 'y' }}",
                "{{ '%s' |__percent( x|upper) ~ 'y' }}",
            ),
            (
                "{{ '%s%s' % (a, b[0].c) }}",
                "{{ '%s%s' |__percent( (a, b[0].c)) }}",
            ),
            (
                "{{ a.b('x')|trim % -c.d(1) }}",
                "{{ a.b('x')|trim |__percent( -c.d(1)) }}",
            ),
            (
                "{{ '%%%s' % x % y }}",
                "{{ '%%%s' |__percent( x) |__percent( y) }}",
            ),
            ("{{ 1 + '%s' % x }}", "{{ 1 + '%s' |__percent( x) }}"),
            ("{% if not f % x %}", "{% if not f |__percent( x) %}"),
            // Numbers are unchanged.
            ("{{ 7 % 3 }}", "{{ 7 % 3 }}"),
            ("{{ -a % 3 }}", "{{ -a % 3 }}"),
            ("{{ a * b % 3 }}", "{{ a * b % 3 }}"),
            // So is everything that is no expression, or cannot be parsed.
            (
                "100 % of {# a % b #}{% raw %}{{ a % b }}{% endraw %}",
                "100 % of {# a % b #}{% raw %}{{ a % b }}{% endraw %}",
            ),
            ("{{ a % }}", "{{ a % }}"),
            ("{{ ' % ", "{{ ' % "),
        ] {
            let made = with_percent(source);
            assert_eq!(without_percent(&made), source);
            assert_eq!(made.replace(CLOSE, ")"), expected);
        }
    }
}
