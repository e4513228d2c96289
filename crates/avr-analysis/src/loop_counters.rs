//! The registers that count the rounds of loops: a branch that leaves the loop compares them, and the loop steps them.

use crate::control_flow::Flow;
use crate::register_effects::Effect;
use avr_isa::{Addressing, FlashWordAddress, Instruction, MemoryAccess, Opcode as O, PointerMode};
use avr_machine::{Fetched, Program};

/// A loop in the order of addresses: the instructions (flash word addresses) from its first to the one that goes back.
#[derive(Clone, Copy)]
struct Loop {
    first: FlashWordAddress,
    last: FlashWordAddress,
}

impl Loop {
    fn contains(self, address: FlashWordAddress) -> bool {
        (self.first..=self.last).contains(&address)
    }
}

/// The comparison of a branch.
pub(crate) struct Comparison {
    /// The instructions (flash word addresses) that its flags come from, with the registers that they read: bit n is rn.
    pub(crate) compared: Vec<(FlashWordAddress, u32)>,
    /// True if one way leaves a loop.
    pub(crate) leaves_loop: bool,
    /// True if one way leaves a loop that steps one of the registers.
    pub(crate) counts: bool,
}

/// The comparisons of all branches.
pub(crate) fn branch_comparisons(program: &Program, effects: &[Option<Effect>]) -> Vec<Comparison> {
    let loops = loops(program, effects);
    let mut found = Vec::new();
    for (branch, effect) in program.addresses().zip(effects) {
        let Some(Effect { flow: Flow::Next(targets), .. }) = effect else { continue };
        let [one, other] = targets[..] else { continue };
        let leaves = |around: &&Loop| around.contains(branch) && around.contains(one) != around.contains(other);
        let left = loops.iter().filter(leaves).min_by_key(|around| around.last.0 - around.first.0);
        let compared = compared(program, branch);
        let registers = compared.iter().fold(0, |all, (_, registers)| all | registers);
        let counts = left.is_some_and(|left| registers & stepped(program, *left) != 0);
        found.push(Comparison { compared, leaves_loop: left.is_some(), counts });
    }
    found
}

/// The registers that some instructions (flash word addresses) compare, with the rounds of a loop counted in one of them.
pub(crate) fn comparisons(program: &Program, effects: &[Option<Effect>]) -> Vec<(FlashWordAddress, u32)> {
    let counting = branch_comparisons(program, effects).into_iter().filter(|comparison| comparison.counts);
    counting.flat_map(|comparison| comparison.compared).collect()
}

/// The registers of which a `dec` decides whether a branch goes back, by instruction of the loop: bit n is rn.
pub(crate) fn counting(program: &Program, effects: &[Option<Effect>]) -> Vec<u32> {
    let mut counting = vec![0; effects.len()];
    for Loop { first, last } in loops(program, effects) {
        if let Some(Fetched::Instruction { instruction: Instruction::Dec { rd }, .. }) =
            last.checked_sub(1).map(|before| program.fetch(before))
            && let Some(Effect { flow: Flow::Next(targets), .. }) = &effects[last.index()]
            && targets.len() == 2
        {
            counting[first.index()..=last.index()].iter_mut().for_each(|registers| *registers |= 1 << rd.index());
        }
    }
    counting
}

fn loops(program: &Program, effects: &[Option<Effect>]) -> Vec<Loop> {
    let leads_back = |(address, effect): (FlashWordAddress, &Option<Effect>)| match effect {
        Some(Effect { flow: Flow::Next(targets), .. }) => {
            targets.iter().filter(|target| **target <= address).min().map(|first| Loop { first: *first, last: address })
        }
        _ => None,
    };
    program.addresses().zip(effects).filter_map(leads_back).collect()
}

