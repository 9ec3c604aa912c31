//! `breakfall guard`: stands between an MCP client and its servers. `breakfall call` tries what it
//! would do.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakfall::{Call, Config, Entry, GuardBuilder};
use breakfall_mcp::{
    Command, Error, Front, Recorder, Servers, Session, Watchdog, files, stay_awake, stdin, stdout,
};
use breakfall_telemetry::Metrics;
use breakfall_web::Token;
use clap::Args;
use tokio::runtime::Builder;

use crate::aside::{Aside, Ending};
use crate::dashboard::Beside;
use crate::failed::Failed;
use crate::kept::Kept;
use crate::settings::Settings;
use crate::telemetry::Telemetry;

/// The hidden command that the guard starts beside itself.
pub(crate) const WATCHDOG: &str = "__watchdog";

/// Where the token is that clients must show.
const TOKEN: &str = "BREAKFALL_TOKEN";

/// Sooner than the time of any call that nobody hurries is up.
const BEAT: Duration = Duration::from_secs(10);

/// How long the end waits for the disk that takes the recording.
const WRITTEN: Duration = Duration::from_secs(1);

/// Which servers are guarded: those of a file, one command, or the files of this directory.
#[derive(Args)]
pub(crate) struct Guarded {
    /// The `mcpServers` that a client has, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    mcp_config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// The command of one server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Args)]
pub(crate) struct GuardArgs {
    /// Serve clients over HTTP on this address; one that others can reach needs a token in
    /// `BREAKFALL_TOKEN`. Without it the client that started this program is served
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Keep what passes between the guard and its servers in files of this directory, without
    /// secrets
    #[arg(long, value_name = "DIRECTORY")]
    record: Option<PathBuf>,
    /// Show what fails in a browser, on this address of this machine or on a free port; the link is
    /// printed on standard error
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    dashboard: Option<SocketAddr>,
    #[command(flatten)]
    guarded: Guarded,
}

#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool
    tool: String,
    /// Its arguments, as JSON
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    guarded: Guarded,
}

impl GuardArgs {
    /// Serves the client that started us on standard input and output, or those that come over
    /// HTTP. A person at a terminal speaks no protocol: then we listen.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let _log = log_to_stderr();
        let recorder = self.record.as_deref().map(Recorder::new).transpose();
        let recorder = recorder.map_err(stopped)?.map(Arc::new);
        let metrics = self.dashboard.map(|_| Arc::<Metrics>::default());
        let beside = |(address, metrics): (_, &Arc<Metrics>)| {
            Beside::start(address, &self.guarded.settings, Arc::clone(metrics))
        };
        let _page = self.dashboard.zip(metrics.as_ref()).map(beside).transpose()?.flatten();
        let by_a_person = std::io::stdin().is_terminal();
        let free_port = || SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let served = match self.listen.or_else(|| by_a_person.then(free_port)) {
            Some(address) => self.guarded.listen(address, recorder.clone(), metrics),
            None => self.guarded.serve(recorder.clone(), metrics),
        };
        if let Some(recorder) = recorder {
            recorder.finish(WRITTEN);
        }
        served
    }
}

impl CallArgs {
    /// Calls a tool and prints what the model would read.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let (servers, guard, _told) = self.guarded.resolve()?;
        block_on(async {
            let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
            session.tools().await;
            let reply = session.call_tool(Call::new("call", self.tool, self.arguments)).await;
            session.end().await;
            say!("{}", reply.text);
            if reply.is_error { Err(Failed::silently()) } else { Ok(()) }
        })?
    }
}

/// Who is told of the calls of a guard: what is left is sent and written when this is dropped.
pub(crate) struct Told {
    telemetry: Telemetry,
    _kept: Kept,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.telemetry.end();
    }
}

impl Guarded {
    pub(crate) fn resolve(&self) -> Result<(Servers, GuardBuilder, Told), Failed> {
        let config = self.config()?;
        let servers = self.servers(&config)?;
        let (guard, kept) = Self::guard(&config, &servers)?;
        let telemetry = Telemetry::start(&config, &servers.servers, None)?;
        let guard = telemetry.watch(guard);
        Ok((servers, guard, Told { telemetry, _kept: kept }))
    }

    pub(crate) fn config(&self) -> Result<Config, Failed> {
        self.settings.config()
    }

