//! Waits: the cycles of the code that can be left.
//!
//! Each routine has a graph of its instructions, in which a call goes on behind itself. A strongly connected component of the graph is a
//! wait if an edge leads out of it; without its head it falls into the components of the inner loops (Bourdoncle, "Efficient chaotic
//! iteration strategies with widenings", 1993). `for (;;);` has no way out, and is no wait.
//!
//! `for (;;) { while (!ready); work(); }` may become one component. The loop of an edge back to its head is a wait as well if it only
//! looks at something: no instruction of it stores or calls. So an endless loop is no wait because of an `if` in it that is never taken.

use avr_image::{FlashByteAddress, FlashWordAddress, Image, SymbolKind};
use avr_isa::{ControlFlow, Instruction, MemoryAccess};
use avr_machine::device::Device;
use avr_machine::{Fetched, Program};
use petgraph::Incoming;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The depth of nested loops that are distinguished.
const MAX_NESTING: usize = 64;

type Code = BTreeSet<FlashWordAddress>;
type Graph = DiGraphMap<FlashWordAddress, ()>;

/// A cycle of the code with a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The first instruction of the cycle.
    pub(crate) head: FlashByteAddress,
    /// The instruction of the cycle with the highest address.
    pub(crate) last: FlashByteAddress,
    /// The flash byte addresses at which the program counter may be without having left the wait: the cycle, what it calls, and the
    /// handlers of interrupts, but not what comes when the cycle is left.
    pub(crate) code: Vec<Range<u32>>,
}

/// The waits of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The waits, by rising address.
    pub(crate) list: Vec<Wait>,
    /// The places of indirect jumps, which are not followed.
    pub(crate) not_followed: Vec<FlashByteAddress>,
}

impl Waits {
    /// The waits of the code that begins at a flash word address or in a vector of interrupts behind it.
    pub(crate) fn new(image: &Image, device: &Device, start: FlashWordAddress) -> Self {
        let word = |address: u32| image.program.word(FlashWordAddress(address));
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let vectors = device.interrupts.iter().map(|interrupt| start.wrapping_add(interrupt.vector.into()));
        let pointed = image
            .symbols
            .code()
            .filter(|symbol| symbol.kind == SymbolKind::Function)
            .filter_map(|symbol| symbol.place.flash())
            .map(FlashByteAddress::word);
        Flow::new(&program, start, vectors.collect(), pointed.collect()).waits()
    }
}

/// The flow of control between the instructions of a program.
struct Flow {
    graph: Graph,
    /// The functions that instructions call; None stands for any that may be called through a pointer.
    calls: BTreeMap<FlashWordAddress, Option<FlashWordAddress>>,
    /// The functions that may be called through a pointer.
    pointed: Code,
    /// The instructions that store or call.
    effects: Code,
    start: FlashWordAddress,
    vectors: Vec<FlashWordAddress>,
    not_followed: Vec<FlashByteAddress>,
}

impl Flow {
    fn new(program: &Program, start: FlashWordAddress, vectors: Vec<FlashWordAddress>, functions: Code) -> Self {
        let mut flow = Self {
            graph: Graph::new(),
            calls: BTreeMap::new(),
            pointed: Code::new(),
            effects: Code::new(),
            start,
            vectors,
            not_followed: Vec::new(),
        };
        let roots: Vec<FlashWordAddress> = [start].into_iter().chain(flow.vectors.iter().copied()).collect();
        flow.follow(program, roots);
        if flow.calls.values().any(Option::is_none) || !flow.not_followed.is_empty() {
            // Functions that nothing calls by name are those that pointers lead to.
            let unseen = functions.into_iter().filter(|function| !flow.graph.contains_node(*function));
            flow.pointed = unseen.collect();
            flow.follow(program, flow.pointed.iter().copied().collect());
        }
        flow
    }

    /// Adds the instructions that others lead to.
    fn follow(&mut self, program: &Program, mut waiting: Vec<FlashWordAddress>) {
        let mut seen = Code::new();
        while let Some(pc) = waiting.pop() {
            let Fetched::Instruction { instruction, .. } = program.fetch(pc) else { continue };
            if !seen.insert(pc) {
                continue;
            }
            self.graph.add_node(pc);
            if has_effect(instruction) {
                self.effects.insert(pc);
            }
            let targets = match instruction.control_flow(pc, program) {
                ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => vec![next],
                ControlFlow::Skip { next, target } | ControlFlow::Branch { next, target } => vec![next, target],
                ControlFlow::Jump { target } => vec![target],
                ControlFlow::Call { next, .. } if instruction.only_reserves_stack() => vec![next],
                ControlFlow::Call { next, target } => {
                    self.calls.insert(pc, Some(target));
                    waiting.push(target);
                    vec![next]
                }
                ControlFlow::IndirectCall { next } => {
                    self.calls.insert(pc, None);
                    vec![next]
                }
                ControlFlow::Return | ControlFlow::InterruptReturn => Vec::new(),
                ControlFlow::IndirectJump => {
                    self.not_followed.push(pc.byte());
                    Vec::new()
                }
            };
            // A jump to where the program starts leaves everything.
            for target in targets.into_iter().filter(|target| *target != self.start) {
                self.graph.add_edge(pc, target, ());
                waiting.push(target);
            }
        }
    }

