//! Reads and appends the events file, and keeps the list of acknowledged events beside it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::jobs::line::first_value;
use phileas_domain::jobs::{Acknowledged, Event, EventId, Line, NewEvent};

use super::files::{self, Lock, StoreError, Unreadable, sibling_path};
use super::json_lines::Lines;

/// The ending of the previous file's name after a rotation.
pub const OLDER: &str = ".1";
/// The ending of the name of the list of acknowledged events.
const ACKNOWLEDGED: &str = ".acknowledged.json";
/// The ending of the name of the list of events that a watcher has handed on.
const HANDED_ON: &str = ".handed-on.json";
/// A file of this many bytes is rotated before the next write. The rotation replaces the previous
/// file.
pub const MAX_FILE_BYTES: u64 = 8 << 20;
/// How many bytes at the end of the file are searched for an event that was written before. A
/// monitor that was killed may have written the events of a cycle without remembering it.
const TAIL_BYTES: u64 = 512 << 10;
/// The largest list of acknowledged events, in bytes.
const MAX_ACKNOWLEDGED_BYTES: usize = 1 << 20;
/// Ids are below this, the first whole number that some readers of JSON round.
const MAX_ID: u64 = 1 << 53;
/// The most events of one page.
pub const MAX_PAGE: usize = 1_000;

/// The most bad lines that the log names, each once.
const MAX_NAMED: usize = 100;

/// An events file, shared with other processes that read and write it.
#[derive(Debug, Clone)]
pub struct EventsFile {
    path: PathBuf,
    /// The lines that the log has named.
    named: Arc<Mutex<BTreeSet<String>>>,
}

/// Events in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The events.
    pub events: Vec<Event>,
    /// Where the next page begins: the id of the last event that this page has read.
    pub cursor: EventId,
    /// Whether there are more events.
    pub more: bool,
}

