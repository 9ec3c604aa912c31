//! Places in which secrets stand, and what only looks like it. Whatever is shaped like a token is put
//! together here.

use breakfall::Redactor;

const SECRET: &str = "Zq7mK2vXw9Lr4TbN";

fn redacted(text: &str) -> String {
    Redactor::default().redact(text).into_owned()
}

#[test]
fn secrets_in_logs_of_logins_and_commands_go() {
    let hash: String = SECRET.chars().cycle().take(53).collect();
    let key = ["LS0tLS1CRUdJTiB", "SU0EgUFJJVkFURSBLRVktLS0tLQ", &SECRET.repeat(8)].concat();
    let code = SECRET.repeat(2);
    let at = "@";
    for (text, secret) in [
        (format!("    client-key-data: {key}\n"), key.as_str()),
        (format!("Unable to create record; auth=('AC123', '{SECRET}')"), SECRET),
        (format!("//npm.acme.dev/:_auth={SECRET}\nemail=a"), SECRET),
        (format!("CREATE LOGIN app WITH PASSWORD = N'{SECRET}'"), SECRET),
        (format!("> USER bob\n331 Password required\n> PASS {SECRET}\n530 no"), SECRET),
        (format!("send: 'AUTH PLAIN {SECRET}\\r\\n'"), SECRET),
        (format!("jdbc:oracle:thin:scott/{SECRET}{at}//db1:1521/ORCL refused"), SECRET),
        (format!("sqlplus -s scott/{SECRET}{at}db1"), SECRET),
        (format!("PDO->__construct('mysql:host=db1;d...', 'shop', '{SECRET}')"), SECRET),
        (format!("grant_type=authorization_code&code={code}&client_id=web"), &code),
        (format!("GET /callback?code={code}&state=xyz 400"), &code),
        (format!("Failing row contains (7, $2b$12${hash}, t)."), &hash),
        (format!("net use Z: \\\\nas1\\share /user:ACME\\bob {SECRET}"), SECRET),
        (format!("https://x.example/q?X-Amz-Security-Token=%2B{SECRET}&b=c"), SECRET),
        (format!("password=%21{SECRET}"), SECRET),
        (format!("token = {SECRET}"), SECRET),
    ] {
        let without = redacted(&text);
        assert!(without.contains("[redacted:") && !without.contains(secret), "{without}");
    }
}

#[test]
fn code_usage_and_cursors_stay_as_they_are() {
    let cursor = format!("{SECRET}_{SECRET}");
    for text in [
        "const token = await getToken();\nif (!token) throw new Error(\"no token\");",
        "password = os.environ[\"DB_PASSWORD\"]\napi_key = config.get(\"api_key\")",
        "api_key = var.api_key\npassword = random_password.db.result",
        "usage: tool [--token TOKEN] [--password-file FILE] [--api-key KEY] command",
        &format!("nextPageToken: \"{cursor}\"\nkind: \"drive#fileList\""),
        "password=%PASSWORD%",
        "PASS src/app.test.js\nPASS src/other.test.js",
        "GET /search?code=404&state=open",
        "the auth plain and simple",
    ] {
        assert_eq!(redacted(text), text);
    }
}
