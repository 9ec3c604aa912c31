//! `breakfall wrap` on the files that clients have.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_breakfall");

const CLAUDE_DESKTOP: &str = r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/ada/Desktop"
      ]
    },
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "hunter2hunter2hunter2"
      }
    },
    "clock": {
      "command": "/usr/local/bin/mcp-clock"
    }
  }
}
"#;

const VS_CODE: &str = r#"{
	// Asked for once, kept by VS Code
	"inputs": [
		{ "type": "promptString", "id": "key", "description": "API key", "password": true },
	],
	"servers": {
		"search": {
			"type": "stdio",
			"command": "uvx", // not pipx
			"args": [/* latest */ "mcp-search@latest", "--key", "${input:key}"],
			"envFile": "${workspaceFolder}/.env",
		},
		/* "old": { "command": "x" }, */
		"docs": { "type": "http", "url": "https://example.com/mcp" },
		"db": { "command": "mcp-db", "args": [], "disabled": true },
	},
}"#;

const CLAUDE_CODE: &str = r#"{
  "numStartups": 12,
  "projects": {
    "/home/ada/one": {
      "history": [{ "display": "\"mcpServers\": {}" }],
      "mcpServers": {
        "git": { "type": "stdio", "command": "mcp-server-git", "args": [], "env": {} }
      }
    },
    "/home/ada/two": { "mcpServers": {} }
  },
  "mcpServers": {
    "time": { "type": "stdio", "command": "uvx", "args": ["mcp-server-time"], "env": {} }
  }
}"#;

