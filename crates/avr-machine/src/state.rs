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
    /// The number of the stack that it lies on ([`Control::stack`]).
    pub stack: u8,
    /// Functions that were left by a jump while this was the youngest frame: their return is the return to this frame. One
    /// bit for each function, as the [`Environment`](crate::Environment) numbers those that it watches; 0 without.
    pub left: u64,
}

/// The return addresses on the stack, oldest first: the *call string*.
///
/// It is a ghost: the hardware has no such thing, but it follows from the run, so every state with one history of calls
/// has the same. Where tasks have stacks of their own, the frames of the others are *parked*: they come first, by the number of
/// their stack, and no call or return changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallString {
    frames: Vec<Frame>,
    /// The number of parked frames.
    parked: usize,
    unchanged: usize,
    /// The frames at [`Self::remember`].
    remembered: Option<Remembered>,
}

/// The part of a call string that is remembered, to go back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Remembered {
    /// The number of frames.
    count: usize,
    /// The number of those that are parked.
    parked: usize,
    /// Those that were removed since, youngest first.
    removed: Vec<Frame>,
}

impl CallString {
    /// The frames on the stack in use, oldest first.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames[self.parked..]
    }

    /// The frames on all stacks: those that are parked, and those of the stack in use.
    #[must_use]
    pub fn all(&self) -> &[Frame] {
        &self.frames
    }

    /// The youngest frame on the stack in use.
    #[must_use]
    pub fn top(&self) -> Option<&Frame> {
        self.frames().last()
    }

    /// True if both have the same frames, with the same ones in use.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.parked == other.parked && self.frames == other.frames
    }

    /// Goes to another stack: its frames are the ones in use, and those of the stack before are parked.
    pub fn switch_to(&mut self, stack: u8) {
        let mut all = self.frames.clone();
        all.sort_by_key(|frame| (frame.stack == stack, frame.stack));
        let same = all.iter().zip(&self.frames).take_while(|(new, old)| new == old).count();
        self.truncate(same);
        self.frames.extend_from_slice(&all[same..]);
        self.select(stack);
    }

    /// Takes note of which stack is in use, of frames that are in order.
    pub fn select(&mut self, stack: u8) {
        self.parked = self.frames.iter().rposition(|frame| frame.stack != stack).map_or(0, |last| last + 1);
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

    /// Removes the youngest frame of the stack in use.
    pub fn pop(&mut self) {
        self.truncate(self.frames.len().saturating_sub(1).max(self.parked));
    }

    /// Removes all but the oldest `length` frames, of those on all stacks.
    pub fn truncate(&mut self, length: usize) {
        if let Some(Remembered { count, removed, .. }) = &mut self.remembered {
            // Of the frames that were there, all but the removed ones are there still.
            let left = *count - removed.len();
            removed.extend(self.frames[length.min(left)..left].iter().rev());
        }
        self.frames.truncate(length);
        self.parked = self.parked.min(length);
        self.unchanged = self.unchanged.min(length);
    }

    /// Begins to remember frames that are removed, from now on.
    pub fn remember(&mut self) {
        let remembered = self.remembered.get_or_insert_default();
        (remembered.count, remembered.parked) = (self.frames.len(), self.parked);
        remembered.removed.clear();
    }

    /// Goes back to the frames at [`Self::remember`], and remembers nothing any more.
    pub fn put_back(&mut self) {
        if let Some(Remembered { count, parked, removed }) = self.remembered.take() {
            self.truncate(count - removed.len());
            self.frames.extend(removed.into_iter().rev());
            self.parked = parked;
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
    /// The number of the stack in use: 0 for the main one, else that of a task ([`Options::stacks`](crate::Options::stacks)), from 1.
    pub stack: u8,
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
        Frame { position, return_address: FlashWordAddress(7), kind: FrameKind::Call, stack: 0, left: 0 }
    }

    #[test]
    fn frames_of_other_stacks_are_parked() {
        let on = |stack, position| Frame { stack, ..frame(DataAddress(position)) };
        let mut calls = CallString::default();
        [1, 2].into_iter().for_each(|position| calls.push(on(0, position)));
        calls.switch_to(2);
        assert_eq!(calls.top(), None);
        calls.pop();
        calls.push(on(2, 3));
        calls.switch_to(1);
        calls.push(on(1, 4));
        calls.mark();
        calls.switch_to(0);
        assert_eq!(calls.frames(), [on(0, 1), on(0, 2)]);
        assert_eq!(calls.unchanged(), 0);
        calls.pop();
        calls.switch_to(2);
        assert_eq!(calls.all(), [on(0, 1), on(1, 4), on(2, 3)], "parked ones are in the order of their stacks");
        assert_eq!(calls.frames(), [on(2, 3)]);
        let mut again = CallString::default();
        calls.all().iter().for_each(|frame| again.push(*frame));
        again.select(2);
        assert_eq!(again.frames(), calls.frames());
        assert!(again.agrees(&calls));
        again.select(1);
        assert!(!again.agrees(&calls), "no other stack is in use");
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
