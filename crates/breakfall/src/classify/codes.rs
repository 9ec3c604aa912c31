//! Codes that mean the same in every language: HTTP, errno, gRPC, JSON-RPC, SQLSTATE, exit codes.

use crate::FailureKind;
use crate::FailureKind as K;

/// The kind that an HTTP status stands for, where nothing better is known.
pub(crate) fn http_status(status: u16) -> FailureKind {
    match status {
        401 | 407 | 511 => K::Authentication,
        402 => K::QuotaExceeded,
        403 | 451 => K::Permission,
        404 | 410 => K::NotFound,
        408 | 504 | 522 | 524 => K::Timeout,
        409 | 412 | 423 => K::Conflict,
        424 | 428 => K::Precondition,
        425 | 429 => K::RateLimited,
        499 => K::Cancelled,
        507 => K::System,
        540 => K::Unavailable,
        400..=499 => K::InvalidArguments,
        500..=599 => K::Upstream,
        _ => K::Execution,
    }
}

/// Whether a body that says `kind` is believed against the status it came with.
pub(super) fn overrides(status: u16, kind: FailureKind) -> bool {
    match status {
        401 | 429 | 507 => kind == K::QuotaExceeded,
        403 => matches!(kind, K::RateLimited | K::QuotaExceeded | K::Authentication),
        409 | 412 => matches!(kind, K::QuotaExceeded | K::RateLimited),
        422 => matches!(kind, K::Conflict | K::NotFound | K::QuotaExceeded | K::RateLimited),
        503 => matches!(kind, K::RateLimited | K::Timeout),
        402 | 404..=408 | 410 | 411 | 413..=417 | 426 | 500..=599 => false,
        _ => true,
    }
}

/// Whether a code in a body is believed against the status it came with: more than mere words.
pub(super) fn code_overrides(status: u16, kind: FailureKind) -> bool {
    overrides(status, kind)
        || status == 409 && matches!(kind, K::NotFound | K::Permission | K::Authentication)
        || status == 405 && matches!(kind, K::Conflict | K::Precondition)
}

/// The kind of an errno, by its number on Linux.
pub(super) fn errno(number: i32) -> Option<FailureKind> {
    Some(match number {
        1 | 13 | 30 => K::Permission,
        2 | 3 | 6 | 19 => K::NotFound,
        4 | 125 => K::Cancelled,
        12 | 23 | 24 | 28 => K::System,
        16 | 17 | 26 | 35 | 39 | 98 => K::Conflict,
        20 | 21 | 22 | 27 | 33 | 34 | 36 => K::InvalidArguments,
        32 | 99 | 100 | 101 | 103 | 104 | 107 | 111 | 112 | 113 => K::Network,
        110 => K::Timeout,
        122 => K::QuotaExceeded,
        _ => return None,
    })
}

/// The kind of a Windows socket or system error; an HRESULT holds one.
pub(super) fn windows(number: i32) -> Option<FailureKind> {
    Some(match number {
        2 | 3 | 15 | 126 | 127 | 1060 | 1168 | 2221 => K::NotFound,
        5 | 19 | 740 | 1314 | 10013 => K::Permission,
        4 | 8 | 14 | 39 | 112 | 1450 | 1455 => K::System,
        32 | 33 | 80 | 145 | 170 | 183 | 1056 | 1219 | 10048 => K::Conflict,
        87 | 123 | 161 | 193 | 206 | 267 => K::InvalidArguments,
        121 | 258 | 1053 | 1460 | 10060 => K::Timeout,
        1326 | 1327 | 1330 | 1331 | 1907 | 1909 => K::Authentication,
        995 | 1223 => K::Cancelled,
        1058 | 1062 | 1115 | 1722 => K::Unavailable,
        1816 => K::QuotaExceeded,
        53
        | 59
        | 64
        | 67
        | 1225
        | 1231
        | 1232
        | 1236
        | 10049..=10059
        | 10061
        | 10064
        | 10065
        | 11001..=11004 => K::Network,
        _ => return None,
    })
}

