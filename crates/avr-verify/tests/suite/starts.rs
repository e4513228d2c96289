//! Random programs whose starts a property file restricts, against concrete states that are written anew here.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{DataAddress, Instruction};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::image::{Code, image, r};
use avr_testkit::{Random, Size, cases};
use avr_verify::{InvariantUse, Request, Results, Verdict, verify};
use three_valued::fault::{Fault, put_in};

/// Two cells of the SRAM, of which two bits are used.
const CELLS: [u16; 2] = [0x100, 0x101];
/// Causes of resets in MCUSR.
const POWER_ON: u8 = 1;
const EXTERNAL: u8 = 2;
const BROWN_OUT: u8 = 4;
const WATCHDOG: u8 = 8;

/// The action of a block.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Register 16 becomes a number.
    Set(u8),
    /// Register 16 becomes the content of a cell.
    Load(usize),
    /// A cell becomes register 16.
    Store(usize),
    /// Register 16 becomes two of the causes of resets, from a bit on.
    Causes(u8),
    /// All causes of resets are cleared.
    ClearCauses,
    /// Register 16 is written to port B.
    Show,
}

/// A block: an action, and the next block by a bit of register 16 or without condition.
#[derive(Clone, Copy, Debug)]
struct Block {
    action: Action,
    bit: Option<u8>,
    next: [usize; 2],
}

/// A concrete state before the action of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Concrete {
    block: usize,
    register: u8,
    cells: [u8; 2],
    causes: u8,
    /// True if the watchdog may reset.
    watched: bool,
    port: u8,
}

/// The subject of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Cell(usize),
    Causes,
}

/// Some bits of a cell have a value.
#[derive(Clone, Copy, Debug)]
struct Condition {
    subject: Subject,
    mask: u8,
    value: u8,
}

/// What is said of the starts.
#[derive(Clone, Debug, Default)]
struct Said {
    first: Vec<Condition>,
    /// True if `first` speaks of the start after any reset, not of power-on alone.
    is_list: bool,
    later: Vec<Condition>,
    resets: Vec<u8>,
}

fn program(random: &mut Random) -> Vec<Block> {
    let count = 2 + random.below(4_usize);
    (0..count)
        .map(|_| {
            let action = match random.below(10) {
                0 => Action::Set(random.below(4) as u8),
                1 | 2 => Action::Load(random.below(2)),
                3 | 4 => Action::Store(random.below(2)),
                5 => Action::Causes(0),
                6 => Action::Causes(2),
                7 => Action::ClearCauses,
                _ => Action::Show,
            };
            let bit = random.chance(50).then(|| random.below(2) as u8);
            Block { action, bit, next: [random.below(count), random.below(count)] }
        })
        .collect()
}

/// Instructions of an action, each of one word but for LDS and STS.
fn instructions(action: Action) -> Vec<Instruction> {
    let low = |others: &[Instruction]| [others, &[Instruction::Andi { rd: r(16), k: 3 }]].concat();
    match action {
        Action::Set(value) => vec![Instruction::Ldi { rd: r(16), k: value }],
        Action::Load(cell) => low(&[Instruction::Lds { rd: r(16), address: DataAddress(CELLS[cell]) }]),
        Action::Store(cell) => vec![Instruction::Sts { address: DataAddress(CELLS[cell]), rr: r(16) }],
        Action::Causes(from) => {
            let mut all = vec![Instruction::In { rd: r(16), io: 0x34 }];
            all.extend((0..from).map(|_| Instruction::Lsr { rd: r(16) }));
            low(&all)
        }
        Action::ClearCauses => {
            vec![Instruction::Ldi { rd: r(18), k: 0 }, Instruction::Out { io: 0x34, rr: r(18) }]
        }
        Action::Show => vec![Instruction::Out { io: 0x05, rr: r(16) }],
    }
}

