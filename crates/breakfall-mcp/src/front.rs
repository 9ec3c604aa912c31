//! The door for clients that come over HTTP: who may come in, and what each request is.

mod accepting;
mod clients;
mod head;
mod respond;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use breakfall::GuardBuilder;
use breakfall_http::{accept, bearer, host, is_here, is_same, text};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

use accepting::{BOUNDS, Run};
use clients::{Client, Clients};
use head::whole;
use respond::{Connected, Ending, respond, standing};

use crate::era::{self, Era, LEGACY};
use crate::error::Error;
use crate::headers::{self, EVENTS, LAST_EVENT, SESSION, VERSION, accepts, bare};
use crate::message::Message;
use crate::origin::Origin;
use crate::servers::Servers;
use crate::stream::Stream;
use crate::watchdog::Watchdog;

/// Where messages go to.
const PATH: &str = "/mcp";

/// How long a stream that can be taken up again is not opened yet: a server at an address may still
/// say who may not come in, which no stream could.
const AT_ONCE: Duration = Duration::from_millis(20);
const IN_A_MOMENT: Duration = Duration::from_secs(1);

/// Serves clients that come over HTTP.
pub struct Front {
    listener: TcpListener,
    address: SocketAddr,
    door: Arc<Door>,
}

/// What every client gets for itself, and who may come.
struct Door {
    clients: Clients,
    /// What a client must show.
    token: Option<String>,
    /// Whether only this machine can reach us.
    is_local: bool,
    streams: AtomicU64,
}

impl Front {
    /// Listens on an address. One that others can reach needs a token that they must show.
    pub async fn listen(
        address: SocketAddr,
        token: Option<String>,
        servers: Servers,
        guard: impl Fn() -> GuardBuilder + Send + Sync + 'static,
        watchdog: Option<Arc<Watchdog>>,
    ) -> Result<Self, Error> {
        let token = token.filter(|token| !token.is_empty());
        let is_local = address.ip().is_loopback();
        if !is_local && token.is_none() {
            return Err(Error::Open { address });
        }
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let clients = Clients::new(servers, Box::new(guard), watchdog);
        let door = Door { clients, token, is_local, streams: AtomicU64::new(1) };
        Ok(Self { listener, address, door: Arc::new(door) })
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until told to stop, then ends every server.
    pub async fn serve(self, until: impl Future<Output = ()>) -> Result<(), Error> {
        let Self { listener, door, .. } = self;
        let router = Router::new()
            .route(PATH, axum::routing::any(asked))
            .fallback(|| async { refusal(StatusCode::NOT_FOUND, -32600, "messages go to `/mcp`") })
            .with_state(Arc::clone(&door));
        let each = || router.clone().layer(Extension(Run::new()));
        tokio::select! {
            () = accept(listener, None, BOUNDS, each) => {}
            () = door.clients.expire() => {}
            () = until => {}
        }
        door.clients.end().await;
        Ok(())
    }
}

/// A refusal in the words of the protocol, to a request that may have had no id.
fn refusal(status: StatusCode, code: i64, words: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": words } });
    as_json(status, body.to_string())
}

fn refused_request(status: StatusCode, id: &RawValue, code: i64, words: &str) -> Response {
    let answer = crate::message::error(code, words);
    as_json(status, crate::message::answer(id, &answer))
}

fn as_json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

async fn asked(State(door): State<Arc<Door>>, request: Request) -> Response {
    if let Some(refusal) = door.keeps_out(request.headers()) {
        return refusal;
    }
    match *request.method() {
        Method::POST => door.post(request).await,
        Method::GET => door.get(request.headers()),
        Method::DELETE => door.delete(request.headers()).await,
        _ => not_allowed(POSTED),
    }
}

/// What is said of a method that is not accepted.
const POSTED: &str = "this method is not accepted; messages are sent with POST";

fn not_allowed(words: &str) -> Response {
    let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, -32600, words);
    refused.headers_mut().insert(ALLOW, axum::http::HeaderValue::from_static("GET, POST, DELETE"));
    refused
}

