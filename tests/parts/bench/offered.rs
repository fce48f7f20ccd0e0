//! Deliveries at a fixed rate, whether or not the service keeps up (open loop): a delivery's time counts from when it
//! was to be sent, so that a service that stands still for a moment is charged for all that had to wait.
//!
//! `offered ADDRESS PAYLOAD_FILE SIGNATURE EVENT RATE SECONDS CONNECTIONS`

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, file, signature, event, rate, seconds, connections] = arguments.as_slice() else {
        return Err("offered ADDRESS PAYLOAD_FILE SIGNATURE EVENT RATE SECONDS CONNECTIONS".into());
    };
    let body = std::fs::read(file)?;
    let (rate, seconds): (u64, u64) = (rate.parse()?, seconds.parse()?);
    let total = rate * seconds;
    let run = std::process::id();
    let head = format!(
        "POST /webhook HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nx-github-event: {event}\r\n\
         x-hub-signature-256: {signature}\r\ncontent-length: {}\r\nx-github-delivery: ",
        body.len()
    );
    let plan = Arc::new((head, body, AtomicU64::new(0)));
    let start = Instant::now() + Duration::from_millis(50);
    let mut lines = tokio::task::JoinSet::new();
    for _ in 0..connections.parse::<usize>()? {
        let (plan, mut line) = (Arc::clone(&plan), TcpStream::connect(address).await?);
        line.set_nodelay(true)?;
        lines.spawn(async move {
            let mut times = Vec::new();
            let mut wrong = 0_u64;
            let mut answer = vec![0; 4_096];
            loop {
                let n = plan.2.fetch_add(1, Ordering::Relaxed);
                if n >= total {
                    return Ok::<_, Failure>((times, wrong));
                }
                let due = start + Duration::from_nanos(n * 1_000_000_000 / rate);
                tokio::time::sleep_until(due).await;
                let mut request = format!("{}{run:08x}-{n:012x}\r\n\r\n", plan.0).into_bytes();
                request.extend_from_slice(&plan.1);
                line.write_all(&request).await?;
                // The answers are shorter than one packet.
                let read = line.read(&mut answer).await?;
                if !answer[..read].starts_with(b"HTTP/1.1 2") {
                    wrong += 1;
                }
                times.push(due.elapsed());
            }
        });
    }
    let (mut times, mut wrong) = (Vec::new(), 0);
    while let Some(ended) = lines.join_next().await {
        let (more, failed) = ended??;
        times.extend(more);
        wrong += failed;
    }
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(place).copied().unwrap_or_default().as_micros()
    };
    let (p50, p99, most) = (at(50), at(99), at(100));
    #[expect(clippy::disallowed_methods, reason = "no text of others is in it")]
    let mut out = std::io::stdout();
    writeln!(
        out,
        r#"{{"requests":{},"p50":{p50},"p99":{p99},"max":{most},"wrong":{wrong}}}"#,
        times.len()
    )?;
    Ok(())
}
