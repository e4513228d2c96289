//! The call string at the end of a run: the functions that are under way, the youngest first.

use avr_image::{FlashByteAddress, FlashWordAddress, without_detours};
use avr_isa::{Instruction, decode};
use avr_machine::{Frame, FrameKind, HazardKind};
use avr_verify::{Evidence, LastState};
use serde::Serialize;

use crate::names::Names;

/// A function under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CallData {
    /// Flash byte address of the instruction that it is at: the last one of the run, a call, or one that was interrupted.
    pub(crate) pc: u32,
    function: Option<String>,
    line: Option<String>,
    /// Bytes of the stack that it uses, return address included.
    bytes: u16,
    /// The interrupt that it was entered for; null for what was called, and for the main program.
    interrupt: Option<&'static str>,
}

impl CallData {
    /// All functions under way at the end of a run.
    pub(super) fn all(evidence: &Evidence, names: &Names<'_>) -> Vec<Self> {
        let mut below = evidence.end.stack_pointer;
        let mut pc = evidence.end.pc;
        let mut all = Vec::new();
        for frame in evidence.calls.iter().rev() {
            let interrupt = match frame.kind {
                FrameKind::Interrupt(number) => Some(names.interrupt(number)),
                FrameKind::Call => None,
            };
            all.push(Self::new(names, pc, frame.position.offset_from(below).unwrap_or_default(), interrupt));
            (pc, below) = (left_at(names, frame), frame.position);
        }
        all.push(Self::new(names, pc, evidence.end.stack_end.offset_from(below).unwrap_or_default(), None));
        all
    }

    fn new(names: &Names<'_>, pc: u32, bytes: u16, interrupt: Option<&'static str>) -> Self {
        Self { pc, function: names.function(pc), line: names.source_line(pc), bytes, interrupt }
    }

    /// The function and the line as one text.
    pub(super) fn text(&self) -> String {
        let function = self.function.as_ref().map_or_else(String::new, |function| format!(" in {function}"));
        let line = self.line.as_deref().map_or_else(String::new, |line| format!(", {}", without_detours(line)));
        let bytes = if self.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", self.bytes) };
        let interrupt = self.interrupt.map_or_else(String::new, |name| format!(", interrupt {name}"));
        format!("{:#06x}{function}{line} ({bytes} of stack{interrupt})", self.pc)
    }

    /// The words for how the function below it, which is older, comes to it.
    pub(super) fn entered(&self) -> &'static str {
        if self.interrupt.is_some() { "interrupted" } else { "called from" }
    }
}

/// Flash byte address of the instruction at which a function was left for the frame: the call, or the one that an interrupt
/// came before.
pub(crate) fn left_at(names: &Names<'_>, frame: &Frame) -> u32 {
    let back = match frame.kind {
        FrameKind::Interrupt(_) => 0,
        FrameKind::Call if is_long_call(names, frame.return_address.0) => 2,
        FrameKind::Call => 1,
    };
    FlashWordAddress(frame.return_address.0.saturating_sub(back)).byte().0
}

/// True if the two words before a flash word address are a call.
fn is_long_call(names: &Names<'_>, address: u32) -> bool {
    let word = |back: u32| names.image.program.word(FlashWordAddress(address.checked_sub(back)?));
    let instruction = word(2).and_then(|first| decode(first, word(1), names.device.core.features).ok());
    instruction.is_some_and(|it| it.words() == 2 && matches!(it, Instruction::Call { .. }))
}

/// The entry of a property file that allows the hazard at the end of a run, in the function where it happens if it has a place.
pub(super) fn allow_line(kind: HazardKind, end: &LastState, names: &Names<'_>) -> String {
    // An interrupt may have come instead of the instruction, and its entry has no place.
    let is_of_stack = matches!(kind, HazardKind::StackIntoData | HazardKind::StackOutsideSram);
    let may_be_entry = is_of_stack && end.status >> 7 & 1 == 1;
    let is_code = names.image.program.word(FlashByteAddress(end.pc).word()).is_some();
    let function = names.function(end.pc).filter(|_| kind.has_place() && is_code && !may_be_entry);
    let at = function.map_or_else(String::new, |function| format!(" at {function}"));
    format!("allow: {{\"{kind}{at}\": \"why it does no harm\"}}")
}
