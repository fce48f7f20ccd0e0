//! The grammar of the five fields. Stricter than the parser behind it, which also takes seconds, years, macros and
//! `L # W + ?`: an expression must mean the same here, in crontab(5) and in a workflow's `on.schedule`.

use jiff::Span;
use jiff::civil::Date;

/// The smallest interval between two starts, in minutes; GitHub's `on.schedule` has the same.
pub(super) const SMALLEST_INTERVAL: u32 = 5;

/// How many days are searched for two selected neighbours: 28 years, after which dates and weekdays repeat.
const DAYS_COMPARED: usize = 28 * 366;

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// The most days that each month can have.
const LONGEST: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// One field's rules.
struct Kind {
    name: &'static str,
    least: u32,
    most: u32,
    /// Names, and the number of the first one.
    names: &'static [&'static str],
    first_name: u32,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "minute",
        least: 0,
        most: 59,
        names: &[],
        first_name: 0,
    },
    Kind {
        name: "hour",
        least: 0,
        most: 23,
        names: &[],
        first_name: 0,
    },
    Kind {
        name: "day-of-month",
        least: 1,
        most: 31,
        names: &[],
        first_name: 0,
    },
    Kind {
        name: "month",
        least: 1,
        most: 12,
        names: &MONTHS,
        first_name: 1,
    },
    Kind {
        name: "day-of-week",
        least: 0,
        most: 7,
        names: &WEEKDAYS,
        first_name: 0,
    },
];

/// What an expression selects, each field in ascending order without repeats; Sunday is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    minutes: Vec<u32>,
    hours: Vec<u32>,
    days: Vec<u32>,
    months: Vec<u32>,
    weekdays: Vec<u32>,
    /// The field stands as `*` (or `*/1`) and restricts nothing.
    any_day: bool,
    any_weekday: bool,
}