    pub(crate) fn guard(
        config: &Config,
        servers: &Servers,
    ) -> Result<(GuardBuilder, Kept), Failed> {
        let guard = servers.guard(config).tools(own(servers)?);
        let kept = Kept::configured(config)?;
        Ok((kept.by(guard), kept))
    }

    pub(crate) fn servers(&self, config: &Config) -> Result<Servers, Failed> {
        if let Some(command) = Command::typed(&self.command) {
            return Ok(Servers::one(command).configured(config));
        }
        let unusable = || Failed::new("the configuration of servers cannot be used");
        let Some(file) = &self.mcp_config else {
            let servers = Servers::from_config(config);
            let servers = servers.map_err(|error| unusable().because(error))?;
            return Ok(servers.configured(config));
        };
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failed::new(format!("could not read `{}`", file.display())).because(error)
        })?;
        let servers = Servers::from_json(&text, &file.display().to_string())
            .map_err(|error| unusable().because(error))?;
        for note in &servers.notes {
            tell!("note: {note}");
        }
        if servers.servers.is_empty() {
            return Err(unusable().because("it has no server that can be reached"));
        }
        Ok(servers.configured(config))
    }

    /// Serves the client that started us, until it leaves.
    fn serve(
        &self,
        recorder: Option<Arc<Recorder>>,
        metrics: Option<Arc<Metrics>>,
    ) -> Result<(), Failed> {
        let config = self.config()?;
        let servers = Servers { recorder, ..self.servers(&config)? };
        let (guard, _kept) = Self::guard(&config, &servers)?;
        let telemetry = Telemetry::start(&config, &servers.servers, metrics)?;
        let guard = telemetry.watch(guard);
        let serve = async { Session::serve(servers, guard, watchdog(), stdin(), stdout()).await };
        let served = block_on_awake(serve);
        telemetry.end();
        served?.map_err(stopped)
    }

    /// Serves clients that come over HTTP, until the program is told to end.
    fn listen(
        &self,
        address: SocketAddr,
        recorder: Option<Arc<Recorder>>,
        metrics: Option<Arc<Metrics>>,
    ) -> Result<(), Failed> {
        let config = self.settings.config()?;
        let servers = Servers { recorder, ..self.servers(&config)? };
        let own = own(&servers)?;
        // One for all clients: each has a guard of its own.
        let kept = Kept::configured(&config)?;
        let telemetry = Telemetry::start(&config, &servers.servers, metrics)?;
        let guard = {
            let (servers, kept, telemetry) = (servers.clone(), kept.clone(), telemetry.clone());
            move || telemetry.watch(kept.by(servers.guard(&config).tools(own.clone())))
        };
        // Whatever could be wrong is told now, not when the first client comes.
        guard().build().map_err(|error| stopped(error.into()))?;
        let names: Vec<String> =
            servers.servers.iter().map(|server| format!("`{}`", server.key)).collect();
        let token = token()?;
        let has_token = token.is_some();
        let served = block_on(async {
            let front = Front::listen(address, token, servers, guard, watchdog());
            let front = front.await.map_err(|error| match error {
                Error::Open { .. } => Failed::new(error.to_string())
                    .hint("put a token into BREAKFALL_TOKEN, or listen on 127.0.0.1"),
                error => stopped(error),
            })?;
            welcome(&front.url(), &names, has_token, &self.command);
            front.serve(told_to_end()).await.map_err(stopped)
        });
        telemetry.end();
        served?
    }
}

/// What clients must show, if anything: as hard to guess as what opens the page.
fn token() -> Result<Option<String>, Failed> {
    let Some(token) = std::env::var_os(TOKEN) else { return Ok(None) };
    let token = token.to_string_lossy().into_owned();
    Token::chosen(&token).map_err(|error| {
        Failed::of(&error).hint("unset BREAKFALL_TOKEN to serve this machine without a token")
    })?;
    Ok(Some(token))
}

/// Tools for a machine without any server.
pub(crate) fn own(servers: &Servers) -> Result<Vec<Entry>, Failed> {
    if !servers.servers.is_empty() {
        return Ok(Vec::new());
    }
    let here = std::env::current_dir().and_then(|here| files(&here));
    here.map_err(|error| Failed::new("could not read the current directory").because(error))
}

