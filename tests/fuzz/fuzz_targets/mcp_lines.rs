//! Any bytes on the lines of the Model Context Protocol: everything is read to its end, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use phileas::mcp::lines::Lines;
use rmcp::transport::Transport as _;

fuzz_target!(|data: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut lines = Lines::new(data, tokio::io::sink(), || {});
        while lines.receive().await.is_some() {}
        lines.close().await.unwrap();
    });
});
