//! Concrete runs of all nodes along a path of the composition: what the wires give is computed from concrete states.

use avr_isa::DataAddress;
use avr_machine::{Control, Copies, MachineState, MaskedCopy};
use avr_model::state::AbstractState;
use avr_properties::EventRecorder;
use three_valued::{Truth, TvByte};

use crate::composition::Space;
use crate::edges::Mover;
use crate::environment::{Accesses, Supply, Surroundings, UartInterrupts};
use crate::faults::{Fault, is_on as is_fault_on};
use crate::node::{Effect, Face, NodeState, face};
use crate::run::{Moment, MomentKind, Place, Repeats, Run};
use crate::wire::LineState;

/// The most steps of a node between two that wires see.
const MAX_STEPS: usize = 400_000;
/// The most ways to answer what wires leave open that are tried in one step.
const MAX_TRIES: usize = 512;

/// The concrete states of all nodes, and of the lines.
#[derive(Clone)]
pub(crate) struct Concrete {
    nodes: Vec<MachineState<u8>>,
    pub(crate) lines: Vec<LineState>,
    /// For each node: the interrupts that lines requested, and that were enabled, before its last step began, as bits of their numbers.
    settled: Vec<u128>,
}

impl PartialEq for Concrete {
    /// True if the same steps can follow.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&MachineState<u8>, &MachineState<u8>)| {
            let same_cells = one.data.cells() == other.data.cells();
            same_cells && one.control == other.control && one.calls.all() == other.calls.all()
        };
        let wires = (&self.lines, &self.settled) == (&other.lines, &other.settled);
        wires && self.nodes.iter().zip(&other.nodes).all(is_same)
    }
}

/// A run along the path that leads to a state of the space, if the contents that are tried have one.
pub(crate) fn replay(space: &mut Space<'_>, state: u32, contents: u8) -> Option<Run> {
    let mut path = Vec::new();
    let mut at = state;
    while let Some((from, edge, member)) = space.found_from[at as usize] {
        path.push((from, edge as usize, member as usize));
        at = from;
    }
    path.reverse();
    (0..contents).find_map(|content| {
        let mut replay = Replay::begin(space, content, at)?;
        path.iter().try_for_each(|step| replay.take(space, *step))?;
        Some(replay.ended(space, None))
    })
}

/// A run of all nodes while it is made.
pub(crate) struct Replay {
    pub(crate) now: Concrete,
    run: Run,
}

/// The length of a run so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    moments: usize,
    steps: u64,
}

impl Replay {
    /// A run from power-on to the first state of the space, with the initial content of this number.
    pub(crate) fn begin(space: &Space<'_>, content: u8, first: u32) -> Option<Self> {
        let mut nodes = Vec::new();
        for node in 0..space.nodes.len() {
            let supply = Supply::default();
            let recorder = EventRecorder::new(&[], avr_isa::FlashByteAddress(0));
            let plain = (None, UartInterrupts::default());
            let mut surroundings = Surroundings::new(&supply, plain, false, recorder).with_content(content);
            nodes.push(space.machine(node).power_on(&mut surroundings));
        }
        let lines = vec![LineState::default(); space.wires.lines.len()];
        let run = Run { steps: vec![0; nodes.len()], ..Run::default() };
        let settled = vec![0; nodes.len()];
        let mut replay = Self { now: Concrete { nodes, lines, settled }, run };
        for node in 0..space.nodes.len() {
            replay.local(space, node, space.states[first as usize].node(node))?;
        }
        Some(replay)
    }

    /// Takes the steps of a member of a hyper-edge of a state; if there are none with concrete values, nothing changes.
    pub(crate) fn take(&mut self, space: &mut Space<'_>, (from, edge, member): (u32, usize, usize)) -> Option<()> {
        let edge = space.edges.get(from, edge)?;
        let (mover, to) = (edge.mover, *edge.members.get(member)?);
        match mover {
            Mover::Nobody => None,
            Mover::Node(node) => self.step(space, node, (from, to)),
            Mover::Begin(line) => {
                self.now.lines[line] = self.now.lines[line].gone_on();
                Some(())
            }
            // The data sheet does not say which character is lost: runs lose the new one.
            Mover::Arrive(_) if member != 0 => None,
            Mover::Arrive(line) => self.arrive(space, line),
        }
    }

