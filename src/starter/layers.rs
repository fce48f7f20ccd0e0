//! What a repository needs so that the layers run: `.jlo/config.toml`, and the pin of the version that wrote it.

use phileas_domain::exchange::Layout;
use phileas_domain::layers::{Catalogue, DEFAULT_OBSERVERS, Pin, Role};
use phileas_domain::model::{RepositoryName, Tree};
use phileas_domain::plan::DEFAULT_INNOVATION;

use super::home::{HOME, schema_address};
use super::workflow::cron_minute;

/// The hour at which a pass begins, in UTC: most people sleep, and review in the morning.
const PASS_HOUR: u8 = 2;

/// The file that says who works, with every role of the catalogue and the usual ones turned on.
pub(super) fn config(repository: &RepositoryName) -> String {
    let catalogue = Catalogue::of(&Tree::new(), Layout::Flat);
    let lines = |layer: &str, on: &dyn Fn(&Role) -> bool| {
        let roles = catalogue.roles().iter().filter(|role| role.layer == layer);
        let line = |role: &Role| {
            format!(
                "  {{ name = \"{}\", enabled = {} }}, # {}\n",
                role.name,
                on(role),
                role.description
            )
        };
        roles.map(line).collect::<String>()
    };
    let minute = cron_minute(repository);
    include_str!("config.toml")
        .replace("@schema", &schema_address("config"))
        .replace("@home", &format!("https://github.com/{HOME}"))
        .replace("@cron", &format!("{minute} {PASS_HOUR} * * *"))
        .replace("@round", DEFAULT_INNOVATION)
        .replace(
            "@observers",
            &lines("observers", &|role| {
                DEFAULT_OBSERVERS.contains(&role.name.as_str())
            }),
        )
        .replace("@innovators", &lines("innovators", &|_| false))
}

/// The pin of a beginning: the file that people write is theirs, so nothing stands in it yet.
pub(super) fn pin() -> String {
    Pin::new(env!("CARGO_PKG_VERSION")).text()
}