impl Door {
    /// Why a request does not come in, if it does not. A page that a browser shows must not reach a
    /// server of its user's, under whatever name it calls this machine.
    fn keeps_out(&self, headers: &HeaderMap) -> Option<Response> {
        let named = text(headers, &HOST).unwrap_or_default();
        if self.is_local && !is_here(host(named)) {
            let words = "the `Host` of a request must be this machine";
            return Some(refusal(StatusCode::FORBIDDEN, -32600, words));
        }
        if let Some(origin) = headers.get(ORIGIN) {
            let from = origin.to_str().unwrap_or_default();
            let is_same = from.split_once("://").is_some_and(|(_, from)| from == named);
            let is_ours = is_same || self.is_local && is_here(host(from));
            if !is_ours {
                let words = "requests of other sites are not accepted";
                return Some(refusal(StatusCode::FORBIDDEN, -32600, words));
            }
        }
        let Some(token) = &self.token else { return None };
        if bearer(headers).is_some_and(|shown| is_same(shown.as_bytes(), token.as_bytes())) {
            return None;
        }
        let words = "this guard wants its token: `Authorization: Bearer …`";
        let mut refused = refusal(StatusCode::UNAUTHORIZED, -32600, words);
        let bearer = axum::http::HeaderValue::from_static("Bearer");
        refused.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        Some(refused)
    }

    async fn post(self: Arc<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let run = parts.extensions.get::<Run>().map(|run| Arc::clone(&run.0));
        let headers = parts.headers;
        let kind = text(&headers, &CONTENT_TYPE).unwrap_or_default();
        if bare(kind) != "application/json" {
            let words = "the `Content-Type` of a message is `application/json`";
            return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, words);
        }
        if !accepts(&headers, "application/json") && !accepts(&headers, EVENTS) {
            let words = "accept `application/json` and `text/event-stream`";
            return refusal(StatusCode::NOT_ACCEPTABLE, -32600, words);
        }
        let length = text(&headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let body = match whole(body, length).await {
            Ok(body) => body,
            Err((status, code, words)) => return refusal(status, code, words),
        };
        if body.trim_start().starts_with('[') {
            return refusal(StatusCode::BAD_REQUEST, -32600, "a body is one message, no batch");
        }
        let Some(message) = Message::parse(&body) else {
            return refusal(StatusCode::BAD_REQUEST, -32700, "this body is no message");
        };
        let version = text(&headers, &VERSION).map(str::trim);
        let is_legacy = version.is_none_or(|version| LEGACY.contains(&version));
        match message {
            Message::Request { id, method, params }
                if !is_legacy || Era::of(params.as_deref()) == Era::Modern =>
            {
                let origin = Origin::new(id, Era::Modern).with(headers).in_run(run);
                self.modern(origin, method, params).await
            }
            Message::Request { id, method, params } if method == "initialize" => {
                self.initialize(headers, id, method, params).await
            }
            message => {
                let client = match self.client(&headers) {
                    Ok(client) => client,
                    Err(refused) => return *refused,
                };
                self.of_client(client, headers, message).await
            }
        }
    }

