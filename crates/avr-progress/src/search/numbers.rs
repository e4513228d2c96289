//! Candidates for ranks. Nothing of them need be trusted.

use crate::places::Places;
use crate::rounds::{Arrival, Start, arrival};
use avr_isa::{DataAddress, FlashWordAddress, Instruction as I};
use avr_machine::{Fetched, Machine};
use avr_symbolic::{Execution, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::ByteDomain;

/// The most bytes of a number that falls.
const MOST_BYTES: usize = 4;

/// The most words of one width that change, and that do not.
const MOST_WORDS: usize = 24;

/// The most words of one width that differences are made of.
const MOST_IN_PAIRS: usize = 12;

/// The most constants of one width.
const MOST_CONSTANTS: usize = 8;

/// The cells below the stack pointer that handlers and calls of a round may change.
const BELOW: u16 = 0x80;

/// A word: cells, the least significant byte first.
pub(crate) type Word = Vec<DataAddress>;

/// A number: a constant plus a word minus another, modulo 2 to the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    /// The constant.
    pub(crate) constant: u64,
    /// The word that is added, by its number.
    pub(crate) plus: Option<usize>,
    /// The word that is taken away.
    pub(crate) minus: Option<usize>,
    /// The width in bytes.
    pub(crate) width: usize,
}

/// The numbers that may be parts of the ranks of a loop.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The words.
    pub(crate) words: Vec<Word>,
    /// Numbers of one word.
    pub(crate) simple: Vec<Number>,
    /// Differences of two words.
    pub(crate) differences: Vec<Number>,
}

impl Number {
    /// The value, from those of the words.
    pub(crate) fn value(&self, words: &[u64]) -> u64 {
        let word = |index: Option<usize>| index.map_or(0, |index| words[index]);
        self.constant.wrapping_add(word(self.plus)).wrapping_sub(word(self.minus)) & mask(self.width)
    }

    /// The number as part of a rank.
    pub(crate) fn term(&self, words: &[Word]) -> Term {
        let constant = |value: u64| Term::Constant(value & mask(self.width), self.width);
        let cells = |index: usize| Term::Cells(words[index].clone());
        let negative = 0u64.wrapping_sub(self.constant) & mask(self.width);
        match (self.plus, self.minus, self.constant) {
            (None, None, value) => constant(value),
            (None, Some(minus), value) => constant(value).minus(cells(minus)),
            (Some(plus), None, 0) => cells(plus),
            (Some(plus), None, _) => cells(plus).minus(constant(negative)),
            (Some(plus), Some(minus), 0) => cells(plus).minus(cells(minus)),
            (Some(plus), Some(minus), value) if negative < value => {
                cells(plus).minus(cells(minus)).minus(constant(negative))
            }
            (Some(plus), Some(minus), value) => constant(value).minus(cells(minus).minus(cells(plus))),
        }
    }
}

impl Numbers {
    /// The numbers of some loops, from rounds that begin at their heads.
    pub(crate) fn new(
        machine: &Machine,
        places: &Places<'_>,
        heads: &[usize],
        rounds: &[(&Start<'_>, &[Execution<'_>])],
    ) -> Self {
        let live: BTreeSet<DataAddress> =
            rounds.iter().flat_map(|(start, executions)| live(machine, places, start, executions)).collect();
        let mut changed = changed(machine, places, rounds);
        changed.retain(|cell| live.contains(cell));
        let mut code: BTreeSet<FlashWordAddress> = heads.iter().flat_map(|head| places.loop_of(*head)).collect();
        code.extend(places.of_handlers());
        let (mut spoken, constants) = (spoken_of(machine, &code), compared(machine, places, &code));
        spoken.retain(|word| word.iter().all(|cell| live.contains(cell)));
        let mut numbers = Self::default();
        for width in [4, 2, 1, 3] {
            numbers.add_width(width, &changed, &spoken, &constants);
        }
        numbers
    }

    fn add_width(
        &mut self,
        width: usize,
        changed: &BTreeSet<DataAddress>,
        spoken: &BTreeSet<Word>,
        constants: &BTreeSet<(u64, usize)>,
    ) {
        let is_changing = |word: &Word| word.iter().any(|cell| changed.contains(cell));
        let spoken = spoken.iter().filter(|word| word.len() == width).cloned();
        let (mut words, others): (Vec<Word>, Vec<Word>) = spoken.partition(is_changing);
        let spoken = words.len().min(MOST_IN_PAIRS);
        let mut more: Vec<Word> = contiguous(changed, width);
        more.retain(|word| !words.contains(word));
        words.extend(more);
        words.truncate(MOST_WORDS);
        let first = self.words.len();
        let (changing, first_other) = (first..first + spoken, first + words.len());
        self.words.extend(words);
        self.words.extend(others.into_iter().take(MOST_IN_PAIRS));
        let constants = constants.iter().filter(|(_, of)| *of == width).map(|(value, _)| *value).take(MOST_CONSTANTS);
        // The number at which a loop ends, and its neighbours.
        let ends: BTreeSet<u64> = constants.flat_map(|end| [end.wrapping_sub(1), end, end.wrapping_add(1)]).collect();
        let ends: Vec<u64> = [0, 1, u64::MAX].into_iter().chain(ends).map(|end| end & mask(width)).collect();
        let negative = |end: u64| 0u64.wrapping_sub(end) & mask(width);
        for word in first..first_other {
            for end in &ends {
                self.simple.push(Number { constant: negative(*end), plus: Some(word), minus: None, width });
                self.simple.push(Number { constant: *end, plus: None, minus: Some(word), width });
            }
        }
        let others = first_other..self.words.len();
        let partners = || changing.clone().chain(others.clone());
        let pairs = changing
            .clone()
            .flat_map(|word| partners().filter(move |other| *other != word).map(move |other| (word, other)));
        for (word, other) in pairs {
            for end in &ends {
                for (plus, minus) in [(word, other), (other, word)] {
                    for constant in [*end, negative(*end)] {
                        self.differences.push(Number { constant, plus: Some(plus), minus: Some(minus), width });
                    }
                }
            }
        }
    }
}