    /// The number of moments so far.
    pub(crate) fn moments(&self) -> usize {
        self.run.moments.len()
    }

    /// The length so far.
    pub(crate) fn length(&self) -> Length {
        Length { moments: self.run.moments.len(), steps: self.run.steps.iter().sum() }
    }

    /// The run, of which what follows this length repeats for ever.
    pub(crate) fn ended(mut self, space: &Space<'_>, repeats_from: Option<Length>) -> Run {
        self.run.last = (0..space.nodes.len()).map(|node| self.place(space, node)).collect();
        let all = self.length().steps;
        self.run.repeats = repeats_from.map(|from| Repeats {
            moments: from.moments,
            schedule: split(&mut self.run.schedule, from.steps),
            steps: all - from.steps,
        });
        self.run
    }

    fn face(&self, space: &Space<'_>, node: usize) -> Face {
        let state = &self.now.nodes[node];
        face(&space.nodes[node].parts, &|address: DataAddress| TvByte::constant(*state.data.get(address)))
    }

    /// The interrupts that lines request from a node, and that are enabled, as bits of their numbers.
    fn standing(&self, space: &Space<'_>, node: usize) -> u128 {
        let (uart, interrupts) = space.nodes[node].uart();
        let data = &self.now.nodes[node].data;
        let is_enabled = |number: u8| {
            let mut all = space.machine(node).device.interrupts.iter();
            let interrupt = all.find(|interrupt| interrupt.number == number);
            interrupt.is_some_and(|it| data.get(it.enable.address) & it.enable.mask() != 0)
        };
        match uart {
            Some(_) => interrupts.standing(&space.wires.characters(node, &self.now.lines), &is_enabled),
            None => 0,
        }
    }

    fn place(&self, space: &Space<'_>, node: usize) -> Place {
        let pc = self.now.nodes[node].control.pc.byte().0;
        Place { pc, text: space.nodes[node].place(pc) }
    }

    fn arrive(&mut self, space: &Space<'_>, line: usize) -> Option<()> {
        let wire = space.wires.lines[line];
        let is_on = self.face(space, wire.to).uart?.receives.known()?;
        let before = &self.now.lines[line];
        let character = before.moving.and_then(TvByte::known)?;
        let arrived = before.arrived(wire.buffer, is_on);
        self.run.rests_on_model |= arrived.len() > 1 && !is_fault_on(Fault::HardwareIsWorld);
        let after = arrived.into_iter().next()?;
        let what = match (is_on, after.received.len() > before.received.len()) {
            (false, _) => "is lost, because the receiver is off",
            (true, true) => "arrives",
            (true, false) => "is lost, because the receiver is full",
        };
        let [from, to] = [wire.from, wire.to].map(|node| space.nodes[node].parts.name);
        let text = format!("{character:#04x} from {from} to {to} {what}");
        // States that do not tell the flag have no moment in which the frame ends.
        self.now.lines[line] = if !space.follows_sent() && after.ending { after.gone_on() } else { after };
        let kind = MomentKind::Line { from: wire.from, to: wire.to };
        self.run.moments.push(Moment { kind, node: None, step: 0, pc: None, text });
        Some(())
    }