fn words(blocks: &[Block]) -> Vec<u16> {
    let length = |block: &Block| {
        let words = |one: &Instruction| one.encode().map_or(1, |code| if code.second.is_some() { 2 } else { 1 });
        let action: usize = instructions(block.action).iter().map(words).sum();
        action + if block.bit.is_some() { 3 } else { 1 }
    };
    let start = |number: usize| (1 + blocks[..number].iter().map(length).sum::<usize>()) as u32;
    let mut code = Code::default();
    // Registers hold anything at the start.
    code.add(Instruction::Andi { rd: r(16), k: 3 });
    for block in blocks {
        instructions(block.action).into_iter().for_each(|one| code.add(one));
        if let Some(bit) = block.bit {
            code.add(Instruction::Sbrc { rr: r(16), bit });
            code.jump(start(block.next[1]));
        }
        code.jump(start(block.next[0]));
    }
    code.words
}

impl Condition {
    fn random(random: &mut Random, subject: Subject) -> Self {
        let bits = if subject == Subject::Causes { 16 } else { 4 };
        let mask = random.below(bits - 1) as u8 + 1;
        Self { subject, mask, value: random.below(bits) as u8 & mask }
    }

    fn text(self) -> String {
        let subject = match self.subject {
            Subject::Cell(cell) => format!("mem[{:#x}]", CELLS[cell]),
            Subject::Causes => "MCUSR".to_owned(),
        };
        match self.mask.count_ones() {
            1 if self.subject == Subject::Causes => {
                format!("{subject}.{} == {}", self.mask.trailing_zeros(), u8::from(self.value != 0))
            }
            _ => format!("{subject} & {} == {}", self.mask, self.value),
        }
    }

    fn is_true(self, cells: [u8; 2], causes: u8) -> bool {
        let content = match self.subject {
            Subject::Cell(cell) => cells[cell],
            Subject::Causes => causes,
        };
        content & self.mask == self.value
    }
}

impl Said {
    fn random(random: &mut Random) -> Self {
        let subjects = [Subject::Cell(0), Subject::Cell(1), Subject::Causes];
        let some = |random: &mut Random| -> Vec<Condition> {
            let chosen: Vec<Subject> = subjects.into_iter().filter(|_| random.chance(60)).collect();
            chosen.into_iter().map(|subject| Condition::random(random, subject)).collect()
        };
        let is_list = random.chance(50);
        let first = some(random);
        let later = if is_list || random.chance(40) { Vec::new() } else { some(random) };
        let resets = [EXTERNAL, BROWN_OUT].into_iter().filter(|_| random.chance(40)).collect();
        Self { first, is_list, later, resets }
    }

    fn text(&self) -> String {
        let list = |all: &[Condition]| {
            let texts: Vec<String> = all.iter().map(|one| format!("\"{}\"", one.text())).collect();
            format!("[{}]", texts.join(", "))
        };
        let initially = match self.is_list {
            true => list(&self.first),
            false => format!("(power_on: {}, reset: {})", list(&self.first), list(&self.later)),
        };
        let name = |cause: &u8| if *cause == EXTERNAL { "reset" } else { "brown_out" };
        let resets: Vec<&str> = self.resets.iter().map(name).collect();
        format!("initially: {initially}, environment: [{}]", resets.join(", "))
    }

    fn allows(conditions: &[Condition], cells: [u8; 2], causes: u8) -> bool {
        conditions.iter().all(|one| one.is_true(cells, causes))
    }

    /// True if the property file is refused: no start is left, or no cause is said to stand in MCUSR.
    fn is_refused(&self) -> bool {
        let of_causes = |all: &[Condition]| all.iter().copied().find(|one| one.subject == Subject::Causes);
        let no_first = of_causes(&self.first).is_some_and(|one| match self.is_list {
            true => one.value == 0,
            false => !(0..16).any(|causes| causes & 9 == POWER_ON && one.is_true([0; 2], causes)),
        });
        let no_later = of_causes(&self.later).is_some_and(|one| {
            let left = (0..16).flat_map(|causes| [EXTERNAL, BROWN_OUT, WATCHDOG].map(|cause| causes | cause));
            !left.into_iter().any(|causes| one.is_true([0; 2], causes))
        });
        no_first || no_later
    }

