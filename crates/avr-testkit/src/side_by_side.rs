//! Work on many cases, on as many threads as there are processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Stack of a thread, in bytes: as much as the threads of the tool have.
const STACK_BYTES: usize = 64 << 20;

/// The results of the work on each case, in their order.
///
/// The threads belong to no pool: a verification that waits for a part of itself would take up the next case there, in the middle of its own, until
/// no stack is left.
///
/// # Panics
/// If the work on a case does.
pub fn side_by_side<T: Sync, R: Send>(cases: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        while let Some((number, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, cases.get(n)?)))
        {
            done.push((number, work(case)));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let start =
            |_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run).expect("a thread starts");
        let started: Vec<_> = (0..threads).map(start).collect();
        started.into_iter().flat_map(|one| one.join().expect("the work on a case ends")).collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