    /// The instructions that a run from one may execute, in functions that are called as well.
    fn reached(&self, from: impl IntoIterator<Item = FlashWordAddress>) -> Code {
        let (mut reached, mut waiting) = (Code::new(), from.into_iter().collect::<Vec<_>>());
        while let Some(pc) = waiting.pop() {
            if self.graph.contains_node(pc) && reached.insert(pc) {
                waiting.extend(self.graph.neighbors(pc));
                waiting.extend(self.called(pc));
            }
        }
        reached
    }

    /// The functions that an instruction calls.
    fn called(&self, pc: FlashWordAddress) -> Vec<FlashWordAddress> {
        match self.calls.get(&pc) {
            Some(Some(function)) => vec![*function],
            Some(None) => self.pointed.iter().copied().collect(),
            None => Vec::new(),
        }
    }

    /// Adds the cycles of a part of the graph that an edge of the whole leaves, with their heads.
    fn add_cycles(&self, part: &Graph, nesting: usize, cycles: &mut Vec<(FlashWordAddress, Code)>) {
        let whole = &self.graph;
        for component in kosaraju_scc(part) {
            let inside: Code = component.into_iter().collect();
            let is_entered =
                |pc: &FlashWordAddress| whole.neighbors_directed(*pc, Incoming).any(|before| !inside.contains(&before));
            let Some(head) = inside.iter().copied().find(is_entered).or(inside.first().copied()) else { continue };
            if inside.len() == 1 && !part.contains_edge(head, head) || nesting == MAX_NESTING {
                continue;
            }
            let latches = part.neighbors_directed(head, Incoming).filter(|latch| inside.contains(latch));
            let loops = latches.map(|latch| body((part, &inside), head, latch));
            let looking = loops.filter(|body| body.is_disjoint(&self.effects));
            let bodies: BTreeSet<Code> = looking.chain([inside.clone()]).collect();
            let is_left = |cycle: &Code| cycle.iter().any(|pc| whole.neighbors(*pc).any(|to| !cycle.contains(&to)));
            cycles.extend(bodies.into_iter().filter(is_left).map(|cycle| (head, cycle)));
            let mut rest = Graph::new();
            for pc in inside.iter().copied().filter(|pc| *pc != head) {
                rest.add_node(pc);
                for target in part.neighbors(pc).filter(|target| inside.contains(target) && *target != head) {
                    rest.add_edge(pc, target, ());
                }
            }
            self.add_cycles(&rest, nesting + 1, cycles);
        }
    }

    /// The instructions of the same routine that come when a cycle is left.
    fn behind(&self, cycle: &Code) -> Code {
        let mut behind = Code::new();
        let mut waiting: Vec<FlashWordAddress> = cycle.iter().flat_map(|pc| self.graph.neighbors(*pc)).collect();
        while let Some(pc) = waiting.pop() {
            if !cycle.contains(&pc) && behind.insert(pc) {
                waiting.extend(self.graph.neighbors(pc));
            }
        }
        behind
    }

    fn waits(mut self) -> Waits {
        let main = self.reached([self.start]);
        // Where a program goes through its vectors they are none.
        let vectors: Vec<FlashWordAddress> = self.vectors.iter().copied().filter(|one| !main.contains(one)).collect();
        let handlers = self.reached(vectors);
        let mut cycles = Vec::new();
        self.add_cycles(&self.graph, 0, &mut cycles);
        let mut list: Vec<Wait> = Vec::new();
        for (head, cycle) in cycles {
            let behind = self.behind(&cycle);
            let called = self.reached(cycle.iter().flat_map(|pc| self.called(*pc)));
            let others = called.union(&handlers).copied().filter(|pc| !behind.contains(pc));
            let code: Code = others.chain(cycle.iter().copied()).collect();
            let last = cycle.last().copied().unwrap_or(head).byte();
            list.push(Wait { head: head.byte(), last, code: ranges(&code) });
        }
        list.sort_unstable_by_key(|wait| (wait.head, wait.code.iter().map(Range::len).sum::<usize>()));
        self.not_followed.sort_unstable();
        Waits { list, not_followed: self.not_followed }
    }
}

/// True if an instruction stores or calls.
fn has_effect(instruction: Instruction) -> bool {
    match instruction.memory_access() {
        MemoryAccess::None
        | MemoryAccess::Load(_)
        | MemoryAccess::LoadIo { .. }
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::LoadFlash
        | MemoryAccess::Pop
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::ResetWatchdog => false,
        MemoryAccess::Store(_)
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::StoreFlash => true,
    }
}