    /// The first states.
    fn first_states(&self) -> Vec<Concrete> {
        let speaks_of_causes = self.first.iter().any(|one| one.subject == Subject::Causes);
        let any_cause = self.is_list && speaks_of_causes;
        let mut all = Vec::new();
        for number in 0..=u8::MAX {
            let (causes, cells) = (number & 15, [number >> 4 & 3, number >> 6]);
            let can_be = if any_cause { causes != 0 } else { causes & 9 == POWER_ON };
            if can_be && Self::allows(&self.first, cells, causes) {
                all.extend(started(cells, causes));
            }
        }
        all
    }

    /// The states after the resets that may come.
    fn resets_from(&self, state: Concrete) -> Vec<Concrete> {
        let own = state.watched.then_some(WATCHDOG);
        let causes = self.resets.iter().copied().chain(own).map(|cause| state.causes | cause);
        causes
            .filter(|causes| Self::allows(&self.later, state.cells, *causes))
            .flat_map(|causes| started(state.cells, causes))
            .collect()
    }
}

/// The states in which the program begins: register 16 holds anything, and the watchdog is on while its cause stands.
fn started(cells: [u8; 2], causes: u8) -> Vec<Concrete> {
    let watched = causes & WATCHDOG != 0;
    (0..4).map(|register| Concrete { block: 0, register, cells, causes, watched, port: 0 }).collect()
}

/// The state after a block.
fn after(block: Block, before: Concrete) -> Concrete {
    let mut state = before;
    match block.action {
        Action::Set(value) => state.register = value,
        Action::Load(cell) => state.register = state.cells[cell],
        Action::Store(cell) => state.cells[cell] = state.register,
        Action::Causes(from) => state.register = state.causes >> from & 3,
        Action::ClearCauses => state.causes = 0,
        Action::Show => state.port = state.register,
    }
    let is_set = block.bit.is_some_and(|bit| state.register >> bit & 1 == 1);
    state.block = block.next[usize::from(is_set)];
    state
}

/// The states that are reached, with their successors.
struct Graph {
    first: Vec<Concrete>,
    edges: BTreeMap<Concrete, Vec<Concrete>>,
}

impl Graph {
    fn new(blocks: &[Block], said: &Said) -> Self {
        let first = said.first_states();
        let (mut edges, mut open) = (BTreeMap::new(), first.clone());
        while let Some(state) = open.pop() {
            if edges.contains_key(&state) {
                continue;
            }
            let mut next = said.resets_from(state);
            next.push(after(blocks[state.block], state));
            open.extend(&next);
            edges.insert(state, next);
        }
        Self { first, edges }
    }

    /// The states from which some run reaches one with this port.
    fn can_reach(&self, port: u8) -> BTreeSet<Concrete> {
        self.least(port, |next, reached| next.iter().any(|state| reached.contains(state)))
    }

    /// The states from which every run reaches one with this port.
    fn must_reach(&self, port: u8) -> BTreeSet<Concrete> {
        self.least(port, |next, reached| next.iter().all(|state| reached.contains(state)))
    }

    fn least(&self, port: u8, leads: impl Fn(&[Concrete], &BTreeSet<Concrete>) -> bool) -> BTreeSet<Concrete> {
        let mut reached: BTreeSet<Concrete> = self.edges.keys().copied().filter(|state| state.port == port).collect();
        loop {
            let more: Vec<Concrete> = self
                .edges
                .iter()
                .filter(|(state, next)| !reached.contains(state) && leads(next, &reached))
                .map(|(state, _)| *state)
                .collect();
            if more.is_empty() {
                return reached;
            }
            reached.extend(more);
        }
    }

