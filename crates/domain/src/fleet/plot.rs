//! The same as a picture: both axes by tens.

use std::fmt::Write as _;

use super::cost::Cost;

/// The picture's size, and the room around its axes, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 52.0;
/// The least distance between two labels, in pixels.
const LINE: f64 = 16.0;

/// What is drawn of a cost.
type Figure = fn(&Cost) -> f64;

/// What is drawn, with a colour for light and one for dark, and a pattern for those who do not see colours.
const SERIES: [(&str, &str, &str, &str, Figure); 4] = [
    ("GitHub points an hour", "#0b63ce", "#6cb6ff", "", |cost| {
        cost.all_points
    }),
    (
        "Actions minutes a month",
        "#8a4600",
        "#f0a55b",
        "9 4",
        |cost| cost.action_minutes,
    ),
    ("sessions a day", "#1a7f37", "#57c878", "2 4", |cost| {
        cost.sessions_a_day
    }),
    ("Jules keys", "#a3267f", "#f08fd0", "9 4 2 4", |cost| {
        cost.keys as f64
    }),
];

/// Draws what fleets of these sizes cost, as SVG that needs nothing from outside. Without sizes there is only the frame.
#[must_use]
pub fn plot_costs(costs: &[Cost]) -> String {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(10.0, f64::max).log10().ceil();
    let decades = most(&mut costs.iter().map(|cost| cost.repositories as f64));
    let high = most(
        &mut costs
            .iter()
            .flat_map(|cost| SERIES.iter().map(|one| (one.4)(cost))),
    );
    let x = |value: f64| LEFT + value.max(1.0).log10() / decades * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - value.max(1.0).log10() / high * (HEIGHT - TOP - BOTTOM);
    let mut svg = plot_head();
    plot_axes(&mut svg, decades, high, &x, &y);
    let mut labels: Vec<(f64, usize)> = Vec::new();
    for (n, (name, _, _, dashes, figure)) in SERIES.iter().enumerate() {
        let points: Vec<String> = costs
            .iter()
            .map(|cost| format!("{:.1},{:.1}", x(cost.repositories as f64), y(figure(cost))))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline class=\"s{n}\" stroke-dasharray=\"{dashes}\" points=\"{}\"><title>{name}</title></polyline>",
            points.join(" ")
        );
        if let Some(last) = costs.last() {
            labels.push((y(figure(last)), n));
        }
    }
    // Lines that end close to one another get labels below one another.
    labels.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = 0.0_f64;
    for (at, n) in labels {
        let at = at.max(free);
        free = at + LINE;
        let _ = writeln!(
            svg,
            "<text class=\"t{n}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT + 10.0,
            at + 4.0,
            SERIES[n].0
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn plot_head() -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"What a fleet costs, by its repositories\">\n<style>\
         text {{ font: 13px system-ui, sans-serif; fill: #24292f }} \
         .grid {{ stroke: #d0d7de; stroke-width: 1 }} polyline {{ fill: none; stroke-width: 2.5 }} "
    );
    for (n, (_, light, _, _, _)) in SERIES.iter().enumerate() {
        let _ = write!(
            svg,
            ".s{n} {{ stroke: {light} }} .t{n} {{ fill: {light} }} "
        );
    }
    svg.push_str(
        "@media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } ",
    );
    for (n, (_, _, dark, _, _)) in SERIES.iter().enumerate() {
        let _ = write!(svg, ".s{n} {{ stroke: {dark} }} .t{n} {{ fill: {dark} }} ");
    }
    svg.push_str("}</style>\n");
    svg
}

/// A line for each ten times.
fn plot_axes(
    svg: &mut String,
    decades: f64,
    high: f64,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    let (left, right, bottom) = (x(1.0), WIDTH - RIGHT, HEIGHT - BOTTOM);
    for power in 0..=high as i32 {
        let at = y(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            power_label(power)
        );
    }
    for power in 0..=decades as i32 {
        let at = x(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP:.1}\" y2=\"{bottom:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 20.0,
            power_label(power)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">repositories</text>",
        f64::midpoint(left, right),
        HEIGHT - 10.0
    );
}

/// A power of ten, as people read it.
fn power_label(power: i32) -> String {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    match power {
        0..=2 => format!("1{}", zeros(power)),
        3..=5 => format!("1{}k", zeros(power - 3)),
        6..=8 => format!("1{}M", zeros(power - 6)),
        _ => format!("1{}G", zeros(power - 9)),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::super::cost::{Habits, estimate_cost, fleet_sizes};
    use super::*;
    use crate::plan::Tier;

    #[test]
    fn every_size_is_a_point_inside_the_frame() {
        let habits = Habits {
            sessions_a_day: 2.5,
            session: SignedDuration::from_mins(30),
            key: Tier::Pro.limits(),
        };
        for last in [1, 7, 100, 123_456] {
            let sizes = fleet_sizes(last);
            let costs: Vec<_> = sizes
                .iter()
                .map(|size| estimate_cost(*size, 10, habits))
                .collect();
            let svg = plot_costs(&costs);
            let lines: Vec<&str> = svg.matches("<polyline").collect();
            assert_eq!(lines.len(), SERIES.len());
            for points in svg.split("points=\"").skip(1) {
                let points = points.split('"').next().unwrap();
                assert_eq!(points.split(' ').count(), sizes.len());
                for point in points.split(' ') {
                    let (x, y) = point.split_once(',').unwrap();
                    let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                    assert!(
                        (LEFT - 0.1..=WIDTH - RIGHT + 0.1).contains(&x),
                        "{last}: {x}"
                    );
                    assert!(
                        (TOP - 0.1..=HEIGHT - BOTTOM + 0.1).contains(&y),
                        "{last}: {y}"
                    );
                }
            }
        }
    }

    #[test]
    fn tens_are_written_as_people_read_them() {
        let said: Vec<String> = [0, 1, 2, 3, 5, 6, 9].map(power_label).to_vec();
        assert_eq!(said, ["1", "10", "100", "1k", "100k", "1M", "1G"]);
    }
}
