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
        503 => matches!(kind, K::RateLimited),
        402 | 404..=408 | 410 | 411 | 413..=417 | 500..=599 => false,
        _ => true,
    }
}

/// Whether a code in a body is believed against the status it came with: more than mere words.
pub(super) fn code_overrides(status: u16, kind: FailureKind) -> bool {
    overrides(status, kind)
        || status == 409 && matches!(kind, K::NotFound | K::Permission | K::Authentication)
        || status == 503 && kind == K::Timeout
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

/// The kind of a Windows socket or system error.
pub(super) fn windows(number: i32) -> Option<FailureKind> {
    Some(match number {
        2 | 3 | 126 => K::NotFound,
        5 | 1314 | 10013 => K::Permission,
        8 | 14 | 112 | 1455 => K::System,
        32 | 33 | 80 | 145 | 183 | 10048 => K::Conflict,
        87 | 123 | 206 | 267 => K::InvalidArguments,
        121 | 1460 | 10060 => K::Timeout,
        1326 => K::Authentication,
        10049..=10059 | 10061 | 10064 | 10065 | 11001..=11004 => K::Network,
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
        -32603 => K::Upstream,
        -32800 | -32802 => K::Cancelled,
        -32801 => K::Conflict,
        -32002 => K::NotFound,
        -32001 => K::Timeout,
        -32000 => K::Unavailable,
        _ => return None,
    })
}

/// The kind of an SQLSTATE.
pub(super) fn sqlstate(code: &str) -> Option<FailureKind> {
    let class = code.get(..2)?;
    Some(match (code, class) {
        ("42P01" | "42S02" | "3D000" | "3F000" | "42704", _) => K::NotFound,
        (
            "23505" | "42P07" | "42710" | "42701" | "42P04" | "42P06" | "42S01" | "40001" | "40P01"
            | "55P03" | "55006",
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
