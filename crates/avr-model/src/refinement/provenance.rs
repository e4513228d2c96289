//! Provenance of unknown bits: the path to a culprit is run again in the provenance domain.
//!
//! This run takes the same answers as the abstract one, so bits that are known in both always agree. Every
//! unknown bit carries the numbers of its origins: inputs left open and bits that decayed, each at a step of the path.

use crate::reduction::passes::Model;
use crate::reduction::reduced_step::{learning, relating};
use crate::reduction::successors::leaves;
use crate::state::cell_variable::variable_of;
use crate::state::{AbstractState, Location, PrecisionLookup};
use crate::transfer::choices::{Answer, Scripted, Unknowns, cells_cut, input_variable, is_cut};
use crate::transfer::interrupt_timing::InterruptTiming;
use avr_isa::{DataAddress, Register, RegisterSet};
use avr_machine::{Event, Input, Limit, MachineState, Question, Stop, cells_loaded, compared_bytes};
use avr_properties::{AtomKind, Event as WatchedEvent, StateView};
use mu_calculus::AtomId;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use three_valued::{ByteDomain, Origin, Provenance, ProvenanceBit, ProvenanceByte, TvByte};
use tvar::{Blame, Candidate, Knob, Variable};

/// The meaning of an origin number: a knob at a step of the path.
#[derive(Clone, Copy, Debug)]
struct Source {
    step: usize,
    knob: Knob,
    /// True if the byte that is forgotten was known to be one of not too many values, as an index is.
    bounded: bool,
}

/// Unknown inputs as bytes with provenance.
struct Recorder<'a> {
    sources: &'a mut Vec<Source>,
    step: usize,
    /// Provenance of the bits that questions were about.
    asked: Provenance,
    /// The accesses of the step.
    accesses: Vec<Access>,
}

/// A read or a write of a cell, which may be an event that an atom speaks of.
#[derive(Debug)]
struct Access {
    writes: bool,
    cell: DataAddress,
    /// True if the address is known.
    certain: bool,
    /// Provenance of the value.
    value: Provenance,
}

impl Unknowns<ProvenanceByte> for Recorder<'_> {
    fn unknown(&mut self, source: Input, mask: u8) -> ProvenanceByte {
        let variable = input_variable(source);
        let step = self.step;
        let first = self.sources.len() as u32;
        self.sources.extend((0..8).map(|bit| Source { step, knob: Knob::Input(variable, 1 << bit), bounded: false }));
        ProvenanceByte::numbered(TvByte::new(0, !mask), first)
    }

    fn asked(&mut self, about: Question<'_, ProvenanceByte>) {
        let origins = match about {
            Question::Bit(bit) => ProvenanceBit::origins(bit).clone(),
            Question::Bytes(bytes) => joint_provenance(bytes),
        };
        self.asked = self.asked.union(&origins);
    }

    fn stuck(&mut self, about: &[&ProvenanceByte]) {
        self.asked = self.asked.union(&joint_provenance(about));
    }

    fn event(&mut self, event: Event<'_, ProvenanceByte>) {
        let (writes, cell, certain, value) = match event {
            Event::Read(cell, value) => (false, cell, true, value),
            Event::Write(cell, value) => (true, cell, true, value),
            Event::PerhapsRead(cell, value) => (false, cell, false, value),
            Event::PerhapsWrite(cell, value) => (true, cell, false, value),
            Event::Call(_) | Event::Return(..) | Event::Interrupt(_) | Event::WatchdogRestart => return,
        };
        self.accesses.push(Access { writes, cell, certain, value: value.all_origins() });
    }
}

fn joint_provenance(bytes: &[&ProvenanceByte]) -> Provenance {
    bytes.iter().fold(Provenance::default(), |all, byte| all.union(&byte.all_origins()))
}

/// The number of the last steps before a cause in which case splits are looked for.
const CUT_STEPS: usize = 64;
/// The most bits that are cut at one step.
const MAX_CUT_BITS: u32 = 10;

/// The numbers of values of a byte that may be an index into a table, or the address of its element.
const INDEX_VALUES: RangeInclusive<usize> = 2..=64;

/// Unknown cells that a step makes addresses of, with the origins of their bits.
struct Narrow {
    step: usize,
    cells: Vec<(DataAddress, ProvenanceByte)>,
}

