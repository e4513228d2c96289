//! Handlers that interrupt each other, and cycles of them.

use rustc_hash::FxHashMap;

use crate::gap::Cycle;
use crate::map::Thread;

/// The most activations of one handler at the same time that the pass follows.
pub(super) const MOST_ACTIVE: usize = 8;

/// The thread in which each handler was first found to begin.
///
/// A handler that begins in another one has a lower stack pointer, so that the way back comes to an end.
#[derive(Debug, Default)]
pub(crate) struct Nesting(FxHashMap<Thread, Thread>);

impl Nesting {
    /// Takes note that a handler may begin in a thread.
    ///
    /// # Errors
    /// The cycle of handlers, if its handler is active too often then.
    pub(crate) fn note(&mut self, from: Thread, to: Thread) -> Result<(), Cycle> {
        if self.0.contains_key(&to) {
            return Ok(());
        }
        self.0.insert(to, from);
        let own = number(to);
        let active: Vec<u8> = self.active(from).collect();
        let times = active.iter().filter(|one| Some(**one) == own).count();
        if times < MOST_ACTIVE {
            return Ok(());
        }
        let mut cycle: Vec<u8> = active.into_iter().take_while(|one| Some(*one) != own).collect();
        cycle.extend(own);
        cycle.reverse();
        Err(Cycle(cycle))
    }

    /// The interrupts whose handlers are active in a thread, youngest first.
    fn active(&self, thread: Thread) -> impl Iterator<Item = u8> + '_ {
        let threads = std::iter::successors(Some(thread), |thread| self.0.get(thread).copied());
        threads.map_while(number)
    }
}

/// The number of a handler's interrupt.
fn number(thread: Thread) -> Option<u8> {
    match thread {
        Thread::Main => None,
        Thread::Handler { interrupt, .. } => Some(interrupt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::DataAddress;

    fn handler(interrupt: u8, pointer: u16) -> Thread {
        Thread::Handler { interrupt, pointer: DataAddress(pointer) }
    }

    #[test]
    fn a_cycle_is_named_when_a_handler_is_active_too_often() {
        let mut nesting = Nesting::default();
        let threads = (0..).map(|number| handler([1, 5, 7][number as usize % 3], 0x8ff - 4 * number));
        let mut from = Thread::Main;
        for to in threads.take(3 * MOST_ACTIVE) {
            assert_eq!(nesting.note(from, to), Ok(()));
            from = to;
        }
        assert_eq!(nesting.note(from, handler(1, 0x100)), Err(Cycle(vec![1, 5, 7])));
        assert_eq!(nesting.note(from, handler(2, 0x100)), Ok(()));
    }
}
