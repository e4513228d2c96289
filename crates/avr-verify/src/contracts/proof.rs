//! The proof of a body against its contract: all of its paths, by symbolic execution from every state of a caller.

use super::body::{Body, Places, is_kept, name, names};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{ByteSet, Contract, Control, Frame, FrameKind, MAX_WINDOWS, Machine, Returned, flag};
use avr_symbolic::{
    Answer, Assignment, End, EndKind, ExecutionLimits, Executor, Graph, PathCondition, QueryLimits, Strategy,
    SymbolicBit, SymbolicByte, SymbolicState, satisfy,
};
use std::cell::RefCell;
use three_valued::{BitDomain, ByteDomain};

/// The most steps of all paths of a body together, and the most nodes of their graph.
const STEPS: usize = 50_000;
const NODES: usize = 4_000_000;

/// The flash word address that the call of a proof returns to. The body never comes there: the proof ends with the return.
pub(super) const RETURN: FlashWordAddress = FlashWordAddress(0);

/// The outcome of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Every call keeps the contract.
    Kept { steps: usize },
    /// Nothing is proved, for the reason given. Callers with these contents of registers and memory may show why.
    Open { reason: String, steps: usize, callers: Vec<Vec<u8>> },
}

/// Tries to prove that a body keeps its contract, on a machine without contracts.
pub(super) fn prove(machine: &Machine, contract: &Contract, is_over: &dyn Fn() -> bool) -> Proof {
    let graph = Graph::new(NODES);
    let places = Places::of(machine);
    let first = first_state(machine, contract, places, &graph);
    let limits = ExecutionLimits { steps: STEPS, ..ExecutionLimits::default() };
    let body = Body { machine, contract, places, first: &first, obstacle: RefCell::new(None), is_over };
    let start = (first.clone(), PathCondition::new());
    let execution = Executor::new(machine, limits).execute(&graph, start, &Strategy::anything(), &body);
    let open = |reason: String, assignments: &[Assignment]| {
        let callers = assignments.iter().filter_map(|it| contents(&graph, &first, it)).collect();
        Proof::Open { reason, steps: execution.steps, callers }
    };
    if let Some(obstacle) = body.obstacle.take() {
        return open(obstacle, &[]);
    }
    let prover = Prover { machine, contract, places, first: &first };
    for end in &execution.ends {
        if let Err((reason, assignment)) = prover.check(end) {
            return open(reason, assignment.as_slice());
        }
    }
    Proof::Kept { steps: execution.steps }
}

/// Every state in which a caller may be after the call: I is 0, r1 is 0, the watchdog resets nothing, and everything else is open.
fn first_state<'g>(machine: &Machine, contract: &Contract, places: Places, graph: &'g Graph) -> SymbolicState<'g> {
    let mut state = SymbolicState::new(machine.cells(), SymbolicByte::constant(0));
    for address in machine.addresses() {
        state.data.set(address, graph.byte(u8::MAX));
    }
    state.data.set(machine.status_address(), graph.byte(!(1 << flag::I)));
    state.data.set(DataAddress(1), SymbolicByte::constant(0));
    if let Some(watchdog) = &machine.device.watchdog {
        let off = state.data.get(watchdog.reset_enable.address).with_bit(watchdog.reset_enable.bit, &SymbolicBit::ZERO);
        state.data.set(watchdog.reset_enable.address, off);
    }
    let stack = machine.stack_pointer();
    state.data.set(stack.low, SymbolicByte::constant(places.entry.low()));
    if let Some(high) = stack.high {
        state.data.set(high, SymbolicByte::constant(places.entry.high()));
    }
    let bytes = RETURN.0.to_le_bytes().into_iter().take(machine.device.core.pc_bytes.into());
    for (byte, below) in bytes.zip(0_u16..) {
        state.data.set(places.before.wrapping_sub(below), SymbolicByte::constant(byte));
    }
    state.control = Control { pc: contract.entry, ..Control::default() };
    state.calls.push(frame(places));
    state
}

/// The frame of the call.
pub(super) fn frame(places: Places) -> Frame {
    Frame { position: places.before, return_address: RETURN, kind: FrameKind::Call, stack: 0, left: 0 }
}

