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

/// So many letters of the alphabet, as if drawn.
fn drawn(letters: &str, count: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    (0..count).map(|nth| letters[(nth * 7 + nth * nth * 3 + 5) % letters.len()]).collect()
}

const HEX: &str = "0123456789abcdef";
const MIXED: &str = "a7Kq2Zx9LmB4tRw8Ye1Nc5Hs3Vd6GpUj";

#[test]
fn tokens_go_by_their_prefix_without_the_name_of_a_service() {
    let (hex, mixed) = (|count| drawn(HEX, count), |count| drawn(MIXED, count));
    let uuid = format!("{}-{}-{}-{}-{}", hex(8), hex(4), hex(4), hex(4), hex(12));
    for parts in [
        ["lsv2_pt_", &hex(32), "_", &hex(10)],
        ["pcsk_", &mixed(5), "_", &mixed(63)],
        ["fc-", &hex(32), "", ""],
        ["sbp_", &hex(40), "", ""],
        ["napi_", &mixed(64).to_lowercase(), "", ""],
        ["nfp_", &mixed(36), "", ""],
        ["pat", &mixed(14), ".", &hex(64)],
        ["bkua_", &hex(40), "", ""],
        ["dp.st.", "prd.", &mixed(43), ""],
        ["st.", &hex(24), &format!(".{}", hex(32)), &format!(".{}", hex(32))],
        ["NRAK-", &mixed(27).to_uppercase(), "", ""],
        ["phx_", &mixed(43), "", ""],
        ["re_", &mixed(8), "_", &mixed(24)],
        ["GOCSPX-", &mixed(28), "", ""],
        ["sk.eyJ1", &mixed(50), ".", &mixed(22)],
        ["sdk-", &uuid, "", ""],
        ["pat-na1-", &uuid, "", ""],
        ["1/1", &drawn("0123456789", 15), ":", &hex(32)],
        ["bb_live_", &mixed(27), "", ""],
        [&mixed(52), "JQQJ99", "BKACAAAAAAAAAAAAASAZDO", &mixed(4)],
        [&drawn("123456789", 10), ":AA", &mixed(33), ""],
        ["glpat-", &mixed(27), ".01.", &mixed(9).to_lowercase()],
        ["glrt-t1_", &mixed(27), ".01.", &mixed(9).to_lowercase()],
        ["v4.local.", &mixed(120), "", ""],
        ["eyJhbGciOiJkaXIiLCJlbmMi", &mixed(12), &format!("..{}", mixed(16)), ".abcdefgh12."],
    ] {
        let mut token = parts.concat();
        if token.ends_with('.') {
            token.push_str(&mixed(22));
        }
        for text in [
            format!("refused: {token}"),
            format!("401 for \"{token}\", no"),
            format!("({token}) expired.\\n{token}\\n"),
        ] {
            let without = redacted(&text);
            let end = &token[token.len() - 8..];
            assert!(without.contains("[redacted:") && !without.contains(end), "{without}");
        }
    }
}

#[test]
fn secrets_of_commands_wallets_and_key_files_go() {
    let password = "Tr0ub4%dor^3x!";
    let key = drawn(HEX, 64);
    let seed = drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16);
    let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let lines = format!("{}\n{}=", drawn(MIXED, 64), drawn(MIXED, 20));
    for (text, secret) in [
        (format!("unzip -P {password} a.zip: incorrect password"), password),
        (format!("7z x -p{password} a.7z"), password),
        (format!("keytool -list -storepass {password} -keystore a.jks"), password),
        (format!("openssl rsa -passin pass:{password} failed"), password),
        (format!("server --api-token {SECRET} --port 80"), SECRET),
        (format!("server --license-key '{SECRET}'"), SECRET),
        (format!("argv: [\"server\",\"--api-token\",\"{SECRET}\",\"--port\"]"), SECRET),
        (format!("args:\n  - --auth-token\n  - {SECRET}\n"), SECRET),
        (format!("config {{:host=>\"db\", :password=>\"{password}\"}}"), password),
        (format!("{{:user \"bob\" :api-key \"{password}\"}}"), password),
        (format!("Invalid private key: 0x{key}"), &key),
        (format!("invalid checksum for mnemonic \"{words}\""), words),
        (format!("recovery phrase: {words} {words}"), words),
        (format!("oathtool --totp -b {seed} failed"), &seed),
        (format!("chpasswd:\n  list: |\n    root:{password}\n  expire: false"), password),
        (format!("net use Z: \\\\nas\\x {password} /user:A\\ops\nSystem error 86"), password),
        (format!("htpasswd -b .htpasswd bob {password}"), password),
        (format!("https://eth-mainnet.g.alchemy.com/v2/{SECRET}{SECRET}"), SECRET),
        (format!("401 https://mainnet.infura.io/v3/{}", &key[..32]), &key[..32]),
        (format!("Private-Lines: 2\n{lines}\nPrivate-MAC: ab"), &lines[..20]),
        (format!("{{\"kty\":\"EC\",\"d\":\"{SECRET}{SECRET}\"}}"), SECRET),
    ] {
        let without = redacted(&text);
        assert!(without.contains("[redacted:") && !without.contains(secret), "{without}");
        assert!(!without.contains(&secret[secret.len() - 6..]), "{without}");
    }
    let kept = redacted(&format!("net use Z: \\\\nas\\x {password} /user:A\\ops\nSystem error"));
    assert!(kept.ends_with("/user:A\\ops\nSystem error"), "{kept}");
}