/// The instructions just before a branch that its flags come from, with the registers that they read; none if others are
/// between them.
fn compared(program: &Program, branch: FlashWordAddress) -> Vec<(FlashWordAddress, u32)> {
    let mut found = Vec::new();
    for address in (0..branch.0).rev().map(FlashWordAddress) {
        let Fetched::Instruction { instruction, words: 1, .. } = program.fetch(address) else { break };
        found.push((address, instruction.registers_read().bits()));
        match instruction.opcode() {
            O::Cpc | O::Sbc | O::Sbci => {}
            O::Cp | O::Cpi | O::Sub | O::Subi | O::Sbiw => return found,
            O::Adiw | O::Inc | O::Dec | O::And | O::Or => return found,
            O::Add | O::Adc | O::Andi | O::Ori | O::Eor | O::Com | O::Neg => break,
            O::Mul | O::Muls | O::Mulsu | O::Fmul | O::Fmuls | O::Fmulsu => break,
            O::Lsr | O::Ror | O::Asr | O::Swap | O::Bst | O::Bld | O::Bset | O::Bclr => break,
            O::Mov | O::Movw | O::Ldi | O::Ld | O::Lds | O::St | O::Sts | O::Push | O::Pop => break,
            O::Lpm | O::Elpm | O::Spm | O::In | O::Out | O::Sbi | O::Cbi => break,
            O::Rjmp | O::Ijmp | O::Eijmp | O::Jmp | O::Brbs | O::Brbc => break,
            O::Rcall | O::Icall | O::Eicall | O::Call | O::Ret | O::Reti => break,
            O::Cpse | O::Sbrc | O::Sbrs | O::Sbic | O::Sbis => break,
            O::Break | O::Nop | O::Sleep | O::Wdr => break,
        }
    }
    Vec::new()
}

/// The registers that a loop adds a constant to, or subtracts it from.
fn stepped(program: &Program, around: Loop) -> u32 {
    let step = |address| match program.fetch(address) {
        Fetched::Instruction { instruction, .. } => stepped_by(instruction),
        Fetched::Reserved | Fetched::Outside => 0,
    };
    around.first.through(around.last).fold(0, |all, address| all | step(address))
}

/// The pointer that a load or store changes.
fn moved_pointer(instruction: Instruction) -> u32 {
    let (MemoryAccess::Load(place) | MemoryAccess::Store(place)) = instruction.memory_access() else { return 0 };
    match place {
        Addressing::Indirect { pointer, mode: PointerMode::PostIncrement | PointerMode::PreDecrement } => {
            0b11 << pointer.low().index()
        }
        Addressing::Indirect { mode: PointerMode::Displacement(_), .. } | Addressing::Direct(_) => 0,
    }
}

/// The registers that an instruction adds a constant to, or subtracts it from.
fn stepped_by(instruction: Instruction) -> u32 {
    match instruction.opcode() {
        O::Inc | O::Dec | O::Adiw | O::Sbiw | O::Subi | O::Sbci => instruction.registers_written().bits(),
        O::Ld | O::St => moved_pointer(instruction),
        O::Add | O::Adc | O::Sub | O::Sbc | O::And | O::Andi | O::Or | O::Ori | O::Eor | O::Com | O::Neg => 0,
        O::Mul | O::Muls | O::Mulsu | O::Fmul | O::Fmuls | O::Fmulsu | O::Cp | O::Cpc | O::Cpi => 0,
        O::Lsr | O::Ror | O::Asr | O::Swap | O::Bst | O::Bld | O::Bset | O::Bclr => 0,
        O::Mov | O::Movw | O::Ldi | O::Lds | O::Sts | O::Push | O::Pop => 0,
        O::Lpm | O::Elpm | O::Spm | O::In | O::Out | O::Sbi | O::Cbi => 0,
        O::Rjmp | O::Ijmp | O::Eijmp | O::Jmp | O::Brbs | O::Brbc => 0,
        O::Rcall | O::Icall | O::Eicall | O::Call | O::Ret | O::Reti => 0,
        O::Cpse | O::Sbrc | O::Sbrs | O::Sbic | O::Sbis => 0,
        O::Break | O::Nop | O::Sleep | O::Wdr => 0,
    }
}
