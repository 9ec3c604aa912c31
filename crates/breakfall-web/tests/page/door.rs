//! Who comes in, and who does not.

use std::sync::Arc;
use std::time::Duration;

use breakfall_web::{Certificate, Error, Opening, Page, Token};
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::browser::{Failing, Folder, fingerprint, page, show};
use crate::certificate;

#[tokio::test]
async fn a_link_opens_the_page_once_and_the_cookie_from_then_on() {
    let folder = Folder::new();
    let page = page(&folder).await;
    for path in
        ["/", "/groups", "/groups/x", "/tools", "/breakers", "/runs", "/live", "/metrics", "/no"]
    {
        let answer = page.ask(&format!("GET {path}"), &[], "").await;
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.body.contains("breakfall dashboard"), "{}", answer.body);
        assert!(!answer.head.to_lowercase().contains("set-cookie"), "{}", answer.head);
    }
    let line = format!("GET /groups?token={}&sort=share", page.token());
    let answer = page.ask(&line, &[], "").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/groups?sort=share")));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    assert!(!cookie.contains(page.token()), "{cookie}");
    assert_eq!(page.see("/").await.status, 200);
    let bearer = format!("Authorization: Bearer {}", page.token());
    assert_eq!(page.ask("GET /", &[&bearer], "").await.status, 200);

    let wrong = "0".repeat(64);
    for (line, header) in [
        (format!("GET /?token={wrong}"), String::new()),
        ("GET /?token=".to_owned(), String::new()),
        ("GET /".to_owned(), format!("Authorization: Bearer {wrong}")),
        ("GET /".to_owned(), format!("Authorization: Basic {}", page.token())),
        ("GET /".to_owned(), format!("Cookie: breakfall-1={wrong}")),
        ("GET /".to_owned(), format!("Cookie: {}", cookie.replace("breakfall", "other"))),
    ] {
        let header = if header.is_empty() { "X: y".to_owned() } else { header };
        let answer = page.ask(&line, &[&header], "").await;
        assert_eq!(answer.status, 401, "{line} {header}");
    }
}

#[tokio::test]
async fn who_lost_the_link_can_type_the_token() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let typed = page.ask("POST /enter", &[], &format!("token={}", page.token())).await;
    assert_eq!((typed.status, typed.header("location")), (303, Some("/")));
    assert!(typed.header("set-cookie").is_some());
    assert_eq!(page.ask("POST /enter", &[], "token=guess").await.status, 401);
    let foreign = "Origin: http://evil.example.com";
    let body = format!("token={}", page.token());
    assert_eq!(page.ask("POST /enter", &[foreign], &body).await.status, 403);
}

#[tokio::test]
async fn nobody_is_sent_elsewhere_with_the_token() {
    let folder = Folder::new();
    let page = page(&folder).await;
    for path in ["//evil.example.com/", "/\\evil.example.com", "///evil.example.com"] {
        let answer = page.ask(&format!("GET {path}?token={}", page.token()), &[], "").await;
        let to = answer.header("location").unwrap_or("/");
        assert!(to.starts_with('/') && !to[1..].starts_with(['/', '\\']), "{path}: {to}");
    }
}

#[tokio::test]
async fn other_names_and_other_sites_are_refused() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let port = page.authority.rsplit(':').next().unwrap();
    for host in
        ["evil.example.com", &format!("evil.example.com:{port}"), "127.0.0.1", "127.0.0.1:1", ""]
    {
        let answer = page.ask("GET /", &[&format!("Host: {host}"), &cookie], "").await;
        assert_eq!(answer.status, 421, "{host}");
    }
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(page.ask("GET /", &[&format!("Host: {host}"), &cookie], "").await.status, 200);
    }
    for origin in ["http://evil.example.com", "null", "http://127.0.0.1:1", "", "http://localhost"]
    {
        for line in ["GET /", "GET /live", "POST /groups/x/state", "GET /assets/page.js"] {
            let answer = page.ask(line, &[&format!("Origin: {origin}"), &cookie], "").await;
            assert_eq!(answer.status, 403, "{line} {origin}");
        }
    }
    let own = format!("Origin: http://{}", page.authority);
    assert_eq!(page.ask("GET /", &[&own, &cookie], "").await.status, 200);
}

#[tokio::test]
async fn every_answer_says_what_a_browser_may_do_with_it() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
        connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let evil = "Host: evil.example.com";
    for (line, headers) in [
        ("GET /", &[][..]),
        ("GET /", &[cookie.as_str()]),
        ("GET /", &[evil]),
        ("GET /no/such/page", &[&cookie]),
        ("DELETE /groups", &[&cookie]),
        ("POST /groups/x/state", &[&cookie]),
        ("GET /groups?page=2", &[&cookie]),
        ("GET /assets/page.css", &[]),
        ("GET /metrics", &[&cookie]),
    ] {
        let answer = page.ask(line, headers, "").await;
        assert_eq!(answer.header("content-security-policy"), Some(policy), "{line}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{line}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{line}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{line}");
        let cache = answer.header("cache-control");
        assert!(matches!(cache, Some("no-store" | "no-cache")), "{line}: {cache:?}");
        assert!(!answer.head.to_lowercase().contains("access-control-allow"), "{line}");
        assert!(!answer.body.contains(" style=") && !answer.body.contains(" onclick"), "{line}");
    }
}

