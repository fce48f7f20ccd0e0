//! Writes Prometheus' text format.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>

use std::fmt::{Display, Write as _};

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows; its name ends in `_total`.
    Counter,
    /// It rises and falls.
    Gauge,
    /// Counts of values up to each bound.
    Histogram,
}

/// A page of metrics. Each has its head before its samples.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Writes the head of a metric.
    pub fn begin_metric(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.add_line(format_args!("# HELP {name} {help}"));
        self.add_line(format_args!("# TYPE {name} {kind}"));
    }

    /// Adds a sample of the last metric.
    pub fn add_sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escape_label(value)))
            .collect();
        if labels.is_empty() {
            self.add_line(format_args!("{name} {value}"));
        } else {
            self.add_line(format_args!("{name}{{{}}} {value}", labels.join(",")));
        }
    }

    /// Returns the page.
    #[must_use]
    pub fn into_page(self) -> String {
        self.0
    }

    fn add_line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _written = writeln!(self.0, "{line}");
    }
}

fn escape_label(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_cannot_leave_their_quotes() {
        let mut text = Text::default();
        text.begin_metric("a_total", Kind::Counter, "What\nis \\ counted.");
        text.add_sample("a_total", &[("one", "x\"\\\n"), ("two", "y")], 3);
        text.add_sample("a_total", &[], 0.5);
        assert_eq!(
            text.into_page(),
            "# HELP a_total What\\nis \\\\ counted.\n# TYPE a_total counter\n\
             a_total{one=\"x\\\"\\\\\\n\",two=\"y\"} 3\na_total 0.5\n"
        );
    }
}
