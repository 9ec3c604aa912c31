//! Forms that tell the resource by themselves: how programs and libraries write it.

use std::ops::Range;
use std::sync::LazyLock;

use super::DIRECTORIES;
use crate::FailureKind;
use crate::classify::pattern::{Marked, Pattern};

/// Where a form tells the resource of a failure.
pub(super) fn find(kind: FailureKind, text: &Marked) -> Option<Range<usize>> {
    // Forms are the first of all patterns.
    text.announced()
        .map_while(|nth| FORMS.get(nth))
        .find_map(|(kinds, pattern)| if kinds.contains(&kind) { pattern.find(text) } else { None })
}

/// Every pattern of this file.
pub(in crate::classify) fn patterns() -> impl Iterator<Item = &'static Pattern> {
    FORMS.iter().map(|(_, pattern)| pattern)
}

/// Places that tell by their form alone, the surest first.
static FORMS: LazyLock<Vec<(&[FailureKind], Pattern)>> = LazyLock::new(|| {
    use FailureKind as K;
    const ANY: &[FailureKind] = &[
        K::NotFound,
        K::Permission,
        K::Conflict,
        K::Precondition,
        K::InvalidArguments,
        K::Unavailable,
    ];
    const WEB: &[FailureKind] = &[K::NotFound, K::Permission, K::Conflict];
    const TOOL: &[FailureKind] = &[K::UnknownTool];
    const HERE: &[FailureKind] = &[K::NotFound, K::Conflict, K::Permission];
    const CONFLICT: &[FailureKind] = &[K::Conflict];
    const MISSING: &[FailureKind] = &[K::NotFound];
    const DENIED: &[FailureKind] = &[K::Permission];
    const OFF: &[FailureKind] = &[K::Unavailable];
    // What is said of a table, in whatever case it is mostly written.
    const STATES: &[&str] = &[
        "oes not", "OES NOT", "oesn't", "OESN'T", "lready", "LREADY", "ot found", "OT FOUND",
        "ot Found",
    ];
    vec![
        (CONFLICT, Pattern::new(&["EEXIST"], r"EEXIST[^'\n]*'[^'\n]+' -> '([^'\n]+)'")),
        (DENIED, Pattern::new(&["ccess denied"], r"pull access denied for ([^\s,]+)")),
        (MISSING, Pattern::new(&["ouldn't find"], r"(?i)couldn't find (\w+) with ")),
        // From where to where: what is missing is where to.
        (MISSING, Pattern::new(&[" chdir '"], r" chdir '[^'\n]+' -> '([^'\n]+)'")),
        // [Errno 13] Permission denied: 'a' -> 'b', and Node's `, rename 'a' -> 'b'`
        (
            DENIED,
            Pattern::new(&["[Errno"], r#"\[Errno \d+\] [^:'"\n]+: ?'[^'\n]+' -> '([^'\n]+)'"#),
        ),
        (
            ANY,
            Pattern::new(
                &[
                    "[Errno",
                    "ENOENT",
                    "EACCES",
                    "EPERM",
                    "EEXIST",
                    "EISDIR",
                    "ENOTDIR",
                    "ENOTEMPTY",
                    "EROFS",
                    "EBUSY",
                ],
                r#"(?:\[Errno \d+\]|\bE(?:NOENT|ACCES|PERM|EXIST|ISDIR|NOTDIR|NOTEMPTY|ROFS|BUSY):)[^'"\n]*?['"]([^'"\n]+)['"]"#,
            ),
        ),
        // What a call of the system was given: open("x"): File exists
        (
            ANY,
            Pattern::new(
                &["open(", "stat(", "mkdir(", "opendir(", "access(", "connect(", "bind("],
                r#"\b(?:f?open|l?stat|mkdir|opendir|access|connect|bind)\(["']([^"'\n]+)["']"#,
            ),
        ),
        (MISSING, Pattern::new(&["ommand not found"], r"(?i)\bcommand not found: (\S+)")),
        (MISSING, Pattern::new(&["ommand not found"], r"(?i)([^\s:]+): command not found")),
        (
            ANY,
            Pattern::new(
                &["a directory"],
                r#"['"`\x98\x9c]([^'"`\xe2\n]+)(?:['"`]|\xe2\x80[\x99\x9d]) is (?:not )?a directory"#,
            ),
        ),
        // The same in other languages: rm: no se puede borrar 'x': Es un directorio
        (
            ANY,
            Pattern::new(
                DIRECTORIES,
                r"(?m)^[\w.\-]+: [^'\n:]*'([^'\n]+)'[^'\n:]*: [^'\n:]*(?:erzeichnis|ossier|irectorio|iretório|аталог|atalog|dresář|önyvtár|izin|ディレクトリ|目录|目錄|디렉)",
            ),
        ),
        (ANY, Pattern::new(&["spawn"], r"\bspawn(?:Sync)? (\S+) E[A-Z]+")),
        (ANY, Pattern::new(&["(Errno::"], r" - (\S+) \(Errno::")),
        (CONFLICT, Pattern::new(&["listen "], r"\blisten (?:tcp|udp)4?6? (\S+): bind")),
        (DENIED, Pattern::new(&["to database '"], r"to database '([^'\n]+)'")),
        (
            HERE,
            Pattern::new(
                &["ind to ", "ind on ", "ind() to ", "ind() on "],
                r"(?i)\bbind(?:\(\))? (?:to|on) (\S+?):? failed",
            ),
        ),
        // What is missing in something that is there: no key 'x' in file y.
        (
            MISSING,
            Pattern::new(
                &["' in ", "' on ", "\" in ", "\" on ", "` in ", "` on ", "] in ", "] on "],
                r#"(?i)(?:\bno (?:such )?(?:\w+ ){0,2}?|(?:could not|couldn't|cannot|can't|unable to) (?:find|locate) (?:the |an? )?(?:\w+ ){0,2}?)['"`\[]([^'"`\]\n]+)['"`\]] (?:in|on) (?:the )?(?:\w+ )?['"`]?[\w./]"#,
            ),
        ),
        (MISSING, Pattern::new(&["refspec "], r"src refspec (\S+) does not match")),
        (
            MISSING,
            Pattern::new(&["package named"], r"no matching package named [`'\x22]([^`'\x22\n]+)"),
        ),
        (MISSING, Pattern::new(&["unbound variable"], r"(\w+): unbound variable")),
        (
            MISSING,
            Pattern::new(
                &["uggestions:", "id you mean", "vailable:", "alid "],
                r#"(?i)\b(?:unknown|invalid|no such) (?:\w+ )?:? ?['"`]?([\w.\-]+)['"`]?[.;,]? (?:suggestions|did you mean|available|valid)\b"#,
            ),
        ),
        (MISSING, Pattern::new(&["cannot load such"], r"cannot load such file -- (\S+)")),
        (
            ANY,
            Pattern::new(
                &["EADDRINUSE", "EACCES"],
                r"\b(?:EADDRINUSE|EACCES)\b[^\n]*? (\S*:\d+)\b",
            ),
        ),
        (
            HERE,
            Pattern::both(
                &[
                    "table ",
                    "Table ",
                    "TABLE ",
                    "ndex ",
                    "atabase ",
                    "ollection ",
                    "tream ",
                    "opic ",
                ],
                STATES,
                r"(?i)\b(?:table|index|database|collection|stream|topic) (\w[\w.]*\w) (?:does not|doesn't|already|not found)",
            ),
        ),
        // A sort with a name, quoted or bare, and what is wrong with it.
        (
            HERE,
            Pattern::new(
                &[
                    "ot found",
                    "ot exist",
                    "n't exist",
                    "already exists",
                    "ot allowed",
                    "ot present",
                ],
                r#"(?im)(?:^|[:.!] |[\x22'{]|\bthe )(?:account|agent|alias|app|application|archive|box|branch|bridge|bucket|channel|chart|class|cluster|container|context|customer|dataset|device|document|domain|entity|entry|environment|field|file|folder|font|group|image|instance|interface|item|job|key|keyspace|layer|model|module|namespace|network|node|object|order|package|page|plugin|pool|process|product|profile|project|queue|record|release|repository|resource|role|room|secret|sensor|service|session|sheet|snapshot|stack|tag|task|team|template|unit|user|volume|workspace)(?: name| named| with name| with id| id)? ["'`]?([\w][\w.\-/@:+#]*[\w/])["'`]? (?:does not exist|doesn't exist|already exists|(?:is |was |were |could )?not (?:be )?(?:found|present|allowed|exist))\b"#,
            ),
        ),
        (
            MISSING,
            Pattern::new(
                &["ot contain "],
                r"(?i)does not contain (?:a |an |the )?\w+ ['\x22`]?([\w.\-/]+)",
            ),
        ),
        (
            MISSING,
            Pattern::new(
                &["find ", "locate "],
                r"(?mi)\b(?:find|locate) (?:\w+ or )?(?:entity|configuration|package|module|unit|library|program|font|model|template|file|command) ['\x22`]?([\w.\-/]+)['\x22`]?(?:\.?$| (?:at|in|from) )",
            ),
        ),
        (MISSING, Pattern::new(&["ndefined "], r"(?i)\bundefined \w+: ['\x22`]?([\w.\-/]+)")),
        (
            CONFLICT,
            Pattern::new(
                &["uplicated "],
                r"(?i)duplicated (?:primary )?key(?: value)? ['\x22`]?([^\s,'\x22`]+)",
            ),
        ),
        // The first of several that were tried.
        (
            HERE,
            Pattern::new(
                &[" or /", " or '/", " or \"/"],
                r"(?i)\b(?:open|find|read|access|load|connect to)\b[^\n:]*? ['\x22]?(/[^\s'\x22]+)['\x22]? or ['\x22]?/",
            ),
        ),
        // Sockets
        (
            OFF,
            Pattern::new(
                &["ocket "],
                r"(?i)\bsocket (?:at |on )?[(\x22'`]*(/[^\s()\x22'`]+?)[)\x22'`]*(?:[:\s]|$)",
            ),
        ),
        // URLs
        (
            WEB,
            Pattern::new(&["for url", "For url"], r#"(?i)\bfor url:? ?[('"]?(https?://[^\s'")]+)"#),
        ),
        (WEB, Pattern::new(&["url="], r#"\burl=['"](https?://[^'"]+)['"]"#)),
        (WEB, Pattern::new(&["when requesting"], r"when requesting (https?://\S+) returned")),
        (WEB, Pattern::new(&[": status code"], r"^(https?://\S+?): status code")),
        (WEB, Pattern::new(&["HTTP "], r"^HTTP \d{3}: [^\n]*\((https?://[^\s)]+)\)")),
        (
            WEB,
            Pattern::new(
                &["404"],
                r"\b404[^\n]*?(?:GET|POST|PUT|DELETE|HEAD|PATCH) https?://[^\s/]+/(?:\S*/)?([^\s/]+) - Not found",
            ),
        ),
        (MISSING, Pattern::new(&["Cannot "], r"\bCannot (?:GET|POST|PUT|DELETE|PATCH) (\S+)")),
        // Databases
        (CONFLICT, Pattern::new(&["onflict in"], r"(?i)merge conflict in (\S+)")),
        (
            CONFLICT,
            Pattern::new(
                &["ollowing "],
                r"(?m)following (?:untracked working tree )?files?[^\n]*:\n\s+(\S+)",
            ),
        ),
        (CONFLICT, Pattern::new(&["patch failed"], r"patch failed: ([^:\s]+)")),
        (DENIED, Pattern::new(&["must be owner"], r"must be owner of \w+ (\S+)")),
        (DENIED, Pattern::new(&["issing scope"], r"(?i)missing scope:? \(?([\w.:\-]+)")),
        (CONFLICT, Pattern::new(&["Key ("], r"Key \([^)\n]*\)=\(([^)\n]*)\) already exists")),
        (CONFLICT, Pattern::new(&["onstraint ("], r"(?i)unique constraint \(([^)\n]+)\)")),
        (CONFLICT, Pattern::new(&["Duplicate entry"], r"Duplicate entry '([^'\n]+)'")),
        (CONFLICT, Pattern::new(&["dup key"], r#"dup key: \{[^"\n]*"([^"\n]+)""#)),
        (CONFLICT, Pattern::new(&["UNIQUE constraint"], r"UNIQUE constraint failed: ([\w.]+)")),
        (CONFLICT, Pattern::new(&["xisting "], r"(?i)\bexisting (?:id|record)[:= ]+(\S+)")),
        (
            CONFLICT,
            Pattern::new(&["uplicates value"], r"(?i)duplicates value on record with id: (\w+)"),
        ),
        (
            HERE,
            Pattern::both(
                &[
                    "elation ",
                    "table ",
                    "Table ",
                    "TABLE ",
                    "atabase ",
                    "ole ",
                    "chema ",
                    "equence ",
                    "iew ",
                    "ndex ",
                    "ype ",
                    "ollection ",
                    "olumn ",
                ],
                STATES,
                r#"(?i)\b(?:relation|table|database|role|schema|sequence|view|index|type|collection|column) ["'`]([^"'`\n]+)["'`](?: of relation "[^"]+")? (?:does not exist|doesn't exist|already exists|not found|does not match)"#,
            ),
        ),
        (
            MISSING,
            Pattern::both(
                &["o such "],
                &["able: ", "iew: ", "ndex: ", "olumn: ", "ABLE: "],
                r"(?i)\bno such (?:table|view|index|column): ([\w.]+)",
            ),
        ),
        (
            CONFLICT,
            Pattern::new(&["already exists"], r"(?i)\b(?:table|index|view) (\w+) already exists"),
        ),
        (
            DENIED,
            Pattern::new(
                &["ermission denied for"],
                r"(?i)permission denied for (?:table|relation|schema|view|sequence|function|database|language|column) ([\w.]+)",
            ),
        ),
        (
            DENIED,
            Pattern::new(
                &["command denied"],
                r"command denied to user [^\n]*? for table [`'](?:[^`'\n]+[`']\.[`'])?([^`'\n]+)[`']",
            ),
        ),
        (
            DENIED,
            Pattern::new(
                &["not authorized to perform"],
                r#"not authorized to perform: \S+ on resource: "?([^"\s]+)"?"#,
            ),
        ),
        (
            DENIED,
            Pattern::new(
                &["not authorized to perform"],
                r"not authorized to perform: ([\w\-]+:[\w*]+)",
            ),
        ),
        (DENIED, Pattern::new(&["not authorized on"], r"not authorized on (\S+) to")),
        (
            DENIED,
            Pattern::new(&["utside "], r"(?i)outside (?:the )?allowed director(?:y|ies): (\S+)"),
        ),
        (
            DENIED,
            Pattern::new(
                &["Protected branch"],
                r"Protected branch update failed for (\S+?)\.?(?:\s|$)",
            ),
        ),
        (
            DENIED,
            Pattern::new(
                &["ccess denied", "ccess Denied"],
                r"(?i)access denied: Table ([^\s:]+:[^\s:]+)",
            ),
        ),
        (
            DENIED,
            Pattern::new(
                &["not have access"],
                r"(?i)does not have access to (?:model|project|repository|resource) [`'\x22]?([^`'\x22\s]+)",
            ),
        ),
        (CONFLICT, Pattern::new(&[" lock "], r"(?i)(?:get|acquire) lock (/\S+?)\.?(?:\s|$)")),
        // Tools
        (
            TOOL,
            Pattern::new(
                &["ool ", "ction "],
                r#"(?i)\b(?:no tool named|unavailable tool|unknown tool|cannot find tool|action|tool) ['"`]([^'"`\n]+)['"`]"#,
            ),
        ),
        (TOOL, Pattern::new(&["ool "], r"(?i)\btool (?:with name|named) (\S+)")),
        (TOOL, Pattern::new(&["valid tool"], r"(?i)\b(\S+) is not a valid tool")),
        (TOOL, Pattern::new(&["he method "], r"(?i)\bthe method (\S+) does not exist")),
        (TOOL, Pattern::new(&["ool call"], r"(?i)\btool calls? to (\S+) failed")),
        (
            TOOL,
            Pattern::new(
                &["ool", "unction"],
                r#"(?i)\b(?:unknown tool|no such tool available|unknown function|tool not found|no tool named|no such tool)[:\s]+['"`]?([\w\-/:]+(?:\.[\w\-/:]+)*)"#,
            ),
        ),
        (
            TOOL,
            Pattern::new(
                &["ool ", "lugin ", "unction ", "ethod ", "ommand "],
                r#"(?i)\b(?:tool|plugin|function|method|command) ['"`]([^'"`\n]+)['"`] (?:is )?not (?:found|registered|among)"#,
            ),
        ),
        (
            TOOL,
            Pattern::new(&["ool "], r"(?i)\btool ([\w.\-/:]+) (?:not found|does not exist|is not)"),
        ),
        (
            TOOL,
            Pattern::new(
                &["valuation:", "ttribute:", "ool:"],
                r"(?i)(?:evaluation|attribute|tool): ?'([^'\n]+)'",
            ),
        ),
        (TOOL, Pattern::new(&["has no attribute"], r"has no attribute '([^'\n]+)'")),
        // Others
        (MISSING, Pattern::new(&["for the requirement `"], r"for the requirement `([^`\s]+)")),
        (MISSING, Pattern::new(&["name not matched"], r"name not matched: +(\S+)")),
        (MISSING, Pattern::new(&[" pid "], r" pid (\d+)'s ")),
        (MISSING, Pattern::new(&["found with key "], r"found with key ['\x22`]?([\w.\-/:]+)")),
        (MISSING, Pattern::new(&["o module named"], r"(?i)\bno module named '?([\w.\-]+)'?")),
        (MISSING, Pattern::new(&["satisfies the requirement"], r"satisfies the requirement (\S+)")),
        (MISSING, Pattern::new(&["athspec "], r"(?i)\bpathspec '([^'\n]+)'")),
        (
            MISSING,
            Pattern::new(&["nable to locate package"], r"(?i)\bunable to locate package (\S+)"),
        ),
        (MISSING, Pattern::new(&["lugin "], r"(?i)\bPlugin (\S+) or one of its dependencies")),
        (MISSING, Pattern::new(&["Could not find artifact"], r"Could not find artifact (\S+)")),
        (MISSING, Pattern::new(&["-->"], r"(?m)^--> ([^\s:]+):\d+:\d+")),
        (
            MISSING,
            Pattern::new(
                &["ith the "],
                r"(?i)\bwith the (?:number|name|login|id) of '?([^\s'.]+)'?",
            ),
        ),
        (MISSING, Pattern::new(&["npm error path"], r"(?m)npm error path (\S+)")),
        (OFF, Pattern::new(&["ocker daemon"], r"(?i)docker daemon at (\S+?)\.?(?:\s|$)")),
        (
            OFF,
            Pattern::new(
                &["is not running", "unexpected state"],
                r"(?i)\b(?:container|cluster|service|instance|job|pod) (\S+) is (?:not running|in unexpected state)",
            ),
        ),
        (DENIED, Pattern::new(&["daemon socket"], r"(?i)daemon socket at (\S+?):?(?:\s|$)")),
    ]
});
