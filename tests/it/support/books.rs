//! What the models' books say of a run: what sessions were told, and how many requests it took.

use phileas::sandbox::SharedWorld;
use phileas_world::Face;

use super::{Phileas, Served};

/// What was said to sessions through the API.
pub(crate) fn messages(shared: &SharedWorld) -> Vec<String> {
    let world = shared.lock_world();
    let acts = world.books().sessions.iter().flat_map(|one| &one.acts);
    acts.filter(|act| matches!(act.what.as_str(), "message" | "unread message") && !act.in_web_app)
        .map(|act| act.text.clone())
        .collect()
}

/// One run of the program; how many requests it made of GitHub and of Jules.
pub(crate) fn counted(shared: &SharedWorld, served: &Served) -> (usize, usize) {
    shared.lock_world().books_mut().reset_requests();
    let ended = Phileas::tick(served).run().expect(0);
    let world = shared.lock_world();
    let count = |face| {
        let requests = world.books().requests.iter();
        requests.filter(|one| one.face == face).count()
    };
    let counts = (count(Face::Github), count(Face::Jules));
    assert_eq!(ended.summary()["github_requests"], counts.0, "{ended}");
    counts
}
