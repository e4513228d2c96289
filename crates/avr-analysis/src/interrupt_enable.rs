//! Constant propagation of the I flag of SREG (Aho et al., Compilers, section 9.4): its values before each instruction.
//!
//! The analysis follows the machine code from reset and from the vectors of interrupts at the beginning of the flash. It assumes that a return goes back
//! behind a call of its function, and that no store through a pointer reaches SREG; a listing shows the result, and no verdict rests on it.

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Register};
use avr_machine::{Fetched, Machine, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Data address of SREG.
const SREG: DataAddress = DataAddress(0x5f);
/// I/O address of SREG.
const SREG_IO: u8 = 0x3f;
/// The I flag as an operand of BSET and BCLR.
const I: u8 = 7;

/// The values that the I flag may have before an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptEnable {
    /// It may be 0.
    pub may_be_clear: bool,
    /// It may be 1: an interrupt can come before the instruction.
    pub may_be_set: bool,
}

impl InterruptEnable {
    const CLEAR: Self = Self { may_be_clear: true, may_be_set: false };
    const SET: Self = Self { may_be_clear: false, may_be_set: true };
    const EITHER: Self = Self { may_be_clear: true, may_be_set: true };

    fn join(self, other: Self) -> Self {
        Self { may_be_clear: self.may_be_clear || other.may_be_clear, may_be_set: self.may_be_set || other.may_be_set }
    }
}

/// The values of the I flag before each instruction, by flash word address; none where no run comes to.
#[derive(Clone, Debug)]
pub struct InterruptEnables {
    before: Vec<InterruptEnable>,
}

impl InterruptEnables {
    /// Those of a machine that starts at a flash word address.
    #[must_use]
    pub fn new(machine: &Machine, start: FlashWordAddress) -> Self {
        let program = &machine.program;
        let mut analysis = Analysis {
            program,
            before: vec![InterruptEnable::default(); program.words() as usize],
            waiting: BTreeSet::new(),
            handlers: BTreeSet::new(),
            calls: BTreeMap::new(),
            returns: BTreeSet::new(),
            exits: BTreeMap::new(),
        };
        analysis.arrive(start, InterruptEnable::CLEAR);
        let vectors = machine.device.interrupts.iter().map(|interrupt| FlashWordAddress(interrupt.vector.into()));
        let handlers: BTreeSet<FlashWordAddress> =
            vectors.filter(|vector| program.control_flow(*vector).is_some()).collect();
        handlers.iter().for_each(|handler| analysis.arrive(*handler, InterruptEnable::CLEAR));
        analysis.handlers.clone_from(&handlers);
        analysis.run();
        // A handler that ends with RET leaves the flag in the interrupted code as it is there.
        let leaves = |handler: &FlashWordAddress| analysis.exits.get(handler).is_some_and(|exit| exit.may_be_clear);
        if handlers.iter().any(leaves) {
            let interrupted = analysis.before.iter_mut().filter(|before| before.may_be_set);
            interrupted.for_each(|before| *before = InterruptEnable::EITHER);
        }
        Self { before: analysis.before }
    }

    /// The values before the instruction at a flash word address.
    #[must_use]
    pub fn before(&self, address: FlashWordAddress) -> InterruptEnable {
        self.before.get(address.index()).copied().unwrap_or_default()
    }
}

/// The least fixed point while it is computed.
struct Analysis<'a> {
    program: &'a Program,
    before: Vec<InterruptEnable>,
    waiting: BTreeSet<FlashWordAddress>,
    /// The vectors of interrupts.
    handlers: BTreeSet<FlashWordAddress>,
    /// The instructions behind the calls of each function.
    calls: BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>>,
    /// The returns that runs come to.
    returns: BTreeSet<FlashWordAddress>,
    /// The values at the returns of each function or handler.
    exits: BTreeMap<FlashWordAddress, InterruptEnable>,
}

