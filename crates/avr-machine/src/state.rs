//! The state of the machine between two steps.

use crate::data_space::DataSpace;
use three_valued::ByteDomain;

/// What put an entry on the call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameKind {
    /// CALL, RCALL, ICALL or EICALL.
    Call,
    /// The entry into an interrupt handler, by vector number.
    Interrupt(u8),
}

/// A return address that a call or an interrupt entry pushed and that has not been popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The stack pointer before the push: the data address of the least significant byte of the return address.
    pub position: u16,
    /// Where the return goes, as a flash word address.
    pub return_address: u32,
    /// What pushed it.
    pub kind: FrameKind,
}

/// The return addresses on the stack, oldest first: the *call string*.
///
/// It is a ghost: the hardware has no such thing, but it follows from the run, so every state with one history of calls
/// has the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallString {
    frames: Vec<Frame>,
    unchanged: usize,
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

    /// Removes the youngest frame.
    pub fn pop(&mut self) {
        self.frames.pop();
        self.unchanged = self.unchanged.min(self.frames.len());
    }

    /// Removes all but the oldest `length` frames.
    pub fn truncate(&mut self, length: usize) {
        self.frames.truncate(length);
        self.unchanged = self.unchanged.min(length);
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// How many of the oldest frames have stayed since [`Self::mark`].
    #[must_use]
    pub fn unchanged(&self) -> usize {
        self.unchanged
    }

    /// Starts to take note of changes.
    pub fn mark(&mut self) {
        self.unchanged = self.frames.len();
    }
}

/// A half of the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StackPointerHalf {
    /// SPL.
    Low,
    /// SPH.
    High,
}

/// The most timed windows that a device has.
pub const MAX_WINDOWS: usize = 8;

/// The part of the state that is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Control {
    /// The program counter as a flash word address.
    pub pc: u32,
    /// Whether one more instruction runs before an interrupt can be taken.
    pub interrupt_delay: bool,
    /// Whether the last instruction wrote to a register that is more than storage.
    pub peripheral_written: bool,
    /// Whether the processor sleeps.
    pub sleeping: bool,
    /// The half of the stack pointer that was written last while the other has not followed: SP is *torn*.
    pub torn: Option<StackPointerHalf>,
    /// Clock cycles for which each timed window of the device stays open; 0 when it is closed.
    pub windows: [u8; MAX_WINDOWS],
}

impl Control {
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
    /// What is always known.
    pub control: Control,
    /// The return addresses on the stack.
    pub calls: CallString,
}

impl<V: ByteDomain> MachineState<V> {
    /// A state with `length` data cells that all hold `fill`, at address 0, with no calls.
    #[must_use]
    pub fn new(length: usize, fill: V) -> Self {
        Self { data: DataSpace::new(length, fill), control: Control::default(), calls: CallString::default() }
    }
}