impl Fields {
    /// Reads five fields; the error says what is wrong, as a fragment.
    pub(super) fn parse(expression: &str) -> Result<Self, String> {
        if expression.trim_start().starts_with('@') {
            return Err("macros are not understood".to_owned());
        }
        let parts: Vec<&str> = expression.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            let hint = if parts.len() > 5 {
                "; there is no field for seconds or years"
            } else {
                ""
            };
            let fields = if parts.len() == 1 { "field" } else { "fields" };
            let count = parts.len();
            return Err(format!("it has {count} {fields} instead of 5{hint}"));
        };
        let mut weekdays = KINDS[4].parse(weekday)?;
        if weekdays.last() == Some(&7) {
            weekdays.pop();
            if weekdays.first() != Some(&0) {
                weekdays.insert(0, 0);
            }
        }
        let is_any = |field: &str| matches!(field, "*" | "*/1");
        Ok(Self {
            minutes: KINDS[0].parse(minute)?,
            hours: KINDS[1].parse(hour)?,
            days: KINDS[2].parse(day)?,
            months: KINDS[3].parse(month)?,
            weekdays,
            any_day: is_any(day),
            any_weekday: is_any(weekday),
        })
    }

    /// The same in numbers alone, for the parser that searches the calendar.
    pub(super) fn canonical(&self) -> String {
        let [minutes, hours, months] = [&self.minutes, &self.hours, &self.months].map(|f| list(f));
        let starred = |any: bool, values: &[u32]| {
            if any { "*".to_owned() } else { list(values) }
        };
        let days = starred(self.any_day, &self.days);
        let weekdays = starred(self.any_weekday, &self.weekdays);
        format!("{minutes} {hours} {days} {months} {weekdays}")
    }

    /// Whether a day is selected.
    fn selects(&self, date: Date) -> bool {
        let has =
            |values: &[u32], value: i8| values.iter().any(|v| i64::from(*v) == i64::from(value));
        let day = || has(&self.days, date.day());
        let weekday = || has(&self.weekdays, date.weekday().to_sunday_zero_offset());
        has(&self.months, date.month())
            && match (self.any_day, self.any_weekday) {
                (true, true) => true,
                (true, false) => weekday(),
                (false, true) => day(),
                (false, false) => day() || weekday(),
            }
    }

    /// The days that are selected where both day fields are restricted: a day that matches either, as POSIX says.
    /// <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/crontab.html>
    pub(super) fn union_days(&self) -> Option<String> {
        if self.any_day || self.any_weekday {
            return None;
        }
        let weekdays: Vec<&str> = self
            .weekdays
            .iter()
            .map(|day| DAYS[*day as usize % 7])
            .collect();
        if self.days.len() == 31 || weekdays.len() == 7 {
            return Some("every day".to_owned());
        }
        let days: Vec<String> = self.days.iter().map(ToString::to_string).collect();
        let day = if days.len() == 1 { "day" } else { "days" };
        let months = if self.months.len() == 12 {
            "each month".to_owned()
        } else {
            let months: Vec<String> = self.months.iter().map(ToString::to_string).collect();
            format!("month {}", months.join(", "))
        };
        let (days, weekdays) = (days.join(", "), weekdays.join(", "));
        Some(format!(
            "{day} {days} of {months}, and also every {weekdays}"
        ))
    }

    /// Whether no calendar has such a day (`30 2`). A restricted weekday occurs in every month.
    pub(super) fn never(&self) -> bool {
        self.any_weekday
            && !self.months.iter().any(|month| {
                let longest = LONGEST[*month as usize - 1];
                self.days.iter().any(|day| *day <= longest)
            })
    }

    /// Whether two starts of one day are closer than [`SMALLEST_INTERVAL`].
    pub(super) fn too_often_within_a_day(&self) -> bool {
        let close = self
            .minutes
            .windows(2)
            .any(|pair| pair[1] - pair[0] < SMALLEST_INTERVAL);
        let next_hour = self.hours.windows(2).any(|pair| pair[1] - pair[0] == 1);
        close || (next_hour && self.minutes_over_the_hour() < SMALLEST_INTERVAL)
    }

    /// Whether the last start of a day and the first of the day after are too close, on any two such days.
    pub(super) fn too_often_over_midnight(&self) -> bool {
        if self.hours.first() != Some(&0)
            || self.hours.last() != Some(&23)
            || self.minutes_over_the_hour() >= SMALLEST_INTERVAL
        {
            return false;
        }
        let first = Date::constant(2000, 1, 1);
        let days = first.series(Span::new().days(1)).take(DAYS_COMPARED);
        let mut before = false;
        for now in days.map(|date| self.selects(date)) {
            if before && now {
                return true;
            }
            before = now;
        }
        false
    }

    fn minutes_over_the_hour(&self) -> u32 {
        match (self.minutes.first(), self.minutes.last()) {
            (Some(first), Some(last)) => first + 60 - last,
            _ => 60,
        }
    }
}