#[tokio::test]
async fn an_action_needs_more_than_the_cookie() {
    let folder = Folder::new();
    let failing = Failing::new(&folder, "read", "files");
    failing.fail("run", "out of luck").await;
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let list = page.see("/groups").await.body;
    let path = format!("/groups/{}", fingerprint(&list));
    let post = format!("POST {path}/state");
    let detail = page.see(&path).await.body;
    let csrf = detail.split("name=\"csrf\" value=\"").nth(1).unwrap();
    let csrf = csrf.split('"').next().unwrap().to_owned();

    for body in ["state=resolved", "state=resolved&csrf=", "state=resolved&csrf=00"] {
        assert_eq!(page.ask(&post, &[&cookie], body).await.status, 403, "{body}");
    }
    let good = format!("state=resolved&csrf={csrf}");
    assert_eq!(page.ask(&post, &[], &good).await.status, 401);
    assert_eq!(page.ask(&post, &[&cookie, "Origin: null"], &good).await.status, 403);
    assert!(page.see(&path).await.body.contains("</span> open</span>"));

    let header = format!("X-Breakfall-Csrf: {csrf}");
    assert_eq!(page.ask(&post, &[&cookie, &header], "state=resolved").await.status, 204);
    assert!(page.see(&path).await.body.contains("</span> resolved</span>"));
    assert_eq!(page.see("/groups").await.body.matches("<tr data-group").count(), 0);
    let answer = page.ask(&post, &[&cookie], &format!("state=ignored&csrf={csrf}")).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some(path.as_str())));
    let bearer = format!("Authorization: Bearer {}", page.token());
    assert_eq!(page.ask(&post, &[&bearer], "state=open").await.status, 303);
    assert!(page.see(&path).await.body.contains("</span> open</span>"));

    for (body, status) in [("state=deleted", 422), ("command=rm", 422)] {
        let answer = page.ask(&post, &[&cookie, &header], body).await;
        assert_eq!(answer.status, status, "{body}");
    }
    let nowhere = page.ask("POST /groups/none/state", &[&cookie, &header], "state=open").await;
    assert_eq!(nowhere.status, 404);
}

#[tokio::test]
async fn an_address_that_others_can_reach_wants_a_token_and_a_certificate() {
    let folder = Folder::new();
    certificate::make(&folder.0);
    let certificate =
        Certificate { chain: folder.0.join("cert.pem"), key: folder.0.join("key.pem") };
    let chosen = || Token::chosen("a-token-that-was-chosen").unwrap();
    let random = || Token::random().unwrap();
    let open = |token, certificate, insecure| {
        let mut opening = Opening::new(folder.place(), token);
        opening.address = "0.0.0.0:0".parse().unwrap();
        opening.certificate = certificate;
        opening.insecure = insecure;
        Page::listen(opening)
    };
    for (token, certificate) in
        [(random(), None), (chosen(), None), (random(), Some(certificate.clone()))]
    {
        let refused = open(token, certificate, false).await.err().unwrap();
        assert!(matches!(refused, Error::Open { .. }), "{refused}");
        assert!(refused.to_string().contains("a token and a certificate"), "{refused}");
    }
    let page = open(chosen(), Some(certificate), false).await.unwrap();
    assert!(page.link().starts_with("https://127.0.0.1:") && !page.link().contains("token"));
    let page = open(random(), None, true).await.unwrap();
    assert!(page.link().starts_with("http://127.0.0.1:") && page.link().contains("?token="));

    let missing = Certificate { chain: folder.0.join("no.pem"), key: folder.0.join("key.pem") };
    let refused = open(chosen(), Some(missing), false).await.err().unwrap().to_string();
    assert!(refused.contains("no.pem") && refused.contains("expected PEM"), "{refused}");
}

#[tokio::test]
async fn a_certificate_is_shown_and_the_cookie_stays_encrypted() {
    let folder = Folder::new();
    let root = certificate::make(&folder.0);
    let mut opening =
        Opening::new(folder.place(), Token::chosen("a-token-that-was-chosen").unwrap());
    opening.certificate =
        Some(Certificate { chain: folder.0.join("cert.pem"), key: folder.0.join("key.pem") });
    let page = show(opening).await;
    let port = page.authority.rsplit(':').next().unwrap().to_owned();

    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(root)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(&page.authority).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    let request = format!(
        "GET /?token=a-token-that-was-chosen HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await.unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.starts_with("HTTP/1.1 303"), "{text}");
    assert!(text.contains("__Host-breakfall-") && text.contains("; Path=/; Secure"), "{text}");

    let plain = page.ask("GET /", &[], "").await;
    assert_ne!(plain.status, 200);
}
