//! The child process: it limits itself, and answers requests until its input ends.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use phileas_domain::Diagnostic;
use phileas_domain::model::Tree;
use phileas_domain::prompt::{RenderAnswer, RenderError, RenderRequest};

use super::limits::STACK_LIMIT_BYTES;
use super::process_limits::{limit_processor_time, limit_this_process};
use super::protocol::{ChildRequest, ChildResponse, FILES_KEPT, unavailable_answer};

/// The exit code of a child that could not limit itself, or received an unknown message.
const FAULT: u8 = 70;
/// The longest text of an error, in characters, and the longest path to read.
const ERROR_LIMIT_CHARS: usize = 2_000;

#[expect(
    clippy::disallowed_methods,
    reason = "its parent reads JSON from this pipe, and no terminal does"
)]
pub(super) fn run() -> ExitCode {
    // A panic becomes an answer; print nothing.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = io::stdout().lock();
    if let Err(why) = limit_this_process() {
        let _gone = write_message(&mut out, &ChildResponse::Unlimited(why));
        return ExitCode::from(FAULT);
    }
    match answer_all(io::stdin().lock(), &mut out) {
        Ok(()) => ExitCode::SUCCESS,
        // The parent is gone, or sent an unknown message.
        Err(_) => ExitCode::from(FAULT),
    }
}

fn answer_all(mut input: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    write_message(out, &ChildResponse::Ready)?;
    let mut files: VecDeque<(String, Arc<Tree>)> = VecDeque::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let told: ChildRequest<'_> = match serde_json::from_slice(&line) {
            Ok(told) => told,
            Err(error) => {
                let why = format!("a request cannot be read: {error}");
                write_message(out, &ChildResponse::Answer(unavailable_answer(why)))?;
                continue;
            }
        };
        // Free the memory before a prompt is rendered.
        line = Vec::new();
        match told {
            ChildRequest::Files {
                digest,
                tree,
                instead_of,
            } => {
                files.retain(|(known, _)| Some(known) != instead_of.as_ref());
                files.push_back((digest, tree));
            }
            ChildRequest::Render(request) => {
                limit_processor_time().map_err(io::Error::other)?;
                let answer = answer_request(request.into_owned(), &files);
                write_message(out, &ChildResponse::Answer(answer))?;
            }
        }
    }
}

fn answer_request(request: RenderRequest, files: &VecDeque<(String, Arc<Tree>)>) -> RenderAnswer {
    let of_digest = |digest: &str| {
        let known = files.iter().rev().find(|(known, _)| known == digest);
        known.map(|(_, tree)| Arc::clone(tree))
    };
    let Some(request) = request.with_files(of_digest) else {
        return unavailable_answer("its files did not arrive");
    };
    let path = request.path();
    // The engine and the filters may panic, for instance on an absurd length.
    let answer = catch_unwind(AssertUnwindSafe(|| request.answer(STACK_LIMIT_BYTES)))
        .unwrap_or_else(|_| {
            let wrong =
                Diagnostic::error(path, "the template engine broke off while it was rendered")
                    .help("look for a number or a length in it that is far too large");
            RenderAnswer::Failed(RenderError::Invalid(vec![wrong]))
        });
    with_short_errors(answer)
}

/// Shortens the errors: a template can make the texts in them any length.
fn with_short_errors(mut answer: RenderAnswer) -> RenderAnswer {
    let cut = |text: &mut String| {
        if let Some((place, _)) = text.char_indices().nth(ERROR_LIMIT_CHARS) {
            text.truncate(place);
            text.push('…');
        }
    };
    match &mut answer {
        RenderAnswer::Failed(RenderError::Invalid(found)) => {
            for one in found {
                cut(&mut one.file);
                cut(&mut one.key);
                cut(&mut one.message);
                cut(&mut one.help);
            }
        }
        RenderAnswer::Failed(RenderError::Unread(paths)) => {
            paths.retain(|path| path.len() <= ERROR_LIMIT_CHARS);
        }
        _ => {}
    }
    answer
}

fn write_message(out: &mut impl Write, told: &ChildResponse) -> io::Result<()> {
    let mut line = serde_json::to_vec(told)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// The lines that the parent sends for a request.
pub(super) fn request_lines(
    request: &RenderRequest,
    known: &mut VecDeque<String>,
) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for files in request.files() {
        if known.iter().any(|digest| digest == files.digest()) {
            continue;
        }
        let is_needed = |known: &str| request.files().any(|files| files.digest() == known);
        let spare = known.iter().position(|known| !is_needed(known));
        let instead_of = spare
            .filter(|_| known.len() >= FILES_KEPT)
            .and_then(|place| known.remove(place));
        let told = ChildRequest::Files {
            digest: files.digest().to_owned(),
            tree: Arc::clone(files.tree()),
            instead_of,
        };
        serde_json::to_writer(&mut lines, &told)?;
        lines.push(b'\n');
        known.push_back(files.digest().to_owned());
    }
    serde_json::to_writer(&mut lines, &ChildRequest::Render(Cow::Borrowed(request)))?;
    lines.push(b'\n');
    Ok(lines)
}