/// An input: the step that read it, and its variable.
type ReadInput = (usize, Variable);

/// The number of the last steps before a cause of which a comparison is taken for what the cause depends on.
const COMPARING_STEPS: usize = 8;

/// A run along a path in the provenance domain.
pub(crate) struct Tracer<'a, 'f> {
    model: &'a mut Model<'f>,
    path: &'a [AbstractState],
    precision: &'a PrecisionLookup<'a>,
    sources: Vec<Source>,
    state: MachineState<ProvenanceByte>,
    /// Provenance of the questions that were answered on the path, latest last.
    asked: Vec<Provenance>,
    /// The cells that the last steps made addresses of.
    narrow: VecDeque<Narrow>,
    /// The accesses of the latest step.
    accesses: Vec<Access>,
    /// The inputs that were compared with constants, as they were read, and the last step that did so.
    compared: BTreeMap<(ReadInput, u8), usize>,
    /// True if states of the path may have taken the place of others that they cover.
    is_replaced: bool,
}

impl<'a, 'f> Tracer<'a, 'f> {
    /// A run that has not begun.
    pub(crate) fn new(model: &'a mut Model<'f>, path: &'a [AbstractState], precision: &'a PrecisionLookup<'a>) -> Self {
        let cells = model.context.machine.cells() + model.passes.cells();
        let state = MachineState::new(cells, ProvenanceByte::constant(0));
        Self {
            model,
            path,
            precision,
            sources: Vec::new(),
            state,
            asked: Vec::new(),
            narrow: VecDeque::new(),
            accesses: Vec::new(),
            compared: BTreeMap::new(),
            is_replaced: false,
        }
    }

    /// The same on a path of which states may have taken the place of others that they cover.
    pub(crate) fn with_replaced_states(self) -> Self {
        Self { is_replaced: true, ..self }
    }

    /// The refinements that may remove the cause, best reasons first; none where the path is one of another precision.
    pub(crate) fn blame(mut self, cause: Blame) -> Vec<Candidate<Location>> {
        // The step into a sink is where the question arose.
        let steps = self.path.len() - 1 - usize::from(cause == Blame::Sink && self.path.len() > 1);
        for step in 0..steps {
            if !self.follow(step) {
                return Vec::new();
            }
        }
        let direct = match cause {
            Blame::Atom(atom) => self.atom_provenance(atom),
            Blame::Edge(_) | Blame::Sink => self.step_provenance(steps),
        };
        // A value that was known to be in bounds was an index: its cases would be as many as it has values.
        let was_index =
            |origin: &&Origin| self.ends_at(Limit::UnknownPointer) && self.sources[origin.id as usize].bounded;
        let (bounded, others): (Vec<_>, Vec<_>) = direct.as_slice().iter().partition(was_index);
        let comes_first = bounded.is_empty();
        let mut candidates = self.candidates(bounded, true);
        candidates.extend(self.candidates(others, comes_first));
        candidates.extend(self.cuts(&direct, comes_first));
        for origins in std::mem::take(&mut self.asked).iter().rev() {
            candidates.extend(self.candidates(origins.as_slice(), false));
        }
        candidates.extend(self.values(&candidates, steps));
        if self.ends_at(Limit::UnknownTarget) {
            candidates.iter_mut().for_each(bring_back_first);
        }
        candidates
    }

    /// True if the path ends at a limit of this kind.
    fn ends_at(&self, kind: Limit) -> bool {
        matches!(self.path.last(), Some(AbstractState::Limit { limit, .. }) if *limit == kind)
    }

    fn location(&self, step: usize) -> Location {
        self.model.context.location(&self.path[step])
    }

    /// Takes the step from a state of the path to the next; whether the precision allows it.
    fn follow(&mut self, step: usize) -> bool {
        let location = self.location(step);
        self.note_addresses(step);
        let Some((script, target)) = self.script(step, &location) else { return false };
        let asked = self.run(step, &location, script);
        self.asked.push(asked);
        self.decay(step + 1, target);
        if self.is_replaced {
            return self.agrees(step + 1);
        }
        self.narrow_to(step + 1);
        debug_assert!(self.covers(step + 1), "the traced state of step {} does not cover that of the path", step + 1);
        true
    }