/// A directory of its own with one file, gone at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let path =
            std::env::temp_dir().join(format!("breakfall-wrap-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("mcp.json"), text).unwrap();
        Self(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(PROGRAM)
            .arg("wrap")
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// What is said on success, with the program's own path replaced.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stderr, b"");
        String::from_utf8(output.stdout).unwrap().replace(PROGRAM, "[breakfall]")
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
        String::from_utf8(output.stderr).unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn claude_desktop_is_wrapped_and_undone() {
    let directory = Directory::new("desktop", CLAUDE_DESKTOP);
    insta::assert_snapshot!(directory.said(&["mcp.json"]), @r#"
    --- mcp.json
    +++ mcp.json
    @@ -2,22 +2,26 @@
       "globalShortcut": "Ctrl+Space",
       "mcpServers": {
         "filesystem": {
    -      "command": "npx",
    +      "command": "[breakfall]",
           "args": [
    +        "guard",
    +        "--",
    +        "npx",
             "-y",
             "@modelcontextprotocol/server-filesystem",
             "/Users/ada/Desktop"
           ]
         },
         "github": {
    -      "command": "docker",
    -      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
    +      "command": "[breakfall]",
    +      "args": ["guard", "--", "docker", "run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
           "env": {
             "GITHUB_PERSONAL_ACCESS_TOKEN": "[redacted:accesstoken#166c]"
           }
         },
         "clock": {
    -      "command": "/usr/local/bin/mcp-clock"
    +      "command": "[breakfall]",
    +      "args": ["guard", "--", "/usr/local/bin/mcp-clock"]
         }
       }
     }

    note: secrets are shown as `[redacted:…]`, and stay in the file
    behind the guard: `filesystem`, `github`, `clock`
    `mcp.json` as it was: `mcp.json.breakfall-backup`

    hint: restart the client; `breakfall wrap --undo FILE` takes it back
    "#);
    insta::assert_snapshot!(directory.said(&["mcp.json"]), @r"
    note: `filesystem` (line 4) is left alone: it is guarded already
    note: `github` (line 15) is left alone: it is guarded already
    note: `clock` (line 22) is left alone: it is guarded already
    nothing to wrap in `mcp.json`
    ");
    insta::assert_snapshot!(directory.said(&["--undo", "mcp.json"]), @r#"
    --- mcp.json
    +++ mcp.json
    @@ -2,26 +2,22 @@
       "globalShortcut": "Ctrl+Space",
       "mcpServers": {
         "filesystem": {
    -      "command": "[breakfall]",
    +      "command": "npx",
           "args": [
    -        "guard",
    -        "--",
    -        "npx",
             "-y",
             "@modelcontextprotocol/server-filesystem",
             "/Users/ada/Desktop"
           ]
         },
         "github": {
    -      "command": "[breakfall]",
    -      "args": ["guard", "--", "docker", "run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
    +      "command": "docker",
    +      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
           "env": {
             "GITHUB_PERSONAL_ACCESS_TOKEN": "[redacted:accesstoken#166c]"
           }
         },
         "clock": {
    -      "command": "[breakfall]",
    -      "args": ["guard", "--", "/usr/local/bin/mcp-clock"]
    +      "command": "/usr/local/bin/mcp-clock"
         }
       }
     }

    note: secrets are shown as `[redacted:…]`, and stay in the file
    no longer behind the guard: `filesystem`, `github`, `clock`

    hint: restart the client
    "#);
    assert_eq!(directory.text("mcp.json"), CLAUDE_DESKTOP);
    insta::assert_snapshot!(directory.said(&["--undo", "mcp.json"]), @"nothing to undo in `mcp.json`");
    assert_eq!(directory.names(), ["mcp.json", "mcp.json.breakfall-backup"]);
}

#[test]
fn comments_commas_and_tabs_of_vs_code_stay() {
    let directory = Directory::new("vscode", VS_CODE);
    insta::assert_snapshot!(directory.said(&["mcp.json", "--yes"]), @r#"
    --- mcp.json
    +++ mcp.json
    @@ -6,8 +6,8 @@
     	"servers": {
     		"search": {
     			"type": "stdio",
    -			"command": "uvx", // not pipx
    -			"args": [/* latest */ "mcp-search@latest", "--key", "${input:key}"],
    +			"command": "[breakfall]", // not pipx
    +			"args": [/* latest */ "guard", "--", "uvx", "mcp-search@latest", "--key", "${input:key}"],
     			"envFile": "${workspaceFolder}/.env",
     		},
     		/* "old": { "command": "x" }, */

    note: `docs` (line 14) is left alone: it is reached over HTTP
    note: `db` (line 15) is left alone: it is disabled
    behind the guard: `search`
    `mcp.json` as it was: `mcp.json.breakfall-backup`

    hint: restart the client; `breakfall wrap --undo FILE` takes it back
    "#);
    insta::assert_snapshot!(directory.text("mcp.json").replace(PROGRAM, "[breakfall]"), @r#"
    {
    	// Asked for once, kept by VS Code
    	"inputs": [
    		{ "type": "promptString", "id": "key", "description": "API key", "password": true },
    	],
    	"servers": {
    		"search": {
    			"type": "stdio",
    			"command": "[breakfall]", // not pipx
    			"args": [/* latest */ "guard", "--", "uvx", "mcp-search@latest", "--key", "${input:key}"],
    			"envFile": "${workspaceFolder}/.env",
    		},
    		/* "old": { "command": "x" }, */
    		"docs": { "type": "http", "url": "https://example.com/mcp" },
    		"db": { "command": "mcp-db", "args": [], "disabled": true },
    	},
    }
    "#);
    directory.said(&["mcp.json", "--undo"]);
    assert_eq!(directory.text("mcp.json"), VS_CODE);
}

#[test]
fn servers_of_projects_are_wrapped_and_unlike_texts_are_not() {
    let directory = Directory::new("code", CLAUDE_CODE);
    insta::assert_snapshot!(directory.said(&["mcp.json"]), @r#"
    --- mcp.json
    +++ mcp.json
    @@ -4,12 +4,12 @@
         "/home/ada/one": {
           "history": [{ "display": "\"mcpServers\": {}" }],
           "mcpServers": {
    -        "git": { "type": "stdio", "command": "mcp-server-git", "args": [], "env": {} }
    +        "git": { "type": "stdio", "command": "[breakfall]", "args": ["guard","--","mcp-server-git"], "env": {} }
           }
         },
         "/home/ada/two": { "mcpServers": {} }
       },
       "mcpServers": {
    -    "time": { "type": "stdio", "command": "uvx", "args": ["mcp-server-time"], "env": {} }
    +    "time": { "type": "stdio", "command": "[breakfall]", "args": ["guard", "--", "uvx", "mcp-server-time"], "env": {} }
       }
     }
    \ No newline at end of file

    behind the guard: `git`, `time`
    `mcp.json` as it was: `mcp.json.breakfall-backup`

    hint: restart the client; `breakfall wrap --undo FILE` takes it back
    "#);
    directory.said(&["mcp.json", "--undo"]);
    assert_eq!(directory.text("mcp.json"), CLAUDE_CODE);
}

#[test]
fn line_endings_stay() {
    for text in [CLAUDE_DESKTOP, VS_CODE, CLAUDE_CODE] {
        let text = text.replace('\n', "\r\n");
        let directory = Directory::new("crlf", &text);
        directory.said(&["mcp.json"]);
        let wrapped = directory.text("mcp.json");
        assert_ne!(wrapped, text);
        assert_eq!(wrapped.matches('\n').count(), wrapped.matches("\r\n").count());
        directory.said(&["mcp.json", "--undo"]);
        assert_eq!(directory.text("mcp.json"), text);
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let directory = Directory::new("dry", CLAUDE_DESKTOP);
    let said = directory.said(&["--dry-run", "mcp.json"]);
    assert!(said.starts_with("--- mcp.json\n+++ mcp.json\n@@ "), "{said}");
    assert!(said.ends_with("\ndry run: nothing was written\n"), "{said}");
    assert_eq!(directory.text("mcp.json"), CLAUDE_DESKTOP);
    assert_eq!(directory.names(), ["mcp.json"]);
}

#[test]
fn secrets_are_not_shown_and_stay_in_the_file() {
    let directory = Directory::new("secrets", CLAUDE_DESKTOP);
    let said = directory.said(&["mcp.json"]);
    assert!(said.contains("GITHUB_PERSONAL_ACCESS_TOKEN") && !said.contains("hunter2"), "{said}");
    assert!(directory.text("mcp.json").contains("hunter2hunter2hunter2"));
}

#[test]
fn what_is_edited_between_survives_the_undoing() {
    let directory = Directory::new("edited", CLAUDE_DESKTOP);
    directory.said(&["mcp.json"]);
    let edited = |text: &str| text.replace("Ctrl+Space", "Alt+Space").replace("Desktop", "Notes");
    fs::write(directory.0.join("mcp.json"), edited(&directory.text("mcp.json"))).unwrap();
    directory.said(&["mcp.json", "--undo"]);
    assert_eq!(directory.text("mcp.json"), edited(CLAUDE_DESKTOP));
}

#[test]
fn a_backup_is_never_written_over() {
    let directory = Directory::new("backups", CLAUDE_DESKTOP);
    fs::write(directory.0.join("mcp.json.breakfall-backup"), "mine").unwrap();
    for _ in 0..2 {
        let said = directory.said(&["mcp.json"]);
        assert!(said.contains("`mcp.json` as it was: `mcp.json.breakfall-backup-2`"), "{said}");
        directory.said(&["mcp.json", "--undo"]);
    }
    assert_eq!(directory.text("mcp.json.breakfall-backup"), "mine");
    assert_eq!(directory.text("mcp.json.breakfall-backup-2"), CLAUDE_DESKTOP);
    assert_eq!(directory.names().len(), 3);
}

#[cfg(unix)]
#[test]
fn modes_and_symlinks_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = Directory::new("links", CLAUDE_DESKTOP);
    let mode = |name: &str| fs::metadata(directory.0.join(name)).unwrap().permissions().mode();
    fs::create_dir(directory.0.join("dots")).unwrap();
    fs::rename(directory.0.join("mcp.json"), directory.0.join("dots/real.json")).unwrap();
    let permissions = fs::Permissions::from_mode(0o640);
    fs::set_permissions(directory.0.join("dots/real.json"), permissions).unwrap();
    symlink("dots/real.json", directory.0.join("mcp.json")).unwrap();
    directory.said(&["mcp.json"]);
    assert!(directory.0.join("mcp.json").is_symlink());
    assert!(directory.text("dots/real.json").contains("\"guard\""));
    for name in ["dots/real.json", "mcp.json.breakfall-backup"] {
        assert_eq!(mode(name) & 0o777, 0o640, "{name}");
    }
    assert_eq!(fs::read_dir(directory.0.join("dots")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("readonly", CLAUDE_DESKTOP);
    let permissions = fs::Permissions::from_mode(0o444);
    fs::set_permissions(directory.0.join("mcp.json"), permissions).unwrap();
    let output = directory.run(&["mcp.json"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    error: could not write `mcp.json`
      caused by: it is read-only
    ");
    assert_eq!(directory.text("mcp.json"), CLAUDE_DESKTOP);
    assert_eq!(directory.names(), ["mcp.json"]);
}

#[test]
fn what_could_not_be_undone_is_not_done() {
    let text = CLAUDE_DESKTOP.to_owned() + &" ".repeat((1 << 20) - CLAUDE_DESKTOP.len());
    let directory = Directory::new("full", &text);
    let output = directory.run(&["mcp.json"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    error: could not write `mcp.json`
      caused by: it would be larger than 1048576 bytes
    ");
    assert_eq!(directory.text("mcp.json"), text);
    assert_eq!(directory.names(), ["mcp.json"]);
}

#[test]
fn what_cannot_be_used_is_told_with_its_place() {
    let directory = Directory::new("refused", "");
    let texts = [
        "",
        "// only a comment",
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\" \"args\": []}\n  }\n}",
        "{\"mcpServers\": {'a': {}}}",
        "{\"mcpServers\": {",
        "mcpServers: {}",
        "{}",
        "[1]",
        "{\"theme\": \"dark\",\n \"mcpServers\": {}}",
        "\u{feff}{\"mcpServers\": []}",
    ];
    let mut cases: Vec<(String, Vec<u8>)> =
        texts.iter().map(|text| (format!("{text:?}"), text.as_bytes().to_vec())).collect();
    cases.push(("not UTF-8".to_owned(), b"{\n  \"a\": \"\xff\"}".to_vec()));
    cases.push(("large".to_owned(), vec![b' '; (1 << 20) + 1]));
    cases.push(("deep".to_owned(), vec![b'['; 1 << 20]));
    let mut told = directory.refused(&["none.json"]);
    told += &directory.refused(&["."]);
    for (name, text) in cases {
        fs::write(directory.0.join("mcp.json"), text).unwrap();
        told += &["\n== ", &name, "\n", &directory.refused(&["mcp.json"])].concat();
    }
    insta::assert_snapshot!(told, @r#"
    error: could not read `none.json`
      caused by: No such file or directory (os error 2)

    hint: give the file where the MCP client keeps its servers, such as `.cursor/mcp.json`
    error: could not read `.`
      caused by: it is not a file

    hint: give the file where the MCP client keeps its servers, such as `.cursor/mcp.json`

    == ""
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:1:1: the file is empty

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == "// only a comment"
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:1:1: the file is empty

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\" \"args\": []}\n  }\n}"
    error: `mcp.json` is not JSON
      caused by: mcp.json:3:25: expected comma

    hint: JSON is accepted, with `//` and `/* */` comments and trailing commas

    == "{\"mcpServers\": {'a': {}}}"
    error: `mcp.json` is not JSON
      caused by: mcp.json:1:17: single-quoted strings are not allowed

    hint: JSON is accepted, with `//` and `/* */` comments and trailing commas

    == "{\"mcpServers\": {"
    error: `mcp.json` is not JSON
      caused by: mcp.json:1:16: unterminated object

    hint: JSON is accepted, with `//` and `/* */` comments and trailing commas

    == "mcpServers: {}"
    error: `mcp.json` is not JSON
      caused by: mcp.json:1:1: unexpected word

    hint: JSON is accepted, with `//` and `/* */` comments and trailing commas

    == "{}"
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:1:1: it has neither `mcpServers` nor `servers`

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == "[1]"
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:1:1: it has neither `mcpServers` nor `servers`

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == "{\"theme\": \"dark\",\n \"mcpServers\": {}}"
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:2:16: `mcpServers` is empty

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == "\u{feff}{\"mcpServers\": []}"
    error: `mcp.json` has no MCP servers
      caused by: mcp.json:1:16: `mcpServers` is not an object

    hint: accepted: `{"mcpServers": {"KEY": {"command": …, "args": […]}}}`, or `servers` outermost or in `mcp`

    == not UTF-8
    error: `mcp.json` is not text
      caused by: mcp.json:2:9: a byte that is not UTF-8; UTF-8 is accepted

    == large
    error: `mcp.json` is too large
      caused by: a file of up to 1048576 bytes is accepted

    == deep
    error: `mcp.json` is not JSON
      caused by: mcp.json:1:513: maximum nesting depth exceeded

    hint: JSON is accepted, with `//` and `/* */` comments and trailing commas
    "#);
    assert_eq!(directory.names(), ["mcp.json"]);
}

#[test]
fn every_reason_is_told() {
    let directory = Directory::new(
        "reasons",
        r#"{"mcpServers": {
  "guarded": {"command": "/opt/breakfall", "args": ["guard", "--", "x"]},
  "by hand": {"command": "breakfall", "args": ["guard", "--mcp-config", "x.json"]},
  "off": {"command": "x", "disabled": true},
  "web": {"url": "https://example.com/?key=hunter2"},
  "null": null,
  "empty": {},
  "list": {"command": ["x"]},
  "words": {"command": "x", "args": "-y"},
  "twice\u001b[31m": {"command": "x", "command": "y"}
}}"#,
    );
    insta::assert_snapshot!(directory.said(&["mcp.json"]), @r"
    note: `guarded` (line 2) is left alone: it is guarded already
    note: `by hand` (line 3) is left alone: it is guarded already
    note: `off` (line 4) is left alone: it is disabled
    note: `web` (line 5) is left alone: it is reached over HTTP
    note: `null` (line 6) is left alone: it is not an object
    note: `empty` (line 7) is left alone: it has neither a `command` nor a `url`
    note: `list` (line 8) is left alone: its `command` is not a string
    note: `words` (line 9) is left alone: its `args` are not a list of strings
    note: `twice\u{1b}[31m` (line 10) is left alone: it has a field twice
    nothing to wrap in `mcp.json`
    ");
    insta::assert_snapshot!(directory.said(&["mcp.json", "--undo", "--dry-run"]), @r#"
    --- mcp.json
    +++ mcp.json
    @@ -1,5 +1,5 @@
     {"mcpServers": {
    -  "guarded": {"command": "/opt/breakfall", "args": ["guard", "--", "x"]},
    +  "guarded": {"command": "x"},
       "by hand": {"command": "breakfall", "args": ["guard", "--mcp-config", "x.json"]},
       "off": {"command": "x", "disabled": true},
       "web": {"url": "https://example.com/?key=[redacted:url-query#1dd2]"},

    note: secrets are shown as `[redacted:…]`, and stay in the file
    note: `by hand` (line 3) is left alone: it starts the guard without a command after `--`
    dry run: nothing was written
    "#);
}
