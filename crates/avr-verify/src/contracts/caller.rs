//! Concrete calls of a function, to find one that breaks its contract.

use super::body::{Places, is_kept, name, names};
use super::proof::frame;
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{
    Contract, Control, Demand, DeterminedBy, Environment, Event, Input, Machine, MachineState, Question, Stop, flag,
};

/// The calls that are tried, and the most steps of each.
const CALLS: u64 = 200;
const STEPS: usize = 20_000;

/// Supplies random inputs; nothing happens that need not. Notes accesses and calls of the last step.
struct Inputs {
    random: fastrand::Rng,
    seen: Vec<Seen>,
}

/// An event of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Read(DataAddress),
    Write(DataAddress),
    Call(FlashWordAddress),
}

impl Environment<u8> for Inputs {
    fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        self.random.u8(..) & mask
    }

    fn event(&mut self, event: Event<'_, u8>) {
        match event {
            Event::Read(cell, _) => self.seen.push(Seen::Read(cell)),
            Event::Write(cell, _) => self.seen.push(Seen::Write(cell)),
            Event::Call(entry) => self.seen.push(Seen::Call(entry)),
            _ => {}
        }
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        0
    }
}

/// A call that breaks the contract, in words: one from these contents of all cells, or a random one.
pub(super) fn broken(machine: &Machine, contract: &Contract, likely: &[Vec<u8>]) -> Option<String> {
    let likely = likely.iter().map(Some);
    let others = std::iter::repeat_n(None, CALLS as usize);
    likely.chain(others).zip(0_u64..).find_map(|(contents, seed)| {
        let mut inputs = Inputs { random: fastrand::Rng::with_seed(seed), seen: Vec::new() };
        let caller = caller(machine, contract, contents, &mut inputs);
        let said = breach(machine, contract, &caller, &mut inputs)?;
        Some(format!("{said}; it was called with {}", registers(&caller)))
    })
}

/// A state just after the call. I/O registers that are more than storage are as after a reset.
fn caller(machine: &Machine, contract: &Contract, contents: Option<&Vec<u8>>, inputs: &mut Inputs) -> MachineState<u8> {
    let places = Places::of(machine);
    let mut state: MachineState<u8> = machine.power_on(inputs);
    let sram = machine.sram();
    let is_open = |cell: &DataAddress| *cell < DataAddress::IO || sram.contains(cell) || machine.is_mere_storage(*cell);
    for cell in machine.addresses().filter(is_open) {
        let value = contents.map_or_else(|| inputs.random.u8(..), |contents| contents[cell.index()]);
        state.data.set(cell, value);
    }
    let status = inputs.random.u8(..) & !(1 << flag::I);
    state.data.set(machine.status_address(), status);
    state.data.set(DataAddress(1), 0);
    let stack = machine.stack_pointer();
    state.data.set(stack.low, places.entry.low());
    if let Some(high) = stack.high {
        state.data.set(high, places.entry.high());
    }
    let frame = frame(places);
    let bytes = frame.return_address.0.to_le_bytes().into_iter().take(machine.device.core.pc_bytes.into());
    for (byte, below) in bytes.zip(0_u16..) {
        state.data.set(places.before.wrapping_sub(below), byte);
    }
    state.control = Control { pc: contract.entry, ..Control::default() };
    state.calls.push(frame);
    state
}

/// The first breach of the contract in a run of the body, in words; none if it returns as it should, or does not within the limit.
fn breach(machine: &Machine, contract: &Contract, caller: &MachineState<u8>, inputs: &mut Inputs) -> Option<String> {
    let places = Places::of(machine);
    let lowest = u32::from(places.entry.0).saturating_sub(contract.stack.into());
    let mut state = caller.clone();
    for _ in 0..STEPS {
        let at = state.control.pc.byte();
        inputs.seen.clear();
        match machine.step(&mut state, inputs) {
            Ok(_) => {}
            Err(Stop::Hazard(hazard)) => return Some(format!("a run comes to the hazard {hazard} at {at}")),
            Err(Stop::Limit(_) | Stop::Infeasible) => return None,
        }
        if let Some(said) = inputs.seen.iter().find_map(|seen| not_allowed(machine, contract, *seen)) {
            return Some(format!("a run {said} at {at}, which is no event of the contract"));
        }
        if u32::from(machine.stack_pointer().concrete(&state.data).0) < lowest {
            return Some(format!("a run takes more stack than {} bytes at {at}", contract.stack));
        }
        if state.data.get(machine.status_address()) >> flag::I & 1 == 1 {
            return Some(format!("a run enables interrupts at {at}"));
        }
        let is_changed = |cell: &DataAddress| state.data.get(*cell) != caller.data.get(*cell);
        let kept = |cell: &DataAddress| is_kept(machine, contract, places, *cell);
        if let Some(cell) = machine.addresses().find(|cell| kept(cell) && is_changed(cell)) {
            return Some(format!("a run changes {} at {at}", name(machine, cell)));
        }
        if state.calls.frames().is_empty() {
            return at_return(machine, contract, (caller, &state));
        }
    }
    None
}

/// An event that the contract does not allow, in words.
fn not_allowed(machine: &Machine, contract: &Contract, seen: Seen) -> Option<String> {
    let (events, sram_start) = (contract.events.as_ref()?, machine.sram().start);
    let one = |cell: DataAddress| cell..cell.wrapping_add(1);
    match seen {
        Seen::Read(cell) => {
            (!events.may_read(&one(cell), sram_start)).then(|| format!("reads {}", name(machine, cell)))
        }
        Seen::Write(cell) => {
            (!events.may_write(&one(cell), sram_start)).then(|| format!("writes {}", name(machine, cell)))
        }
        Seen::Call(entry) => events.excludes_call(entry).then(|| format!("calls the function at {}", entry.byte())),
    }
}

/// The breach of the contract in the state after the return.
fn at_return(
    machine: &Machine,
    contract: &Contract,
    (caller, state): (&MachineState<u8>, &MachineState<u8>),
) -> Option<String> {
    let value = |cell: DataAddress| *state.data.get(cell);
    let is_saved = |cell: &DataAddress| !contract.changed().any(|changed| changed == *cell);
    let mut saved = DataAddress(0).until(DataAddress::IO).filter(is_saved);
    if let Some(cell) = saved.find(|cell| value(*cell) != *caller.data.get(*cell)) {
        let (register, before) = (name(machine, cell), caller.data.get(cell));
        return Some(format!("a run returns with {register} = {}, and was called with {before}", value(cell)));
    }
    if machine.stack_pointer().concrete(&state.data) != Places::of(machine).before {
        return Some("a run returns with another stack pointer than before the call".to_owned());
    }
    let wrong = contract.returns.iter().find(|returned| !returned.contains(value))?;
    // The cells of a word fall, so that its bytes come in the order of writing.
    let values: Vec<String> = wrong.cells.iter().map(|cell| value(*cell).to_string()).collect();
    Some(format!("a run returns with {} = {}", names(machine, wrong), values.join(":")))
}

/// The registers in which arguments are passed, in words.
fn registers(caller: &MachineState<u8>) -> String {
    let of = |number: u16| format!("r{number} = {}", caller.data.get(DataAddress(number)));
    (18..26).rev().map(of).collect::<Vec<_>>().join(", ")
}
