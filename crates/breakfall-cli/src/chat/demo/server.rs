//! A real MCP server with a fault: it dies in the middle of every call.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// The hidden command that the demonstration starts as its server.
pub(crate) const SERVER: &str = "__demo-server";

/// Serves on standard input and output until it is called.
pub(crate) fn server() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "demo", "version": env!("CARGO_PKG_VERSION") },
            }),
            Some("tools/list") => json!({ "tools": [{
                "name": "send_mail",
                "description": "Sends a mail to the others.",
                "inputSchema": { "type": "object" },
            }] }),
            Some("tools/call") => return,
            _ => continue,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        if writeln!(std::io::stdout(), "{answer}").is_err() {
            return;
        }
    }
}
