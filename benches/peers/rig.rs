//! Rig's set of tools, called as its agents do: a name and JSON text.

use breakfall_counts::{Greeted, Search, greet, message, search};
use futures_util::FutureExt;
use rig_agent::tool::server::{ToolServer, ToolServerHandle};
use rig_agent::tool::{Tool, ToolContext, ToolResult, ToolSet};
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The tools in both places that rig has for them.
pub struct Rig {
    set: ToolSet,
    server: ToolServerHandle,
    context: ToolContext,
}

impl Default for Rig {
    fn default() -> Self {
        let mut set = ToolSet::default();
        set.add_tool(Searches);
        set.add_tool(Greets);
        set.add_tool(Fails);
        let server = ToolServer::new().tool(Searches).tool(Greets).tool(Fails).run();
        Self { set, server, context: ToolContext::default() }
    }
}

impl Rig {
    /// Through the set. `None` when it is not done at once.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Option<ToolResult> {
        self.set.execute(tool, arguments, &mut self.context).now_or_never()
    }

    /// Through the server, which tools can be added to at any time.
    pub fn call_served(&mut self, tool: &str, arguments: &str) -> Option<ToolResult> {
        self.server.execute(tool, arguments, &mut self.context).now_or_never()
    }
}

fn schema<A: JsonSchema>() -> Value {
    serde_json::to_value(schemars::schema_for!(A)).unwrap_or_else(|_| json!({}))
}

struct Searches;

impl Tool for Searches {
    const NAME: &'static str = "search";
    type Args = Search;
    type Output = String;
    type Error = std::io::Error;

    fn description(&self) -> String {
        "Searches.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema::<Search>()
    }

    async fn call(&self, _: &mut ToolContext, asked: Search) -> Result<String, std::io::Error> {
        Ok(search(asked).await)
    }
}

struct Greets;

impl Tool for Greets {
    const NAME: &'static str = "greet";
    type Args = Greeted;
    type Output = String;
    type Error = std::io::Error;

    fn description(&self) -> String {
        "Greets.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema::<Greeted>()
    }

    async fn call(&self, _: &mut ToolContext, greeted: Greeted) -> Result<String, std::io::Error> {
        Ok(greet(greeted).await)
    }
}

struct Fails;

impl Tool for Fails {
    const NAME: &'static str = "fails";
    type Args = Search;
    type Output = String;
    type Error = std::io::Error;

    fn description(&self) -> String {
        "Fails.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema::<Search>()
    }

    async fn call(&self, _: &mut ToolContext, asked: Search) -> Result<String, std::io::Error> {
        Err(std::io::Error::other(message(asked.limit, 200)))
    }
}