    /// The client of a request, by its session.
    fn client(&self, headers: &HeaderMap) -> Result<Arc<Client>, Box<Response>> {
        let Some(session) = text(headers, &SESSION) else {
            let words = "say `initialize` first, then name the session in `Mcp-Session-Id`";
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, -32600, words)));
        };
        self.clients.get(session).ok_or_else(|| {
            let words = "there is no such session; say `initialize` again";
            Box::new(refusal(StatusCode::NOT_FOUND, -32600, words))
        })
    }

    /// A request that says everything itself.
    async fn modern(
        &self,
        origin: Origin,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> Response {
        let id = &origin.id;
        if !era::is_whole(params.as_deref()) {
            let words = "`params._meta` must name `io.modelcontextprotocol/protocolVersion` and \
                `io.modelcontextprotocol/clientCapabilities`";
            return refused_request(StatusCode::BAD_REQUEST, id, -32602, words);
        }
        let client = match self.clients.shared() {
            Ok(client) => client,
            Err(error) => return failed(id, &error),
        };
        if client.is_full() {
            return full(id);
        }
        let session = &client.session;
        let parameters = session.parameters(&method, params.as_deref());
        let said = &origin.headers;
        if let Some(why) = headers::mismatch(said, &method, params.as_deref(), &parameters) {
            return refused_request(StatusCode::BAD_REQUEST, id, headers::MISMATCH, &why);
        }
        let stream = self.stream();
        let origin = origin.to(&stream);
        let number = session.asked(Arc::clone(&origin), method, params);
        // Who closes the connection does not want the answer any more.
        let ending = Ending::Stops { session: Arc::clone(session), number };
        respond(&origin, &stream, ending, None).await
    }

    /// A client says hello.
    async fn initialize(
        self: Arc<Self>,
        headers: HeaderMap,
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> Response {
        let (name, client) = match self.clients.open() {
            Ok(opened) => opened,
            Err(error) => return failed(&id, &error),
        };
        let mut unanswered = Unanswered { door: Arc::clone(&self), name: Some(name.clone()) };
        let stream = self.stream();
        let origin = Origin::new(id, Era::Legacy).with(headers).to(&stream);
        client.session.asked(Arc::clone(&origin), method, params);
        let mut response = respond(&origin, &stream, Ending::None, None).await;
        if response.status().is_success()
            && !client.session.is_unwelcome()
            && let Ok(name) = name.parse()
        {
            response.headers_mut().insert(SESSION, name);
            unanswered.name = None;
        }
        response
    }

    /// What a client says within its session.
    async fn of_client(
        &self,
        client: Arc<Client>,
        headers: HeaderMap,
        message: Message,
    ) -> Response {
        client.is_seen();
        match message {
            Message::Request { id, method, params } => {
                if client.is_full() {
                    return full(&id);
                }
                let (stream, session) = (self.stream(), &client.session);
                let opens_after = client.is_resumable().then(|| {
                    client.keep(Arc::clone(&stream));
                    if session.is_remote() { IN_A_MOMENT } else { AT_ONCE }
                });
                let origin = Origin::new(id, Era::Legacy).with(headers).to(&stream);
                session.asked(Arc::clone(&origin), method, params);
                let ending = Ending::Leaves(Connected::new(&client));
                respond(&origin, &stream, ending, opens_after).await
            }
            Message::Notification { method, params } => {
                client.session.told(&method, params).await;
                StatusCode::ACCEPTED.into_response()
            }
            Message::Answer { id, answer } => {
                client.session.answered(&id, &answer).await;
                StatusCode::ACCEPTED.into_response()
            }
        }
    }

    /// What the server says by itself, or what a client missed.
    fn get(&self, headers: &HeaderMap) -> Response {
        if text(headers, &VERSION).is_some_and(|version| !LEGACY.contains(&version.trim())) {
            return not_allowed(POSTED);
        }
        if !accepts(headers, EVENTS) {
            let words = "accept `text/event-stream`";
            return refusal(StatusCode::NOT_ACCEPTABLE, -32600, words);
        }
        match self.client(headers) {
            Ok(client) => {
                client.is_seen();
                standing(&client, text(headers, &LAST_EVENT))
            }
            Err(refused) => *refused,
        }
    }

    async fn delete(&self, headers: &HeaderMap) -> Response {
        match self.client(headers) {
            Ok(_) => {
                self.clients.close(text(headers, &SESSION).unwrap_or_default()).await;
                StatusCode::OK.into_response()
            }
            Err(refused) => *refused,
        }
    }

    fn stream(&self) -> Arc<Stream> {
        Arc::new(Stream::new(self.streams.fetch_add(1, Ordering::Relaxed)))
    }
}

fn failed(id: &RawValue, error: &Error) -> Response {
    refused_request(StatusCode::SERVICE_UNAVAILABLE, id, crate::message::LOST, &error.to_string())
}

fn full(id: &RawValue) -> Response {
    let words = "too many requests are under way; wait for their answers";
    refused_request(StatusCode::TOO_MANY_REQUESTS, id, crate::message::LOST, words)
}

/// A session whose client does not know of it yet: where nobody waits for the answer, nobody ever
/// will.
struct Unanswered {
    door: Arc<Door>,
    name: Option<String>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let door = Arc::clone(&self.door);
            tokio::spawn(async move { door.clients.close(&name).await });
        }
    }
}
