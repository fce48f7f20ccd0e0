//! Every defect of the first monitor, watcher and server has a test that bears its number.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::references::sources;

/// The defects, by their numbers in the order in which they were found; those with a letter are parts of one.
const DEFECTS: [&str; 22] = [
    "01", "02", "03", "04", "05a", "05b", "05c", "05d", "05e", "05f", "06", "07", "08a", "08b",
    "09", "10", "11", "12", "13", "14", "15", "16",
];

#[test]
fn each_has_a_test_of_its_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = BTreeSet::new();
    for folder in ["src", "crates/domain/src", "tests/it"] {
        for (_, text) in sources(&root.join(folder)) {
            for rest in text.split("fn defect_").skip(1) {
                let number = rest.split('_').next().unwrap_or_default();
                named.insert(number.to_owned());
            }
        }
    }
    for defect in DEFECTS {
        assert!(
            named.contains(defect),
            "no test is called defect_{defect}_…: {named:?}"
        );
    }
}