fn mask(width: usize) -> u64 {
    if width < 8 { (1 << (8 * width)) - 1 } else { u64::MAX }
}

/// The variables that some round changes: registers and memory behind the registers of the periphery.
fn changed(machine: &Machine, places: &Places<'_>, rounds: &[(&Start<'_>, &[Execution<'_>])]) -> BTreeSet<DataAddress> {
    let variables: Vec<DataAddress> = variables(machine).collect();
    let mut changed: BTreeSet<DataAddress> = BTreeSet::new();
    for (start, executions) in rounds {
        // Below the stack pointer nothing is kept.
        let pointer = machine.stack_pointer().value_in(&start.state.data);
        let is_dead = |cell: DataAddress| {
            pointer.is_some_and(|pointer| (pointer.0.saturating_sub(BELOW)..=pointer.0).contains(&cell.0))
        };
        for end in executions.iter().flat_map(|execution| &execution.ends) {
            let Arrival::Head(_, state) = arrival(places, end) else { continue };
            let is_changed = |cell: &DataAddress| start.state.data.get(*cell) != state.data.get(*cell);
            changed.extend(variables.iter().copied().filter(is_changed).filter(|cell| !is_dead(*cell)));
        }
    }
    changed
}

/// The variables whose values at a head decide something, in this round or in a later one.
fn live(
    machine: &Machine,
    places: &Places<'_>,
    start: &Start<'_>,
    executions: &[Execution<'_>],
) -> BTreeSet<DataAddress> {
    let mut live: BTreeSet<DataAddress> = BTreeSet::new();
    let mut cells: BTreeMap<Variable, DataAddress> = BTreeMap::new();
    for address in variables(machine) {
        let bits = start.state.data.get(address).to_bits();
        cells.extend(bits.iter().filter_map(|bit| Some((bit.variable()?, address))));
        // Nothing depends on what is known, so that it may decide anything.
        live.extend(start.state.data.get(address).known().map(|_| address));
    }
    let ends: Vec<_> = executions.iter().flat_map(|execution| &execution.ends).collect();
    let deciding = ends.iter().flat_map(|end| [end.condition.bit(), end.kept]);
    let of = |bits: Vec<_>| start.graph.support(bits).into_iter().filter_map(|bit| cells.get(&bit).copied());
    let mut waiting: Vec<DataAddress> = of(deciding.collect()).collect();
    while let Some(cell) = waiting.pop() {
        if !live.insert(cell) {
            continue;
        }
        let at_ends = ends.iter().filter_map(|end| match arrival(places, end) {
            Arrival::Head(_, state) => Some(state.data.get(cell).to_bits()),
            Arrival::Elsewhere => None,
        });
        waiting.extend(of(at_ends.flatten().collect()));
    }
    live
}

/// The cells that hold variables: registers and memory behind the registers of the periphery.
fn variables(machine: &Machine) -> impl Iterator<Item = DataAddress> + '_ {
    machine.addresses().filter(|cell| *cell < machine.data_end() && !machine.device.is_io_area(*cell))
}

/// The words of a width whose cells all are among these.
fn contiguous(cells: &BTreeSet<DataAddress>, width: usize) -> Vec<Word> {
    let word = |first: &DataAddress| word(*first, width);
    cells.iter().map(word).filter(|word| word.iter().all(|cell| cells.contains(cell))).collect()
}

fn word(first: DataAddress, width: usize) -> Word {
    (0..width as u16).map(|offset| DataAddress(first.0.wrapping_add(offset))).collect()
}

/// The instructions at some program counters.
fn instructions<'m>(
    machine: &'m Machine,
    code: &'m BTreeSet<FlashWordAddress>,
) -> impl Iterator<Item = (FlashWordAddress, I)> + 'm {
    code.iter().filter_map(|pc| match machine.program.fetch(*pc) {
        Fetched::Instruction { instruction, .. } => Some((*pc, instruction)),
        Fetched::Reserved | Fetched::Outside => None,
    })
}

