//! What does each preset say to the model for each kind of failure?
#![expect(clippy::print_stdout, reason = "an example prints")]

use breakfall::{Failure, FailureKind, Preset};
use breakfall_test::specimen;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for preset in Preset::ALL {
        for kind in FailureKind::ALL {
            let reply = specimen(*preset, *kind).await;
            let disposition = reply.disposition().map(|disposition| format!("{disposition:?}"));
            println!(
                "== {} / {kind} ({})\n{}\n",
                preset.name(),
                disposition.unwrap_or_default(),
                reply.text
            );
        }
    }
    let missing = "packages/core/src/chat/errors/ChatError.ts";
    println!("== openagents / the failure that started it all");
    println!(
        "{}",
        spoken(Preset::Openagents, "get_file_contents", Failure::not_found(missing)).await
    );
}

async fn spoken(preset: Preset, tool: &str, failure: Failure) -> String {
    breakfall_test::reply_to(preset, tool, failure).await.text
}