    /// Takes the steps of a node that lead from a state of the space to another.
    fn step(&mut self, space: &mut Space<'_>, node: usize, (from, to): (u32, u32)) -> Option<()> {
        let [source, wanted] = [from, to].map(|state| space.states[state as usize].node(node));
        // Behind an event, local steps are taken with the next step of somebody else. Runs take them before the next one of the node.
        self.local(space, node, source)?;
        let faces: Vec<Face> = (0..space.nodes.len()).map(|node| self.face(space, node)).collect();
        let supply = space.wires.supply(node, &|node| &faces[node], &self.now.lines);
        let nearby = space.supply_of(node, from);
        let before = self.now.clone();
        let standing = self.standing(space, node);
        let mut script = Vec::new();
        let watched = space.nodes[node].watched();
        for _ in 0..MAX_TRIES {
            let recorder = EventRecorder::new(&watched, before.nodes[node].control.pc.byte());
            let uart = space.nodes[node].uart();
            let surroundings = Surroundings::new(&supply, uart, true, recorder).answering(script);
            let mut surroundings = surroundings.with_settled(before.settled[node]);
            let mut state = before.nodes[node].clone();
            let stepped = space.machine(node).step(&mut state, &mut surroundings);
            let accesses = surroundings.accesses.clone();
            let occurrences = surroundings.recorder.occurrences();
            if stepped.is_ok() && !accesses.is_unknown && !accesses.is_unclear {
                self.now.nodes[node] = state;
                self.now.settled[node] = standing;
                let after = self.face(space, node);
                self.now.lines = space.wires.after(node, Effect::of(&accesses), &after, &before.lines);
                let starts = space.nodes[node].raw_targets(source, &nearby, wanted);
                let taken = self.run.steps[node];
                let did_so = |start: u32| space.nodes[node].has_done(start, &occurrences);
                let mut starts = starts.into_iter().filter(|start| did_so(*start));
                if starts.any(|start| self.is_covered(space, node, start)) && self.reaches(space, node, wanted) {
                    self.did(space, (node, &faces[node], taken), &before, &accesses, &surroundings.inputs);
                    self.run.rests_on_model |= surroundings.rests_on_model();
                    return Some(());
                }
                self.now = before.clone();
            }
            if !surroundings.advance() {
                return None;
            }
            script = surroundings.script;
        }
        None
    }

    /// Counts the step that was taken, and takes local steps until the state that is wanted covers the node; false, with the counts as they
    /// were, if it never does.
    fn reaches(&mut self, space: &Space<'_>, node: usize, wanted: u32) -> bool {
        let before = self.run.clone();
        self.count(node);
        if self.local(space, node, wanted).is_some() {
            return true;
        }
        self.run = before;
        false
    }

    fn local(&mut self, space: &Space<'_>, node: usize, wanted: u32) -> Option<()> {
        let (supply, plain) = (Supply::default(), (None, UartInterrupts::default()));
        let watched = space.nodes[node].watched();
        for _ in 0..MAX_STEPS {
            if self.is_covered(space, node, wanted) {
                return Some(());
            }
            let recorder = EventRecorder::new(&watched, self.now.nodes[node].control.pc.byte());
            let mut surroundings = Surroundings::new(&supply, plain, false, recorder);
            self.now.settled[node] = self.standing(space, node);
            space.machine(node).step(&mut self.now.nodes[node], &mut surroundings).ok()?;
            self.run.rests_on_model |= surroundings.rests_on_model();
            self.count(node);
        }
        None
    }

    /// Counts a step of a node.
    fn count(&mut self, node: usize) {
        self.run.steps[node] += 1;
        match self.run.schedule.last_mut() {
            Some((last, steps)) if *last == node => *steps += 1,
            _ => self.run.schedule.push((node, 1)),
        }
    }