    /// Takes note of the unknown cells that may end in an address: registers, and memory that the step loads.
    fn note_addresses(&mut self, step: usize) {
        let AbstractState::Running(running) = self.path[step] else { return };
        let machine = self.model.context.machine;
        let registers = self.model.context.decay_rules.addressing(running.control.pc);
        let loaded = cells_loaded(machine, &self.state).into_iter().filter(|cell| !machine.device.is_io_area(*cell));
        let cells = RegisterSet::from_bits(registers).iter().map(Register::address).chain(loaded);
        let unknown = cells.map(|cell| (cell, self.state.data.get(cell).clone()));
        let cells: Vec<_> = unknown.filter(|(_, byte)| byte.bits().unknown_mask() != 0).collect();
        if self.narrow.len() == CUT_STEPS {
            self.narrow.pop_front();
        }
        self.narrow.push_back(Narrow { step, cells });
    }

    /// The case splits that make something with these origins known. They are made at the step at which it depends on
    /// the fewest bits, the latest of such steps.
    fn cuts(&self, origins: &Provenance, direct: bool) -> Vec<Candidate<Location>> {
        let wanted = |byte: &ProvenanceByte| {
            let concerned = |bit: &u8| byte.origins(*bit).as_slice().iter().any(|one| origins.contains(one.id));
            (0..8).filter(concerned).fold(0u8, |mask, bit| mask | 1 << bit)
        };
        let cells = |narrow: &Narrow| -> Vec<(DataAddress, u8)> {
            let masks = narrow.cells.iter().map(|(cell, byte)| (*cell, wanted(byte)));
            masks.filter(|(_, mask)| *mask != 0).collect()
        };
        let steps: Vec<_> = self.narrow.iter().map(|narrow| (narrow.step, cells(narrow))).collect();
        let bits = |cells: &[(DataAddress, u8)]| -> u32 { cells.iter().map(|(_, mask)| mask.count_ones()).sum() };
        let few = steps.iter().map(|(_, cells)| bits(cells)).filter(|bits| (1..=MAX_CUT_BITS).contains(bits)).min();
        let Some(latest) = few.and_then(|few| steps.iter().rposition(|(_, cells)| bits(cells) == few)) else {
            return Vec::new();
        };
        // Results that are computed with a value may be less known another time: the earliest step at which the same
        // registers hold it.
        let alike = steps[..latest].iter().rev().take_while(|(_, cells)| *cells == steps[latest].1);
        let (step, cells) = alike.last().unwrap_or(&steps[latest]);
        let (step, location) = (*step, self.location(*step));
        let cut = |(cell, _): &(DataAddress, u8)| {
            // If some bits are unknown now, others may be next time.
            let knob = Knob::Case(variable_of(*cell), 0xff);
            Candidate { location, knob, step, indirection: 0, direct, joint: false }
        };
        cells.iter().map(cut).collect()
    }

    /// The answers that lead from a state of the path to the next, and the state to which they lead before anything
    /// decays. None if none do under the precision.
    fn script(&mut self, step: usize, location: &Location) -> Option<(Vec<Answer>, AbstractState)> {
        let (from, to) = (self.path[step], self.path[step + 1]);
        let leaves = leaves(self.model, &from, self.precision.leaving(&from, location));
        let exact = leaves.iter().position(|leaf| {
            let arrived = self.model.context.location(&leaf.state);
            self.model.context.decay(leaf.state, self.precision.arriving(&from, &arrived)) == to
        });
        // A location may have dropped more since: then what was stored covers what arrives.
        let leads_there = exact.or_else(|| leaves.iter().position(|leaf| self.model.context.covers(&to, &leaf.state)));
        let leaf = leaves.into_iter().nth(leads_there?)?;
        Some((leaf.script, leaf.state))
    }

