//! A service on this machine that fails in every way in which services do, over real HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use breakfall::Failure;

/// What it answers, by path.
const ANSWERS: &[(&str, &str)] = &[
    ("/weather", "429 Too Many Requests\r\nretry-after: 3600\r\n\r\nslow down"),
    ("/prices", "503 Service Unavailable\r\n\r\nmaintenance"),
    ("/calendar", "200 OK\r\n\r\n{\"days\": [1, 2"),
    ("/translate", "402 Payment Required\r\n\r\nno credit"),
];

/// Starts it; it ends with the program.
pub(super) fn start() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let path = line.split(' ').nth(1).unwrap_or_default();
            let answer = ANSWERS.iter().find(|(known, _)| *known == path);
            let answer = answer.map_or("404 Not Found\r\n\r\n", |(_, answer)| answer);
            let _ = write!(stream, "HTTP/1.0 {answer}");
        }
    });
    Ok(address)
}

/// Asks it, as a tool would.
pub(super) fn get(address: SocketAddr, path: &str) -> Result<String, Failure> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(64 << 10).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(502);
    if status == 200 {
        return Ok(body.to_owned());
    }
    let failure = Failure::http(status, body);
    let wait = head.lines().find_map(|line| line.strip_prefix("retry-after: ")?.parse().ok());
    Err(match wait {
        Some(seconds) => failure.wait_for(Duration::from_secs(seconds)),
        None => failure,
    })
}
