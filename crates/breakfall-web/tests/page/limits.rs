//! How much is taken from whom.

use crate::browser::{Folder, page};

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let body = format!("state=open&csrf={}", "x".repeat(8 << 10));
    assert_eq!(page.ask("POST /groups/x/state", &[&cookie], &body).await.status, 413);
    assert_eq!(page.ask("POST /enter", &[], &body).await.status, 413);
    let long = format!("X-Long: {}", "x".repeat(32 << 10));
    assert_eq!(page.ask("GET /", &[&cookie, &long], "").await.status, 431);
    let path = format!("GET /groups?q={}", "x".repeat(4 << 10));
    assert_eq!(page.ask(&path, &[&cookie], "").await.status, 200);
}

#[tokio::test]
async fn what_is_no_sense_is_answered() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    for (line, status) in [
        ("GET /groups?page=99999999999999&period=&sort=%00&q=%ff%fe&=&&&", 200),
        ("GET /groups/%00%ff", 400),
        ("GET /groups/..%2f..%2fetc%2fpasswd", 200),
        ("GET /assets/..%2fCargo.toml", 404),
        ("GET /runs?run=%00", 200),
        ("PUT /groups", 405),
        ("OPTIONS /", 405),
        ("HEAD /", 200),
        ("GET /nowhere", 404),
    ] {
        assert_eq!(page.ask(line, &[&cookie], "").await.status, status, "{line}");
    }
}