/// The contents of all cells at the entry under an assignment.
fn contents<'g>(graph: &'g Graph, first: &SymbolicState<'g>, assignment: &Assignment) -> Option<Vec<u8>> {
    let mut values = avr_symbolic::Valuation::new(graph, assignment.clone());
    first.data.cells().iter().map(|cell| cell.known().or_else(|| values.byte(cell))).collect()
}

/// The reason why an end of paths proves nothing, with an assignment that leads there, if one is known.
type Failed = (String, Option<Assignment>);

/// Proves what a contract demands of the ends of paths.
struct Prover<'a, 'g> {
    machine: &'a Machine,
    contract: &'a Contract,
    places: Places,
    first: &'a SymbolicState<'g>,
}

impl<'g> Prover<'_, 'g> {
    fn check(&self, end: &End<'g>) -> Result<(), Failed> {
        let here = end.condition.bit();
        match &end.kind {
            EndKind::Goal(state) => self.check_return(state, &here),
            EndKind::Hazard(hazard) => never(&here, || format!("it may come to the hazard {hazard}")),
            EndKind::Cannot(reason) => {
                never(&here, || format!("its paths cannot all be followed to its return: {reason}"))
            }
        }
    }

    fn check_return(&self, state: &SymbolicState<'g>, here: &SymbolicBit<'g>) -> Result<(), Failed> {
        let Self { machine, contract, places, first } = *self;
        let is_back = machine.stack_pointer().value_in(&state.data) == Some(places.before);
        let control = &state.control;
        let is_plain = !control.interrupt_delay && !control.sleeping && !control.torn && !control.settling;
        if !is_back || control.pc != RETURN || !is_plain || control.windows != [0; MAX_WINDOWS] {
            return Err(("it may return in another way than a call expects".to_owned(), None));
        }
        if state.data.get(machine.status_address()).bit(flag::I).known() != Some(false) {
            return Err(("it may return with interrupts enabled".to_owned(), None));
        }
        for cell in machine.addresses() {
            let (now, before) = (state.data.get(cell), first.data.get(cell));
            let is_saved = cell < DataAddress::IO && !contract.changed().any(|changed| changed == cell);
            if is_saved && (now != before || now.has_open_bits()) {
                let differs = now.equals(before).not();
                never(&here.and(&differs), || {
                    format!("it may return with another {} than it was called with", name(machine, cell))
                })?;
            }
            if is_kept(machine, contract, places, cell) && (now != before || now.has_open_bits()) {
                return Err((format!("it may change {}", name(machine, cell)), None));
            }
        }
        for returned in &contract.returns {
            let outside = is_returned(state, returned).not();
            never(&here.and(&outside), || {
                format!("it may return with another {} than the contract says", names(machine, returned))
            })?;
        }
        Ok(())
    }
}

/// Proves that a bit is never 1.
fn never(bit: &SymbolicBit<'_>, reason: impl Fn() -> String) -> Result<(), Failed> {
    match satisfy(bit, QueryLimits::default()) {
        Answer::Unsatisfiable => Ok(()),
        Answer::Satisfiable(assignment) => Err((reason(), Some(assignment))),
        Answer::None(unanswered) => Err((format!("{}: {unanswered}", reason()), None)),
    }
}

/// The bit that is 1 if cells have contents that they may return with.
fn is_returned<'g>(state: &SymbolicState<'g>, returned: &Returned) -> SymbolicBit<'g> {
    let in_product = |product: &Vec<ByteSet>| {
        let parts = returned.cells.iter().zip(product).map(|(cell, values)| is_in(state.data.get(*cell), values));
        parts.fold(SymbolicBit::ONE, |all, part| all.and(&part))
    };
    returned.products.iter().map(in_product).fold(SymbolicBit::ZERO, |any, part| any.or(&part))
}

/// The bit that is 1 if a byte is in a set.
fn is_in<'g>(byte: &SymbolicByte<'g>, values: &ByteSet) -> SymbolicBit<'g> {
    let all = (0..=u8::MAX).filter(|value| values.contains(*value));
    all.fold(SymbolicBit::ZERO, |any, value| any.or(&byte.equals(&SymbolicByte::constant(value))))
}