/// The kind of an error of Apple's, by its domain.
pub(super) fn apple(domain: &str, number: i32) -> Option<FailureKind> {
    Some(match (domain, number) {
        ("NSPOSIXErrorDomain", number) => return errno(number),
        ("NSURLErrorDomain", -1001) => K::Timeout,
        ("NSURLErrorDomain", -999) | ("NSCocoaErrorDomain", 3072) => K::Cancelled,
        ("NSURLErrorDomain", -1013 | -1012) => K::Authentication,
        ("NSURLErrorDomain", -1100) | ("NSCocoaErrorDomain", 4 | 260) => K::NotFound,
        ("NSURLErrorDomain", -1102) | ("NSCocoaErrorDomain", 257 | 513) => K::Permission,
        ("NSURLErrorDomain", -1002 | -1000) | ("NSCocoaErrorDomain", 3840) => K::InvalidArguments,
        ("NSURLErrorDomain", -1206..=-1200 | -1022 | -1020..=-1018 | -1009 | -1006..=-1003) => {
            K::Network
        }
        ("NSCocoaErrorDomain", 516) => K::Conflict,
        ("NSCocoaErrorDomain", 640) => K::System,
        _ => return None,
    })
}

/// The kind of an error of macOS's scripts.
pub(super) fn apple_script(number: i32) -> Option<FailureKind> {
    Some(match number {
        -1728 | -1719 | -43 => K::NotFound,
        -1743 | -1744 | -10004 | -25211 | -54 => K::Permission,
        -1712 => K::Timeout,
        -128 => K::Cancelled,
        -600 | -609 => K::Unavailable,
        -48 | -47 => K::Conflict,
        -1700 | -1703 | -2740 | -2741 => K::InvalidArguments,
        _ => return None,
    })
}

/// The kind of a mail server's enhanced status, without its class.
pub(super) fn mail(lasting: bool, subject: u32, detail: u32) -> Option<FailureKind> {
    Some(match (subject, detail) {
        (1, 3 | 7 | 8) | (2, 3) | (3, 4) | (5 | 6, _) => K::InvalidArguments,
        (1, _) => K::NotFound,
        (2, 2) => K::QuotaExceeded,
        (2, 1) | (3, 2) => K::Unavailable,
        (3, 1) => K::System,
        (4, _) => K::Network,
        (7, 3 | 8 | 9 | 57 | 139) => K::Authentication,
        (7, 1) if lasting => K::Permission,
        (7, _) if !lasting => K::RateLimited,
        _ => return None,
    })
}

/// The kind of a result of an LDAP server.
pub(super) fn ldap(number: i32) -> Option<FailureKind> {
    Some(match number {
        3 | 85 => K::Timeout,
        16 | 17 | 18 | 19 | 21 | 34 | 64 | 65 => K::InvalidArguments,
        20 | 66 | 68 => K::Conflict,
        32 => K::NotFound,
        8 | 48 | 49 => K::Authentication,
        50 | 53 => K::Permission,
        51 | 52 => K::Unavailable,
        -1 | 81 | 91 => K::Network,
        _ => return None,
    })
}

/// The kind of a gRPC status name.
pub(super) fn grpc(name: &str) -> Option<FailureKind> {
    let folded: String =
        name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_uppercase();
    Some(match folded.as_str() {
        "CANCELLED" | "CANCELED" => K::Cancelled,
        "DATALOSS" => K::Internal,
        "INTERNAL" => K::Upstream,
        "INVALIDARGUMENT" | "OUTOFRANGE" => K::InvalidArguments,
        "DEADLINEEXCEEDED" => K::Timeout,
        "NOTFOUND" => K::NotFound,
        "ALREADYEXISTS" | "ABORTED" => K::Conflict,
        "PERMISSIONDENIED" => K::Permission,
        "RESOURCEEXHAUSTED" => K::RateLimited,
        "FAILEDPRECONDITION" => K::Precondition,
        "UNIMPLEMENTED" => K::UnknownTool,
        "UNAVAILABLE" => K::Network,
        "UNAUTHENTICATED" => K::Authentication,
        _ => return None,
    })
}

/// The kind of a JSON-RPC code, where its message tells nothing.
pub(super) fn json_rpc(code: i64) -> Option<FailureKind> {
    Some(match code {
        -32601 => K::UnknownTool,
        -32700 | -32600 | -32602 => K::InvalidArguments,
        // Servers say so of whatever went wrong in a tool.
        -32603 => K::Execution,
        -32000 => K::Unavailable,
        -32800 | -32802 => K::Cancelled,
        -32801 => K::Conflict,
        -32002 => K::NotFound,
        -32001 => K::Timeout,
        // A page that somebody has to open first.
        -32042 => K::Precondition,
        _ => return None,
    })
}

