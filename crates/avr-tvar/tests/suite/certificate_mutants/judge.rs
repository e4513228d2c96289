//! Judgement of certificates by concrete runs: the parts that no run refutes.

use std::collections::BTreeMap;

use avr_certificate::{BLOCK_PAGES, Basis, Certificate, Running, Space, State};
use avr_image::Image;
use avr_isa::{DataAddress, EepromAddress, FlashByteAddress, FlashWordAddress};
use avr_machine::device::Device;
use avr_machine::{
    Demand, DeterminedBy, Environment, Event as Did, Frame, FrameKind, Happening, Input, Machine, MachineState,
    PAGE_CELLS, Possibilities, Question, Stop,
};
use avr_properties::{
    AtomKind, AtomTable, Binding, Event, EventRecorder, Occurred, Occurrence, PropertyFile, Setting, StateView,
    occurrence, occurrences_cover, watched_events,
};
use mu_calculus::{AtomId, GraphBuilder, Labels, Problem, StateId};
use three_valued::{ByteDomain, Truth, TvByte};

use super::claims::{Claims, Goal};
use super::exhaustive::Everything;
use super::predicates::{are_true, make_true};
use avr_testkit::Random;

/// The number of concrete states of each abstract one that are tried.
const TRIES: usize = 12;
/// The number of inputs of each that are tried.
const INPUTS: usize = 512;

/// Judges certificates of one firmware.
pub(super) struct Judge<'a> {
    machine: Machine,
    /// The atoms of the certificate that is judged.
    table: AtomTable,
    watched: Vec<Event>,
    file: PropertyFile,
    image: &'a Image,
    device: &'static Device,
    header: avr_certificate::Header,
}

/// Answers in order, the first answers for questions that were not asked before.
#[derive(Default)]
pub(super) struct Answers {
    given: Vec<(usize, usize, bool)>,
    position: usize,
}

impl Answers {
    pub(super) fn answer(&mut self, count: usize, hardware: bool) -> usize {
        if self.position == self.given.len() {
            self.given.push((0, count, hardware));
        }
        self.position += 1;
        self.given[self.position - 1].0
    }

    pub(super) fn next(&mut self) -> bool {
        self.position = 0;
        while let Some(last) = self.given.last_mut() {
            last.0 += 1;
            if last.0 < last.1 {
                return true;
            }
            self.given.pop();
        }
        false
    }

    /// The answers of the hardware.
    fn of_hardware(&self) -> Vec<usize> {
        self.given.iter().filter(|(.., hardware)| *hardware).map(|(answer, ..)| *answer).collect()
    }
}

/// A world in which every bit is known.
struct Concrete<'a> {
    answers: &'a mut Answers,
    initial: &'a mut Random,
    events: EventRecorder<'a>,
}

impl Environment<TvByte> for Concrete<'_> {
    fn input(&mut self, source: Input, mask: u8, _: Demand, by: DeterminedBy) -> TvByte {
        let hardware = by != DeterminedBy::Environment;
        if matches!(source, Input::Initial(_)) {
            return TvByte::constant(self.initial.byte() & mask);
        }
        let bits = (0..8).filter(|bit| mask >> bit & 1 == 1);
        TvByte::constant(bits.fold(0, |byte, bit| byte | (self.answers.answer(2, hardware) as u8) << bit))
    }

    fn choose(&mut self, count: usize) -> usize {
        self.answers.answer(count, false)
    }

    /// Hardware determines each of its requests for itself: it comes or not, whatever else comes.
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let all: Vec<Happening> = possibilities.iter().collect();
        let rest = all.iter().position(|one| *one == Happening::Continue).unwrap_or(all.len() - 1);
        let wants: Vec<bool> = all
            .iter()
            .map(|one| self.answers.answer(2, possibilities.determined_by(*one) != DeterminedBy::Environment) == 1)
            .collect();
        (0..all.len()).find(|index| *index != rest && wants[*index]).unwrap_or(rest)
    }

    fn case(&mut self, _: usize, _: Question<'_, TvByte>) -> usize {
        unreachable!("everything is known")
    }

    fn event(&mut self, event: Did<'_, TvByte>) {
        self.events.note(event);
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.events.moves(from, to)
    }
}

