//! Nothing secret stands where others read.

use phileas::sandbox::world_setup;

/// What must stand nowhere, and how it is called.
const SECRETS: [(&str, &str); 4] = [
    ("the Jules key", world_setup::JULES_KEY),
    ("the workflow's token", world_setup::GITHUB_TOKEN),
    ("the webhook's secret", world_setup::WEBHOOK_SECRET),
    ("a token of the App", "ghs_"),
];

/// The secrets that a text holds, by what they are called.
pub(in crate::simulation) fn secrets(text: &str) -> impl Iterator<Item = &'static str> {
    let held = SECRETS.iter().filter(|(_, secret)| text.contains(secret));
    held.map(|(name, _)| *name)
}

#[test]
fn each_secret_is_recognised() {
    for (name, secret) in SECRETS {
        let text = format!("It is {secret}.");
        assert!(secrets(&text).eq([name]), "{name}");
    }
    assert_eq!(secrets("Nothing.").count(), 0);
}
