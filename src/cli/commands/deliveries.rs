//! `phileas service deliveries`: lists the deliveries that a service has stored, whether or not it is running.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::arguments::Deliveries;
use crate::cli::context::service_data::DataDirAccess;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;
use crate::runtime::inbox::{Inbox, InboxError, MAX_PAGE, Page, Record, Start};

/// How many characters of a word the table shows.
const WORD_CHARS: usize = 40;
/// How many rows the table has by default. The table needs all rows before it knows its widths.
const DEFAULT_ROWS: usize = 200;

pub(crate) async fn run(
    arguments: &Deliveries,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let inbox = DataDirAccess::open_inbox(&arguments.kept).await?.inbox;
    let limit = arguments
        .limit
        .or((!arguments.json).then_some(DEFAULT_ROWS));
    let mut place = match limit {
        None => 0,
        Some(limit) => start_of_newest(&inbox, limit).await?,
    };
    let older = has_older(&inbox, place).await?;
    let mut table = Table::new([
        "received (UTC)",
        "delivery",
        "event",
        "repository",
        "outcome",
    ]);
    loop {
        let start = Start::After(place);
        let page = inbox
            .list_deliveries(Page {
                start,
                most: MAX_PAGE,
            })
            .await?;
        let Some(last) = page.last() else { break };
        place = last.place;
        for record in &page {
            if arguments.json {
                screen.print_line(&delivery_json(record).to_string())?;
            } else {
                table.push_row(table_row(record));
            }
        }
    }
    if arguments.json {
        return Ok(Exit::Done);
    }
    if place == 0 {
        screen.print_line("no delivery is stored")?;
    } else {
        screen.print_lines(&table.table_text())?;
    }
    if older && arguments.limit.is_none() {
        screen.print_line(&format!(
            "these are the newest {DEFAULT_ROWS}; `--limit NUMBER` shows more, `--json` all"
        ))?;
    }
    Ok(Exit::Done)
}

/// Whether there are deliveries up to this position.
async fn has_older(inbox: &impl Inbox, place: u64) -> Result<bool, InboxError> {
    let start = Start::Before(Some(place.saturating_add(1)));
    let page = Page { start, most: 1 };
    Ok(place > 0 && !inbox.list_deliveries(page).await?.is_empty())
}

/// The position before the newest `limit` deliveries.
async fn start_of_newest(inbox: &impl Inbox, limit: usize) -> Result<u64, InboxError> {
    let (mut place, mut left) = (None, limit);
    while left > 0 {
        let page = Page {
            start: Start::Before(place),
            most: left,
        };
        let records = inbox.list_deliveries(page).await?;
        let Some(oldest) = records.last() else {
            return Ok(0);
        };
        place = Some(oldest.place);
        left -= records.len();
    }
    Ok(place.map_or(u64::MAX, |place| place.saturating_sub(1)))
}

/// One delivery as JSON.
fn delivery_json(record: &Record) -> Value {
    let delivery = &record.delivery;
    json!({
        "guid": delivery.id.as_str(),
        "event": delivery.event,
        "action": delivery.action,
        "repository_id": delivery.repository.map(|id| id.0),
        "repository": delivery.repository_name.as_ref().map(ToString::to_string),
        "installation_id": delivery.installation,
        "subject_node_id": delivery.subject,
        "sender_id": delivery.sender,
        "received_at": delivery.received_at.to_string(),
        "times": record.times,
        "outcome": record.outcome.as_str(),
        "place": record.place,
    })
}

fn table_row(record: &Record) -> [String; 5] {
    let delivery = &record.delivery;
    let event = match &delivery.action {
        Some(action) => format!("{}.{action}", delivery.event),
        None => delivery.event.clone(),
    };
    let repository = match (&delivery.repository_name, delivery.repository) {
        (Some(name), _) => name.to_string(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    };
    [
        short_time(delivery.received_at),
        delivery.id.to_string(),
        sanitize(&event, WORD_CHARS),
        repository,
        record.outcome.as_str().to_owned(),
    ]
}

impl From<InboxError> for CliError {
    fn from(error: InboxError) -> Self {
        match error {
            InboxError::Unavailable(_) => Self {
                exit: Exit::Unavailable,
                message: error.to_string(),
            },
            InboxError::Damaged(_) => Self::corrupt(error.to_string()),
        }
    }
}
