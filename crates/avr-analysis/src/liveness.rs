//! Liveness of registers and flags (Aho et al., Compilers, section 9.2.5): those that some run reads before it
//! overwrites them. The analysis also finds those whose value may end in a data or flash address.
//!
//! Both are computed on the machine code alone. The result guides decay and the distinction of states, and is never
//! relied on. Decay is sound whatever is forgotten, and refinement brings back what was forgotten wrongly.

use crate::control_flow::Flow;
use crate::loop_counters;
use crate::refinable_values::RefinableValues;
use crate::register_effects::{ALL, Cells, Effect, REGISTERS, effect};
use avr_isa::{ControlFlow, DataAddress, FlashWordAddress, Instruction};
use avr_machine::{Fetched, Machine, Program};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The facts about an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Facts {
    /// Read before they are overwritten on some way to the end of the function.
    live: Cells,
    /// Overwritten on no instruction of some way to the end of the function.
    passing: Cells,
    /// Their values may end in an address.
    addressing: Cells,
}

/// Liveness of the whole program.
#[derive(Debug)]
pub struct Liveness {
    facts: Vec<Facts>,
    /// The registers that each function and handler that was asked for pushes in the beginning, by its first instruction.
    saved: RefCell<FxHashMap<FlashWordAddress, Arc<[u8]>>>,
    /// The registers whose values may end in an address, by flash word address.
    addressing: Vec<u32>,
    /// Those that `dec` counts the rounds of a loop in.
    counting: Vec<u32>,
    /// Those whose values may end in an address, or are compared with a register that counts the rounds of a loop.
    telling: Vec<u32>,
    /// The values that comparisons refine.
    refinable: RefinableValues,
}

/// The number of instructions at the beginning of a function that are looked at for registers that it saves.
const MAX_PROLOGUE: usize = 48;

impl Liveness {
    /// Computes the liveness of every instruction in a program.
    pub fn new(machine: &Machine) -> Self {
        Self::observing(machine, &[])
    }

    /// The same where properties observe these cells, by data address.
    pub fn observing(machine: &Machine, observed: &[DataAddress]) -> Self {
        let mut effects: Vec<Option<Effect>> =
            machine.program.addresses().map(|address| effect(&machine.program, address)).collect();
        let mut facts = vec![Facts::default(); effects.len()];
        solve(&effects, |address, facts| update_liveness(&effects, address, facts), &mut facts);
        let returns = call_returns(&effects);
        let feeding = |effects: &[Option<Effect>], mut facts: Vec<Facts>| -> Vec<u32> {
            solve(effects, |address, facts| update_addressing(effects, &returns, address, facts), &mut facts);
            facts.iter().map(|facts| (facts.addressing & REGISTERS) as u32).collect()
        };
        let addressing = feeding(&effects, facts.clone());
        let counting = loop_counters::counting(&machine.program, &effects);
        for (address, registers) in loop_counters::comparisons(&machine.program, &effects) {
            if let Some(effect) = &mut effects[address.index()] {
                effect.pointers |= Cells::from(registers);
            }
        }
        let telling = feeding(&effects, facts.clone());
        let refinable = RefinableValues::new(machine, observed, effects, |effects| feeding(effects, facts.clone()));
        Self { facts, saved: RefCell::default(), addressing, counting, telling, refinable }
    }

    /// The registers that the function or handler at a flash word address pushes first, in this order.
    pub fn saved_by(&self, program: &Program, entry: FlashWordAddress) -> Arc<[u8]> {
        let mut saved = self.saved.borrow_mut();
        Arc::clone(saved.entry(entry).or_insert_with(|| saved_registers(program, entry).into()))
    }

    /// The registers and flags that are live at an instruction (flash word address): read there or later before they
    /// are overwritten. `after` are those that are live after the present function returns.
    pub fn live(&self, address: FlashWordAddress, after: Cells) -> Cells {
        self.facts.get(address.index()).map_or(ALL, |facts| facts.live | facts.passing & after)
    }

    /// The registers at an instruction whose values may end in an address.
    pub fn addressing(&self, address: FlashWordAddress) -> u32 {
        self.addressing.get(address.index()).copied().unwrap_or(0)
    }

    /// The values that comparisons refine.
    pub fn refinable(&self) -> &RefinableValues {
        &self.refinable
    }

    /// The registers at an instruction whose values distinguish the rounds of loops; with `most`, also those that count
    /// rounds otherwise than with `dec`, and what they are compared with.
    pub fn telling(&self, address: FlashWordAddress, most: bool) -> u32 {
        let at = |registers: &[u32]| registers.get(address.index()).copied().unwrap_or(0);
        at(&self.counting) | if most { at(&self.telling) } else { at(&self.addressing) }
    }
}

/// Applies `update` to the facts of all instructions until nothing changes, from the last instruction to the first.
fn solve(effects: &[Option<Effect>], update: impl Fn(usize, &[Facts]) -> Facts, facts: &mut [Facts]) {
    let mut changed = true;
    while changed {
        changed = false;
        for address in (0..effects.len()).rev() {
            let new = update(address, facts);
            changed |= new != facts[address];
            facts[address] = new;
        }
    }
}

