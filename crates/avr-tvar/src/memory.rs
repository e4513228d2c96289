//! Memory use of the process.

use std::alloc::System;

use cap::Cap;

/// Counts what is allocated; the limit is left to [`crate::monitor`], because a refused allocation ends the process
/// without an answer.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes allocated now.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// Bytes that the process takes now, as the system sees it where it tells (Linux), or else as allocated.
pub(crate) fn taken() -> usize {
    status("VmRSS:").unwrap_or(0).max(allocated())
}

/// The most bytes that the process took at any time.
pub(crate) fn peak() -> usize {
    status("VmHWM:").unwrap_or(0).max(ALLOCATOR.max_allocated())
}

/// A line of `/proc/self/status`, in bytes (`proc_pid_status(5)`; the unit is always kB).
fn status(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::{allocated, peak, taken};

    #[test]
    fn a_large_block_is_counted() {
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(allocated() >= block.len());
        assert!(taken() >= block.len());
        drop(block);
        assert!(peak() >= 64 << 20);
    }
}
