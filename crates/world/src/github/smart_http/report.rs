//! Rewrites git's report of a push so that it declines the references that rules forbid.
//!
//! The packet lines are those of gitprotocol-pack(5), `report-status`; the words those that git shows after a push to
//! github.com.

use std::collections::BTreeMap;

use crate::github::ActError;

/// The longest payload of a packet line.
const MAX_PAYLOAD: usize = 65_515;
/// The reason for a reference that rules forbid.
const DECLINED: &str = "push declined due to repository rule violations";
/// The reason for a branch that its older protection forbids.
const PROTECTED: &str = "protected branch hook declined";

/// The report with `ng` instead of `ok` for these references.
pub(super) fn decline_refs(output: &[u8], refused: &BTreeMap<String, ActError>) -> Vec<u8> {
    let lines = split_packets(output);
    // With `side-band-64k` the report comes inside of packet lines of the first band.
    let banded = lines
        .first()
        .is_some_and(|line| matches!(line.first(), Some(1..=3)));
    if !banded {
        return rewrite_lines(&lines, refused);
    }
    let inner: Vec<u8> = lines
        .iter()
        .filter_map(|line| line.strip_prefix(&[1]))
        .flatten()
        .copied()
        .collect();
    let mut out = Vec::new();
    for (name, error) in refused {
        let code = match error {
            ActError::Protected(_) => "GH006: Protected branch update failed for",
            _ => "GH013: Repository rule violations found for",
        };
        let text = error.to_string();
        let why = text.lines().rfind(|line| !line.is_empty());
        let said = format!(
            "\u{2}error: {code} {name}.\n- {}\n",
            why.unwrap_or_default()
        );
        put_packet(&mut out, said.as_bytes());
    }
    let report = rewrite_lines(&split_packets(&inner), refused);
    for part in report.chunks(MAX_PAYLOAD) {
        put_packet(&mut out, &[&[1_u8][..], part].concat());
    }
    out.extend_from_slice(b"0000");
    out
}

fn rewrite_lines(lines: &[&[u8]], refused: &BTreeMap<String, ActError>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        let text = String::from_utf8_lossy(line);
        let name = text.trim_end().strip_prefix("ok ");
        match name.and_then(|name| refused.get_key_value(name)) {
            Some((name, error)) => {
                let why = match error {
                    ActError::Protected(_) => PROTECTED,
                    _ => DECLINED,
                };
                put_packet(&mut out, format!("ng {name} {why}\n").as_bytes());
            }
            None => put_packet(&mut out, line),
        }
    }
    out.extend_from_slice(b"0000");
    out
}

/// The payloads of packet lines, without flushes.
fn split_packets(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(4) {
        let length = std::str::from_utf8(head)
            .ok()
            .and_then(|text| usize::from_str_radix(text, 16).ok());
        match length {
            Some(0..=3) => bytes = rest,
            Some(length) => {
                let Some((line, after)) = rest.split_at_checked(length - 4) else {
                    break;
                };
                lines.push(line);
                bytes = after;
            }
            None => break,
        }
    }
    lines
}

fn put_packet(out: &mut Vec<u8>, payload: &[u8]) {
    out.extend_from_slice(format!("{:04x}", payload.len() + 4).as_bytes());
    out.extend_from_slice(payload);
}
