//! Where in the code something failed: frames of a trace, a script with its line, a function, the type
//! of an error, what Node prints of an object. They stand like names, and name nothing.

use std::ops::Range;

use super::letters::{LOWER, UPPER, sorts};
use crate::classify::names;
use crate::classify::reports::is_data;

/// Endings of files that hold code, in order.
const CODE: &[&str] = &[
    "c", "cc", "cjs", "clj", "coffee", "cpp", "cs", "dart", "erl", "ex", "exs", "fs", "go",
    "groovy", "h", "hpp", "java", "jl", "js", "jsx", "kt", "kts", "lua", "mjs", "mts", "php", "pl",
    "pm", "py", "pyx", "rb", "rs", "scala", "swift", "ts", "tsx", "vb",
];

/// What stands behind the name of a host like the line of a script: `allegro.pl:443`.
const PORTS: &[&str] = &["80", "443", "8080", "8443"];

/// Keys of a printed object whose values may be what it is about, in lower case.
const NAMING: &[&str] = &[
    "address",
    "bucket",
    "bucketname",
    "constraint",
    "dest",
    "detail",
    "details",
    "filename",
    "href",
    "key",
    "message",
    "needed",
    "param",
    "path",
    "reason",
    "resource",
    "sqlmessage",
    "table",
    "uri",
    "url",
];

/// What stands before the type of an error that says something.
const ANNOUNCING: &[&str] = &[": ", ". ", "(", "\" ", "> ", "Uncaught "];

/// Whether what stands there on its line tells where in the code something failed, or in which way.
pub(super) fn is_of_the_code(text: &str, range: &Range<usize>, line: &Range<usize>) -> bool {
    let (name, behind) = (&text[range.clone()], &text[range.end..line.end]);
    let before = &text[line.start..range.start];
    is_numbered_place(before, name, behind)
        || is_called(before, name, behind)
        || before.is_empty() && runs_a_place(behind)
        || is_framed(text, range, line)
}