/// The facts that concrete steps from an abstract state show.
struct Shown {
    /// True if every one of them leads to a member of some hyper-edge.
    all_covered: bool,
    /// For each hyper-edge and basis, whether every one of the concrete states can be led into it.
    forced: Vec<(bool, bool)>,
    labels: Vec<Truth>,
}

/// A concrete state as atoms see it.
struct View<'a> {
    state: &'a MachineState<TvByte>,
    watched: &'a [Event],
    did: &'a [Occurred],
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        *self.state.data.get(address)
    }
    fn pc(&self) -> FlashByteAddress {
        self.state.control.pc.byte()
    }
    fn stack_pointer_torn(&self) -> bool {
        self.state.control.torn
    }
    fn stack(&self) -> u8 {
        self.state.control.stack
    }
    fn interrupt_depth(&self) -> usize {
        self.state.calls.frames().iter().filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }
    fn sleeping(&self) -> Truth {
        self.state.control.sleeping.into()
    }
    fn hazard(&self) -> Truth {
        Truth::False
    }
    fn event(&self, event: &Event) -> Occurrence {
        occurrence(self.watched, self.did, event)
    }
}

/// The cells of a memory of a certificate.
pub(super) fn cells(certificate: &Certificate, memory: u32, count: usize) -> Vec<TvByte> {
    debug_assert!(certificate.store.memory_blocks >= count.div_ceil(PAGE_CELLS * BLOCK_PAGES));
    cells_from(certificate, memory, 0, count).collect()
}

/// Some cells of a memory of a certificate, in whole pages.
pub(super) fn cells_from(
    certificate: &Certificate,
    memory: u32,
    first: usize,
    count: usize,
) -> impl Iterator<Item = TvByte> {
    let blocks = certificate.store.memory(memory);
    let page = |page: usize| certificate.store.blocks[blocks[page / BLOCK_PAGES] as usize][page % BLOCK_PAGES];
    let pages = first / PAGE_CELLS..(first + count) / PAGE_CELLS;
    pages.flat_map(move |number| certificate.store.pages[page(number) as usize])
}

fn did(certificate: &Certificate, number: u32) -> Vec<Occurred> {
    let seen = certificate.store.did[number as usize].iter();
    seen.map(|seen| Occurred { event: seen.event as usize, certain: seen.certain, value: seen.value }).collect()
}

impl<'a> Judge<'a> {
    /// A judge for the firmware of a certificate that is right.
    pub(super) fn new(image: &'a Image, device: &'static Device, certificate: &Certificate) -> Self {
        let header = certificate.header.clone();
        let file = avr_check::property_file(&header).expect("it is right");
        let eeprom: BTreeMap<EepromAddress, u8> = header.eeprom.iter().copied().collect();
        let setting = Setting { image, device, start: header.start, file: &file, eeprom: &eeprom };
        let machine = setting.machine().expect("it is right");
        let claims = Claims::of(
            &file,
            Binding { device, image, start: 0, ends_paths: false, stacks: &[], boot_start: None },
            certificate,
        )
        .expect("it is right");
        let watched = watched_events(claims.table.atoms());
        Self { machine, table: claims.table, watched, file, image, device, header }
    }

    /// True if a certificate of a program that is small enough proves its claims, when everything is looked at.
    pub(super) fn proves(&self, certificate: &Certificate) -> bool {
        let binding = Binding {
            device: self.device,
            image: self.image,
            start: 0,
            ends_paths: false,
            stacks: &[],
            boot_start: None,
        };
        let Some(Claims { table, goals }) = Claims::of(&self.file, binding, certificate) else { return false };
        let starts = |space: &Space| matches!(space.states.first(), Some(State::Start { .. }));
        let fits = |space: &Space| space.labels.atoms() == table.atoms().len() && starts(space);
        if certificate.header != self.header || !certificate.spaces.iter().all(fits) {
            return false;
        }
        let everything = Everything::new(&self.machine, table.atoms(), certificate);
        goals.iter().all(|goal| everything.proves(goal))
    }