fn update_liveness(effects: &[Option<Effect>], address: usize, facts: &[Facts]) -> Facts {
    let Some(effect) = &effects[address] else { return Facts { live: 0, passing: 0, addressing: 0 } };
    let at = |target: FlashWordAddress| facts.get(target.index()).copied().unwrap_or_default();
    let (live, passing) = match &effect.flow {
        Flow::Next(targets) => targets.iter().fold((0, 0), |(live, passing), target| {
            let facts = at(*target);
            (live | facts.live, passing | facts.passing)
        }),
        Flow::Call { function, next } => {
            let (function, next) = (at(*function), at(*next));
            (function.live | function.passing & next.live, function.passing & next.passing)
        }
        Flow::Return => (0, ALL),
        Flow::IndirectCall { .. } | Flow::Unknown => (ALL, ALL),
    };
    let facts = facts[address];
    Facts { live: effect.read | live & !effect.written, passing: passing & !effect.written, ..facts }
}

fn update_addressing(
    effects: &[Option<Effect>],
    returns: &BTreeMap<FlashWordAddress, Vec<FlashWordAddress>>,
    address: usize,
    facts: &[Facts],
) -> Facts {
    let Some(effect) = &effects[address] else { return Facts::default() };
    let at = |target: FlashWordAddress| facts.get(target.index()).map_or(0, |facts| facts.addressing);
    let wanted = match &effect.flow {
        Flow::Next(targets) => targets.iter().fold(0, |all, target| all | at(*target)),
        Flow::Call { function, next } => {
            let passing = facts.get(function.index()).map_or(ALL, |facts| facts.passing);
            at(*function) | at(*next) & passing
        }
        Flow::IndirectCall { next } => at(*next),
        Flow::Return => returns
            .get(&FlashWordAddress(address as u32))
            .map_or(0, |places| places.iter().fold(0, |all, place| all | at(*place))),
        Flow::Unknown => 0,
    };
    let feeds = if wanted & effect.written & REGISTERS == 0 { 0 } else { effect.read & !effect.stored & REGISTERS };
    Facts { addressing: effect.pointers | feeds | wanted & !effect.written, ..facts[address] }
}

/// The return addresses of each return instruction: behind the calls of every function that it is part of.
fn call_returns(effects: &[Option<Effect>]) -> BTreeMap<FlashWordAddress, Vec<FlashWordAddress>> {
    let mut calls = BTreeMap::<FlashWordAddress, Vec<FlashWordAddress>>::new();
    for effect in effects.iter().flatten() {
        if let Flow::Call { function, next } = effect.flow {
            calls.entry(function).or_default().push(next);
        }
    }
    let mut returns = BTreeMap::<FlashWordAddress, Vec<FlashWordAddress>>::new();
    for (function, places) in calls {
        for address in returns_of(effects, function) {
            returns.entry(address).or_default().extend(&places);
        }
    }
    returns
}

/// The return instructions that a function reaches without leaving calls.
fn returns_of(effects: &[Option<Effect>], function: FlashWordAddress) -> Vec<FlashWordAddress> {
    let (mut found, mut waiting, mut seen) = (Vec::new(), vec![function], std::collections::BTreeSet::new());
    while let Some(address) = waiting.pop() {
        let Some(Some(effect)) = effects.get(address.index()) else { continue };
        if !seen.insert(address) {
            continue;
        }
        match &effect.flow {
            Flow::Next(targets) => waiting.extend(targets),
            Flow::Call { next, .. } | Flow::IndirectCall { next } => waiting.push(*next),
            Flow::Return => found.push(address),
            Flow::Unknown => {}
        }
    }
    found
}

