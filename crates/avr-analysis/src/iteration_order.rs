//! The iteration order of a program: a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with
//! widenings", 1993).
//!
//! The bits that a loop changes are forgotten one by one at its locations. The code behind the loop is looked at when
//! that has come to an end; otherwise each of the contents in between goes through the rest of the program as well. The
//! innermost loops are the interrupts: a handler comes back to where it interrupted.

use crate::control_flow::Flow;
use avr_isa::FlashWordAddress;
use avr_machine::Program;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeSet;

/// The depth of nested loops that are distinguished; deeper ones are ordered by address.
const MAX_NESTING: usize = 64;

/// The order of the instructions of a program.
#[derive(Debug)]
pub struct IterationOrder {
    /// The position of each instruction, by flash word address, from 1; instructions that are in loops lie between those before
    /// their loop and those behind it.
    positions: Vec<u32>,
    /// The innermost loop of each instruction, as an index into `loops`.
    innermost: Vec<Option<u32>>,
    loops: Vec<Loop>,
}

/// A loop: a component of the order.
#[derive(Clone, Copy, Debug)]
struct Loop {
    head: FlashWordAddress,
    /// The innermost loop around it.
    outer: Option<u32>,
}

/// The order while it is made.
#[derive(Default)]
struct Arrangement {
    order: Vec<FlashWordAddress>,
    loops: Vec<Loop>,
    innermost: Vec<(FlashWordAddress, u32)>,
}

impl IterationOrder {
    /// The order of the instructions of a program.
    pub fn new(program: &Program) -> Self {
        let mut graph = DiGraphMap::<FlashWordAddress, ()>::new();
        for (address, instruction) in program.instructions() {
            graph.add_node(address);
            let targets = match Flow::of(program, instruction, address) {
                Flow::Next(targets) => targets,
                Flow::Call { next, .. } | Flow::IndirectCall { next } => vec![next],
                Flow::Return | Flow::Unknown => Vec::new(),
            };
            for target in targets {
                graph.add_edge(address, target, ());
            }
        }
        let mut arrangement = Arrangement::default();
        arrangement.arrange(&graph, 0, None);
        let mut positions = vec![0; program.words() as usize];
        for (address, position) in arrangement.order.into_iter().zip(1..) {
            if let Some(place) = positions.get_mut(address.index()) {
                *place = position;
            }
        }
        let mut innermost = vec![None; program.words() as usize];
        for (address, own) in arrangement.innermost {
            if let Some(place) = innermost.get_mut(address.index()) {
                *place = Some(own);
            }
        }
        Self { positions, innermost, loops: arrangement.loops }
    }

    /// The heads of the loops that an instruction is in, the outermost first. The head of a loop is in it.
    #[must_use]
    pub fn loops(&self, address: FlashWordAddress) -> Vec<FlashWordAddress> {
        let mut next = self.innermost.get(address.index()).copied().flatten();
        let mut heads = Vec::new();
        while let Some(own) = next {
            let Loop { head, outer } = self.loops[own as usize];
            heads.push(head);
            next = outer;
        }
        heads.reverse();
        heads
    }

    /// The position of an instruction (flash word address), from 1; 0 where there is none.
    #[must_use]
    pub fn position(&self, address: FlashWordAddress) -> u32 {
        self.positions.get(address.index()).copied().unwrap_or(0)
    }
}

impl Arrangement {
    /// Appends the vertices of a graph, which lie in a loop, in a weak topological order.
    fn arrange(&mut self, graph: &DiGraphMap<FlashWordAddress, ()>, nesting: usize, around: Option<u32>) {
        for mut component in kosaraju_scc(graph).into_iter().rev() {
            if component.len() == 1 || nesting == MAX_NESTING {
                component.sort_unstable();
                self.innermost.extend(component.iter().filter_map(|vertex| Some((*vertex, around?))));
                self.order.extend(component);
                continue;
            }
            let inside: BTreeSet<FlashWordAddress> = component.into_iter().collect();
            let is_entered = |vertex: &FlashWordAddress| {
                graph.neighbors_directed(*vertex, petgraph::Incoming).any(|before| !inside.contains(&before))
            };
            let Some(head) = inside.iter().copied().find(is_entered).or(inside.first().copied()) else { continue };
            let own = self.loops.len() as u32;
            self.loops.push(Loop { head, outer: around });
            self.innermost.push((head, own));
            self.order.push(head);
            let mut rest = DiGraphMap::new();
            for vertex in inside.iter().copied().filter(|vertex| *vertex != head) {
                rest.add_node(vertex);
                for target in graph.neighbors(vertex).filter(|target| inside.contains(target) && *target != head) {
                    rest.add_edge(vertex, target, ());
                }
            }
            self.arrange(&rest, nesting + 1, Some(own));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{Instruction, Register};
    use avr_machine::device::Device;

    fn order(code: &[Instruction]) -> IterationOrder {
        let words: Vec<u16> = code.iter().map(|one| one.encode().expect("it has a code").first).collect();
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        IterationOrder::new(&Program::decode(device.memory.flash_words(), device.core.features, word))
    }

    fn positions(code: &[Instruction]) -> Vec<u32> {
        let order = order(code);
        (0..code.len() as u32).map(|address| order.position(FlashWordAddress(address))).collect()
    }

    fn is_before(positions: &[u32], order: &[usize]) -> bool {
        order.is_sorted_by_key(|address| positions[*address])
    }

    #[test]
    fn what_follows_a_loop_comes_after_all_of_it() {
        let nop = Instruction::Nop;
        // A loop from 1 to 5, left at 2, with a loop of 3 and 4 inside; 6 follows.
        let code = [
            nop,
            nop,
            Instruction::Brbs { flag: 1, offset: 3 },
            nop,
            Instruction::Brbs { flag: 0, offset: -2 },
            Instruction::Rjmp { offset: -5 },
            nop,
            Instruction::Rjmp { offset: -1 },
        ];
        let order = order(&code);
        let positions = positions(&code);
        assert!(is_before(&positions, &[0, 1, 2, 3, 4, 5, 6, 7]), "{positions:?}");
        let loops = |address: u32| order.loops(FlashWordAddress(address)).into_iter().map(|head| head.0).collect();
        let heads: Vec<Vec<u32>> = (0..8).map(loops).collect();
        assert_eq!(heads, [vec![], vec![1], vec![1], vec![1, 3], vec![1, 3], vec![1], vec![], vec![]]);
    }

    #[test]
    fn a_loop_that_is_laid_out_behind_what_follows_it_still_comes_first() {
        let r16 = Register::new(16).expect("there are 32 registers");
        // The loop is 1, 4 and 5; 2 and 3 follow it.
        let code = [
            Instruction::Nop,
            Instruction::Brbs { flag: 1, offset: 2 },
            Instruction::Nop,
            Instruction::Rjmp { offset: -1 },
            Instruction::Inc { rd: r16 },
            Instruction::Rjmp { offset: -5 },
        ];
        let positions = positions(&code);
        assert!(is_before(&positions, &[0, 1, 4, 5, 2, 3]), "{positions:?}");
    }
}
