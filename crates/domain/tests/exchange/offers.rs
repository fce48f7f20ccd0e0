//! Work items as issues, on which people let them through.

use phileas_domain::exchange::{Publication, check, offer};
use phileas_domain::model::Tree;

use crate::examples::{REQUIREMENT, flat, requirement, with};

/// What becomes of the one work item of an exchange with this text.
fn offered(text: &str) -> Result<Publication, String> {
    let files = with(flat(), REQUIREMENT, text);
    let tree = Tree::of_texts(
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let exchange = check(&tree).exchange.unwrap();
    let stream = &exchange.streams["generic"];
    let item = stream
        .items
        .iter()
        .find(|item| item.path == REQUIREMENT)
        .unwrap();
    let done = offer("implementer", "phileas:do", stream, item);
    done.map_err(|why| why.to_string())
}

#[test]
fn a_sound_item_is_shown_and_one_with_mistakes_is_not() {
    let sound = requirement("item01", "deci01");
    let issue = offered(&sound).unwrap();
    assert!(issue.label.starts_with("work/"), "{}", issue.label);
    assert!(issue.body.contains("### finding deci01"), "{}", issue.body);
    let wrong = sound.replace("priority: medium", "priority: whenever");
    let why = offered(&wrong).unwrap_err();
    assert!(why.contains("something is wrong with it"), "{why}");
    assert!(why.contains("phileas exchange check"), "{why}");
}
