//! The state of the machine between two steps.

use crate::automaton::MAX_AUTOMATA;
use crate::copies::Copies;
use crate::data_space::DataSpace;
use avr_isa::{DataAddress, FlashWordAddress};
use three_valued::ByteDomain;

/// The cause of an entry on the call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameKind {
    /// CALL, RCALL, ICALL or EICALL.
    Call,
    /// The entry into an interrupt handler, by vector number.
    Interrupt(u8),
}

/// A return address that a call or an interrupt entry pushed.
///
/// One of a call stays when POP takes its bytes, until SP is above it or something is called: pushing the bytes again makes
/// it whole again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The stack pointer before the push: the data address of the least significant byte of the return address.
    pub position: DataAddress,
    /// The target of the return, as a flash word address.
    pub return_address: FlashWordAddress,
    /// The cause of the entry.
    pub kind: FrameKind,
    /// Functions that were left by a jump while this was the youngest frame: their return is the return to this frame. One
    /// bit for each function, as the [`Environment`](crate::Environment) numbers those that it watches; 0 without.
    pub left: u64,
}

/// The return addresses on the stack, oldest first: the *call string*.
///
/// It is a ghost: the hardware has no such thing, but it follows from the run, so every state with one history of calls
/// has the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallString {
    frames: Vec<Frame>,
    unchanged: usize,
    /// The number of frames at [`Self::remember`], and those of them that were removed since, youngest first.
    remembered: Option<(usize, Vec<Frame>)>,
}

impl CallString {
    /// The frames, oldest first.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The youngest frame.
    #[must_use]
    pub fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Adds to what the youngest frame carries; nothing happens without a frame.
    pub fn leave(&mut self, left: u64) {
        let Some(frame) = self.top().copied().filter(|frame| frame.left | left != frame.left) else { return };
        self.pop();
        self.push(Frame { left: frame.left | left, ..frame });
    }

    /// Removes the youngest frame.
    pub fn pop(&mut self) {
        self.truncate(self.frames.len().saturating_sub(1));
    }

    /// Removes all but the oldest `length` frames.
    pub fn truncate(&mut self, length: usize) {
        if let Some((count, removed)) = &mut self.remembered {
            // Of the frames that were there, all but the removed ones are there still.
            let left = *count - removed.len();
            removed.extend(self.frames[length.min(left)..left].iter().rev());
        }
        self.frames.truncate(length);
        self.unchanged = self.unchanged.min(length);
    }

    /// Begins to remember frames that are removed, from now on.
    pub fn remember(&mut self) {
        let (count, removed) = self.remembered.get_or_insert_default();
        *count = self.frames.len();
        removed.clear();
    }

    /// Goes back to the frames at [`Self::remember`], and remembers nothing any more.
    pub fn put_back(&mut self) {
        if let Some((count, removed)) = self.remembered.take() {
            self.truncate(count - removed.len());
            self.frames.extend(removed.into_iter().rev());
        }
    }

    /// Stops to remember frames that are removed.
    pub fn forget(&mut self) {
        self.remembered = None;
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// The number of the oldest frames that have stayed since [`Self::mark`].
    #[must_use]
    pub fn unchanged(&self) -> usize {
        self.unchanged
    }

    /// Starts to take note of changes.
    pub fn mark(&mut self) {
        self.unchanged = self.frames.len();
    }
}

/// The most timed windows that a device has, with the pulses that end in a certain time.
pub const MAX_WINDOWS: usize = 8;

/// The part of the state that is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Control {
    /// The program counter as a flash word address.
    pub pc: FlashWordAddress,
    /// True if one more instruction runs before an interrupt can be taken.
    pub interrupt_delay: bool,
    /// True if requests may be so fresh that one more instruction runs before they are taken: the last instruction
    /// wrote to a register that is more than storage, or read a flag.
    pub fresh_request: bool,
    /// True if the processor sleeps.
    pub sleeping: bool,
    /// True if SPH was written and SPL has not followed: SP is *torn*. What uses it meanwhile takes it as it stands,
    /// and ends that.
    pub torn: bool,
    /// True if the last instruction made pins inputs, so that they have not settled.
    pub settling: bool,
    /// True between a reset of any cause and the next entry of the main program ([`Machine::startup_end`](crate::Machine::startup_end)).
    pub in_startup: bool,
    /// Clock cycles for which each timed window of the device stays open, and in which each pulse surely ends that has a
    /// time; 0 when it is closed, or the pulse is not under way.
    pub windows: [u8; MAX_WINDOWS],
    /// The states of the automata of the environment, each by its number from 1; 0 before the first move.
    pub automata: [u8; MAX_AUTOMATA],
    /// The copies that were made just now.
    pub copies: Copies,
}

impl Control {
    /// The same without what hardware does not know.
    #[must_use]
    pub fn of_hardware(self) -> Self {
        Self { copies: Copies::default(), ..self }
    }

    /// Opens the window of this number.
    pub fn open_window(&mut self, window: usize, cycles: u8) {
        self.windows[window] = cycles;
    }

    /// Closes the window of this number.
    pub fn close_window(&mut self, window: usize) {
        self.windows[window] = 0;
    }
}

/// The state of a machine over the value domain `V`.
#[derive(Clone, Debug)]
pub struct MachineState<V> {
    /// Registers, I/O registers and SRAM.
    pub data: DataSpace<V>,
    /// The part of the state that is always known.
    pub control: Control,
    /// The return addresses on the stack.
    pub calls: CallString,
    /// The number of steps that were begun on this value. It is no part of what the microcontroller stores: nothing
    /// depends on it.
    pub steps: u64,
}

impl<V: ByteDomain> MachineState<V> {
    /// A state with `length` data cells that all hold `fill`, at address 0, with no calls.
    #[must_use]
    pub fn new(length: usize, fill: V) -> Self {
        Self { data: DataSpace::new(length, fill), control: Control::default(), calls: CallString::default(), steps: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(position: DataAddress) -> Frame {
        Frame { position, return_address: FlashWordAddress(7), kind: FrameKind::Call, left: 0 }
    }

    #[test]
    fn frames_that_are_removed_can_be_put_back() {
        let mut calls = CallString::default();
        (0..4).for_each(|position| calls.push(frame(DataAddress(position))));
        let before: Vec<Frame> = calls.frames().to_vec();
        calls.mark();
        calls.remember();
        calls.pop();
        calls.push(frame(DataAddress(9)));
        calls.truncate(1);
        (10..14).for_each(|position| calls.push(frame(DataAddress(position))));
        calls.put_back();
        assert_eq!(calls.frames(), before);
        assert_eq!(calls.unchanged(), 1, "what was removed is not what was stored, though it looks the same");
        calls.pop();
        calls.put_back();
        assert_eq!(calls.frames(), &before[..3], "nothing was to be remembered");
        calls.remember();
        calls.push(frame(DataAddress(20)));
        calls.put_back();
        assert_eq!(calls.frames(), &before[..3]);
    }
}
