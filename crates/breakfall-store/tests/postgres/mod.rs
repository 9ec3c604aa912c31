//! A real Postgres of the test's own: started in a directory of its own, killed, started again.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::{Connection, PgConnection};

/// Set where a test without Postgres is a failure, and not one that is left out.
const NEEDED: &str = "BREAKFALL_NEEDS_POSTGRES";

/// A server that is gone when this is dropped.
pub(crate) struct Postgres {
    programs: PathBuf,
    directory: PathBuf,
    port: u16,
    server: Option<Child>,
}

impl Postgres {
    /// A server with nothing in it; none where Postgres is not installed, which is told.
    pub(crate) async fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let why = "Postgres is not installed: `cargo xtask test` installs it";
            assert!(std::env::var_os(NEEDED).is_none(), "{why}");
            eprintln!("SKIPPED: {why}");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        let directory = std::env::temp_dir().join(format!("breakfall-postgres-{port}"));
        fs::create_dir(&directory).unwrap();
        if is_root() {
            // The server refuses to run as root.
            assert!(
                Command::new("chown").arg("postgres").arg(&directory).status().unwrap().success()
            );
        }
        let made = own(&programs.join("initdb"))
            .args(["--no-sync", "--auth=trust", "--username=breakfall", "--encoding=UTF8", "-D"])
            .arg(directory.join("cluster"))
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        drop(free);
        let mut postgres = Self { programs, directory, port, server: None };
        postgres.restart().await;
        Some(postgres)
    }

    /// The address of a new database.
    pub(crate) async fn database(&self, name: &str) -> String {
        let mut all = PgConnection::connect(&self.url("postgres")).await.unwrap();
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::query(create).execute(&mut all).await.unwrap();
        self.url(name)
    }

    fn url(&self, name: &str) -> String {
        format!("postgres://breakfall@127.0.0.1:{}/{name}", self.port)
    }

    /// Ends the server as a machine that loses its power would.
    pub(crate) fn kill(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let group = rustix::process::Pid::from_child(&server);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = server.wait();
    }

    /// Starts the server, and waits until it answers.
    pub(crate) async fn restart(&mut self) {
        let cluster = self.directory.join("cluster");
        let _ = fs::remove_file(cluster.join("postmaster.pid"));
        let server = own(&self.programs.join("postgres"))
            .arg("-D")
            .arg(&cluster)
            .args(["-c", "listen_addresses=127.0.0.1", "-c", &format!("port={}", self.port)])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        self.server = Some(server.unwrap());
        for _ in 0..600 {
            if PgConnection::connect(&self.url("postgres")).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("Postgres did not start");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    found.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    found.into_iter().find(|directory| directory.join("initdb").exists())
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// A program of Postgres', as a user whom it accepts.
fn own(program: &Path) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir(std::env::temp_dir()).env_remove("PGPORT").env_remove("PGHOST");
    command
}
