//! Cancellation of long work.

/// Asked every few milliseconds whether to stop; `true` stops. Called from several threads.
pub type Cancel<'a> = dyn Fn() -> bool + Sync + 'a;

/// The work was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Asks for cancellation once in a while.
pub(crate) struct Ticker<'a> {
    cancel: &'a dyn Fn() -> bool,
    left: usize,
}

/// The number of elementary steps between two questions: a millisecond or less.
const TICKS: usize = 1 << 15;

impl<'a> Ticker<'a> {
    pub(crate) fn new(cancel: &'a dyn Fn() -> bool) -> Self {
        Self { cancel, left: 0 }
    }

    /// Accounts for `work` elementary steps.
    pub(crate) fn tick(&mut self, work: usize) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(work) {
            self.left = left;
            return Ok(());
        }
        self.left = TICKS;
        if (self.cancel)() { Err(Cancelled) } else { Ok(()) }
    }
}
