//! An agent that writes the files that its prompt asks for, from the prompt and its checkout alone.
//!
//! It knows no file format. A heading such as `What you write for each finding: FOLDER/NAME.yml`
//! names the file, and the template below it gives the content. The agent fills in blanks in angle
//! brackets, chooses among `one|or|another`, and copies the rest. Where the prompt quotes the file
//! to write, the agent starts from that text. Without the template in the prompt, the agent writes
//! no such file.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use regex::Regex;
use sha2::{Digest, Sha256};

use crate::github;
use crate::jules::{FileTexts, Task, Worker};

/// The heading that names a file to write.
const HEADING: &str =
    r"^# What you write(?: (?P<many>for each [^:]+)| at the end)?: (?P<path>\S+)$";
/// The placeholder for a name that the agent chooses.
const NAME: &str = "NAME";

/// The agent. It has no state: what it makes up follows from the session's id.
#[derive(Debug, Default)]
pub struct Agent;

impl Worker for Agent {
    fn change_files(&mut self, task: &Task<'_>, github: &github::Model) -> Option<FileTexts> {
        let reader = PromptReader::from_task(task);
        let mut files = FileTexts::new();
        for request in &reader.file_requests {
            reader.write_file(request, &mut files);
        }
        if files.is_empty() {
            files.extend(reader.implement_requirement(task, github));
        }
        (!files.is_empty()).then_some(files)
    }
}

/// One kind of file that the prompt asks for.
struct FileRequest {
    path: String,
    many: Option<String>,
    template: String,
}

impl FileRequest {
    fn has_begun(&self) -> bool {
        !self.template.is_empty()
    }
}

struct PromptReader<'t> {
    prompt: &'t str,
    session: &'t str,
    day: String,
    now: String,
    file_requests: Vec<FileRequest>,
    /// Files that the prompt quotes, by path.
    quoted: BTreeMap<String, String>,
}

impl<'t> PromptReader<'t> {
    fn from_task(task: &Task<'t>) -> Self {
        let heading = Regex::new(HEADING).expect("the expression is one");
        let mut pages: Vec<FileRequest> = Vec::new();
        let mut open = false;
        for line in task.prompt.lines() {
            if let Some(found) = heading.captures(line) {
                pages.push(FileRequest {
                    path: found["path"].to_owned(),
                    many: found.name("many").map(|many| many.as_str().to_owned()),
                    template: String::new(),
                });
                open = true;
            } else if line == "---"
                || (line.is_empty() && pages.last().is_some_and(FileRequest::has_begun))
            {
                // A rule or an empty line ends a template.
                open = false;
            } else if let (true, Some(request)) = (open, pages.last_mut()) {
                request.template.push_str(line);
                request.template.push('\n');
            }
        }
        pages.retain(|request| !request.template.trim().is_empty());
        Self {
            prompt: task.prompt,
            session: task.session,
            day: task.now.to_zoned(TimeZone::UTC).date().to_string(),
            now: format!("{:.0}", task.now),
            file_requests: pages,
            quoted: quoted_files(task.prompt),
        }
    }

    fn write_file(&self, request: &FileRequest, files: &mut FileTexts) {
        let Some(many) = &request.many else {
            let text = match self
                .quoted
                .get(&request.path)
                .filter(|_| self.is_to_expand())
            {
                Some(text) => self.expand_question(text),
                None => self.fill_template(&request.template, &request.path),
            };
            files.insert(request.path.clone(), Some(text));
            return;
        };
        if many.contains("reject") {
            return;
        }
        let events = self.event_ids();
        if many.contains("piece of work") && events.is_empty() {
            return;
        }
        let count = if self.prompt.contains("Exactly three") {
            3
        } else {
            1
        };
        for number in 1..=count {
            let name = format!(
                "finding-{}",
                self.draw_letters(&format!("{}{number}", request.path))
            );
            let label = self.first_label();
            let path = request.path.replace(NAME, &name).replace("LABEL", &label);
            let text = self.fill_template(&request.template, &path);
            files.insert(path, Some(text));
        }
    }

    /// Whether the prompt asks to answer the question of a quoted work item.
    fn is_to_expand(&self) -> bool {
        self.prompt
            .contains("deep_analysis_reason` is the question")
    }

    /// A quoted work item with its question answered.
    fn expand_question(&self, text: &str) -> String {
        let flag = Regex::new(r"(?m)^requires_deep_analysis: true").expect("the expression is one");
        flag.replace(text, "requires_deep_analysis: false")
            .into_owned()
            + "\n"
    }

