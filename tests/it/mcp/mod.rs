//! `phileas mcp`: the program as clients of the Model Context Protocol meet it, over pipes.

mod asking;
mod events;
mod exchange;
mod first_client;
mod gates;
mod host;
mod pipeline;
mod resources;
mod tools;