    /// The values that may be split from all others instead of the bits that are candidates: those that the bits were
    /// compared with on the way to the cause, which is at this step.
    fn values(&self, candidates: &[Candidate<Location>], cause: usize) -> Vec<Candidate<Location>> {
        let mut bits: BTreeMap<ReadInput, Candidate<Location>> = BTreeMap::new();
        for candidate in candidates {
            if let Knob::Input(variable, _) = candidate.knob {
                let best = bits.entry((candidate.step, variable)).or_insert(*candidate);
                best.direct |= candidate.direct;
            }
        }
        let of_one = |((input, constant), by): (&(ReadInput, u8), &usize)| {
            let bit = bits.get(input)?;
            let knob = Knob::Value(input.1, (*constant).into());
            let direct = bit.direct && by + COMPARING_STEPS >= cause;
            Some(Candidate { knob, indirection: 0, direct, joint: false, ..*bit })
        };
        self.compared.iter().filter_map(of_one).collect()
    }

    /// Takes note of the inputs that the next step compares with constants.
    fn note_compared(&mut self, step: usize) {
        if !self.model.passes.facts {
            return;
        }
        for (register, constant) in compared_bytes(self.model.context.machine, &self.state) {
            if let Some(input) = self.input_in(self.state.data.get(register.address())) {
                self.compared.insert((input, constant), step);
            }
        }
    }

    /// The input that a byte is, as far as it is unknown.
    fn input_in(&self, byte: &ProvenanceByte) -> Option<ReadInput> {
        let unknown = (0..8).filter(|bit| byte.bits().unknown_mask() >> bit & 1 == 1);
        let of_bit = |bit: u8| match byte.origins(bit).as_slice() {
            [one] => {
                let source = self.sources[one.id as usize];
                let is_bit = |bits: u64| bits == 1 << bit && one.indirection == 0;
                match source.knob {
                    Knob::Input(variable, bits) if is_bit(bits) => Some((source.step, variable)),
                    _ => None,
                }
            }
            _ => None,
        };
        let mut inputs = unknown.map(of_bit);
        let first = inputs.next()??;
        inputs.all(|input| input == Some(first)).then_some(first)
    }

    /// Runs one step with the answers of a script and gives the origins of its questions.
    fn run(&mut self, step: usize, location: &Location, script: Vec<Answer>) -> Provenance {
        if matches!(self.path[step], AbstractState::Running(_)) {
            self.note_compared(step);
        }
        let recorder =
            Recorder { sources: &mut self.sources, step, asked: Provenance::default(), accesses: Vec::new() };
        let precision = self.precision.leaving(&self.path[step], location);
        let mut environment = Scripted::replaying(precision, recorder, script)
            .learning(learning(self.model, precision))
            .relating(relating(self.model, precision))
            .telling_branches(self.model.passes.branches);
        let machine = self.model.context.machine;
        let forgotten = ProvenanceByte::new(TvByte::UNKNOWN, |_| Provenance::default());
        match self.path[step] {
            AbstractState::Running(running) => {
                let reduction = self.model.passes.partial_order.as_ref();
                let is_cut = is_cut(&self.state, precision);
                let before =
                    reduction.map(|reduction| reduction.before(machine, &self.state, running.deferral, is_cut));
                environment.timing = before.map_or(InterruptTiming::Now, |before| before.timing);
                let _: Result<u32, Stop> = machine.step(&mut self.state, &mut environment);
                if let Some((reduction, before)) = reduction.zip(before) {
                    let touched = |writes| {
                        let accesses =
                            environment.unknowns.accesses.iter().filter(move |access| access.writes == writes);
                        accesses.map(|access| access.cell)
                    };
                    let changed = touched(true).chain(cells_cut(precision, touched(false)));
                    reduction.forget_below(machine, changed, before.pointer(), &mut self.state, &forgotten);
                    if let Some(predicates) = &self.model.passes.predicates {
                        let is_garbage = reduction.garbage(machine, &self.state);
                        predicates.get().all().forget(is_garbage, &mut self.state.data);
                    }
                }
            }
            _ => {
                let fresh = machine.power_on(&mut environment);
                for (address, cell) in machine.addresses().zip(fresh.data.cells()) {
                    self.state.data.set(address, cell.clone());
                }
                for address in (machine.cells()..self.state.data.len()).map(DataAddress::of_index) {
                    self.state.data.set(address, forgotten.clone());
                }
                self.state.control = fresh.control;
                self.state.calls.clear();
                if let Some(reduction) = &self.model.passes.partial_order {
                    reduction.forget_below(machine, std::iter::empty(), None, &mut self.state, &forgotten);
                }
            }
        }
        self.accesses = environment.unknowns.accesses;
        environment.unknowns.asked
    }