    /// The template with its blanks filled in.
    fn fill_template(&self, template: &str, path: &str) -> String {
        let mut text = String::new();
        let (mut key, mut count) = (String::new(), 0);
        let deep = self.event_ids().len() > 1;
        for line in template.lines() {
            count += 1;
            let bare = line.trim_start().trim_start_matches("- ");
            if let Some((name, _)) = bare.split_once(':')
                && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            {
                key = name.to_owned();
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            if key == "source_events" && line.trim_start().starts_with("- ") {
                for event in self.event_ids() {
                    text.push_str(&format!("{indent}- \"{event}\"\n"));
                }
                continue;
            }
            let line = match key.as_str() {
                "requires_deep_analysis" if deep => line.replace("false", "true"),
                "deep_analysis_reason" if deep => {
                    line.replacen("\"\"", "\"Which of them is the cause?\"", 1)
                }
                _ => line.to_owned(),
            };
            text.push_str(&self.filled_line(&line, &format!("{path} {key} {count}")));
            text.push('\n');
        }
        text
    }

    fn filled_line(&self, line: &str, place: &str) -> String {
        let (said, comment) = match line.split_once(" # ") {
            Some((said, comment)) => (said, format!(" # {comment}")),
            None => (line, String::new()),
        };
        let choice = Regex::new(r": ([a-z]+)(\|[a-z]+)+$").expect("the expression is one");
        let said = choice.replace(said, ": $1");
        let blank = Regex::new(r"<([^<>]+)>").expect("the expression is one");
        let said = blank.replace_all(&said, |found: &regex::Captures<'_>| match &found[1] {
            "six letters and digits" => self.draw_letters(place),
            "YYYY-MM-DDTHH:MM:SSZ" => self.now.clone(),
            "label" => self.first_label(),
            "path of the file" | "affected area" => "src/lib.rs".to_owned(),
            "commit" => self.first_commit(),
            said if said.starts_with("command") => "cargo test".to_owned(),
            said => format!(
                "{said}, as session {} saw it ({})",
                self.session,
                self.draw_letters(place)
            ),
        });
        format!("{}{comment}", said.replace("YYYY-MM-DD", &self.day))
    }

    /// Six letters that follow from the session and a place.
    fn draw_letters(&self, place: &str) -> String {
        let digest = Sha256::digest(format!("{} {place}", self.session));
        let letter = |byte: &u8| char::from(b'a' + byte % 26);
        digest.iter().take(6).map(letter).collect()
    }

    /// The first of the labels that the prompt names.
    fn first_label(&self) -> String {
        let mut after = self
            .prompt
            .lines()
            .skip_while(|line| !line.starts_with("# Labels"));
        let line = after.nth(1).unwrap_or_default();
        line.split('`').nth(1).unwrap_or("bugs").to_owned()
    }

    fn first_commit(&self) -> String {
        let known = Regex::new(r"\b[0-9a-f]{40}\b").expect("the expression is one");
        let found = known.find(self.prompt);
        found.map_or_else(|| "0".repeat(40), |found| found.as_str().to_owned())
    }

    /// The events that the prompt gives to decide on.
    fn event_ids(&self) -> Vec<String> {
        let event = Regex::new(r"(?m)^# Event ([a-z0-9]{6})$").expect("the expression is one");
        let found = event.captures_iter(self.prompt);
        found.map(|found| found[1].to_owned()).collect()
    }

    /// The change of code that a requirement asks for: a line at the end of the first file that it touches.
    fn implement_requirement(&self, task: &Task<'_>, github: &github::Model) -> FileTexts {
        let mut files = FileTexts::new();
        if !self.prompt.contains("# The requirement\n") {
            return files;
        }
        // The path stands in the requirement's file, or in the issue that showed it to a maintainer.
        let area = Regex::new(
            r"(?m)^(?:affected_areas:.*|### affected areas\n\n`{3,}text)\n\s*- \x22?([\w./-]+)",
        )
        .expect("the expression is one");
        let texts = self.quoted.values().map(String::as_str);
        let texts = texts.chain([self.prompt]);
        let path = texts
            .filter_map(|text| Some(area.captures(text)?[1].to_owned()))
            .next();
        if let (Some(path), Some((repo, commit))) = (path, task.checkout) {
            let before = github.read_file(repo, commit, &path).unwrap_or_default();
            let before = String::from_utf8_lossy(&before).into_owned();
            files.insert(
                path,
                Some(format!("{before}// Done by session {}.\n", self.session)),
            );
        }
        files
    }
}

/// The files that a prompt quotes, by path. The prompt names the marks around each of them.
fn quoted_files(prompt: &str) -> BTreeMap<String, String> {
    let mark = Regex::new(
        r"What stands between <(data-[0-9a-f]+)> and </data-[0-9a-f]+> \(the file (\S+)\)",
    )
    .expect("the expression is one");
    let mut files = BTreeMap::new();
    for found in mark.captures_iter(prompt) {
        let rest = &prompt[found.get(0).map_or(0, |whole| whole.end())..];
        let (begin, end) = (
            format!("\n<{}>\n", &found[1]),
            format!("\n</{}>", &found[1]),
        );
        let text = rest
            .split_once(&begin)
            .and_then(|(_, rest)| rest.split_once(&end));
        if let Some((text, _)) = text {
            files.insert(found[2].to_owned(), text.to_owned());
        }
    }
    files
}
