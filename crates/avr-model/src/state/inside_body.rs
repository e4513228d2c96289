//! States inside a function with a contract as formulas see them: one state of the model stands for all from the entry to the return.

use super::view::View;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Contract, Machine};
use avr_properties::{Atom, AtomKind, CellsRead, Event, StateView};
use three_valued::fault::{Fault, is_on};
use three_valued::{Truth, TvByte};

/// The truth of an atom in all states of a function with a contract that a state at its entry stands for.
///
/// SOUND: the program counter, registers and flags of a body are not known, nor are events, but for those that its contract excludes. The stack pointer is any that the contract leaves
/// room for. Other cells are those of the state: what the contract lets a body change has lost its content there.
pub(crate) fn truth(machine: &Machine, contract: &Contract, view: View<'_>, atom: &Atom) -> Truth {
    match atom.kind() {
        AtomKind::Constant(_) | AtomKind::Hazard | AtomKind::Ended | AtomKind::InInterrupt | AtomKind::OnStack(_) => {
            atom.evaluate(&view)
        }
        AtomKind::CellEquals { .. } | AtomKind::Compare(_) if !atom.reads_pc() => {
            compared(machine, contract, view, atom)
        }
        AtomKind::Event(event, _) if !may_cause(machine, contract, event) => match atom.evaluate(&view) {
            // Neither the call shows it nor a step of the body.
            Truth::False => Truth::False,
            Truth::True | Truth::Unknown => Truth::Unknown,
        },
        _ => Truth::Unknown,
    }
}

/// True if a body may cause an event. One with a contract runs while no interrupt comes.
fn may_cause(machine: &Machine, contract: &Contract, event: &Event) -> bool {
    let Some(events) = &contract.events else { return true };
    let sram_start = machine.sram().start;
    match event {
        _ if is_on(Fault::BodySilent) => false,
        Event::Read(cells) => events.may_read(cells, sram_start),
        Event::Write(cells) => events.may_write(cells, sram_start),
        Event::Call(entry) => !events.excludes_call(FlashByteAddress(entry.address).word()),
        Event::Return(_) => true,
        Event::Interrupt(_) => false,
    }
}

/// The truth of a comparison of cells.
fn compared(machine: &Machine, contract: &Contract, view: View<'_>, atom: &Atom) -> Truth {
    let CellsRead::These(cells) = atom.cells() else { return Truth::Unknown };
    let is_lost = |cell: DataAddress| cell < DataAddress::IO || cell == machine.status_address();
    if cells.iter().any(|(cell, _)| is_lost(*cell)) {
        return Truth::Unknown;
    }
    if !cells.iter().any(|(cell, _)| machine.stack_pointer().contains(*cell)) {
        return atom.evaluate(&view);
    }
    let Some(pointer) = machine.stack_pointer().value(|cell| view.cell(cell).known()) else { return Truth::Unknown };
    let at = |below: u16| atom.evaluate(&InsideBody { view, machine, pointer: pointer.wrapping_sub(below) });
    let first = at(0);
    if (1..=contract.stack).all(|below| at(below) == first) { first } else { Truth::Unknown }
}

/// A state inside a body, with its stack pointer.
struct InsideBody<'a> {
    view: View<'a>,
    machine: &'a Machine,
    pointer: DataAddress,
}

impl StateView for InsideBody<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        let stack = self.machine.stack_pointer();
        match (address == stack.low, Some(address) == stack.high) {
            (true, _) => TvByte::constant(self.pointer.low()),
            (_, true) => TvByte::constant(self.pointer.high()),
            (false, false) => self.view.cell(address),
        }
    }

    fn pc(&self) -> FlashByteAddress {
        self.view.pc()
    }

    fn stack_pointer_torn(&self) -> bool {
        false
    }

    fn interrupt_depth(&self) -> usize {
        self.view.interrupt_depth()
    }

    fn stack(&self) -> u8 {
        self.view.stack()
    }
}