    /// Forgets what the state of the path forgot of the state that the step led to.
    fn decay(&mut self, step: usize, before: AbstractState) {
        let (AbstractState::Running(running), AbstractState::Running(before)) = (self.path[step], before) else {
            return;
        };
        for (address, kept, cell) in self.model.context.store.differing_cells(running.memory, before.memory) {
            // With any bit its range is forgotten.
            let in_range = if cell.is_ranged() { cell.unknown_mask() } else { 0 };
            let lost = cell.known_mask() & !kept.known_mask() | in_range;
            let sources = &mut self.sources;
            let bounded = INDEX_VALUES.contains(&cell.count());
            let is_coarse =
                self.precision.leaving(&self.path[step], &self.model.context.location(&self.path[step])).coarse;
            let forgotten = self.state.data.get(address).forget(lost, |bit| {
                let variable = variable_of(address);
                // If few states matter, a byte is dropped bit by bit, and of use as a whole.
                let bits = if is_coarse { 0xff } else { 1 << bit };
                // The content of a register matters here; that of memory must not be lost on the way either.
                let knob = if address < DataAddress::IO {
                    Knob::Step(variable, bits)
                } else {
                    Knob::Everywhere(variable, bits)
                };
                sources.push(Source { step, knob, bounded });
                Provenance::of(sources.len() as u32 - 1)
            });
            self.state.data.set(address, forgotten);
        }
    }

    /// Narrows what a step changed to what is so in the state of the path: there a relation of two cells may have said more, on which it
    /// depends what later steps ask.
    fn narrow_to(&mut self, step: usize) {
        let (AbstractState::Running(before), AbstractState::Running(after)) = (self.path[step - 1], self.path[step])
        else {
            return;
        };
        for (address, cell, _) in self.model.context.store.differing_cells(after.memory, before.memory) {
            if let Some(narrowed) = self.state.data.get(address).assume(cell) {
                self.state.data.set(address, narrowed);
            }
        }
    }

    fn agrees(&self, step: usize) -> bool {
        let AbstractState::Running(running) = self.path[step] else { return true };
        let cells = self.state.data.cells().iter().zip(0u16..);
        running.control == self.state.control
            && cells.into_iter().all(|(cell, address)| {
                cell.bits() == self.model.context.store.cell(running.memory, DataAddress(address))
            })
    }

    /// True if the state covers that of the path.
    fn covers(&self, step: usize) -> bool {
        let AbstractState::Running(running) = self.path[step] else { return true };
        let cells = self.state.data.cells().iter().zip(0u16..);
        running.control == self.state.control
            && cells.into_iter().all(|(cell, address)| {
                cell.bits().covers(self.model.context.store.cell(running.memory, DataAddress(address)))
            })
    }

    /// The provenance of an atom that is unknown in the last state.
    fn atom_provenance(&self, atom: AtomId) -> Provenance {
        let last = self.path.last().expect("a path has a state");
        let Some(view) = self.model.context.view(last) else { return Provenance::default() };
        let unknown = self.model.context.atoms[atom.index()].unknown_cells(&view as &dyn StateView);
        let event = self.event_provenance(self.model.context.atoms[atom.index()].kind());
        let predicates = self.model.context.predicates.as_ref();
        let told_by =
            predicates.map_or_else(Vec::new, |all| all.get().all().cells_of(&self.model.context.atoms[atom.index()]));
        let told_by = told_by.into_iter().map(|cell| (cell, view.cell(cell).unknown_mask()));
        unknown.into_iter().chain(told_by).fold(event, |all, (address, mask)| {
            let cell = self.state.data.get(address);
            let bits = (0..8).filter(|bit| mask >> bit & 1 == 1);
            bits.fold(all, |all, bit| all.union(&cell.origins(bit)))
        })
    }

