//! `breakfall dashboard` and `breakfall guard --dashboard`: where the page is, and what is refused.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

const TOKEN: &str = "BREAKFALL_DASHBOARD_TOKEN";

fn breakfall() -> Command {
    let mut breakfall = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    let nowhere = std::env::temp_dir().join(format!("breakfall-page-{}", std::process::id()));
    breakfall.env("XDG_DATA_HOME", nowhere).env_remove(TOKEN);
    breakfall
}

/// What a command that is refused says.
fn refused(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_accepted_is_said_to_who_is_refused() {
    assert_eq!(
        refused(breakfall().args(["dashboard", "--listen", "0.0.0.0:0"])),
        "error: `0.0.0.0:0` can be reached by others: expected an address of this machine \
         (`127.0.0.1`, `[::1]`), or a token and a certificate\n\n\
         hint: listen on 127.0.0.1; or put a token into BREAKFALL_DASHBOARD_TOKEN and give \
         --tls-cert FILE and --tls-key FILE; or say --insecure\n"
    );
    assert_eq!(
        refused(breakfall().args(["dashboard"]).env(TOKEN, "guess")),
        "error: the token has 5 characters: expected at least 16, of letters, digits, `-`, `_`, \
         `.`, `~`\n\nhint: unset BREAKFALL_DASHBOARD_TOKEN to have a random token\n"
    );
    assert_eq!(
        refused(breakfall().args(["guard", "--dashboard", "0.0.0.0:0", "--", "true"])),
        "error: `--dashboard 0.0.0.0:0` can be reached by others\n\n\
         hint: take an address of this machine, or run `breakfall dashboard --listen` beside the \
         guard\n"
    );
    let nothing = refused(breakfall().arg("dashboard").env("BREAKFALL_STORE__KEEP", "false"));
    assert!(nothing.starts_with("error: nothing is kept"), "{nothing}");
    let file = ["dashboard", "--tls-cert", "no.pem", "--tls-key", "no.key"];
    let missing = refused(breakfall().args(file));
    assert!(missing.starts_with("error: could not read `no.pem`: expected PEM\n"), "{missing}");
}

/// A page, and the address that was printed.
struct Shown(Child, String);

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shown(command: &mut Command) -> Shown {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("The page is at ").unwrap_or_else(|| panic!("{line}"));
    Shown(child, address.to_owned())
}

/// The first line of the answer to a request for the link.
fn status(link: &str) -> String {
    let (host, path) = link.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.lines().next().unwrap().to_owned()
}

#[test]
fn the_link_opens_the_page() {
    let page = shown(breakfall().arg("dashboard"));
    assert_eq!(status(&page.1), "HTTP/1.1 303 See Other");
    let closed = page.1.split('?').next().unwrap();
    assert_eq!(status(closed), "HTTP/1.1 401 Unauthorized");

    let beside = shown(breakfall().args(["guard", "--dashboard", "--", "cat"]));
    assert_eq!(status(&beside.1), "HTTP/1.1 303 See Other");
}

#[test]
fn a_token_that_was_chosen_is_not_printed() {
    let chosen = ["a-token", "of-my-own"].join("-");
    let page = shown(breakfall().arg("dashboard").env(TOKEN, &chosen));
    assert!(page.1.ends_with('/'), "{}", page.1);
    assert_eq!(status(&format!("{}?token={chosen}", page.1)), "HTTP/1.1 303 See Other");
}

#[test]
fn a_guard_goes_on_without_its_page_where_the_address_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut guard = breakfall()
        .args(["guard", "--dashboard", &address, "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(guard.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let expected = format!("The guard has no page: could not listen on {address} (");
    assert!(said.starts_with(&expected), "{said}");
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    guard.stdin.as_mut().unwrap().write_all(ping).unwrap();
    let mut answer = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    drop(guard.stdin.take());
    guard.wait().unwrap();
}
