//! `phileas sandbox` at a terminal.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::terminal::Terminal;

/// The days before go by, the service takes over, and the page that it names is served until the end.
#[test]
fn a_newcomer_sees_the_days_before_and_then_the_service() {
    let mut terminal = Terminal::with(&["sandbox", "--until", "24h", "--speed", "1"]);
    terminal.until("Ctrl-C ends it.");
    assert!(terminal.shown.contains("started   curator"));
    for words in [
        "A sandbox of acme/widget",
        "No key, no network.",
        "▶ started",
    ] {
        let before = terminal.shown.split("started   curator").next().unwrap();
        assert!(before.contains(words), "{words}: {before}");
    }
    // What the service does is told too: a repository that begins with it starts its first session.
    terminal.until("(gadget default#1)");
    let (_, after) = terminal.shown.split_once("http://").unwrap();
    let address = after.split('/').next().unwrap();
    // The page shows a repository as soon as it was looked at for the first time.
    let patience = Instant::now() + Duration::from_secs(180);
    let mut page = page_at(address);
    while ![">widget<", ">gadget<"]
        .iter()
        .all(|name| page.contains(name))
    {
        assert!(Instant::now() < patience, "{page}");
        page = page_at(address);
    }
    terminal.interrupt();
    assert!(
        terminal.shown.contains(" lost; phileas missed no work."),
        "{}",
        terminal.shown
    );
}

fn page_at(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    reply
}

#[test]
fn the_days_before_can_be_ended() {
    let mut terminal = Terminal::with(&["sandbox", "--until", "300d"]);
    // The legend has the sign, too.
    terminal.until("started   curator");
    terminal.interrupt();
    assert!(
        terminal.shown.contains(" lost; phileas missed no work."),
        "{}",
        terminal.shown
    );
}
