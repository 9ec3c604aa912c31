//! How does a tool say that it did some of the work?
#![expect(clippy::print_stdout, reason = "an example prints")]

use breakfall::{Call, Failure, Guard, Output, Preset, tool};
use serde_json::json;

/// Tells the size of each file.
#[tool(effect = "read_only")]
async fn sizes(paths: Vec<String>) -> Result<Output, Failure> {
    let mut lines = Vec::new();
    let mut output = Output::text("").of(paths.len());
    for path in paths {
        match std::fs::metadata(&path) {
            Ok(found) => lines.push(format!("{path}: {} bytes", found.len())),
            Err(error) => output = output.with_problem(path, error),
        }
    }
    Ok(output.replace_text(lines.join("\n")))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), breakfall::Error> {
    for preset in [Preset::Breakfall, Preset::Brynhild] {
        let guard = Guard::builder().tool(sizes()).preset(preset).build()?;
        let paths = json!({ "paths": ["Cargo.toml", "no-such-file", "README.md"] });
        let reply = guard.handle(Call::new("call_1", "sizes", paths)).await;
        println!("{}:\n{}", preset.name(), reply.text);
        println!("success: {}, is_error: {}\n", reply.success(), reply.is_error);
    }
    Ok(())
}