/// The registers that code pushes before its first branch: at r0's place what r0 was loaded with counts as r0.
fn saved_registers(program: &Program, entry: FlashWordAddress) -> Vec<u8> {
    let (mut saved, mut address) = (Vec::new(), entry);
    for _ in 0..MAX_PROLOGUE {
        let Fetched::Instruction { instruction, words, .. } = program.fetch(address) else { break };
        if let Instruction::Push { rr } = instruction {
            saved.push(rr.index());
        }
        let behind = address.wrapping_add(words.into());
        address = match instruction.control_flow(address, program) {
            ControlFlow::Jump { target } if saved.is_empty() || target == behind => target,
            ControlFlow::Call { next, .. } if instruction.only_reserves_stack() => next,
            ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => next,
            ControlFlow::Skip { .. }
            | ControlFlow::Branch { .. }
            | ControlFlow::Jump { .. }
            | ControlFlow::IndirectJump
            | ControlFlow::Call { .. }
            | ControlFlow::IndirectCall { .. }
            | ControlFlow::Return
            | ControlFlow::InterruptReturn => break,
        };
    }
    saved
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{Pointer, PointerMode, Register};
    use avr_machine::Options;
    use avr_machine::device::Device;

    fn machine(code: &[Instruction]) -> Machine {
        let words: Vec<u16> = code.iter().map(|one| one.encode().expect("it has a code").first).collect();
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        Machine::new(device, program, Options::default())
    }

    fn r(number: u8) -> Register {
        Register::new(number).expect("there are 32 registers")
    }

    fn bits(registers: &[u8]) -> Cells {
        registers.iter().fold(0, |all, register| all | 1 << register)
    }

    /// A main program that calls a function at 3, which saves r28 and copies r16.
    fn with_call() -> Machine {
        machine(&[
            Instruction::Ldi { rd: r(16), k: 5 },
            Instruction::Rcall { offset: 1 },
            Instruction::Rjmp { offset: -1 },
            Instruction::Push { rr: r(28) },
            Instruction::Mov { rd: r(17), rr: r(16) },
            Instruction::Pop { rd: r(28) },
            Instruction::Ret,
        ])
    }

    #[test]
    fn what_a_called_function_reads_is_live_before_the_call() {
        let liveness = Liveness::new(&with_call());
        assert_eq!(liveness.live(FlashWordAddress(0), 0), bits(&[28]), "r16 is overwritten");
        assert_eq!(liveness.live(FlashWordAddress(1), 0), bits(&[16, 28]));
        assert_eq!(liveness.live(FlashWordAddress(2), 0), 0, "a loop that reads nothing");
    }

    #[test]
    fn what_the_caller_reads_is_live_in_a_function_that_does_not_overwrite_it() {
        let liveness = Liveness::new(&with_call());
        assert_eq!(liveness.live(FlashWordAddress(4), bits(&[17, 20, 28])), bits(&[16, 20]));
        assert_eq!(liveness.live(FlashWordAddress(6), bits(&[17, 20, 28])), bits(&[17, 20, 28]));
    }

    #[test]
    fn what_functions_save_is_found() {
        let machine = with_call();
        assert_eq!(*Liveness::new(&machine).saved_by(&machine.program, FlashWordAddress(3)), [28]);
    }

    #[test]
    fn what_feeds_an_address_is_found_before_and_behind_calls() {
        let liveness = Liveness::new(&machine(&[
            Instruction::Rcall { offset: 2 },
            Instruction::Ld { rd: r(0), pointer: Pointer::X, mode: PointerMode::Displacement(0) },
            Instruction::Rjmp { offset: -1 },
            Instruction::Mov { rd: r(26), rr: r(16) },
            Instruction::Ret,
        ]));
        assert_eq!(liveness.addressing(FlashWordAddress(1)), bits(&[26, 27]) as u32);
        assert_eq!(liveness.addressing(FlashWordAddress(4)), bits(&[26, 27]) as u32);
        assert_eq!(liveness.addressing(FlashWordAddress(3)), bits(&[16, 27]) as u32);
        assert_eq!(liveness.addressing(FlashWordAddress(0)) & bits(&[16, 27]) as u32, bits(&[16, 27]) as u32);
        assert_eq!(liveness.addressing(FlashWordAddress(2)), 0);
    }

    #[test]
    fn what_is_stored_does_not_feed_the_address_that_it_is_stored_at() {
        let store = Instruction::St { pointer: Pointer::Z, mode: PointerMode::PreDecrement, rr: r(22) };
        let liveness = Liveness::new(&machine(&[store, Instruction::Rjmp { offset: -2 }]));
        assert_eq!(liveness.addressing(FlashWordAddress(0)), bits(&[30, 31]) as u32);
        let store = Instruction::St { pointer: Pointer::Z, mode: PointerMode::PreDecrement, rr: r(30) };
        let liveness = Liveness::new(&machine(&[store, Instruction::Rjmp { offset: -2 }]));
        assert_eq!(liveness.addressing(FlashWordAddress(0)), bits(&[30, 31]) as u32);
    }

    #[test]
    fn what_counts_the_rounds_of_a_loop_tells_them_apart() {
        // A loop of as many rounds as r20 says.
        let liveness = Liveness::new(&machine(&[
            Instruction::Mov { rd: r(14), rr: r(20) },
            Instruction::Ldi { rd: r(28), k: 0 },
            Instruction::Cp { rd: r(28), rr: r(14) },
            Instruction::Brbs { flag: 1, offset: 2 },
            Instruction::Inc { rd: r(28) },
            Instruction::Rjmp { offset: -4 },
            Instruction::Rjmp { offset: -1 },
        ]));
        assert_eq!(liveness.telling(FlashWordAddress(2), true), bits(&[14, 28]) as u32);
        assert_eq!(liveness.telling(FlashWordAddress(0), true), bits(&[20]) as u32, "r14 is computed from it");
        assert_eq!(liveness.telling(FlashWordAddress(6), true), 0, "nothing is compared there");
        assert_eq!(liveness.telling(FlashWordAddress(2), false), 0, "it is no address, and `dec` does not count");
    }
}