    /// The reason why the parts that concrete runs do not refute prove no claims; none if they do.
    pub(super) fn refutes(&mut self, certificate: &Certificate) -> Option<String> {
        if certificate.header != self.header {
            return Some("it speaks of something else".to_owned());
        }
        let binding = Binding {
            device: self.device,
            image: self.image,
            start: 0,
            ends_paths: false,
            stacks: &[],
            boot_start: None,
        };
        let Some(Claims { table, goals }) = Claims::of(&self.file, binding, certificate) else {
            return Some("it claims something that means nothing".to_owned());
        };
        if certificate.spaces.iter().any(|space| space.labels.atoms() != table.atoms().len()) {
            return Some("its labels are of other atoms".to_owned());
        }
        self.table = table;
        let shown: Vec<Vec<Shown>> = certificate.spaces.iter().map(|space| self.shown(certificate, space)).collect();
        goals.iter().find_map(|goal| {
            let (number, proof) = (goal.proof.space as usize, goal.proof);
            let atoms = self.table.atoms().len();
            let value = evaluate(goal, &certificate.spaces[number], &shown[number], proof.basis, atoms);
            let is_proved = value == Truth::from(goal.wanted);
            (!is_proved).then(|| format!("{} is {value:?} without what concrete runs refute", goal.name))
        })
    }

    fn shown(&self, certificate: &Certificate, space: &Space) -> Vec<Shown> {
        let mut random = Random::new(1);
        (0..space.states.len() as u32).map(|state| self.shown_in(certificate, space, state, &mut random)).collect()
    }

    /// Tries concrete states of an abstract one.
    fn shown_in(&self, certificate: &Certificate, space: &Space, number: u32, random: &mut Random) -> Shown {
        let edges: Vec<&[u32]> = space.edges.of(number).collect();
        let atoms = self.table.atoms();
        let labels = (0..atoms.len()).map(|atom| space.labels.get(number, atom)).collect();
        let mut shown = Shown { all_covered: !edges.is_empty(), forced: vec![(true, true); edges.len()], labels };
        match &space.states[number as usize] {
            State::Running(running) => {
                for _ in 0..TRIES {
                    self.try_running(certificate, space, (running, &edges), random, &mut shown);
                }
            }
            State::Start { .. } => {
                shown.labels.fill(Truth::Unknown);
                for _ in 0..TRIES {
                    let mut answers = Answers::default();
                    let mut world = self.world(&mut answers, random, FlashWordAddress(0));
                    let state = self.machine.power_on(&mut world);
                    let led = Ok((state, Vec::new()));
                    shown.all_covered &= edges
                        .concat()
                        .iter()
                        .any(|member| covers(certificate, space, *member, &led, FlashWordAddress(0)));
                }
            }
            State::Hazard { .. } => {
                for (label, atom) in shown.labels.iter_mut().zip(atoms) {
                    let is_shown = *atom.kind() == AtomKind::Hazard && *label == Truth::True;
                    *label = if is_shown { Truth::True } else { Truth::Unknown };
                }
            }
            State::Anything => shown.labels.fill(Truth::Unknown),
        }
        shown
    }

