//! Rmcp's router in this process, and the same server behind a connection within it.

use breakfall_counts::{Greeted, Search, greet, message, search};
use futures_util::FutureExt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, JsonObject, RequestId,
};
use rmcp::service::{RequestContext, RunningService, ServiceError};
use rmcp::{
    Peer, RoleClient, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router,
};
use serde_json::Value;
use tokio::runtime::Runtime;

#[derive(Clone)]
struct Server {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Server {
    fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    #[tool(description = "Searches.")]
    async fn search(&self, Parameters(asked): Parameters<Search>) -> String {
        search(asked).await
    }

    #[tool(description = "Greets.")]
    async fn greet(&self, Parameters(greeted): Parameters<Greeted>) -> String {
        greet(greeted).await
    }

    #[tool(description = "Fails.")]
    async fn fails(&self, Parameters(asked): Parameters<Search>) -> Result<String, String> {
        Err(message(asked.limit, 200))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

/// What the router and the client are asked.
pub fn asked(tool: &'static str, arguments: JsonObject) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// Arguments as rmcp has them.
pub fn object(arguments: Value) -> JsonObject {
    serde_json::from_value(arguments).unwrap_or_default()
}

/// A client and a server with a pipe between them, on one thread.
pub struct Connection {
    runtime: Runtime,
    client: RunningService<RoleClient, ()>,
    server: RunningService<RoleServer, Server>,
}

impl Default for Connection {
    fn default() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        let (near, far) = tokio::io::duplex(1 << 16);
        let (client, server) = runtime.block_on(async {
            let both = futures_util::future::join(().serve(near), Server::new().serve(far)).await;
            let client = both.0.unwrap_or_else(|error| panic!("{error}"));
            (client, both.1.unwrap_or_else(|error| panic!("{error}")))
        });
        Self { runtime, client, server }
    }
}

impl Connection {
    /// From the client to the server and back.
    pub fn call(&self, asked: CallToolRequestParams) -> Result<CallToolResult, ServiceError> {
        self.runtime.block_on(self.client.call_tool(asked))
    }
}

/// The router alone. It wants to know whose request it serves, hence the connection.
pub struct Router {
    server: Server,
    peer: Peer<RoleServer>,
    _connection: Connection,
}

impl Default for Router {
    fn default() -> Self {
        let connection = Connection::default();
        let peer = connection.server.peer().clone();
        Self { server: Server::new(), peer, _connection: connection }
    }
}

impl Router {
    /// A request of this number; `None` when it is not done at once.
    pub fn call(
        &self,
        n: u32,
        asked: CallToolRequestParams,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let request = RequestContext::new(RequestId::Number(n.into()), self.peer.clone());
        let context = ToolCallContext::new(&self.server, asked, request);
        self.server.tool_router.call(context).now_or_never()
    }
}