    /// The provenance of the event of an atom, or of its value, that is unknown.
    fn event_provenance(&self, atom: &AtomKind) -> Provenance {
        let (writes, cells) = match atom {
            AtomKind::Event(WatchedEvent::Read(cells), _) => (false, cells),
            AtomKind::Event(WatchedEvent::Write(cells), _) => (true, cells),
            _ => return Provenance::default(),
        };
        let meant = self.accesses.iter().filter(|access| access.writes == writes && cells.contains(&access.cell));
        meant.fold(Provenance::default(), |all, access| {
            let all = all.union(&access.value);
            match self.asked.last() {
                // The address decides if the event happens at all.
                Some(asked) if !access.certain => all.union(asked),
                _ => all,
            }
        })
    }

    /// The provenance of the questions of a step, whatever the answers.
    fn step_provenance(&mut self, step: usize) -> Provenance {
        let location = self.location(step);
        let state = self.path[step];
        let leaves = leaves(self.model, &state, self.precision.leaving(&state, &location));
        let before = self.state.clone();
        let mut all = Provenance::default();
        for leaf in leaves {
            self.state = before.clone();
            all = all.union(&self.run(step, &location, leaf.script));
        }
        self.state = before;
        all
    }

    fn candidates<'o>(&self, origins: impl IntoIterator<Item = &'o Origin>, direct: bool) -> Vec<Candidate<Location>> {
        let candidate = |origin: &Origin| {
            let source = self.sources[origin.id as usize];
            let location = self.location(source.step);
            Candidate {
                location,
                knob: source.knob,
                step: source.step,
                indirection: origin.indirection,
                direct,
                joint: false,
            }
        };
        origins.into_iter().map(candidate).collect()
    }
}

/// Makes forgotten bits come first, all those of one step together. Where any address may have been stored, to
/// distinguish its values leads everywhere. The bounds of a store often depend on several variables that are forgotten
/// at once, such as an index, a length and a state.
fn bring_back_first(candidate: &mut Candidate<Location>) {
    let is_forgotten = matches!(candidate.knob, Knob::Step(..) | Knob::Everywhere(..));
    (candidate.direct, candidate.joint) = (is_forgotten, is_forgotten);
    candidate.indirection = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Firmware;
    use crate::reduction::passes::Passes;
    use avr_isa::{Instruction as I, Pointer, PointerMode, Register};
    use avr_machine::device::Device;
    use avr_machine::{Machine, Options, Program};
    use tvar::{Precision, Strategy, System};

    const POINTER: Variable = Variable(30);

    #[test]
    fn the_bounds_of_a_pointer_come_back_before_its_index_is_cut() {
        let r = |number| Register::new(number).expect("there are 32 registers");
        let code = [
            I::In { rd: r(30), io: 9 },
            I::Andi { rd: r(30), k: 0x0f },
            // Adds 3, so that a range is known that the bits do not tell.
            I::Subi { rd: r(30), k: 253 },
            I::Ldi { rd: r(31), k: 1 },
            I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: r(16) },
            I::Rjmp { offset: -1 },
        ];
        let words = code.map(|one| one.encode().expect("it has a code").first);
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, Options::default());
        let mut firmware = Firmware::with_passes(&machine, &[], Passes::default().with_facts());
        let mut precision = Precision::new(Strategy::Default);
        precision.be_coarse(true);
        let mut path = vec![firmware.initial()];
        while !matches!(path.last(), Some(AbstractState::Limit { .. })) {
            let from = path[path.len() - 1];
            let location = firmware.location(&from);
            let leaves = leaves(&mut firmware.model, &from, precision.at(&location));
            let [leaf] = leaves.as_slice() else { panic!("one way, not {}", leaves.len()) };
            if path.len() == 4 {
                precision.drop_bits(firmware.location(&leaf.state), POINTER, 0xff);
            }
            path.push(tvar::arrive(&mut firmware, &precision, leaf.state));
        }
        assert_eq!(path.len(), 7, "it ends at the store");
        let candidates = Tracer::new(&mut firmware.model, &path, &precision).blame(Blame::Sink);
        let (first, later): (Vec<_>, Vec<_>) = candidates.iter().copied().partition(|candidate| candidate.direct);
        assert!(!first.is_empty());
        for candidate in first {
            assert!(matches!(candidate.knob, Knob::Step(POINTER, _)), "{:?}", candidate.knob);
            assert_eq!(candidate.step, 4);
        }
        assert!(
            later.iter().any(|candidate| matches!(candidate.knob, Knob::Case(..))),
            "an index can be cut after all"
        );
    }
}
