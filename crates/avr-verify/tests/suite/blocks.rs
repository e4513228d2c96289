//! Random programs of blocks that write ports and read one, and their concrete states: no abstraction.

use avr_isa::Instruction;
use avr_testkit::Random;
use avr_testkit::image::{Code, r};

/// An event with its value: a write of port B or C, or a read of port B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letter {
    WriteB,
    WriteC,
    ReadB,
}

pub(crate) const LETTERS: [(Letter, &str); 3] =
    [(Letter::WriteB, "write(PORTB)"), (Letter::WriteC, "write(PORTC)"), (Letter::ReadB, "read(PINB)")];

pub(crate) fn text_of(letter: Letter) -> &'static str {
    LETTERS.iter().find(|(known, _)| *known == letter).expect("it is there").1
}

/// The action of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    WriteB(u8),
    WriteC(u8),
    /// Register 16 becomes what port B reads.
    Read,
    /// Two bits of register 16 are written to port B.
    Show,
    Nothing,
}

/// A block: an action, and the next block by a bit of register 16 or without condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) action: Action,
    pub(crate) bit: Option<u8>,
    pub(crate) next: [usize; 2],
}

/// A concrete state before the action of a block: two bits of register 16, and port B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Concrete {
    pub(crate) block: usize,
    pub(crate) register: u8,
    pub(crate) port: u8,
}

pub(crate) fn program(random: &mut Random) -> Vec<Block> {
    let count = 2 + random.below(4_usize);
    (0..count)
        .map(|_| {
            let action = match random.below(6) {
                0 | 1 => Action::WriteB(random.below(4) as u8),
                2 => Action::WriteC(random.below(4) as u8),
                3 => Action::Read,
                4 => Action::Show,
                _ => Action::Nothing,
            };
            let bit = random.chance(50).then(|| random.below(2) as u8);
            Block { action, bit, next: [random.below(count), random.below(count)] }
        })
        .collect()
}

pub(crate) fn words(blocks: &[Block]) -> Vec<u16> {
    let length = |block: &Block| {
        let action = match block.action {
            Action::WriteB(_) | Action::WriteC(_) => 2,
            Action::Show => 3,
            Action::Read | Action::Nothing => 1,
        };
        action + if block.bit.is_some() { 3 } else { 1 }
    };
    let start = |number: usize| blocks[..number].iter().map(length).sum::<usize>() as u32;
    let mut code = Code::default();
    for block in blocks {
        match block.action {
            Action::WriteB(value) | Action::WriteC(value) => {
                code.add(Instruction::Ldi { rd: r(18), k: value });
                let io = if matches!(block.action, Action::WriteB(_)) { 0x05 } else { 0x08 };
                code.add(Instruction::Out { io, rr: r(18) });
            }
            Action::Read => code.add(Instruction::In { rd: r(16), io: 0x03 }),
            Action::Show => {
                code.add(Instruction::Mov { rd: r(18), rr: r(16) });
                code.add(Instruction::Andi { rd: r(18), k: 3 });
                code.add(Instruction::Out { io: 0x05, rr: r(18) });
            }
            Action::Nothing => code.add(Instruction::Nop),
        }
        if let Some(bit) = block.bit {
            code.add(Instruction::Sbrc { rr: r(16), bit });
            code.jump(start(block.next[1]));
        }
        code.jump(start(block.next[0]));
    }
    code.words
}

/// An event with its value, if a step has one.
pub(crate) type Label = Option<(Letter, u8)>;

pub(crate) type Edge = (Label, Concrete);

pub(crate) fn edges(blocks: &[Block], from: Concrete) -> Vec<Edge> {
    let block = blocks[from.block];
    let results: Vec<(Label, u8, u8)> = match block.action {
        Action::WriteB(value) => vec![(Some((Letter::WriteB, value)), from.register, value)],
        Action::WriteC(value) => vec![(Some((Letter::WriteC, value)), from.register, from.port)],
        Action::Read => (0..4).map(|value| (Some((Letter::ReadB, value)), value, from.port)).collect(),
        Action::Show => vec![(Some((Letter::WriteB, from.register)), from.register, from.register)],
        Action::Nothing => vec![(None, from.register, from.port)],
    };
    let after = |(event, register, port): (Label, u8, u8)| {
        let taken = block.bit.map_or(0, |bit| usize::from(register >> bit & 1));
        (event, Concrete { block: block.next[taken], register, port })
    };
    results.into_iter().map(after).collect()
}
