//! Tests that validator, JSON Schema and template agree, because all are generated from one shape.

use std::sync::LazyLock;

use jsonschema::Validator;
use phileas_domain::exchange::{SHAPES, Shape};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

static VALIDATORS: LazyLock<Vec<Validator>> = LazyLock::new(|| {
    let build = |shape: &&Shape| {
        let mut options = jsonschema::draft7::options().should_validate_formats(true);
        options = options.with_pattern_options(jsonschema::PatternOptions::regex());
        options.build(&shape.to_schema()).unwrap()
    };
    SHAPES.iter().map(build).collect()
});

/// Whether phileas accepts a document: JSON is YAML, too.
fn taken(shape: &Shape, document: &Value) -> bool {
    shape.validate("x.yml", &document.to_string()).is_empty()
}

/// A document that matches a schema, generated from the schema alone.
fn fitting(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    if let Some(one) = schema.get("const") {
        return Just(one.clone()).boxed();
    }
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let any: Vec<_> = any.iter().map(|one| fitting(one, root)).collect();
        return proptest::strategy::Union::new(any).boxed();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].clone();
            let keys = schema["properties"].as_object().unwrap().clone();
            let root = root.clone();
            let entry = move |(name, of): (String, Value)| {
                let needed = required.as_array().unwrap().contains(&json!(name));
                let value = fitting(&of, &root);
                let value = if needed {
                    value.prop_map(Some).boxed()
                } else {
                    proptest::option::of(value).boxed()
                };
                (Just(name), value)
            };
            let entries: Vec<_> = keys.into_iter().map(entry).collect();
            let rule = schema.get("then").cloned();
            entries
                .prop_map(move |entries| {
                    let present = entries
                        .into_iter()
                        .filter_map(|(name, value)| Some((name, value?)));
                    let mut object: serde_json::Map<_, _> = present.collect();
                    // Add what a rule may require.
                    for name in rule
                        .iter()
                        .flat_map(|rule| rule["required"].as_array().unwrap())
                    {
                        object.insert(name.as_str().unwrap().to_owned(), json!("because"));
                    }
                    Value::Object(object)
                })
                .boxed()
        }
        Some("array") => {
            let least = usize::try_from(schema["minItems"].as_u64().unwrap()).unwrap();
            let most = usize::try_from(schema["maxItems"].as_u64().unwrap()).unwrap();
            let contains = schema["contains"]["enum"].as_array().cloned();
            proptest::collection::vec(fitting(&schema["items"], root), least..=most.min(least + 3))
                .prop_map(move |mut items| {
                    if let Some(one) = contains.as_ref().map(|one| one[0].clone()) {
                        items[0] = one;
                    }
                    Value::Array(items)
                })
                .boxed()
        }
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("integer") => (1..1000_i64).prop_map(Value::from).boxed(),
        Some("string") => match schema["format"].as_str() {
            Some("date") => Just(json!("2026-01-05")).boxed(),
            Some(_) => Just(json!("2026-01-05T10:00:00Z")).boxed(),
            None => {
                let pattern = schema["pattern"].as_str().unwrap_or(".");
                let small: Vec<&str> = if pattern.contains("{6}") {
                    vec!["a1b2c3", "000000"]
                } else if pattern.contains("{7,64}") {
                    vec!["4c1d2e3"]
                } else if pattern.starts_with("^[A-Za-z0-9]") {
                    vec!["taxonomy", "data_arch"]
                } else {
                    vec!["a text", "cargo test", "ü 😀: # x", "a <b> c"]
                };
                select(small).prop_map(Value::from).boxed()
            }
        },
        _ => panic!("{schema}"),
    }
}

/// Values of a wrong kind: near misses of every kind.
fn odd() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "\n",
        "a\nb",
        "<path>",
        "  <anything> ",
        "YYYY-MM-DD",
        "see <title of the finding> here",
        "abc123",
        "ABC123",
        "abc1234",
        "2026-02-30",
        "2024-02-29",
        "2026-01-05",
        "1999-01-01",
        "2026-01-05T25:00:00Z",
        "2026-01-05T10:00:00+05:30",
        "2026-01-05T10:00:00z",
        "low",
        "high",
        "LOW",
        "incremental",
        "bootstrap",
        ".jules",
        "data_arch",
        "-a",
        "run jules now",
        "JLO run x",
        "\u{a0}",
        "\u{feff}",
        "\u{85}",
        "a\u{2028}b",
        "4c1d2e3",
        "true",
        "null",
        "1",
        "😀",
    ];
    let long = [63, 64, 65, 499, 500, 501, 10_000, 10_001];
    prop_oneof![
        4 => select(texts.to_vec()).prop_map(Value::from),
        1 => select(long.to_vec()).prop_map(|length| Value::from("a".repeat(length))),
        1 => select(long.to_vec()).prop_map(|length| Value::from("ü".repeat(length))),
        1 => "\\PC{0,12}".prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => select(vec![-1, 0, 1, 2, 3, 9_000_000_000_000_000, 9_000_000_000_000_001, i64::MAX]).prop_map(Value::from),
        1 => select(vec![0.0, 1.0, 2.0, 2.5, -0.5, 1e300]).prop_map(Value::from),
        1 => Just(json!([])),
        1 => Just(json!({})),
        1 => Just(json!(["a", 1, {}])),
    ]
}