impl Analysis<'_> {
    fn arrive(&mut self, address: FlashWordAddress, value: InterruptEnable) {
        let Some(before) = self.before.get_mut(address.index()) else { return };
        let joined = before.join(value);
        if joined != *before {
            *before = joined;
            self.waiting.insert(address);
        }
    }

    /// True if the instruction before an address clears a register, as start-up code does before it writes SREG.
    fn is_cleared_before(&self, address: FlashWordAddress, register: Register) -> bool {
        let before = address.0.checked_sub(1).map(FlashWordAddress);
        let clears = Instruction::Eor { rd: register, rr: register };
        before.is_some_and(|before| matches!(self.program.fetch(before), Fetched::Instruction { instruction, .. } if instruction == clears))
    }

    /// Carries a value to all instructions: where a register leads is not followed.
    fn arrive_anywhere(&mut self, value: InterruptEnable) {
        self.program.addresses().for_each(|any| self.arrive(any, value));
    }

    fn run(&mut self) {
        while let Some(address) = self.waiting.pop_first() {
            let Fetched::Instruction { instruction, .. } = self.program.fetch(address) else { continue };
            let after = match instruction {
                Instruction::Out { io: SREG_IO, rr } if self.is_cleared_before(address, rr) => InterruptEnable::CLEAR,
                _ => after(instruction, self.before[address.index()]),
            };
            match instruction.control_flow(address, self.program) {
                ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => {
                    self.arrive(next, after);
                }
                ControlFlow::Skip { next, target } | ControlFlow::Branch { next, target } => {
                    self.arrive(next, after);
                    self.arrive(target, after);
                }
                ControlFlow::Jump { target } => self.arrive(target, after),
                ControlFlow::Call { next, .. } if instruction.only_reserves_stack() => self.arrive(next, after),
                ControlFlow::Call { next, target } => {
                    if !self.calls.contains_key(&target) {
                        // A return that runs came to may be one of this function as well.
                        self.waiting.extend(&self.returns);
                    }
                    self.calls.entry(target).or_default().insert(next);
                    self.arrive(target, after);
                    if let Some(exit) = self.exits.get(&target).copied() {
                        self.arrive(next, exit);
                    }
                }
                ControlFlow::IndirectCall { next } => {
                    self.arrive(next, InterruptEnable::EITHER);
                    self.arrive_anywhere(after);
                }
                ControlFlow::IndirectJump => self.arrive_anywhere(after),
                ControlFlow::Return => self.exit(address, after),
                ControlFlow::InterruptReturn => self.exit(address, InterruptEnable::SET),
            }
        }
    }

    /// Carries the value at a return to all instructions behind calls of the functions that it is part of.
    fn exit(&mut self, address: FlashWordAddress, value: InterruptEnable) {
        self.returns.insert(address);
        for function in self.entries_of(address) {
            let exit = self.exits.entry(function).or_default();
            *exit = exit.join(value);
            let exit = *exit;
            for next in self.calls.get(&function).cloned().unwrap_or_default() {
                self.arrive(next, exit);
            }
        }
    }

    /// The called functions and handlers that reach an instruction without leaving calls.
    fn entries_of(&self, address: FlashWordAddress) -> Vec<FlashWordAddress> {
        let reaches = |entry: FlashWordAddress| {
            let (mut waiting, mut seen) = (vec![entry], BTreeSet::new());
            while let Some(at) = waiting.pop() {
                if at == address {
                    return true;
                }
                let Fetched::Instruction { instruction, .. } = self.program.fetch(at) else { continue };
                if !seen.insert(at) {
                    continue;
                }
                match instruction.control_flow(at, self.program) {
                    ControlFlow::Next { next }
                    | ControlFlow::Sleep { next }
                    | ControlFlow::Break { next }
                    | ControlFlow::Call { next, .. }
                    | ControlFlow::IndirectCall { next } => waiting.push(next),
                    ControlFlow::Skip { next, target } | ControlFlow::Branch { next, target } => {
                        waiting.extend([next, target]);
                    }
                    ControlFlow::Jump { target } => waiting.push(target),
                    // Any instruction may follow.
                    ControlFlow::IndirectJump => return true,
                    ControlFlow::Return | ControlFlow::InterruptReturn => {}
                }
            }
            false
        };
        self.calls.keys().chain(&self.handlers).copied().filter(|entry| reaches(*entry)).collect()
    }
}