    /// Takes note of what a step did.
    fn did(
        &mut self,
        space: &Space<'_>,
        (node, before, before_step): (usize, &Face, u64),
        at: &Concrete,
        accesses: &Accesses,
        inputs: &[(DataAddress, u8, u8)],
    ) {
        let parts = &space.nodes[node].parts;
        let (pc, step) = (at.nodes[node].control.pc.byte().0, before_step);
        let mut told: Vec<(MomentKind, String)> = Vec::new();
        let register = |address: DataAddress| {
            parts.machine.device.register_at(address).map_or_else(|| format!("{address:#06x}"), |it| it.name.to_owned())
        };
        for (address, mask, value) in inputs {
            told.push((
                MomentKind::Input,
                format!("an input of {} is {value:#04x} (bits {mask:#04x})", register(*address)),
            ));
        }
        if accesses.read {
            let first = at.lines.iter().zip(&space.wires.lines).find(|(_, line)| line.to == node);
            let text = match first.and_then(|(line, _)| line.received.first().copied()).and_then(TvByte::known) {
                Some(character) => format!("reads the character {character:#04x}"),
                None => "reads UDR0, and no character is there".to_owned(),
            };
            told.push((MomentKind::Character, text));
        }
        if let Some(character) = accesses.written.and_then(TvByte::known) {
            told.push((MomentKind::Character, format!("writes the character {character:#04x}")));
        }
        let after = self.face(space, node);
        for (end, (before, after)) in parts.ends.iter().zip(before.pins.iter().zip(&after.pins)) {
            let name = format!("{}.{}", register(end.port.address), end.port.bit);
            let level = |level: Truth| u8::from(level.is_true());
            let text = match (before.drives, after.drives) {
                (Truth::True, Truth::True) if before.level != after.level => {
                    format!("{name} becomes {}", level(after.level))
                }
                (Truth::True, Truth::True) | (Truth::False, Truth::False) => continue,
                (_, Truth::True) => format!("{name} is driven, and {}", level(after.level)),
                _ => format!("{name} is not driven any more"),
            };
            told.push((MomentKind::Pin, text));
        }
        let moment = |(kind, text)| Moment { kind, node: Some(node), step, pc: Some(pc), text };
        self.run.moments.extend(told.into_iter().map(moment));
    }

    /// True if a state of a node covers the concrete one.
    fn is_covered(&self, space: &Space<'_>, node: usize, state: u32) -> bool {
        let concrete = &self.now.nodes[node];
        let NodeState::At(AbstractState::Running(running)) = space.nodes[node].state(state) else { return false };
        let same = |one: &Control, other: &Control| {
            Control { copies: Copies::default(), ..one.of_hardware() }
                == Control { copies: Copies::default(), ..other.of_hardware() }
        };
        let value = |address: DataAddress| *concrete.data.get(address);
        let copies = &running.control.copies;
        let is_masked = |copy: &MaskedCopy| value(copy.to()) == value(copy.from) & copy.mask;
        same(&running.control, &concrete.control)
            && space.nodes[node].frames(state).iter().eq(concrete.calls.all().iter().rev())
            && copies.pairs().iter().all(|(one, other)| value(*one) == value(*other))
            && copies.masked().iter().all(is_masked)
            && space
                .machine(node)
                .addresses()
                .all(|address| space.nodes[node].cell(state, address).contains(value(address)))
    }
}

/// Splits a schedule after so many steps of all nodes together; the number of entries before that.
fn split(schedule: &mut Vec<(usize, u64)>, mut steps: u64) -> usize {
    for at in 0..schedule.len() {
        let (node, count) = schedule[at];
        if steps == 0 {
            return at;
        }
        if steps < count {
            schedule[at].1 = steps;
            schedule.insert(at + 1, (node, count - steps));
            return at + 1;
        }
        steps -= count;
    }
    schedule.len()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn schedules_are_split_between_steps() {
        let check = |steps: u64, place: usize, expected: &[(usize, u64)]| {
            let mut schedule = vec![(0, 2), (1, 3)];
            assert_eq!((split(&mut schedule, steps), schedule), (place, expected.to_vec()));
        };
        check(0, 0, &[(0, 2), (1, 3)]);
        check(1, 1, &[(0, 1), (0, 1), (1, 3)]);
        check(2, 1, &[(0, 2), (1, 3)]);
        check(4, 2, &[(0, 2), (1, 2), (1, 1)]);
        check(5, 2, &[(0, 2), (1, 3)]);
    }
}