impl EventsFile {
    /// Takes the path of a file, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            named: Arc::default(),
        }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder of the file, so that a monitor reports a path that it cannot use before
    /// it has an event to write.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn make_folder(&self) -> Result<(), StoreError> {
        drop(Lock::wait_for_lock(&self.path)?);
        Ok(())
    }

    /// Appends events, each once: an event that is already near the end of the file is left out.
    /// Returns the new events.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn append_events(
        &self,
        drafts: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Vec<Event>, StoreError> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = Lock::wait_for_lock(&self.path)?;
        let older = sibling_path(&self.path, OLDER);
        if file_length(&self.path)? >= MAX_FILE_BYTES {
            fs::rename(&self.path, &older).map_err(|error| StoreError::new(&self.path, error))?;
        }
        let mut end = self.read_end()?;
        let mut lines = String::new();
        let mut new = Vec::new();
        for draft in drafts {
            if !end.keys.insert(draft.dedup_key()) {
                continue;
            }
            end.last += 1;
            let event = draft.into_event(EventId(end.last), now);
            lines.push_str(&event.render());
            new.push(event);
        }
        if !new.is_empty() {
            files::append_lines(&self.path, &lines)?;
        }
        Ok(new)
    }

    /// Returns the events after a cursor that `wanted` accepts, at most `limit` and at most
    /// [`MAX_PAGE`]. A line of another program has no id and gets the one after the line before it.
    /// The log names each line that is no event.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn read_after(
        &self,
        cursor: EventId,
        limit: usize,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<Page, StoreError> {
        let limit = limit.min(MAX_PAGE);
        let mut page = Page {
            cursor,
            ..Page::default()
        };
        let mut last = EventId::default();
        for path in [sibling_path(&self.path, OLDER), self.path.clone()] {
            let Some(file) = files::open(&path)? else {
                continue;
            };
            for line in Lines::new(BufReader::new(file)) {
                let line = line.map_err(|error| StoreError::new(&path, error))?;
                let mut event = match event_of(&path, &line) {
                    Ok(Some(event)) => event,
                    Ok(None) => continue,
                    Err(wrong) => {
                        self.name_once(&wrong);
                        continue;
                    }
                };
                let id = *event.id.get_or_insert(EventId(last.0 + 1));
                last = last.max(id);
                if id <= cursor {
                    continue;
                }
                let fits = wanted(&event);
                // A line of another program and the next one of ours may have the same id: a page
                // does not end between them.
                if fits && page.events.len() >= limit && id > page.cursor {
                    page.more = true;
                    return Ok(page);
                }
                page.cursor = page.cursor.max(id);
                if fits {
                    page.events.push(event);
                }
            }
        }
        Ok(page)
    }

    fn name_once(&self, wrong: &Diagnostic) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < MAX_NAMED && named.insert(wrong.to_string()) {
            tracing::warn!("{wrong}");
        }
    }

    /// Reads one event.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn get(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        let before = EventId(id.0.saturating_sub(1));
        let mut page = self.read_after(before, 1, |event| event.id == Some(id))?;
        Ok(page.events.pop())
    }

    /// The id of the newest event; 0 where there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn newest_id(&self) -> Result<EventId, StoreError> {
        Ok(EventId(self.read_end()?.last))
    }

    /// Reads the end of the file. Where no line of it has an id, the previous file counts, too.
    fn read_end(&self) -> Result<End, StoreError> {
        let mut end = End::default();
        end.read_tail(&self.path)?;
        if !end.is_numbered {
            end.last = 0;
            end.read_tail(&sibling_path(&self.path, OLDER))?;
            end.read_tail(&self.path)?;
        }
        if !end.is_numbered {
            // The files may have been removed: an id that a list names would hide another event.
            let noted = self.read_acknowledged()?.newest();
            end.last = end.last.max(noted.0).max(self.handed_on()?.newest().0);
        }
        Ok(end)
    }

    /// Reads the list of acknowledged events.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn read_acknowledged(&self) -> Result<Acknowledged, StoreError> {
        self.read_list(ACKNOWLEDGED, Unreadable::Ignore)
    }

    /// Reads the list of events that a watcher has handed on. They are not acknowledged: the agent
    /// that was woken has yet to handle them.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn handed_on(&self) -> Result<Acknowledged, StoreError> {
        self.read_list(HANDED_ON, Unreadable::Ignore)
    }

    fn read_list(&self, name: &str, unreadable: Unreadable) -> Result<Acknowledged, StoreError> {
        let path = sibling_path(&self.path, name);
        let parse = |file: &str, bytes: &[u8]| {
            let (value, behind) = first_value(file, bytes)?;
            let known = serde_json::from_value(value)
                .map_err(|error| Diagnostic::error(file, error.to_string()).at(1, 1))?;
            Ok((known, Vec::from_iter(behind)))
        };
        let (known, found) = files::read_state(&path, MAX_ACKNOWLEDGED_BYTES, unreadable, parse)?;
        for wrong in &found {
            self.name_once(wrong);
        }
        Ok(known.unwrap_or_default())
    }

    /// Acknowledges an event, so that no agent is woken for it again. Returns whether it was new to
    /// the list.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn record_acknowledged(&self, event: EventId) -> Result<bool, StoreError> {
        self.add_to_list(ACKNOWLEDGED, event)
    }

    /// Remembers that a watcher handed on an event, so that no watcher does it again. Returns
    /// whether it was new to the list.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn record_handed_on(&self, event: EventId) -> Result<bool, StoreError> {
        self.add_to_list(HANDED_ON, event)
    }

    fn add_to_list(&self, name: &str, event: EventId) -> Result<bool, StoreError> {
        let path = sibling_path(&self.path, name);
        let _lock = Lock::wait_for_lock(&path)?;
        let mut known = self.read_list(name, Unreadable::MoveAside)?;
        let new = known.add(event);
        if new {
            let text = serde_json::to_string(&known).expect("numbers can be written as JSON");
            files::write_whole(&path, &text)?;
        }
        Ok(new)
    }
}