/// The instructions of a component on the ways from its head to one that leads back to it.
fn body((part, inside): (&Graph, &Code), head: FlashWordAddress, latch: FlashWordAddress) -> Code {
    let (mut body, mut waiting) = (Code::from([head]), vec![latch]);
    while let Some(pc) = waiting.pop() {
        if body.insert(pc) {
            waiting.extend(part.neighbors_directed(pc, Incoming).filter(|before| inside.contains(before)));
        }
    }
    body
}

/// The ranges of flash byte addresses of instructions.
fn ranges(code: &Code) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for address in code.iter().map(|pc| pc.byte().0) {
        match ranges.last_mut() {
            Some(last) if last.end == address => last.end += 2,
            _ => ranges.push(address..address + 2),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{Instruction as I, Register};

    /// The vector of INT0 on the ATmega328P.
    const INT0: FlashWordAddress = FlashWordAddress(2);

    /// The waits of a program with a handler of INT0: each head with the words of its code, in flash words.
    fn waits(code: &[I]) -> Vec<(u32, Vec<u32>)> {
        let words: Vec<u16> = code.iter().map(|one| one.encode().expect("it has a code").first).collect();
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let all = Flow::new(&program, FlashWordAddress(0), vec![INT0], Code::new()).waits();
        let code = |wait: &Wait| wait.code.iter().flat_map(|range| range.clone().step_by(2)).map(|pc| pc / 2).collect();
        all.list.iter().map(|wait| (wait.head.word().0, code(wait))).collect()
    }

    fn r(number: u8) -> Register {
        Register::new(number).expect("a register")
    }

    const BACK_TO_START: I = I::Rjmp { offset: -2 };
    const SKIP: I = I::Sbis { io: 3, bit: 0 };

    #[test]
    fn a_cycle_without_a_way_out_is_no_wait() {
        assert_eq!(waits(&[I::Nop, I::Rjmp { offset: -1 }]), []);
        assert_eq!(waits(&[I::Rjmp { offset: 2 }, I::Nop, I::Reti, I::Nop, BACK_TO_START]), []);
    }

    #[test]
    fn handlers_belong_to_each_wait_of_the_main_program() {
        // The handler at 2 waits as well.
        let code =
            [I::Rjmp { offset: 4 }, I::Nop, SKIP, BACK_TO_START, I::Reti, SKIP, BACK_TO_START, I::Rjmp { offset: -1 }];
        assert_eq!(waits(&code), [(2, vec![2, 3]), (5, vec![2, 3, 4, 5, 6])]);
    }

    #[test]
    fn inner_loops_are_waits_of_their_own() {
        // The outer loop calls a function at 8, in which nothing waits.
        let code = [
            I::Dec { rd: r(16) },
            I::Brbc { flag: 1, offset: -2 },
            I::Rcall { offset: 5 },
            I::Dec { rd: r(17) },
            I::Brbc { flag: 1, offset: -5 },
            I::Rjmp { offset: -1 },
            I::Nop,
            I::Nop,
            I::Ret,
        ];
        let mut nops = vec![I::Rjmp { offset: 3 }, I::Nop, I::Reti, I::Nop];
        nops.extend(code);
        assert_eq!(waits(&nops), [(4, vec![2, 4, 5]), (4, vec![2, 4, 5, 6, 7, 8, 12])]);
    }

    #[test]
    fn a_single_instruction_can_wait() {
        assert_eq!(waits(&[I::Nop, I::Brbc { flag: 1, offset: -1 }, I::Rjmp { offset: -1 }]), [(1, vec![1])]);
    }

    #[test]
    fn an_endless_loop_with_a_condition_is_no_wait() {
        // `for (;;) { PORTB ^= 1; if (PINB & 1) PORTB ^= 2; }`
        let store = I::Sbi { io: 3, bit: 0 };
        let code = [I::Nop, store, SKIP, I::Rjmp { offset: -3 }, store, I::Rjmp { offset: -5 }];
        assert_eq!(waits(&code), []);
        let code = [I::Nop, I::Nop, SKIP, I::Rjmp { offset: -3 }, store, I::Rjmp { offset: -5 }];
        assert_eq!(waits(&code), [(1, vec![1, 2, 3])]);
    }

    #[test]
    fn what_comes_when_a_wait_is_left_is_outside_of_it() {
        // The handler jumps into the main program behind the wait.
        let code = [I::Rjmp { offset: 2 }, I::Nop, I::Rjmp { offset: 2 }, SKIP, BACK_TO_START, I::Rjmp { offset: -1 }];
        assert_eq!(waits(&code), [(3, vec![2, 3, 4])]);
    }
}
