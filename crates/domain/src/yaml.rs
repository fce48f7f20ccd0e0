//! Where in a YAML text something stands. The parser tells the places of mistakes only, so what is looked for is made
//! into one.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess};
use serde::de::{SeqAccess, Visitor};
use serde_yaml::Value;

/// One step on the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// The value of a key.
    Value(&'a str),
    /// The key itself.
    Key(&'a str),
    /// An element, from 0.
    Item(usize),
}

/// Line and column, both from 1, of what a path leads to; `None` where it leads nowhere or the text is no YAML.
pub(crate) fn place(text: &str, path: &[Step<'_>]) -> Option<(u32, u32)> {
    let found = Cell::new(false);
    let find = Find {
        path,
        found: &found,
    };
    let stopped = find
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .err()?;
    let at = stopped.location().filter(|_| found.get())?;
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).max(1);
    Some((number(at.line()), number(at.column())))
}

/// The values of a text, or where it is wrong and why.
pub(crate) fn parse(text: &str) -> Result<Value, (Option<(u32, u32)>, String)> {
    serde_yaml::from_str(text).map_err(|error| {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let at = error
            .location()
            .map(|at| (number(at.line()), number(at.column())));
        let said = error.to_string();
        // The place is told apart from the words.
        let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
        (at, message)
    })
}

#[derive(Clone, Copy)]
struct Find<'a> {
    path: &'a [Step<'a>],
    found: &'a Cell<bool>,
}

impl Find<'_> {
    fn stop<E: Error>(self) -> E {
        self.found.set(self.path.is_empty());
        E::custom("looked for")
    }
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Every value ends the search: the last one of the path is what was looked for, any other is in its way.
impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Err(self.stop())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(self.stop())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((Step::Item(wanted), path)) = self.path.split_first() else {
            return Err(self.stop());
        };
        for _ in 0..*wanted {
            if items.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        items.next_element_seed(Self { path, ..self })?;
        Err(A::Error::custom("no such element"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (wanted, path) = match self.path.split_first() {
            Some((Step::Value(key) | Step::Key(key), path)) => (*key, path),
            _ => return Err(self.stop()),
        };
        let wants_key = matches!(self.path.first(), Some(Step::Key(_)));
        while let Some(is_wanted) = entries.next_key_seed(Name {
            wanted,
            found: wants_key.then_some(self.found),
        })? {
            if is_wanted {
                entries.next_value_seed(Self { path, ..self })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Err(A::Error::custom("no such key"))
    }
}

/// Reads a key and says whether it is the wanted one; with `found`, stops there.
struct Name<'a> {
    wanted: &'a str,
    found: Option<&'a Cell<bool>>,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match self.found {
            Some(found) if key == self.wanted => {
                found.set(true);
                Err(E::custom("looked for"))
            }
            _ => Ok(key == self.wanted),
        }
    }

    fn visit_bool<E: Error>(self, key: bool) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }

    fn visit_i64<E: Error>(self, key: i64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }

    fn visit_u64<E: Error>(self, key: u64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }

    fn visit_f64<E: Error>(self, key: f64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_what_is_meant() {
        let text = "# é\ntools:\n  - gh\n  - {a: [1, true, ~]}\n7: x\n\"ü\": {b: 1.5}\n";
        let tools = Step::Value("tools");
        for (path, expected) in [
            (&[tools, Step::Item(0)][..], Some((3, 5))),
            (&[tools], Some((3, 3))),
            (&[Step::Key("tools")], Some((2, 1))),
            (
                &[tools, Step::Item(1), Step::Value("a"), Step::Item(1)],
                Some((4, 13)),
            ),
            (
                &[tools, Step::Item(1), Step::Value("a"), Step::Item(2)],
                Some((4, 19)),
            ),
            (&[Step::Value("7")], Some((5, 4))),
            (&[Step::Value("ü"), Step::Key("b")], Some((6, 7))),
            (&[tools, Step::Item(2)], None),
            (&[tools, Step::Item(0), Step::Item(0)], None),
            (&[Step::Value("gone")], None),
            (&[Step::Key("gone")], None),
        ] {
            assert_eq!(place(text, path), expected, "{path:?}");
        }
        assert_eq!(place("a: [", &[Step::Value("a"), Step::Item(0)]), None);
    }

    #[test]
    fn mistakes_have_their_place_apart() {
        let (at, message) = parse("a: 1\nb: c: d\n").unwrap_err();
        assert_eq!(at, Some((2, 5)));
        assert!(!message.contains("line"), "{message}");
    }
}