/// What the end of a file says about ids.
#[derive(Default)]
struct End {
    /// The id of the last event, or the number of lines if none has an id.
    last: u64,
    /// Whether any line has an id. If none has, other programs wrote all of them, and our ids may
    /// be further up.
    is_numbered: bool,
    keys: BTreeSet<String>,
}

impl End {
    fn read_tail(&mut self, path: &Path) -> Result<(), StoreError> {
        let Some(mut file) = files::open(path)? else {
            return Ok(());
        };
        let wrong = |error: io::Error| StoreError::new(path, error);
        let length = file.metadata().map_err(wrong)?.len();
        let from = length.saturating_sub(TAIL_BYTES);
        let last = self.last;
        self.read_from(path, &mut file, from, length)
            .map_err(wrong)?;
        if from > 0 && !self.is_numbered {
            self.last = last;
            self.read_from(path, &mut file, 0, length).map_err(wrong)?;
        }
        Ok(())
    }

    fn read_from(&mut self, path: &Path, file: &mut File, from: u64, to: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(from))?;
        let mut lines = Lines::new(BufReader::new(file.take(to - from)));
        if from > 0 {
            // The first line may be half a line.
            lines.next().transpose()?;
        }
        for line in lines {
            let Ok(Some(event)) = event_of(path, &line?) else {
                continue;
            };
            self.is_numbered |= event.id.is_some();
            // After lines of another program, ids continue with their number.
            let id = event.id.map_or(self.last + 1, |id| id.0);
            self.last = self.last.max(id);
            self.keys.extend(event.dedup_key);
        }
        Ok(())
    }
}

/// Parses the event of a line; `None` for a blank line.
pub(super) fn event_of(path: &Path, line: &Line) -> Result<Option<Event>, Diagnostic> {
    let file = path.to_string_lossy();
    let text = line
        .line_text()
        .map_err(|fault| fault.to_warning(&file, line.number))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut event = Event::parse(text).map_err(|wrong| {
        Diagnostic::warning(file, wrong)
            .at(u32::try_from(line.number).unwrap_or(u32::MAX), 1)
            .help("write one JSON object a line, with the text `event`")
    })?;
    // Another program wrote a number that leaves no room for later ids: it is no id.
    event.id = event.id.filter(|id| (1..MAX_ID).contains(&id.0));
    Ok(Some(event))
}

