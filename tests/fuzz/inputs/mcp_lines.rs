//! Any bytes on the lines of the Model Context Protocol: everything is read to its end, and nothing panics.

use std::time::Duration;

use phileas::mcp::line_transport::LineTransport;
use rmcp::transport::Transport as _;

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut lines = LineTransport::new(data, tokio::io::sink(), Duration::ZERO, || {});
        while lines.receive().await.is_some() {}
        lines.close().await.unwrap();
    });
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let lines = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n\
        {\"jsonrpc\": \"2.0\", \"id\": \"b\", \"method\": \"tools/call\", \"params\": {\"name\": \"explain\", \"arguments\": {}}}\n\
        {\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n";
    vec![lines.into(), "[]\n{}\nnull\n".into()]
}