    /// The truth of the formulas of [`texts`].
    fn verdicts(&self, port: u8) -> [bool; 4] {
        let (can, must) = (self.can_reach(port), self.must_reach(port));
        let first = |all: &BTreeSet<Concrete>| self.first.iter().all(|state| all.contains(state));
        let never = self.edges.keys().all(|state| state.port != port);
        [never, first(&can), first(&must), self.edges.keys().all(|state| can.contains(state))]
    }
}

fn texts(port: u8) -> [String; 4] {
    ["AG PORTB != ", "EF PORTB == ", "AF PORTB == ", "AG EF PORTB == "].map(|text| format!("{text}{port}"))
}

fn results(blocks: &[Block], said: &Said, port: u8) -> Result<Results, String> {
    let formulas = texts(port).map(|text| format!("Formula(check: \"{text}\")"));
    let file = format!("({}, properties: [{}])", said.text(), formulas.join(", "));
    let file = PropertyFile::parse("p.ron", &file).unwrap_or_else(|error| panic!("{error}"));
    let device = Device::named("atmega328p").expect("it exists");
    let image = image(&words(blocks));
    // What maps and claims prove takes longer: the long tests look for it.
    let invariants = if Size::selected() == Size::Long { InvariantUse::Find } else { InvariantUse::Off };
    let request = Request { invariants, ..Request::of(&image, device, &file) };
    verify(&request).map_err(|error| error.to_string())
}

#[derive(Debug, Default)]
struct Count {
    holds: u64,
    violated: u64,
    unknown: u64,
    refused: u64,
    /// Formulas that are decided otherwise where nothing is said.
    differ: u64,
}

/// Compares a case; an error says where the verifier is wrong.
fn compare(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let blocks = program(&mut random);
    let said = Said::random(&mut random);
    let port = 1 + random.below(3) as u8;
    let results = match (results(&blocks, &said, port), said.is_refused()) {
        (Ok(results), false) => results,
        (Err(_), true) => {
            count.refused += 1;
            return Ok(());
        }
        (Ok(_), true) => return Err(format!("seed {seed}: {} is not refused", said.text())),
        (Err(error), false) => return Err(format!("seed {seed}: {} is refused: {error}", said.text())),
    };
    let expected = Graph::new(&blocks, &said).verdicts(port);
    let nothing = Said { resets: said.resets.clone(), ..Said::default() };
    let of_all = Graph::new(&blocks, &nothing).verdicts(port);
    for ((result, expected), of_all) in results.properties.iter().zip(expected).zip(of_all) {
        count.differ += u64::from(expected != of_all);
        let is_right = match &result.verdict {
            Verdict::Holds => {
                count.holds += 1;
                expected
            }
            Verdict::Violated => {
                count.violated += 1;
                !expected && result.evidence.as_ref().is_none_or(|run| run.replayed)
            }
            Verdict::Unknown(unknown) => {
                count.unknown += 1;
                !unknown.self_check_failed
            }
        };
        if !is_right {
            let text = said.text();
            return Err(format!(
                "seed {seed}: {} is {:?}, and should be {expected}: {blocks:?}\n{text}",
                result.name, result.verdict
            ));
        }
    }
    Ok(())
}

#[test]
fn starts_are_those_of_concrete_states() {
    let (mut count, cases) = (Count::default(), cases(20, 2_000));
    for seed in 0..cases {
        compare(seed, &mut count).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(count.holds * 2 > cases && count.violated > cases && count.differ > 0, "{count:?}");
    assert!(count.unknown * 20 < cases && count.refused > 0, "{count:?}");
    let faults = [Fault::StartUnrestricted, Fault::ResetUnrestricted];
    for fault in faults {
        put_in(Some(fault));
        let found = (0..cases).find(|seed| compare(*seed, &mut Count::default()).is_err());
        put_in(None);
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
