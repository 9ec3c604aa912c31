//! The memory of this process, as the system sees it.

/// KiB under this name in the system's table: `VmRSS` is what is resident now, `VmHWM` the most
/// that ever was.
pub(crate) fn kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