#[derive(Debug, Clone)]
enum Mutation {
    Set(usize, Value),
    Remove(usize),
    Double(usize),
    Rename(usize, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = 0..60_usize;
    prop_oneof![
        5 => (at.clone(), odd()).prop_map(|(at, value)| Mutation::Set(at, value)),
        2 => at.clone().prop_map(Mutation::Remove),
        2 => at.clone().prop_map(Mutation::Double),
        1 => (at, "[a-z_]{1,9}").prop_map(|(at, name)| Mutation::Rename(at, name)),
    ]
}

/// Every position of a document, as a JSON pointer.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let here = format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
                all.push(here.clone());
                pointers(value, &here, all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let here = format!("{here}/{index}");
                all.push(here.clone());
                pointers(value, &here, all);
            }
        }
        _ => {}
    }
}

fn mutate(document: &mut Value, mutation: &Mutation) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    if all.is_empty() {
        return;
    }
    let pick = |at: &usize| all[at % all.len()].clone();
    let split = |pointer: &str| {
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        (parent.to_owned(), last.to_owned())
    };
    match mutation {
        Mutation::Set(at, value) => *document.pointer_mut(&pick(at)).unwrap() = value.clone(),
        Mutation::Remove(at) | Mutation::Rename(at, _) | Mutation::Double(at) => {
            let (parent, last) = split(&pick(at));
            match document.pointer_mut(&parent).unwrap() {
                Value::Object(map) => {
                    let value = map.shift_remove(&last).unwrap();
                    match mutation {
                        Mutation::Rename(_, name) => drop(map.insert(name.clone(), value)),
                        Mutation::Double(_) => drop(map.insert(last, json!([value]))),
                        _ => {}
                    }
                }
                Value::Array(items) => {
                    let value = items.remove(last.parse().unwrap());
                    if matches!(mutation, Mutation::Double(_)) {
                        items.extend([value.clone(), value]);
                    }
                }
                _ => unreachable!(),
            }
        }
    }
}

fn documents() -> impl Strategy<Value = (usize, Value)> {
    (0..SHAPES.len()).prop_flat_map(|index| {
        let schema = SHAPES[index].to_schema();
        fitting(&schema, &schema).prop_map(move |document| (index, document))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_fits_the_schema_is_taken((index, document) in documents()) {
        let found = SHAPES[index].validate("x.yml", &document.to_string());
        prop_assert!(VALIDATORS[index].is_valid(&document), "{}: {document}", SHAPES[index].name);
        prop_assert!(found.is_empty(), "{}: {found:?}", SHAPES[index].name);
    }

    #[test]
    fn schema_and_validator_agree_on_what_is_nearly_right(
        (index, document) in documents(),
        mutations in proptest::collection::vec(mutation(), 1..3),
    ) {
        let mut document = document;
        for one in &mutations {
            mutate(&mut document, one);
        }
        let by_schema = VALIDATORS[index].is_valid(&document);
        let found = SHAPES[index].validate("x.yml", &document.to_string());
        prop_assert_eq!(by_schema, found.is_empty(), "{}: {}\n{:?}", SHAPES[index].name, document, found);
    }
}

/// The schema has exactly the keys of the template, and exactly its allowed words.
#[test]
fn template_and_schema_have_the_same_keys_and_words() {
    for shape in SHAPES {
        let schema = shape.to_schema();
        let properties = schema["properties"].as_object().unwrap();
        let template: serde_yaml::Value = serde_yaml::from_str(&shape.to_template()).unwrap();
        for (key, value) in template.as_mapping().unwrap() {
            let key = key.as_str().unwrap();
            let property = properties
                .get(key)
                .unwrap_or_else(|| panic!("{}: {key}", shape.name));
            if let Some(words) = property["enum"].as_array() {
                let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap()).collect();
                assert_eq!(value.as_str().unwrap(), words.join("|"));
            }
        }
        for key in schema["required"].as_array().unwrap() {
            assert!(
                template.get(key.as_str().unwrap()).is_some(),
                "{}: {key}",
                shape.name
            );
        }
    }
    assert!(!taken(SHAPES[0], &json!([])));
}

/// A template's placeholder for a date has the form of a name; where a name is expected, both accept it or both do not.
#[test]
fn schema_and_validator_agree_on_names_that_look_like_blanks() {
    let index = SHAPES
        .iter()
        .position(|shape| shape.name == "event")
        .unwrap();
    let yaml: serde_yaml::Value =
        serde_yaml::from_str(&crate::examples::event("a1b2c3", "")).unwrap();
    let mut document = serde_json::to_value(yaml).unwrap();
    for (key, text, fits) in [
        ("author_role", "taxonomy", true),
        ("author_role", "YYYY-MM-DD", true),
        ("author_role", "<role>", false),
        ("title", "YYYY-MM-DD", false),
    ] {
        let before = document[key].clone();
        document[key] = json!(text);
        assert_eq!(VALIDATORS[index].is_valid(&document), fits, "{key}: {text}");
        assert_eq!(taken(SHAPES[index], &document), fits, "{key}: {text}");
        document[key] = before;
    }
}