/// The kind of an SQLSTATE.
pub(super) fn sqlstate(code: &str) -> Option<FailureKind> {
    let class = code.get(..2)?;
    Some(match (code, class) {
        ("42P01" | "42S02" | "42X05" | "42Y55" | "3D000" | "3F000" | "42704" | "42K03", _) => {
            K::NotFound
        }
        (
            "23505" | "X0Y32" | "42P07" | "42710" | "42701" | "42P04" | "42P06" | "42S01" | "40001"
            | "40P01" | "55P03" | "55006",
            _,
        ) => K::Conflict,
        ("42501" | "25006", _) => K::Permission,
        ("57014", _) => K::Timeout,
        ("57P03" | "57P01" | "57P02", _) | (_, "08") => K::Network,
        (_, "22" | "23" | "42" | "26" | "07" | "21") => K::InvalidArguments,
        (_, "28") => K::Authentication,
        (_, "53" | "58") => K::System,
        (_, "XX") => K::Upstream,
        _ => return None,
    })
}

/// The kind of a MySQL error number.
pub(super) fn mysql(number: u32) -> Option<FailureKind> {
    Some(match number {
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 => K::Permission,
        1045 | 1698 | 1820 | 3118 => K::Authentication,
        1049 | 1051 | 1146 | 1305 => K::NotFound,
        1007 | 1050 | 1060..=1062 | 1205 | 1213 | 1586 => K::Conflict,
        1040 | 1041 | 1037 | 1114 | 1203 => K::System,
        1052 | 1054 | 1064 | 1048 | 1136 | 1216 | 1217 | 1264 | 1292 | 1364 | 1366 | 1406
        | 1451 | 1452 | 3819 => K::InvalidArguments,
        2002 | 2003 | 2005 | 2006 | 2013 | 2055 => K::Network,
        3024 | 1317 => K::Timeout,
        _ => return None,
    })
}

/// The kind of an Oracle error number.
pub(super) fn oracle(number: i32) -> Option<FailureKind> {
    Some(match number {
        942 | 1435 | 1918 | 2289 | 4043 | 12505 | 12514 => K::NotFound,
        1 | 54 | 60 | 955 | 1920 | 8177 | 30006 => K::Conflict,
        1005 | 1017 | 28000 | 28001 | 28009 => K::Authentication,
        1031 | 1045 => K::Permission,
        3113 | 3114 | 3135 | 12154 | 12537 | 12541 | 12543 | 12545 | 12547 | 12560 => K::Network,
        12170 | 12535 => K::Timeout,
        1033 | 1034 | 1089 | 1090 | 12528 | 27101 => K::Unavailable,
        1013 => K::Cancelled,
        1536 | 2391 => K::QuotaExceeded,
        18 | 20 | 257 | 1652..=1654 | 4030 | 4031 => K::System,
        900..=999 | 1400 | 1401 | 1407 | 1438 | 1722 | 1830..=1862 | 2290..=2292 | 6550 | 12899 => {
            K::InvalidArguments
        }
        _ => return None,
    })
}

/// The kind of an error number of Microsoft's SQL server.
pub(super) fn sql_server(number: i32) -> Option<FailureKind> {
    Some(match number {
        208 | 911 | 2812 | 3701 | 4060 => K::NotFound,
        1205 | 1222 | 1801 | 2601 | 2627 | 2714 | 3960 => K::Conflict,
        18452 | 18456 | 18470 | 18488 => K::Authentication,
        229 | 230 | 262 | 297 | 300 | 916 => K::Permission,
        102 | 105 | 137 | 156 | 201 | 207 | 241 | 245 | 515 | 547 | 2628 | 8114 | 8115 | 8152 => {
            K::InvalidArguments
        }
        701 | 802 | 1105 | 9002 => K::System,
        _ => return None,
    })
}

/// What an exit code or the signal behind it tells, when the output tells nothing.
pub(super) fn exit(code: i64) -> Option<FailureKind> {
    Some(match code {
        124 => K::Timeout,
        126 => K::Permission,
        127 => K::NotFound,
        130 | 143 | -2 | -15 => K::Cancelled,
        137 | -9 => K::System,
        133..=136 | 139 | 101 | -6 | -11 => K::Internal,
        _ => return None,
    })
}