    fn world<'w>(&'w self, answers: &'w mut Answers, initial: &'w mut Random, pc: FlashWordAddress) -> Concrete<'w> {
        Concrete { answers, initial, events: EventRecorder::new(&self.watched, pc.byte()) }
    }

    fn try_running(
        &self,
        certificate: &Certificate,
        space: &Space,
        (running, edges): (&Running, &[&[u32]]),
        random: &mut Random,
        shown: &mut Shown,
    ) {
        let Some(before) = self.concrete(certificate, running, random) else { return };
        let seen = did(certificate, running.did);
        let view = View { state: &before, watched: &self.watched, did: &seen };
        for (label, atom) in shown.labels.iter_mut().zip(self.table.atoms()) {
            let truth = atom.evaluate(&view);
            if !truth.is_unknown() && truth != *label {
                *label = Truth::Unknown;
            }
        }
        let pc = running.control.pc;
        let mut answers = Answers::default();
        // For each way of the hardware, the hyper-edges that some input leads into.
        let mut led_into: BTreeMap<Vec<usize>, Vec<bool>> = BTreeMap::new();
        for tried in 0.. {
            let mut world = self.world(&mut answers, random, pc);
            let mut state = before.clone();
            let stepped = self.machine.step(&mut state, &mut world);
            let occurred = world.events.occurrences().to_vec();
            let led = stepped.map(|_| (state, occurred));
            if !matches!(led, Err(Stop::Infeasible)) {
                let into = |edge: &[u32]| edge.iter().any(|member| covers(certificate, space, *member, &led, pc));
                let good: Vec<bool> = edges.iter().map(|edge| into(edge)).collect();
                shown.all_covered &= good.contains(&true);
                let all = led_into.entry(answers.of_hardware()).or_insert_with(|| vec![false; edges.len()]);
                all.iter_mut().zip(good).for_each(|(all, good)| *all |= good);
            }
            if !answers.next() {
                break;
            }
            if tried == INPUTS {
                // Not all inputs were tried, so nothing is known of what can be forced.
                return;
            }
        }
        for (edge, forced) in shown.forced.iter_mut().enumerate() {
            forced.0 &= led_into.values().any(|led_into| led_into[edge]);
            forced.1 &= led_into.values().all(|led_into| led_into[edge]);
        }
    }

    /// Some state that an abstract one stands for; none if none was found.
    fn concrete(
        &self,
        certificate: &Certificate,
        running: &Running,
        random: &mut Random,
    ) -> Option<MachineState<TvByte>> {
        let count = self.machine.cells();
        let mut state = MachineState::new(count, TvByte::constant(0));
        for (cell, address) in cells(certificate, running.memory, count).into_iter().zip(0..) {
            state.data.set(DataAddress(address), TvByte::constant(cell.value() | random.byte() & cell.unknown_mask()));
        }
        let mut frames: Vec<Frame> = certificate.store.frames(running.calls).copied().collect();
        frames.reverse();
        frames.into_iter().for_each(|frame| state.calls.push(frame));
        state.control = running.control.of_hardware();
        make_true(certificate, running, &mut state.data).then_some(state)
    }
}

/// The end of a concrete step.
type Led = Result<(MachineState<TvByte>, Vec<Occurred>), Stop>;

fn covers(certificate: &Certificate, space: &Space, member: u32, led: &Led, pc: FlashWordAddress) -> bool {
    match (&space.states[member as usize], led) {
        (State::Anything, _) => true,
        (State::Hazard { hazard, pc: place }, Err(Stop::Hazard(found))) => hazard == found && *place == pc,
        (State::Running(running), Ok((state, occurred))) => {
            running.control.of_hardware() == state.control
                && certificate.store.frames(running.calls).eq(state.calls.frames().iter().rev())
                && occurrences_cover(&did(certificate, running.did), occurred)
                && cells_from(certificate, running.memory, 0, state.data.len())
                    .zip(state.data.cells())
                    .all(|(coarse, fine)| coarse.covers(*fine) && coarse.bits().known_mask() & !fine.known_mask() == 0)
                && are_true(certificate, running, &state.data)
        }
        _ => false,
    }
}

/// The value of a formula on what is left.
fn evaluate(goal: &Goal<'_>, space: &Space, shown: &[Shown], basis: Basis, atoms: usize) -> Truth {
    let anything = StateId(shown.len() as u32);
    let mut builder = GraphBuilder::new();
    let mut labels = Labels::new(atoms, shown.len() + 1);
    for (state, number) in shown.iter().zip(0..) {
        let id = builder.state();
        for (truth, atom) in state.labels.iter().zip(0..) {
            labels.set(AtomId(atom), id, *truth);
        }
        match &space.states[number as usize] {
            State::Hazard { .. } if goal.observes_hazards => _ = builder.edge([id]),
            State::Hazard { .. } | State::Anything => {}
            State::Start { .. } | State::Running(_) => {
                for (members, forced) in space.edges.of(number).zip(&state.forced) {
                    if if basis == Basis::Hardware { forced.1 } else { forced.0 } {
                        builder.edge(members.iter().map(|member| StateId(*member)));
                    }
                }
                // All that may follow: none of it can be forced, but all of it counts.
                let members = space.edges.all_members(number).iter().map(|member| StateId(*member));
                builder.edge(members.chain((!state.all_covered).then_some(anything)));
            }
        }
    }
    builder.state();
    let graph = builder.finish(StateId(0)).expect("members are states");
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    problem.solve(&|| false).expect("it is small").verdict()
}