#[test]
fn what_is_public_and_what_only_begins_like_a_token_stays() {
    let public = ["pk_live_", &drawn(MIXED, 24)].concat();
    let request = ["req_", &drawn(MIXED, 24)].concat();
    for text in [
        &format!("{public} cannot be used server-side"),
        &format!("request {request} failed with 401"),
        "re_run_failed_jobs_attempt_2_of_pipeline_build",
        "test_that_tokens_are_refreshed_2_times_in_a_row",
        "usage: tool [--api-token API_TOKEN] [--db-password PASSWORD]",
        "--auth-token flag was not set, --api-token is required",
        "ssh --private-key ~/.ssh/id_ed25519 --ssh-key work-laptop-2024",
        "the seed phrase is wrong: check each word",
        "invalid key user_preferences_v2_email_settings",
        "validates :password, presence: true",
        "net use Z: \\\\nas\\x /user:bob\nSystem error 86",
        "msbuild /p:Configuration=Release",
    ] {
        assert_eq!(redacted(text), *text);
    }
}

/// It was looked for a value where the text had ended.
#[test]
fn a_flag_at_the_end_of_a_text_has_no_value() {
    for text in [
        "Unknown argument --password-file",
        "missing --password",
        "missing --password ",
        "missing \"--token\"",
        "missing \"--token\", \"",
        "usage: --api-key\n- ",
        ":password \"",
        "--token",
    ] {
        assert_eq!(redacted(text), text);
    }
}

/// A path went on behind them, or an address had them in its own letters.
#[test]
fn tokens_go_where_a_path_goes_on_and_where_an_address_is_encoded() {
    let letters = drawn("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", 40);
    for prefix in ["sk_live_", "npm_", "hf_", "AIza", "sk-ant-api03-"] {
        let length = match prefix {
            "npm_" => 36,
            "hf_" => 34,
            "AIza" => 35,
            "sk_live_" => 24,
            _ => 40,
        };
        let token = format!("{prefix}{}{}", &letters[..length - 1], '7');
        for (before, behind) in [("v1/", "/info"), ("t%3D", "%26x"), ("used%20", ""), ("", "=")] {
            let text = format!("404: https://api.example.org/{before}{token}{behind} no");
            let told = redacted(&text);
            assert!(!told.contains(&token[token.len() - 12..]), "{told}");
            assert!(told.starts_with("404: https://api.example.org/"), "{told}");
        }
    }
    let told = redacted("Authorization%3A%20Bearer%20Zk4vPq8sXw2mTn6bRc1jLd9fGh3yKa5e%0A");
    assert_eq!(told, "Authorization%3A%20Bearer%20[redacted:authorization#7cf6]%0A");
}

#[test]
fn a_secret_may_begin_or_go_on_with_any_sign() {
    for text in [
        r#""password": "$ecretXk77qz!9""#,
        "postgres://app:$uperXk77qz§db/x",
        "password='%Kx9Xk77qz!'",
        r#""password": "Winter2024<Xk77qz""#,
        "password='Sommer 2024 Xk77qz'",
        "DB_PASSWORD=Winter2024,Xk77qz OTHER=1",
        "password=a;Xk77qz4;user=bob",
        "PWD={Xk77qz4a}",
        "map[X-Api-Key:[Xk77qz4aPq8s] Accept:[*/*]]",
        "(b'x-api-key', b'Xk77qz4aPq8s')",
        "rawHeaders: [ 'X-Api-Key', 'Xk77qz4aPq8s' ]",
        r#"$env:DB_PASSWORD = "Xk77qz4a""#,
        r#"["DB_PASSWORD"]=>⏎  string(8) "Xk77qz4a""#,
        r#"{ "password" :⏎ "Xk77qz4a" }"#,
        "{&quot;password&quot;:&quot;Xk77qz4a&quot;}",
        "**password**: Xk77qz4a",
        "password：Xk77qz4a",
        r#"~ password = "old0Xk77qz" -> "newXk77qz4""#,
        "app:Xk77qz4a§tcp(db:3306)/shop",
        r##"<wsse:Password Type="#PasswordText">Xk77qz4a</wsse:Password>"##,
        "<password><![CDATA[Xk77qz4a]]></password>",
        r#"<property name="hibernate.connection.password">Xk77qz4a</property>"#,
        "<name>password</name><value>Xk77qz4a</value>",
        "<key>password</key>⏎<string>Xk77qz4a</string>",
        r#"<input type="password" name="p" value="Xk77qz4a">"#,
        r#"{"Key": "DB_PASSWORD", "Value": "Xk77qz4a"}"#,
        r#"{"value": "Xk77qz4a", "name": "API_SECRET"}"#,
        r#"ds.setPassword("Xk77qz4a");"#,
        "auth=HTTPBasicAuth('bob', 'Xk77qz4a')",
        "aws configure set aws_secret_access_key Xk77qz4aPq8s",
        "echo Xk77qz4a | docker login -u bob --password-stdin",
        "user     | app⏎password | Xk77qz4a⏎",
        "INSERT INTO users (name, password) VALUES ('bob', 'Xk77qz'), ('al', 'Xk77qz''s'), (?, ?)",
        "[SQL: INSERT INTO u (`name`, `api_token`) VALUES (?, ?)]⏎[parameters: ('bob', 'Xk77qz')]",
        "INSERT INTO u (a, pass_word, password) values (1, NULL, 'a, (b) Xk77qz')",
        "GH_PAT=Xk77qz4aPq8s",
        "ADMIN_PW: Xk77qz4aPq8s",
        "비밀번호: Xk77qz4a",
        "şifre = \"Xk77qz4a\"",
    ] {
        let text = text.replace('⏎', "\n").replace('§', "@");
        let told = redacted(&text);
        assert!(told.contains("[redacted:") && !told.contains("Xk77qz"), "{told}");
    }
}

