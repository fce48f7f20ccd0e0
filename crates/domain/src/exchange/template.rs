//! What an agent copies and fills: every key of a shape, with what it means and what it may be.

use super::placeholder;
use super::shape::{Key, Kind, List, Need, Shape};
use crate::yaml::quoted;

impl Shape {
    /// The template, in YAML. What is still to be written stands in angle brackets; a choice is `one|or|another`.
    #[must_use]
    pub fn to_template(&self) -> String {
        let mut text = format!("# {}\n", self.about);
        write_map(self.keys, 0, &mut text);
        text
    }
}

fn write_map(keys: &[Key], depth: usize, text: &mut String) {
    for key in keys.iter().filter(|key| key.need != Need::Kept) {
        write_indent(depth, text);
        text.push_str(key.name);
        text.push(':');
        match &key.kind {
            Kind::Map(keys) | Kind::Open(keys) => {
                text.push_str(&format!(" # {}\n", key.about));
                write_map(keys, depth + 1, text);
            }
            Kind::List(list) if list.least == 0 => {
                let each = element_hint(list.of);
                text.push_str(&format!(" [] # {}{}{each}\n", key.about, length_hint(list)));
            }
            Kind::List(list) => {
                text.push_str(&format!(" # {}{}\n", key.about, length_hint(list)));
                for _ in 0..list.least {
                    write_list_item(list, depth + 1, text);
                }
            }
            kind => text.push_str(&format!(" {} # {}\n", kind_hint(kind), key.about)),
        }
    }
}

/// What an entry of an empty list is made of, where that is more than one value.
fn element_hint(of: &Kind) -> String {
    let Kind::Map(keys) = of else {
        return String::new();
    };
    let keys = keys.iter().filter(|key| key.need != Need::Kept);
    let keys: Vec<String> = keys
        .map(|key| format!("{}: {}", key.name, kind_hint(&key.kind)))
        .collect();
    format!(" Each: {{ {} }}", keys.join(", "))
}

fn write_list_item(list: &List, depth: usize, text: &mut String) {
    write_indent(depth, text);
    match list.of {
        Kind::Map(keys) | Kind::Open(keys) => {
            let mut inner = String::new();
            write_map(keys, depth + 1, &mut inner);
            // The first key stands beside the dash.
            text.push_str("- ");
            text.push_str(inner.trim_start());
        }
        _ if !list.one_of.is_empty() => text.push_str(&format!("- {}\n", list.one_of[0])),
        kind => text.push_str(&format!("- {}\n", kind_hint(kind))),
    }
}

fn write_indent(depth: usize, text: &mut String) {
    text.push_str(&"  ".repeat(depth));
}

fn length_hint(list: &List) -> String {
    match (list.least, list.most) {
        (least, most) if least == most => format!(" Exactly {least}."),
        (0, most) => format!(" At most {most}."),
        (least, most) => format!(" {least} to {most}."),
    }
}

fn kind_hint(kind: &Kind) -> String {
    match kind {
        Kind::Version(version) => version.to_string(),
        Kind::Id => quoted(placeholder::ID),
        Kind::Link | Kind::Prose => quoted(""),
        Kind::Role => quoted("<role>"),
        Kind::Stream => quoted("<workstream>"),
        Kind::Label => quoted("<label>"),
        Kind::Date => placeholder::DAY.to_owned(),
        Kind::Instant => quoted("<YYYY-MM-DDTHH:MM:SSZ>"),
        Kind::Commit => quoted("<commit>"),
        Kind::Line(fill) | Kind::Text(fill) | Kind::Command(fill) | Kind::Spot(fill) => {
            quoted(fill)
        }
        Kind::Word(words) => words.join("|"),
        Kind::Flag => "false".to_owned(),
        Kind::Count => "0".to_owned(),
        Kind::List(_) => "[]".to_owned(),
        Kind::Map(_) | Kind::Open(_) | Kind::Table(_) => "{}".to_owned(),
        Kind::Phrase | Kind::Passage | Kind::Verbatim | Kind::Spotted => quoted("<text>"),
        Kind::Number(least, _) => least.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::shapes::SHAPES;
    use super::super::validate;
    use super::*;
    use crate::yaml;

    /// A filled-in template is a valid artifact: only its blanks are wrong.
    #[test]
    fn a_template_has_nothing_wrong_but_its_blanks() {
        for shape in SHAPES {
            let text = shape.to_template();
            let (root, mistakes) = yaml::parse(&text);
            assert_eq!(mistakes, [], "{text}");
            let root = root.unwrap();
            for key in shape.keys.iter().filter(|key| key.need != Need::Kept) {
                assert!(root.get(key.name).is_some(), "{}: {}", shape.name, key.name);
            }
            let found = validate::validate_node(shape, "x.yml", &root);
            assert!(!found.is_empty(), "{}", shape.name);
            for one in found {
                let choice = one.message.contains('|') && one.message.contains("none of the words");
                assert!(
                    one.message.contains("placeholder") || choice,
                    "{one}\n{text}"
                );
            }
        }
    }

    #[test]
    fn a_template_says_how_many_entries_a_list_has() {
        let line = |about: &str| {
            let templates = SHAPES.iter().map(|shape| shape.to_template());
            let found =
                templates.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
            found
                .filter(|line| line.contains(about))
                .collect::<String>()
        };
        let list = |least, most| List::between(least, most, &Kind::Flag);
        assert_eq!(length_hint(&list(0, 5)), " At most 5.");
        assert_eq!(length_hint(&list(1, 3)), " 1 to 3.");
        assert_eq!(length_hint(&list(4, 4)), " Exactly 4.");
        assert!(line("goals:").contains(" 1 to 3."), "{}", line("goals:"));
    }

    #[test]
    fn an_empty_list_says_what_an_entry_has_and_no_optional_key() {
        static KEYS: [Key; 2] = [
            Key::new("path", Kind::Line("<path>"), ""),
            Key::new("older", Kind::Flag, "").or_kept(),
        ];
        assert_eq!(
            element_hint(&Kind::Map(&KEYS)),
            " Each: { path: \"<path>\" }"
        );
        assert_eq!(element_hint(&Kind::Flag), "");
    }
}
