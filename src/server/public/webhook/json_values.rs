//! Reads single values out of a JSON text.
//!
//! A value of another type than expected counts as missing: its type must not decide whether a
//! delivery is accepted. Only a text that is not JSON is an error.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// A target into which a value is read, if it has the right type.
pub(super) trait PickJson<'de> {
    /// Takes a text.
    fn read_text(&mut self, _text: &str) {}
    /// Takes a whole number that is not negative.
    fn read_number(&mut self, _number: u64) {}
    /// Takes true or false.
    fn read_bool(&mut self, _truth: bool) {}
    /// Handles one entry of an object: reads the value, or returns `false` to skip it.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    fn entry<A: MapAccess<'de>>(&mut self, _key: &str, _map: &mut A) -> Result<bool, A::Error> {
        Ok(false)
    }
}

/// Reads the value of the entry into `into`.
pub(super) fn read_value<'de, A: MapAccess<'de>>(
    map: &mut A,
    into: &mut impl PickJson<'de>,
) -> Result<bool, A::Error> {
    map.next_value_seed(Seed(into)).map(|()| true)
}

/// Reads a whole JSON text.
pub(super) fn read_document<'de>(
    text: &'de [u8],
    into: &mut impl PickJson<'de>,
) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    Seed(into).deserialize(&mut reader)?;
    reader.end()
}

/// A text up to a length and without control characters, which not every database stores.
#[derive(Debug, Default)]
pub(super) struct Text<const MOST: usize>(pub(super) Option<String>);

impl<const MOST: usize> PickJson<'_> for Text<MOST> {
    fn read_text(&mut self, text: &str) {
        let mut kept = String::new();
        for letter in text.chars().filter(|letter| !letter.is_control()) {
            if kept.len() + letter.len_utf8() > MOST {
                break;
            }
            kept.push(letter);
        }
        self.0 = Some(kept);
    }
}

/// A number that the inbox can store.
#[derive(Debug, Default)]
pub(super) struct Number(pub(super) Option<u64>);

impl PickJson<'_> for Number {
    fn read_number(&mut self, number: u64) {
        self.0 = Some(number).filter(|number| i64::try_from(*number).is_ok());
    }
}

/// A boolean; false if it is missing.
#[derive(Debug, Default)]
pub(super) struct Truth(pub(super) bool);

impl PickJson<'_> for Truth {
    fn read_bool(&mut self, truth: bool) {
        self.0 = truth;
    }
}

struct Seed<'a, P>(&'a mut P);

impl<'de, P: PickJson<'de>> DeserializeSeed<'de> for Seed<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, P: PickJson<'de>> Visitor<'de> for Seed<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.read_text(text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.read_number(number);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(), E> {
        self.0.read_bool(truth);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if !self.0.entry(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A key, borrowed unless it has escapes.
struct Key<'de>(std::borrow::Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(key.into()))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(key.to_owned().into()))
            }
        }
        reader.deserialize_str(Borrowing)
    }
}