/// What a person needs next: where we are, what to tell a client, how to try it.
fn welcome(url: &str, names: &[String], has_token: bool, command: &[String]) {
    let what =
        if names.is_empty() { "the files of this directory".to_owned() } else { names.join(", ") };
    tell!("Guarding {what} at {url}\n");
    // Where this is printed it is kept: in the logs of a service.
    let as_typed = typed_behind_guard(command);
    let typed = redacted(&as_typed);
    tell!("For a client that takes an address:\n");
    let headers = if has_token {
        format!(", \"headers\": {{ \"Authorization\": \"Bearer ${{{TOKEN}}}\" }}")
    } else {
        String::new()
    };
    tell!(
        "  {{ \"mcpServers\": {{ \"breakfall\": {{ \"type\": \"http\", \"url\": \"{url}\"{headers} }} }} }}\n"
    );
    let (tool, of) = match names {
        [] => ("list_files '{}'", ""),
        _ => ("TOOL '{…}'", typed.as_str()),
    };
    if let Ok(program) = std::env::current_exe() {
        let words = ["guard"].into_iter().chain(typed.split_whitespace());
        let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        tell!("For one that starts its servers itself:\n");
        tell!(
            "  {{ \"mcpServers\": {{ \"breakfall\": {{ \"command\": \"{}\", \"args\": [{}] }} }} }}\n",
            program.display(),
            words.join(", ")
        );
    }
    tell!("To try it from another terminal:\n");
    tell!("  breakfall tools{of}");
    tell!("  breakfall call {tool}{of}\n");
    if typed != as_typed {
        tell!("Secrets are shown as `[redacted:…]`: put your own there.\n");
    }
    tell!("Ctrl-C ends it.");
}

/// What the person typed behind `guard`, to be typed again: without where we listen, and with dashes
/// before the command, which other commands need there.
fn typed_behind_guard(command: &[String]) -> String {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "guard").skip(1).collect();
    let options = words.iter().take(words.len().saturating_sub(command.len()));
    let mut skips = false;
    let options = options.filter(|word| {
        // `--dashboard` may stand alone.
        let is_value = std::mem::take(&mut skips) && word.parse::<SocketAddr>().is_ok();
        let is_option = ["--listen", "--dashboard"].iter().any(|it| word.starts_with(it));
        skips = is_option && !word.contains('=');
        !is_value && !is_option && *word != "--"
    });
    let dashes = (!command.is_empty()).then(|| "--".to_owned());
    let words = options.chain(&dashes).chain(command);
    words.fold(String::new(), |all, word| format!("{all} {word}"))
}

pub(crate) async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

/// What a developer should see, where the protocol is not spoken. Held until the end of the program.
pub(crate) fn log_to_stderr() -> Ending {
    let aside = Aside::new(std::io::stderr());
    let ending = Ending(aside.clone());
    tracing_subscriber::fmt()
        .with_writer(move || aside.clone())
        .with_ansi(false)
        // What cannot be logged is not worth a call.
        .log_internal_errors(false)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    ending
}

pub(crate) fn watchdog() -> Option<Arc<Watchdog>> {
    let program = std::env::current_exe().ok()?;
    Watchdog::start(&program, &[WATCHDOG]).map(Arc::new).ok()
}

/// A timer that ends before that of any call: with one ahead of it, a call's own is set without
/// waking anybody.
async fn beat() {
    loop {
        tokio::time::sleep(BEAT).await;
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    run_on(&mut Builder::new_current_thread(), work)
}

/// The same for who waits for lines that may come at once.
fn block_on_awake<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    run_on(Builder::new_current_thread().on_thread_park(stay_awake), work)
}

fn run_on<T>(runtime: &mut Builder, work: impl Future<Output = T>) -> Result<T, Failed> {
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(|error| Failed::new("could not start").because(error))?;
    runtime.spawn(beat());
    let done = runtime.block_on(work);
    // Reading standard input blocks a thread that nothing else would end.
    runtime.shutdown_background();
    Ok(done)
}

pub(crate) fn stopped(error: Error) -> Failed {
    Failed::new("the guard stopped").because(error)
}

/// What a server wrote may hold a secret, on a terminal too.
pub(crate) fn redacted(text: &str) -> String {
    breakfall::Redactor::default().redact(text).into_owned()
}