/// A file of code with a line: `users.js:12:5`, `at users.pl line 3`, `in /srv/a.php on line 7`.
fn is_numbered_place(before: &str, name: &str, behind: &str) -> bool {
    // Most names have no number, and none behind them.
    let may_be = name.as_bytes().last().is_some_and(u8::is_ascii_digit)
        || matches!(behind.as_bytes().first(), Some(b':' | b'(' | b' ' | b'"'));
    if !may_be {
        return false;
    }
    let (file, number) = without_line(name);
    let is_line = |mark: &str| {
        let number = behind.strip_prefix(mark);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let told = || [" line ", " on line ", ":line ", "\", line "].iter().any(|mark| is_line(mark));
    if number.is_none() && !is_line(":") && !is_line("(") && !told() {
        return false;
    }
    if file.starts_with("node:") || before.ends_with("Command line ") {
        return true;
    }
    let said = before.ends_with(" at ") && is_line(" line ")
        || before.ends_with(" in ") && is_line(" on line ");
    let ending = file.rsplit(['/', '\\']).next().and_then(|last| last.rsplit_once('.'));
    match ending {
        Some((_, ending)) if said => !is_data(ending),
        Some((_, ending)) => CODE.binary_search(&ending).is_ok() && !is_host(file, number),
        None => said,
    }
}

/// A name without the line and the column behind it, and the first of these.
fn without_line(name: &str) -> (&str, Option<&str>) {
    let split = |name: &str| {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let file = name.len() - digits;
        name[..file].strip_suffix(':').filter(|_| digits > 0).map(str::len)
    };
    let Some(end) = split(name) else { return (name, None) };
    let file = split(&name[..end]).unwrap_or(end);
    (&name[..file], name[file + 1..].split(':').next())
}

/// Whether it is the name of a host with its port.
fn is_host(file: &str, number: Option<&str>) -> bool {
    let host = file.split_once("://").map_or(file, |(_, host)| host);
    !host.contains(['/', '\\']) && number.is_some_and(|number| PORTS.contains(&number))
}

/// The type of an error before what it says, or behind it in brackets: `HttpError: Not Found`,
/// `Access denied (RuntimeError)`.
pub(super) fn is_type(text: &str, range: &Range<usize>, line: &Range<usize>) -> bool {
    let (name, behind) = (&text[range.clone()], &text[range.end..line.end]);
    let before = &text[line.start..range.start];
    let announces = behind.starts_with(": ")
        && (before.trim().is_empty() || ANNOUNCING.iter().any(|end| before.ends_with(end)));
    let is_added = || match before.strip_suffix('(') {
        Some(said) if behind.starts_with(')') => said.ends_with("** ") || behind.trim().len() == 1,
        _ => false,
    };
    if !announces && !is_added() {
        return false;
    }
    // `docker.errors.NotFound: `, `[Error: SQLITE_BUSY: `
    let is_telling = || {
        let is_camel = sorts(name) & LOWER != 0 && name.rsplit('.').next().is_some_and(is_capital);
        is_camel && names::tell(name).is_some() || name.starts_with("SQLITE_")
    };
    let last = name.rsplit("::").next().unwrap_or(name);
    sorts(last) & UPPER != 0 && names::is_type_name(last)
        || name.as_bytes().ends_with(b".error")
        || name.contains("::") && !announces
        || announces && is_telling()
}

/// Whether it begins with a capital, and another stands in it.
fn is_capital(name: &str) -> bool {
    let mut capitals = name.bytes().map(|byte| byte.is_ascii_uppercase());
    capitals.next() == Some(true) && capitals.any(|is_capital| is_capital)
}

/// Who ran it, and what was called: `in thread "main"`, `mkdir(): `, `kill ESRCH`, `[Errno 3]`.
fn is_called(before: &str, name: &str, behind: &str) -> bool {
    match before.as_bytes().last() {
        Some(b'"' | b'\'') if before[..before.len() - 1].ends_with("thread ") => return true,
        // From where to where: what is missing is where to.
        Some(b'\'') if before.ends_with("chdir '") => return behind.starts_with("' -> "),
        Some(b' ') if before.ends_with("Error: ") && is_errno(behind) => return true,
        Some(b' ') if before.ends_with("rrno ") || before.ends_with("WinError ") => {
            return behind.starts_with(']');
        }
        Some(b' ') if before.ends_with("Node.js ") => return name.starts_with('v'),
        None if name == "Node.js" => return behind.starts_with(" v"),
        _ => {}
    }
    name.ends_with('(') && behind.starts_with("): ") || behind.starts_with("(): ")
}

/// Whether what opens the line is the program that runs such a file: `lua5.4: users.lua:1: denied`.
fn runs_a_place(behind: &str) -> bool {
    let place = behind.strip_prefix(": ").and_then(|behind| behind.split(' ').next());
    place.is_some_and(|place| is_numbered_place("", place.trim_end_matches(':'), ""))
}

/// The name of a number of the system's behind a call: ` ESRCH`.
fn is_errno(behind: &str) -> bool {
    let name = behind.strip_prefix(' ').and_then(|behind| behind.split([' ', ':', '\n']).next());
    name.is_some_and(|name| {
        name.len() > 3
            && name.starts_with('E')
            && name.bytes().all(|byte| byte.is_ascii_uppercase())
    })
}

/// Whether it stands in a frame, or in what is printed of an object.
fn is_framed(text: &str, range: &Range<usize>, line: &Range<usize>) -> bool {
    let whole = &text[line.clone()];
    let inner = whole.trim_start_matches([' ', '\t']);
    let opens = line.start == 0 || text.as_bytes()[line.start - 1] == b'\n';
    if !opens {
        return false;
    }
    let is_indented = inner.len() < whole.len();
    let inner = inner.trim_end();
    let behind = &text[line.end..];
    is_indented && (is_frame(inner) || is_printed(text, range, line))
        || is_open_frame(inner)
        || is_of_ruby(whole, range.start - line.start)
        || behind.starts_with("\n\t") && is_of_go(&behind[2..])
        || is_indented && text[..line.start].ends_with("Location:\n")
}

/// A frame that is indented: of JavaScript, Java, .NET, Rust, Ruby, Lua, Elixir, Go.
fn is_frame(line: &str) -> bool {
    match line.as_bytes() {
        [b'a', b't', b' ', ..] => {
            let line = line.trim_end_matches([' ', '{', ',']);
            line.ends_with([')', '>']) || line.ends_with(|c: char| c.is_ascii_digit())
        }
        [b'f', b'r', b'o', b'm', b' ', ..] => line.contains(":in "),
        [b't', b'h', b'r', b'o', b'w', b'n', b' ', ..] => line.contains(" line "),
        [b'0'..=b'9', ..] => {
            let function = line.split_once(": ").map_or("", |(_, function)| function);
            function.contains("::") && !function.contains(' ')
        }
        _ => {
            line.contains(".ex:")
                || line.contains(".exs:")
                || line.contains(": in function ")
                || is_of_go(line)
        }
    }
}

/// A frame that may open its line: of PHP, Python and OCaml.
fn is_open_frame(line: &str) -> bool {
    match line.as_bytes() {
        [b'#', b'0'..=b'9', ..] => {
            line.ends_with("{main}") || line.ends_with(')') && line.contains("): ")
        }
        [b'F', b'i', b'l', b'e', b' ', b'"', ..] => line.contains("\", line "),
        [b'R' | b'C', ..] => {
            line.contains(", line ")
                && (line.starts_with("Raised at ") || line.starts_with("Called from "))
        }
        _ => false,
    }
}

/// The place that Ruby tells first: ``a.rb:2:in `get': no such user``.
fn is_of_ruby(line: &str, at: usize) -> bool {
    // A drive has a colon, too.
    let from = if line.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    let Some(colon) = memchr::memchr(b':', &line.as_bytes()[from..]) else { return false };
    let rest = line[from + colon + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(function) = rest.strip_prefix(":in `").or_else(|| rest.strip_prefix(":in '")) else {
        return false;
    };
    at < line.len() - function.len() + function.find('\'').unwrap_or(function.len())
}

/// A file of Go's with its line, and nothing else but where in the machine's code that is.
fn is_of_go(line: &str) -> bool {
    let line = line.lines().next().unwrap_or_default();
    line.split_once(".go:").is_some_and(|(file, behind)| {
        !file.contains(' ') && behind.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether it is a key of an object that Node prints, or a value that is not what it is about.
fn is_printed(text: &str, range: &Range<usize>, line: &Range<usize>) -> bool {
    let whole = text[line.clone()].trim();
    let goes_on = whole.ends_with([',', '{', '[', '}'])
        || text[line.end..].trim_start().starts_with(['}', ']']);
    let Some((key, _)) = whole.split_once(": ").filter(|_| goes_on) else { return false };
    if !is_printed_key(key) {
        return false;
    }
    let is_key = text[range.end..line.end].trim_start_matches('\'').starts_with(": ");
    let before = text[line.start..range.start].trim_end_matches(['\'', '"', '`', ' ']);
    let own = before.strip_suffix(':').and_then(|before| before.rsplit([' ', '\'', '{']).next());
    let key = own.filter(|own| is_printed_key(own)).unwrap_or(key.trim_matches('\''));
    is_key || !NAMING.iter().any(|naming| naming.eq_ignore_ascii_case(key))
}

fn is_printed_key(key: &str) -> bool {
    let key = key.strip_prefix('\'').map_or(key, |key| key.trim_end_matches('\''));
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_$-.".contains(&byte);
    !key.is_empty() && key.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_so(text: &str, name: &str) -> bool {
        let start = text.rfind(name).unwrap();
        let range = start..start + name.len();
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let until = text[start..].find('\n').map_or(text.len(), |at| start + at);
        is_of_the_code(text, &range, &(from..until)) || is_type(text, &range, &(from..until))
    }

    #[test]
    fn frames_scripts_functions_and_types_name_nothing() {
        for (text, name) in [
            ("Error: no\n    at get (/srv/users.js:12:11)\n    at b", "/srv/users.js:12:11"),
            ("Error: no\n    at async file:///a.mjs:3:1 {", "file:///a.mjs:3:1"),
            ("Error: no\n    at [eval]:1:9", "[eval]"),
            ("no\n\tat com.acme.Users.get(Users.java:42)", "com.acme.Users.get"),
            ("no\n   at Acme.Get(String id) in C:\\U.cs:line 42", "Acme.Get"),
            ("no\n   0: acme::users::get", "acme::users::get"),
            ("no\n\nLocation:\n    src/users.rs:42:9", "src/users.rs"),
            ("no\nmain.get\n\t/app/users.go:42 +0x1d", "main.get"),
            ("no\n    (acme 0.1.0) lib/users.ex:42: Acme.get/1", "Acme.get/1"),
            ("no\n\t[C]: in function 'error'", "error"),
            ("no\n#0 /srv/a.php(7): Users->get()", "Users->get"),
            ("no\n  thrown in /srv/a on line 42", "/srv/a"),
            ("no\n\tfrom /a.rb:7:in `<main>'", "main"),
            ("Raised at file \"x.ml\", line 3, characters 4-9", "4-9"),
            // In the line that says what failed.
            ("/a.rb:42:in `get': denied (RuntimeError)", "get"),
            ("/a.rb:42:in 'Users#get': denied (RuntimeError)", "Users#get"),
            ("/a.rb:42:in 'get': denied (Acme::Denied)", "Acme::Denied"),
            ("denied at ./users line 3.", "./users"),
            ("denied in /srv/a.php:42", "/srv/a.php:42"),
            ("denied in Command line code:1", "code:1"),
            ("lua5.4: users.lua:1: denied", "users.lua"),
            ("lua5.4: users.lua:1: denied", "lua5.4"),
            ("Exception in thread \"main\" A: denied", "main"),
            ("mkdir(): File exists", "mkdir"),
            ("Error: kill ESRCH", "kill"),
            ("[Errno 3] No such process", "3"),
            ("sqlite3.OperationalError: no", "sqlite3.OperationalError"),
            ("Unhandled exception. System.Exception: no", "System.Exception"),
            ("dbm.error: no", "dbm.error"),
            ("docker.errors.NotFound: no", "docker.errors.NotFound"),
            ("[Error: SQLITE_BUSY: locked]", "SQLITE_BUSY"),
            ("no, chdir '/a' -> '/b'", "/a"),
            ("** (RuntimeError) no", "RuntimeError"),
            // What Node prints of an object.
            ("no {\n  statusMessage: 'Not Found',\n", "statusMessage"),
            ("no {\n  '$fault': 'client',\n", "client"),
            ("no {\n  data: { ok: false, error: 'name_taken' }\n}", "name_taken"),
            ("no {\n  syscall: 'open'\n}", "open"),
        ] {
            assert!(is_so(text, name), "{text}");
        }
    }

    #[test]
    fn what_only_stands_like_them_may_be_a_name() {
        for (text, name) in [
            ("no such file: users.pl", "users.pl"),
            ("open '/srv/users.js': denied", "/srv/users.js"),
            ("denied by allegro.pl:443", "allegro.pl:443"),
            ("denied by https://allegro.pl:443", "https://allegro.pl:443"),
            ("bad key at app.conf line 3", "app.conf"),
            ("no such file\n    at the mount /srv", "/srv"),
            ("no class FooException: see docs", "FooException"),
            ("#42 not found", "42"),
            ("no {\n  path: '/srv/a.csv',\n", "/srv/a.csv"),
            ("no {\n  headers: { uri: 'http://a.dev/7' },\n", "http://a.dev/7"),
            ("names:\n  user: ada", "ada"),
            ("0: connect to db", "db"),
        ] {
            assert!(!is_so(text, name), "{text}");
        }
    }
}