/// A run of bytes that instructions treat one after the other.
#[derive(Default)]
struct Run {
    cells: Word,
}

impl Run {
    /// Goes on with a byte.
    fn add(&mut self, cell: DataAddress) {
        self.cells.push(cell);
    }

    /// Goes on with a byte of memory, or begins anew if it does not follow.
    fn add_next(&mut self, cell: DataAddress, words: &mut BTreeSet<Word>) {
        if self.cells.last().is_some_and(|last| last.0.wrapping_add(1) != cell.0) {
            self.end(words);
        }
        self.add(cell);
    }

    fn end(&mut self, words: &mut BTreeSet<Word>) {
        let cells = std::mem::take(&mut self.cells);
        let are_different = cells.iter().collect::<BTreeSet<_>>().len() == cells.len();
        if (1..=MOST_BYTES).contains(&cells.len()) && are_different {
            words.insert(cells);
        }
    }
}

/// The words that some code computes with byte by byte, and those that it loads and stores.
fn spoken_of(machine: &Machine, code: &BTreeSet<FlashWordAddress>) -> BTreeSet<Word> {
    let mut words: BTreeSet<Word> = BTreeSet::new();
    let [mut memory, mut first, mut second] = [Run::default(), Run::default(), Run::default()];
    for (_, instruction) in instructions(machine, code) {
        match instruction {
            I::Lds { address, .. } | I::Sts { address, .. } if !machine.device.is_io_area(address) => {
                memory.add_next(address, &mut words);
                continue;
            }
            // A constant may be loaded between two bytes.
            I::Ldi { .. } | I::Mov { .. } | I::Movw { .. } => continue,
            _ => memory.end(&mut words),
        }
        let carries_on = matches!(instruction, I::Cpc { .. } | I::Sbc { .. } | I::Adc { .. } | I::Sbci { .. });
        if !carries_on {
            [&mut first, &mut second].into_iter().for_each(|run| run.end(&mut words));
        }
        match instruction {
            I::Cp { rd, rr }
            | I::Sub { rd, rr }
            | I::Add { rd, rr }
            | I::Cpc { rd, rr }
            | I::Sbc { rd, rr }
            | I::Adc { rd, rr } => {
                first.add(rd.address());
                second.add(rr.address());
            }
            I::Cpi { rd, .. } | I::Subi { rd, .. } | I::Sbci { rd, .. } | I::Inc { rd } | I::Dec { rd } => {
                first.add(rd.address());
            }
            I::Adiw { rd, .. } | I::Sbiw { rd, .. } => _ = words.insert(word(rd.address(), 2)),
            _ => {}
        }
    }
    [memory, first, second].iter_mut().for_each(|run| run.end(&mut words));
    words
}

/// The constants that comparisons of some code have, as the bytes of words with what is known of registers.
fn compared(machine: &Machine, places: &Places<'_>, code: &BTreeSet<FlashWordAddress>) -> BTreeSet<(u64, usize)> {
    let map = places.map();
    let known = |pc: FlashWordAddress, cell: DataAddress| -> Option<u8> {
        let mut values = map
            .entries
            .iter()
            .filter(|entry| entry.place.control.pc == pc)
            .map(|entry| map.store.cell(&entry.state.memory, cell).known());
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    };
    let mut all = BTreeSet::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut end = |bytes: &mut Vec<u8>| {
        let bytes = std::mem::take(bytes);
        if (1..=MOST_BYTES).contains(&bytes.len()) {
            all.insert((bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)), bytes.len()));
        }
    };
    for (pc, instruction) in instructions(machine, code) {
        let byte = match instruction {
            // A constant may be loaded between two bytes.
            I::Ldi { .. } => continue,
            I::Cpi { k, .. } | I::Sbci { k, .. } => Some(k),
            I::Cp { rr, .. } | I::Cpc { rr, .. } => known(pc, rr.address()),
            I::Sbiw { k, .. } => {
                end(&mut bytes);
                end(&mut vec![k, 0]);
                continue;
            }
            _ => None,
        };
        let carries_on = matches!(instruction, I::Cpc { .. } | I::Sbci { .. });
        // A subtraction begins no comparison.
        let byte = byte.filter(|_| !carries_on || !bytes.is_empty());
        if byte.is_none() || !carries_on {
            end(&mut bytes);
        }
        bytes.extend(byte);
    }
    end(&mut bytes);
    all
}
