//! `phileas simulate --fleet N`: what many repositories with a plan cost.

use std::io::Write;

use phileas_domain::fleet::{self, Bound, Cost, Habits};
use serde_json::json;

use crate::adapters::files::write_named;
use crate::cli::arguments::Simulate;
use crate::cli::exit::CliError;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;

/// Prints the costs of fleets up to this size, and draws them where a file was named.
pub(super) fn print_fleet(
    repositories: u64,
    habits: Habits,
    arguments: &Simulate,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let costs: Vec<Cost> = fleet::fleet_sizes(repositories)
        .into_iter()
        .map(|size| fleet::estimate_cost(size, arguments.per_installation, habits))
        .collect();
    if let Some(path) = &arguments.svg {
        write_named(path, &fleet::plot_costs(&costs)).map_err(|error| {
            CliError::usage(format!(
                "--svg {}: {error}; let --svg name a file in a folder that this user may write to",
                path.display()
            ))
        })?;
    }
    for cost in costs.iter().filter(|_| arguments.json) {
        screen.print_line(&fleet_json(cost).to_string())?;
    }
    if !arguments.json {
        print_text(&costs, habits, arguments, screen)?;
    }
    Ok(())
}

fn fleet_json(cost: &Cost) -> serde_json::Value {
    json!({
        "repositories": cost.repositories,
        "installations": cost.installations,
        "sessions_a_day": cost.sessions_a_day,
        "jules_keys": cost.keys,
        "jules_requests_a_minute": cost.jules_a_minute,
        "points_an_hour": cost.all_points,
        "points_an_hour_of_an_installation": cost.points.used,
        "points_limit": cost.points.limit,
        "commits_an_hour_of_an_installation": cost.content.used,
        "commits_limit": cost.content.limit,
        "action_minutes_a_month": cost.action_minutes,
    })
}

fn print_text(
    costs: &[Cost],
    habits: Habits,
    arguments: &Simulate,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    screen.print_line(&format!(
        "Each repository starts {:.1} sessions a day by this plan, of {:#} each; {} share an installation.",
        habits.sessions_a_day, arguments.session, arguments.per_installation
    ))?;
    screen.print_line("")?;
    let mut table = Table::new([
        "repositories",
        "sessions a day",
        "Jules keys",
        "GitHub points an hour",
        "of an installation",
        "Actions minutes a month",
    ])
    .with_figures(0..6);
    for cost in costs {
        table.push_row([
            grouped_digits(cost.repositories as f64),
            grouped_digits(cost.sessions_a_day),
            grouped_digits(cost.keys as f64),
            grouped_digits(cost.all_points),
            format!("{:.1} %", cost.points.used_share() * 100.0),
            grouped_digits(cost.action_minutes),
        ]);
    }
    for line in table.table_text().lines() {
        screen.print_line(line)?;
    }
    screen.print_line("")?;
    for line in verdict_text(costs, habits) {
        screen.print_line(&line)?;
    }
    Ok(())
}

/// What stands in the way, for people.
fn verdict_text(costs: &[Cost], habits: Habits) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(last) = costs.last().filter(|last| last.keys > 0) {
        let (limit, of, beside) = match last.bound {
            Bound::Daily => (
                habits.key.daily,
                "sessions a day",
                " beside those that are kept for people",
            ),
            Bound::AtOnce => (habits.key.active, "sessions at once", ""),
        };
        lines.push(format!(
            "A key of this plan's tier has {limit} {of}{beside}: that decides how many keys there must be."
        ));
    }
    let beyond = |share: fn(&Cost) -> f64| costs.iter().find(|cost| share(cost) > 1.0);
    if let Some(cost) = beyond(|cost| cost.points.used_share()) {
        lines.push(format!(
            "An installation of {} needs {:.0} of GitHub's points an hour and has {:.0}: divide the fleet among several.",
            grouped_digits(cost.repositories as f64),
            cost.points.used,
            cost.points.limit
        ));
    }
    if let Some(cost) = beyond(|cost| cost.content.used_share()) {
        lines.push(format!(
            "An installation of {} makes {:.0} commits an hour; GitHub limits what creates content to {:.0}, if commits count.",
            grouped_digits(cost.repositories as f64),
            cost.content.used,
            cost.content.limit
        ));
    }
    lines.push(
        "Actions minutes are those of the Action on private repositories, on the hour; a service needs none.".to_owned(),
    );
    lines
}

/// A number with a comma between thousands.
fn grouped_digits(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped_digits;

    #[test]
    fn thousands_are_grouped() {
        let said = [0.0, 999.0, 1_000.0, 1_234_567.4].map(grouped_digits);
        assert_eq!(said, ["0", "999", "1,000", "1,234,567"]);
    }
}