fn file_length(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(known) => Ok(known.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(StoreError::new(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use phileas_domain::jobs::{EventKind, Payload};

    use super::*;

    fn draft(job: u64, cause: &str) -> NewEvent {
        NewEvent {
            kind: EventKind::Question,
            job_id: Some(job.to_string().parse().unwrap()),
            status: None,
            message: Some("Which?".to_owned()),
            last_activity: None,
            payload: Payload::default(),
            cause: cause.to_owned(),
        }
    }

    fn ids(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.id.unwrap().0).collect()
    }

    #[test]
    fn an_event_is_written_once_and_read_from_a_cursor() {
        let folder = tempfile::tempdir().unwrap();
        let file = EventsFile::new(folder.path().join("events.jsonl"));
        let now = Timestamp::UNIX_EPOCH;
        let new = file.append_events(vec![draft(1, "a"), draft(1, "b"), draft(1, "a")], now);
        assert_eq!(ids(&new.unwrap()), [1, 2]);
        // A monitor that was killed before it could remember the event writes it again.
        let again = file
            .append_events(vec![draft(1, "b"), draft(2, "a")], now)
            .unwrap();
        assert_eq!(ids(&again), [3]);
        let page = file.read_after(EventId(1), 1, |_| true).unwrap();
        assert_eq!(
            (ids(&page.events), page.cursor, page.more),
            (vec![2], EventId(2), true)
        );
        let job = Some("2".parse().unwrap());
        let page = file
            .read_after(EventId(0), 9, |event| event.job_id == job)
            .unwrap();
        assert_eq!(
            (ids(&page.events), page.cursor, page.more),
            (vec![3], EventId(3), false)
        );
        assert_eq!(file.newest_id().unwrap(), EventId(3));
        assert_eq!(ids(&[file.get(EventId(2)).unwrap().unwrap()]), [2]);
        assert!(file.get(EventId(4)).unwrap().is_none());
        assert!(
            file.record_acknowledged(EventId(2)).unwrap()
                && !file.record_acknowledged(EventId(2)).unwrap()
        );
        assert!(file.read_acknowledged().unwrap().contains(EventId(2)));
    }

    #[test]
    fn numbers_go_on_when_the_file_is_put_aside_and_behind_lines_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let line = "{\"event\": \"stuck\", \"job_id\": \"7\"}\n";
        fs::write(&path, line.repeat(2) + "torn").unwrap();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "a")], now).unwrap()),
            [3]
        );
        assert!(fs::read_to_string(&path).unwrap().contains("torn\n{"));
        fs::rename(&path, sibling_path(&path, OLDER)).unwrap();
        assert!(
            file.append_events(vec![draft(1, "a")], now)
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "b")], now).unwrap()),
            [4]
        );
        assert_eq!(
            ids(&file.read_after(EventId(0), 9, |_| true).unwrap().events),
            [1, 2, 3, 4]
        );
    }

    #[test]
    fn a_long_file_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let now = Timestamp::UNIX_EPOCH;
        file.append_events(vec![draft(1, "a")], now).unwrap();
        let known = fs::read_to_string(&path).unwrap();
        let filler = format!("{}\n", " ".repeat(1 << 20)).repeat(8);
        fs::write(&path, filler + &known).unwrap();
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "b")], now).unwrap()),
            [2]
        );
        assert!(sibling_path(&path, OLDER).exists());
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
    }

    /// Regression: only the end of the file was read for the last number, and events there were
    /// counted from 1.
    #[test]
    fn numbers_go_on_behind_much_that_others_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let now = Timestamp::UNIX_EPOCH;
        let new = file.append_events((0..9).map(|job| draft(job, "a")).collect(), now);
        assert_eq!(new.unwrap().len(), 9);
        let long = "x".repeat(usize::try_from(TAIL_BYTES).unwrap());
        let line = "{\"event\": \"stuck\"}\n";
        files::append_lines(&path, &format!("{long}\n{line}")).unwrap();
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "b")], now).unwrap()),
            [11]
        );
        // The same after a rotation, where other programs began the next file.
        fs::rename(&path, sibling_path(&path, OLDER)).unwrap();
        fs::write(&path, line).unwrap();
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "c")], now).unwrap()),
            [13]
        );
        let page = file.read_after(EventId(8), 9, |_| true).unwrap();
        assert_eq!(ids(&page.events), [9, 10, 11, 12, 13]);
    }

    /// Regression: the sum of the largest number and 1 overflowed, and the monitor panicked.
    #[test]
    fn a_number_without_room_behind_it_is_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let line = |id: u64| format!("{{\"id\": {id}, \"event\": \"stuck\"}}\n");
        fs::write(&path, line(u64::MAX) + &line(MAX_ID) + &line(0)).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(
            ids(&file.append_events(vec![draft(1, "a")], now).unwrap()),
            [4]
        );
        let page = file.read_after(EventId(0), 9, |_| true).unwrap();
        let seen = (ids(&page.events), page.cursor);
        assert_eq!(seen, (vec![1, 2, 3, 4], EventId(4)));
    }

    /// Regression: the watcher handed on a line of another program, and every list hid it.
    #[test]
    fn lines_of_other_writers_have_a_place_among_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let now = Timestamp::UNIX_EPOCH;
        file.append_events(vec![draft(1, "a")], now).unwrap();
        files::append_lines(&path, "{\"event\": \"question\", \"job_id\": \"7\"}\n").unwrap();
        file.append_events(vec![draft(1, "b")], now).unwrap();
        let page = file.read_after(EventId(0), 9, |_| true).unwrap();
        assert_eq!(ids(&page.events), [1, 2, 3]);
        let foreign = file.get(EventId(2)).unwrap().unwrap();
        assert_eq!(foreign.job_id.unwrap().as_str(), "7");
        assert_eq!(
            ids(&file.read_after(EventId(1), 1, |_| true).unwrap().events),
            [2]
        );
        // Two programs wrote at the same time: both lines have the same id, and no page ends
        // between them.
        let ours = "{\"id\": 5, \"event\": \"stuck\"}\n";
        let theirs = "{\"event\": \"error\"}\n";
        files::append_lines(&path, &format!("{theirs}{theirs}{ours}")).unwrap();
        let page = file.read_after(EventId(3), 2, |_| true).unwrap();
        assert_eq!((ids(&page.events), page.more), (vec![4, 5, 5], false));
    }

    /// Regression: a bad byte was not reported, and a large event was dropped.
    #[test]
    fn what_is_no_event_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let utf16: Vec<u8> = "{\"event\": \"stuck\"}\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let large = format!(
            "{{\"event\": \"error\", \"x\": \"{}\"}}\n",
            "y".repeat(3 << 20)
        );
        let mut bytes = b"\xef\xbb\xbf{\"event\": \"stuck\"}\n\xff\n7\n".to_vec();
        bytes.extend_from_slice(&utf16);
        bytes.extend_from_slice(b"{\"event\": \"completed\"}\n");
        bytes.extend_from_slice(large.as_bytes());
        fs::write(&path, bytes).unwrap();
        let page = file.read_after(EventId(0), 9, |_| true).unwrap();
        let kinds: Vec<_> = page.events.iter().map(|one| one.event.as_str()).collect();
        assert_eq!(kinds, ["stuck", "completed", "error"]);
        let named: Vec<_> = file.named.lock().unwrap().iter().cloned().collect();
        for (told, number) in named.iter().zip([2, 3, 4]) {
            assert!(told.contains(&format!("events.jsonl:{number}:")), "{told}");
        }
        assert_eq!(named.len(), 3, "{named:?}");
    }

    #[test]
    fn a_list_of_acknowledged_events_that_cannot_be_read_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let file = EventsFile::new(&path);
        let list = sibling_path(&path, ACKNOWLEDGED);
        for bytes in [&b""[..], b"{\"through\": \"x\"}", b"\xff\xfe{\0"] {
            fs::write(&list, bytes).unwrap();
            assert!(!file.read_acknowledged().unwrap().contains(EventId(1)));
            assert!(file.record_acknowledged(EventId(1)).unwrap());
            assert!(file.read_acknowledged().unwrap().contains(EventId(1)));
            assert_eq!(
                fs::read(sibling_path(&list, files::UNREADABLE)).unwrap(),
                bytes
            );
        }
        fs::write(&list, "\u{feff}{\"through\": 3}\n").unwrap();
        assert!(file.read_acknowledged().unwrap().contains(EventId(3)));
    }

    /// Upstream defect 10: two monitors wrote into one another's lines.
    #[test]
    fn defect_10_writers_at_the_same_time_write_whole_lines_with_numbers_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = EventsFile::new(folder.path().join("events.jsonl"));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for cause in 0..25 {
                        // Every second event is the same for all writers.
                        let job = if cause % 2 == 0 { 9 } else { writer };
                        let new = draft(job, &cause.to_string());
                        file.append_events(vec![new], Timestamp::UNIX_EPOCH)
                            .unwrap();
                    }
                });
            }
        });
        let page = file.read_after(EventId(0), MAX_PAGE, |_| true).unwrap();
        let expected: Vec<u64> = (1..=13 + 4 * 12).collect();
        assert_eq!(ids(&page.events), expected);
    }
}