impl Kind {
    fn parse(&self, field: &str) -> Result<Vec<u32>, String> {
        let mut values = Vec::new();
        for item in field.split(',') {
            self.parse_item(item, &mut values)
                .map_err(|wrong| format!("the {} field `{field}` {wrong}", self.name))?;
        }
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    fn parse_item(&self, item: &str, into: &mut Vec<u32>) -> Result<(), String> {
        if item.is_empty() {
            return Err("has an empty entry".to_owned());
        }
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let (first, last) = if range == "*" {
            (self.least, self.most)
        } else if let Some((first, last)) = range.split_once('-') {
            (self.value(first)?, self.last_value(last)?)
        } else {
            let value = self.value(range)?;
            if let Some(step) = step {
                return Err(format!(
                    "has a step without a range; write `{range}-{}/{step}`",
                    self.most
                ));
            }
            (value, value)
        };
        if first > last {
            return Err(format!("has a range that runs backwards: `{range}`"));
        }
        let step = match step.map(number) {
            None => 1,
            Some(Some(step)) if step >= 1 && step <= self.most => step,
            Some(_) => return Err(format!("has a step that is not 1 to {}", self.most)),
        };
        // `*` in the weekday field must not count Sunday twice: a step of 2 over 0-7 would.
        let last = if range == "*" && self.most == 7 {
            6
        } else {
            last
        };
        into.extend((first..=last).step_by(step as usize));
        Ok(())
    }

    /// The end of a range, where Sunday is 7: `FRI-SUN`.
    fn last_value(&self, text: &str) -> Result<u32, String> {
        match self.value(text)? {
            0 if self.most == 7 && text.eq_ignore_ascii_case("sun") => Ok(7),
            value => Ok(value),
        }
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let named = self.names.iter().position(|n| n.eq_ignore_ascii_case(text));
        if let Some(index) = named {
            return Ok(u32::try_from(index).unwrap_or(0) + self.first_name);
        }
        match number(text) {
            Some(value) if (self.least..=self.most).contains(&value) => Ok(value),
            Some(value) => Err(format!(
                "has {value}, which is not in {} to {}",
                self.least, self.most
            )),
            None => Err(format!("has `{text}`, which is not understood")),
        }
    }
}

/// Plain digits only: `u32::from_str` would take `+5`.
fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn list(values: &[u32]) -> String {
    let texts: Vec<String> = values.iter().map(u32::to_string).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn canonical(expression: &str) -> String {
        Fields::parse(expression).unwrap().canonical()
    }

    #[test]
    fn names_lists_ranges_and_steps_become_numbers() {
        let day = "0 0 * 1,2,3,4,5,6,7,8,9,10,11,12";
        for (expression, expected) in [
            (
                "30 4 * * 1",
                "30 4 * 1,2,3,4,5,6,7,8,9,10,11,12 1".to_owned(),
            ),
            (
                "0 0 1-10/3,31 jan-MAR *",
                "0 0 1,4,7,10,31 1,2,3 *".to_owned(),
            ),
            ("0 0 * * 7", format!("{day} 0")),
            ("0 0 * * fri-sun", format!("{day} 0,5,6")),
            ("0 0 * * 0-7", format!("{day} 0,1,2,3,4,5,6")),
            ("0 0 * * SUN-tue", format!("{day} 0,1,2")),
            ("0 0 * * */2", format!("{day} 0,2,4,6")),
            ("0 0 * * */1", format!("{day} *")),
            ("0 0 * * 5-7", format!("{day} 0,5,6")),
        ] {
            assert_eq!(canonical(expression), expected, "{expression}");
        }
    }

    #[test]
    fn everything_that_is_not_posix_is_refused_with_its_field() {
        for (expression, part) in [
            ("@daily", "macros"),
            ("", "0 fields"),
            ("0", "1 field instead"),
            ("0 0 * *", "4 fields"),
            ("0 0 0 * * *", "6 fields"),
            ("0 0 * * * 2026", "6 fields"),
            ("60 0 * * *", "minute field"),
            ("0 24 * * *", "hour field"),
            ("0 0 0 * *", "day-of-month field"),
            ("0 0 32 * *", "day-of-month field"),
            ("0 0 * 13 *", "month field"),
            ("0 0 * 0 *", "month field"),
            ("0 0 * * 8", "day-of-week field"),
            ("0 0 L * *", "`L`"),
            ("0 0 15W * *", "`15W`"),
            ("0 0 * * 5#2", "`5#2`"),
            ("0 0 * * 5L", "`5L`"),
            ("0 0 * * +1", "`+1`"),
            ("0 0 ? * 1", "`?`"),
            ("+5 0 * * *", "`+5`"),
            ("5-1 0 * * *", "backwards"),
            ("0 0 * * 5-1", "backwards"),
            ("0/10 * * * *", "`0-59/10`"),
            ("*/0 * * * *", "step"),
            ("*/60 * * * *", "step"),
            ("1,,2 0 * * *", "empty"),
            ("/5 0 * * *", "``"),
            ("MON 0 * * *", "`MON`"),
            ("0 0 * JAN1 *", "`JAN1`"),
            ("0 0 * * MONDAY", "`MONDAY`"),
            ("0 0 * * ١", "`١`"),
        ] {
            let wrong = Fields::parse(expression).unwrap_err();
            assert!(wrong.contains(part), "{expression}: {wrong}");
        }
    }
}