/// The value of the flag after an instruction that falls through, jumps or calls.
fn after(instruction: Instruction, before: InterruptEnable) -> InterruptEnable {
    match instruction {
        Instruction::Bset { flag: I } => return InterruptEnable::SET,
        Instruction::Bclr { flag: I } => return InterruptEnable::CLEAR,
        _ => {}
    }
    match instruction.memory_access() {
        MemoryAccess::StoreIo { address: SREG }
        | MemoryAccess::StoreIoBit { address: SREG, .. }
        | MemoryAccess::Store(Addressing::Direct(SREG)) => InterruptEnable::EITHER,
        _ => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::Instruction as Op;
    use avr_machine::Options;
    use avr_machine::device::Device;

    /// The values before each instruction of a program from address 0: `0`, `1`, `?`, or `-` where no run comes to.
    #[track_caller]
    fn check(code: &[(u32, Op)], expected: &[(u32, char)]) {
        let mut words = BTreeMap::new();
        for (address, instruction) in code {
            words.insert(*address, instruction.encode().expect("it has a code").first);
        }
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(&address).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let found = InterruptEnables::new(&Machine::new(device, program, Options::default()), FlashWordAddress(0));
        let shown = |address: u32| match found.before(FlashWordAddress(address)) {
            InterruptEnable { may_be_clear: true, may_be_set: true } => '?',
            InterruptEnable { may_be_clear: true, may_be_set: false } => '0',
            InterruptEnable { may_be_clear: false, may_be_set: true } => '1',
            InterruptEnable { may_be_clear: false, may_be_set: false } => '-',
        };
        let all: Vec<(u32, char)> = expected.iter().map(|(address, _)| (*address, shown(*address))).collect();
        assert_eq!(all, expected);
    }

    const SEI: Op = Op::Bset { flag: I };
    const CLI: Op = Op::Bclr { flag: I };

    /// A jump from one address to another.
    fn jump(from: u32, to: u32) -> (u32, Op) {
        (from, Op::Rjmp { offset: (i64::from(to) - i64::from(from) - 1) as i16 })
    }

    fn call(from: u32, to: u32) -> (u32, Op) {
        (from, Op::Rcall { offset: (i64::from(to) - i64::from(from) - 1) as i16 })
    }

    #[test]
    fn the_flag_is_followed_through_branches() {
        let code = [
            jump(0, 0x100),
            (0x100, Op::Nop),
            (0x101, Op::Brbs { flag: 0, offset: 1 }),
            (0x102, SEI),
            (0x103, Op::Nop),
            (0x104, CLI),
            jump(0x105, 0x105),
        ];
        check(&code, &[(0x100, '0'), (0x102, '0'), (0x103, '?'), (0x104, '?'), (0x105, '0'), (0x106, '-')]);
    }

    #[test]
    fn a_call_ends_with_the_value_of_its_function() {
        let code = [
            jump(0, 0x100),
            (0x100, SEI),
            call(0x101, 0x110),
            (0x102, Op::Nop),
            jump(0x103, 0x103),
            (0x110, CLI),
            (0x111, Op::Ret),
        ];
        check(&code, &[(0x101, '1'), (0x110, '1'), (0x111, '0'), (0x102, '0')]);
    }

    #[test]
    fn a_return_that_two_functions_share_ends_both() {
        // The second one falls through into the first one, which was called before.
        let code = [
            jump(0, 0x100),
            call(0x100, 0x111),
            (0x101, SEI),
            call(0x102, 0x110),
            (0x103, Op::Nop),
            jump(0x104, 0x104),
            (0x110, Op::Nop),
            (0x111, Op::Ret),
        ];
        check(&code, &[(0x101, '?'), (0x103, '?'), (0x110, '1')]);
    }

    #[test]
    fn a_function_that_is_called_through_a_register_is_come_to() {
        let code =
            [jump(0, 0x100), (0x100, SEI), (0x101, Op::Icall), jump(0x102, 0x102), (0x110, Op::Nop), (0x111, Op::Ret)];
        check(&code, &[(0x101, '1'), (0x102, '?'), (0x110, '1')]);
    }

    #[test]
    fn a_handler_begins_with_interrupts_disabled_and_changes_nothing_behind_reti() {
        let code =
            [jump(0, 0x100), jump(2, 0x120), (0x100, SEI), jump(0x101, 0x101), (0x120, Op::Nop), (0x121, Op::Reti)];
        check(&code, &[(2, '0'), (0x120, '0'), (0x101, '1')]);
    }

    #[test]
    fn a_handler_that_ends_with_ret_leaves_interrupts_disabled() {
        let code = [jump(0, 0x100), jump(2, 0x120), (0x100, SEI), jump(0x101, 0x101), (0x120, Op::Ret)];
        check(&code, &[(0x100, '0'), (0x101, '?')]);
    }

    #[test]
    fn a_status_that_is_cleared_has_the_flag_clear() {
        let r1 = Register::R1;
        let clear = [(0x101, Op::Eor { rd: r1, rr: r1 }), (0x102, Op::Out { io: 0x3f, rr: r1 })];
        let code = [jump(0, 0x100), (0x100, SEI), clear[0], clear[1], jump(0x103, 0x103)];
        check(&code, &[(0x102, '1'), (0x103, '0')]);
        let other = (0x102, Op::Out { io: 0x3f, rr: Register::R0 });
        check(&[jump(0, 0x100), (0x100, SEI), clear[0], other, jump(0x103, 0x103)], &[(0x103, '?')]);
    }

    #[test]
    fn a_restored_status_may_be_either() {
        let r16 = Register::new(16).expect("there are 32 registers");
        let code = [jump(0, 0x100), (0x100, SEI), (0x101, Op::Out { io: 0x3f, rr: r16 }), jump(0x102, 0x102)];
        check(&code, &[(0x101, '1'), (0x102, '?')]);
    }
}
