//! The routine to which a place in the program belongs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use avr_image::{FlashByteAddress, Image};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Fetched, Frame, FrameKind, Machine};
use rustc_hash::FxHashMap;

use super::{Routine, Seen};
use avr_model::context::Context;
use avr_model::reduction::skipped_paths::Spot;
use avr_model::state::interner::CallsId;

/// The routines of a program.
pub(crate) struct Places<'a> {
    image: &'a Image,
    machine: &'a Machine,
    /// The targets of calls and of the vectors' jumps, as flash byte addresses: for code without symbols.
    entries: BTreeSet<u32>,
    /// The known beginnings of the functions at some addresses.
    known: RefCell<FxHashMap<u32, u32>>,
}

impl<'a> Places<'a> {
    /// The places of a program whose functions begin at these addresses, if symbols do not say otherwise.
    pub(crate) fn new(machine: &'a Machine, image: &'a Image, entries: BTreeSet<u32>) -> Self {
        Self { image, machine, entries, known: RefCell::default() }
    }

    /// The beginning of the function at a flash byte address: as symbols say, else the nearest entry before it.
    fn start(&self, address: u32) -> u32 {
        *self.known.borrow_mut().entry(address).or_insert_with(|| {
            match self.image.symbols.function_at(FlashByteAddress(address)) {
                Some(located) => address - located.offset,
                None => self.entries.range(..=address).next_back().copied().unwrap_or(address),
            }
        })
    }

    /// RAMEND.
    pub(super) fn data_end(&self) -> DataAddress {
        self.machine.data_end()
    }

    /// The routine of a place, given the youngest frame of its call string.
    pub(crate) fn routine_at(&self, frame: Option<&Frame>, address: u32) -> Routine {
        match frame.map(|frame| frame.kind) {
            Some(FrameKind::Interrupt(number)) => Routine::Handler(number),
            _ => Routine::Function(self.start(address)),
        }
    }

    /// The routine of a spot.
    pub(crate) fn routine(&self, context: &Context<'_>, spot: Spot) -> Routine {
        let mut frames = context.store.frames(spot.calls);
        let real = frames.find(|frame| self.is_call(frame));
        self.routine_at(real.as_ref(), spot.pc.byte().0)
    }

    /// True if a frame belongs to a call or an interrupt. `rcall .+0` calls nothing: it takes two bytes of the stack.
    pub(crate) fn is_call(&self, frame: &Frame) -> bool {
        if matches!(frame.kind, FrameKind::Interrupt(_)) {
            return true;
        }
        let before = frame.return_address.wrapping_sub(1);
        match self.machine.program.fetch(before) {
            Fetched::Instruction { instruction, .. } => !instruction.only_reserves_stack(),
            Fetched::Reserved | Fetched::Outside => true,
        }
    }
}

/// The targets of calls, those of the vector table, and the start of the program; none if there is no time.
pub(super) fn entries(context: &Context<'_>, seen: Seen<'_>, in_time: &dyn Fn(usize) -> bool) -> Option<BTreeSet<u32>> {
    let start = context.machine.options().start.byte().0;
    let table =
        context.machine.device.interrupts.iter().map(|interrupt| FlashWordAddress(interrupt.vector.into()).byte().0);
    let last_vector = start + table.max().unwrap_or(0);
    let mut entries = BTreeSet::from([start]);
    seen.moves(in_time, &mut |from, to, _| {
        let is_called = is_deeper(context, from.calls, to.calls);
        let leaves_table = (start..=last_vector).contains(&from.pc.byte().0) && to.pc != from.pc.wrapping_add(1);
        if is_called || leaves_table {
            entries.insert(to.pc.byte().0);
        }
    })?;
    Some(entries)
}

fn is_deeper(context: &Context<'_>, before: CallsId, after: CallsId) -> bool {
    context.store.depth(after) > context.store.depth(before)
}
