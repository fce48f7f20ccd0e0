//! Issues that call a person: one for each cause, and none without.

use std::collections::BTreeMap;

use phileas_world::Face;

use super::super::stage::OURS;
use super::Judge;

/// How the marker of an issue of ours begins.
const MARKERS: [&str; 2] = ["<!-- phileas:notice:", "<!-- phileas:work:"];

/// The key of the issue that tells of a refused key.
const CREDENTIAL: &str = "jules_credential";

/// The marker in an issue's text, without its end.
fn marker(body: &str) -> Option<&str> {
    let at = MARKERS.iter().find_map(|start| body.find(start))?;
    body[at..].split_once(" -->").map(|(marker, _)| marker)
}

/// Whether an issue reports something that has not happened: the ledger is touched here only by the user who adds a file
/// to its branch, and the key is refused only where the world says so.
fn is_false_alarm(marker: &str, key_was_refused: bool) -> bool {
    let key = marker.strip_prefix(MARKERS[0]).unwrap_or_default();
    key.starts_with("ledger_") || key == CREDENTIAL && !key_was_refused
}

impl Judge<'_> {
    pub(super) fn notices(&mut self) {
        let refused = self
            .books
            .requests
            .iter()
            .any(|one| one.face == Face::Jules && one.identity.is_none());
        let mut open: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut wrong = Vec::new();
        let github = self.world.github();
        for issue in github.issues(self.repo) {
            let thread = &issue.thread;
            if !OURS.contains(&thread.author_login.as_str()) {
                continue;
            }
            let Some(marker) = thread.body.as_deref().and_then(marker) else {
                continue;
            };
            if is_false_alarm(marker, refused) {
                wrong.push(format!(
                    "#{} is a false alarm: {}",
                    thread.number, thread.title
                ));
            }
            if thread.closed_at.is_none() {
                if marker.ends_with(CREDENTIAL) {
                    wrong.push(format!(
                        "#{} still calls, and the key is good",
                        thread.number
                    ));
                }
                open.entry(marker).or_default().push(thread.number);
            }
        }
        let twice = open.iter().filter(|(_, numbers)| numbers.len() > 1);
        wrong.extend(twice.map(|(marker, numbers)| format!("{numbers:?} are open with {marker}")));
        for text in wrong {
            self.find(text);
        }
    }
}

#[test]
fn an_alarm_without_cause_is_false() {
    let of = |body| marker(body).unwrap();
    let ledger = of("It is gone.\n\n<!-- phileas:notice:ledger_rolled_back -->\n");
    assert!(is_false_alarm(ledger, true));
    let key = of("Refused.\n\n<!-- phileas:notice:jules_credential -->\n");
    assert!(is_false_alarm(key, false) && !is_false_alarm(key, true));
    assert!(!is_false_alarm(
        of("<!-- phileas:notice:turn:abc -->"),
        false
    ));
    assert!(!is_false_alarm(of("<!-- phileas:work:a/b -->"), false));
    assert_eq!(marker("<!-- phileas:notice:unfinished"), None);
}