#[test]
fn what_code_and_verdicts_say_of_secrets_stays() {
    for text in [
        "api_key=settings.API_KEY",
        "secret=self.secret",
        "token = next(tokens)",
        "token = tokens[i]",
        "password=hash_password(raw)",
        r#"let token = req.headers["authorization"]"#,
        "secret=void 0",
        "PIN: gpio17",
        "Authorization: failed",
        "Passwort: falsch",
        "contraseña: obligatoria",
        "mot de passe : incorrect",
        r#"{"password": ["This field may not be blank."]}"#,
        r#"{"token": ["invalid_format"]}"#,
        "password = $config['password']",
        "password: %PASSWORD%",
        "INSERT INTO users (name, password) VALUES (?, %s)",
        "INSERT INTO users (id, name) VALUES (1, 'Xk77qz4a')",
        "expected values ('a', 'b') (password) values",
        "password=<your-password>",
        "https://example.org/?q=100%25+of+tokens&amp;key=name",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn a_secret_is_known_in_whatever_sentence_block_or_command_it_stands() {
    let key = SECRET.repeat(6);
    let base64 = ["ZGJfdXNl", SECRET, "cGFzcw=="].concat();
    for text in [
        "The password is Xk77qz#4aPq, keep it",
        "passphrase was: Xk77qz4aPq",
        "A temporary password is generated for root§localhost: Xk77qz#4aPq",
        "FROM alpine⏎ENV REDIS_PASSWORD Xk77qz4aPq⏎RUN make",
        "define('DB_PASSWORD', 'Xk77qz4%aPq');",
        "variable \"db_password\" {⏎  type = string⏎  default = \"Xk77qz4aPq\"⏎}",
        "{\"db_password\": {\"sensitive\": true, \"value\": \"Xk77qz4aPq\"}}",
        "kind: Secret⏎metadata:⏎  name: db⏎stringData:⏎  uri: Xk77qz4aPq⏎",
        "apiVersion: v1⏎data:⏎  uri: Xk77qz4aPq⏎kind: Secret⏎",
        "    client-key-data: ‹key›",
        "the header was Basic ‹base64›",
        "db1.acme.dev:5432:shop:app:Xk77qz4aPq",
        "vault login Xk77qz4aPq",
        "wpa_passphrase home Xk77qz4aPq",
        "nmcli dev wifi connect home password Xk77qz4aPq",
        "ngrok config add-authtoken Xk77qz4aPq",
        "npm config set //npm.acme.dev/:_authToken Xk77qz4aPq",
        "mc alias set s3 https://s3.acme.dev AKEY Xk77qz4aPq",
    ] {
        let text = text.replace('⏎', "\n").replace('§', "@");
        let text = text.replace("‹key›", &key).replace("‹base64›", &base64);
        let told = redacted(&text);
        let left = ["Xk77qz", SECRET].iter().any(|secret| told.contains(secret));
        assert!(told.contains("[redacted:") && !left, "{told}");
    }
    for text in [
        "The password is too short (8 characters at least).",
        "The password is base64-encoded.",
        "your password was changed on 2026-01-02",
        "let api_key = env::var(\"API_KEY\")?;",
        "getattr(config, 'password', 'missing')",
        "ENV NODE_ENV production",
        "variable \"max_tokens\" {\n  default = \"4096\"\n}",
        "kind: Secret\nmetadata:\n  name: db\n",
        "Basic authentication is disabled",
        "dial tcp db1.acme.dev:5432: connect: connection refused",
        "vault login -method=oidc",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ] {
        assert_eq!(redacted(text), text);
    }
}
