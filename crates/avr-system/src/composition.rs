//! The composition: states of all nodes with the characters on the lines, and what can happen next.
//!
//! Nodes run at any speed, and characters take any time: the world chooses who does the next step.

use avr_machine::Machine;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use three_valued::{Truth, TvByte};

use crate::edges::{Mover, SystemEdges};
use crate::environment::{Pins, Received, Sending, Supply};
use crate::faults::{Fault, is_on};
use crate::node::{Distinctions, Effect, Face, Node, NodeState, Target};
use crate::wire::{End, Level, Line, LineState, PinState, PinWire};

/// The wires of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wires {
    pub(crate) pins: Vec<PinWire>,
    pub(crate) lines: Vec<Line>,
}

impl Wires {
    /// The ends of wires of pins at a node, in the order of wires.
    pub(crate) fn ends(&self, node: usize) -> Vec<End> {
        self.pins.iter().flat_map(|wire| [wire.from, wire.to]).filter(|end| end.node == node).collect()
    }

    /// True if a line begins or ends at a node.
    pub(crate) fn has_line(&self, node: usize) -> bool {
        self.lines.iter().any(|line| line.from == node || line.to == node)
    }

    /// The state of an end in the face of its node.
    fn pin(&self, end: &End, face: &Face) -> PinState {
        let index = self.ends(end.node).iter().position(|known| known == end);
        let unknown = PinState { drives: Truth::Unknown, level: Truth::Unknown, pulls: Truth::Unknown };
        index.and_then(|index| face.pins.get(index).copied()).unwrap_or(unknown)
    }

    /// The inputs that the wires supply to a node; `faces` gives the faces of all nodes.
    pub(crate) fn supply<'f>(&self, node: usize, faces: &dyn Fn(usize) -> &'f Face, lines: &[LineState]) -> Supply {
        let mut supply = self.characters(node, lines);
        let ends = self.pins.iter().filter(|wire| wire.to.node == node).map(|wire| (wire, wire.to));
        for (wire, end) in ends.chain(self.beginnings(node)) {
            let (address, mask) = (end.pin.address, end.pin.mask());
            let (value, unknown, floating) = match self.level(wire, end, faces) {
                Level::Of(Truth::True) => (mask, 0, 0),
                Level::Of(Truth::False) => (0, 0, 0),
                Level::Of(Truth::Unknown) => (0, mask, 0),
                Level::Floating => (0, 0, mask),
            };
            let found = supply.pins.iter().position(|pins| pins.address == address);
            let known = found.unwrap_or_else(|| {
                supply.pins.push(Pins { address, wired: 0, level: TvByte::constant(0), floating: 0 });
                supply.pins.len() - 1
            });
            let pins = &mut supply.pins[known];
            pins.wired |= mask;
            pins.floating |= floating;
            pins.level = TvByte::new(pins.level.value() | value, pins.level.known_mask() & !unknown);
        }
        supply
    }

    /// The beginnings of wires at a node, each with one of its wires.
    fn beginnings(&self, node: usize) -> impl Iterator<Item = (&PinWire, End)> {
        let is_first = |wire: &PinWire| self.pins.iter().find(|other| other.from == wire.from) == Some(wire);
        let all = self.pins.iter().filter(move |wire| wire.from.node == node && !is_on(Fault::BeginningIsFree));
        all.filter(move |wire| is_first(wire)).map(|wire| (wire, wire.from))
    }

    /// The level of a wire at one of its ends, as all other ends make it. Where the node at the beginning drives it, that end is not asked.
    fn level<'f>(&self, wire: &PinWire, at: End, faces: &dyn Fn(usize) -> &'f Face) -> Level {
        let from = self.pin(&wire.from, faces(wire.from.node));
        let ends = self.pins.iter().filter(|other| other.from == wire.from).map(|other| &other.to);
        let pulls = ends.clone().fold(from.pulls, |all, end| all | self.pin(end, faces(end.node)).pulls);
        let mut others = ends.filter(|end| **end != at);
        match others.any(|end| self.pin(end, faces(end.node)).drives != Truth::False) {
            true => Level::Of(Truth::Unknown),
            false => wire.level(from, pulls),
        }
    }

    /// The inputs that the lines alone supply to a node.
    pub(crate) fn characters(&self, node: usize, lines: &[LineState]) -> Supply {
        let mut supply = Supply::default();
        for (line, state) in self.lines.iter().zip(lines) {
            if line.to == node {
                supply.received = Some(Received { first: state.received.first().copied(), overrun: state.overrun });
            }
            if line.from == node {
                supply.sending = Some(Sending { is_empty: state.waiting.is_none(), is_sent: state.is_sent() });
            }
        }
        supply
    }

    /// The lines after a step of a node that did this; the receiver that is off afterwards has nothing.
    pub(crate) fn after(&self, node: usize, effect: Effect, face: &Face, lines: &[LineState]) -> Vec<LineState> {
        let mut after = lines.to_vec();
        for (line, state) in self.lines.iter().zip(&mut after) {
            if line.to == node {
                if effect.read {
                    state.read();
                }
                if face.uart.is_some_and(|uart| uart.receives == Truth::False) {
                    state.flush();
                }
            }
            if line.from == node {
                state.clear_sent(effect.cleared);
                if let Some(written) = effect.written {
                    state.write(written);
                }
                if face.uart.is_none_or(|uart| uart.sends != Truth::True) {
                    state.switched_off();
                }
            }
        }
        after
    }
}

/// A state of the system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SystemState {
    /// The numbers of the states of the nodes, and behind them those of the lines.
    places: Box<[u32]>,
    /// The node that did the last step, if properties speak of events and it showed one.
    mover: Option<u8>,
    /// The number of those that had their turn since a round of all of them ended; of all where it just ended. 0 where nobody asks.
    turn: u8,
    /// True if the last step changed what a wire carries; false if nobody asks.
    pub(crate) happened: Truth,
}

impl SystemState {
    /// The number of the state of a node.
    pub(crate) fn node(&self, node: usize) -> u32 {
        self.places[node]
    }

    /// True if a node did the last step, and it may have shown an event.
    pub(crate) fn is_mover(&self, node: usize) -> bool {
        self.mover.map(usize::from) == Some(node)
    }
}

/// The distinctions of states that a property asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The node that did the last step, where the step showed an event.
    pub(crate) movers: bool,
    /// The steps in which something happened on a wire.
    pub(crate) happening: bool,
    /// The rounds in which each node took a step, and each line moved a character or had none.
    pub(crate) rounds: bool,
}

/// A state of which the hyper-edges are sought.
struct Source {
    number: u32,
    state: SystemState,
    lines: Vec<LineState>,
}

/// The nodes and lines after a step.
struct Next {
    nodes: Vec<u32>,
    lines: Vec<LineState>,
    mover: Mover,
    happened: Truth,
}

/// The states of a system that were found.
#[derive(Debug)]
pub(crate) struct Space<'m> {
    pub(crate) nodes: Vec<Node<'m>>,
    pub(crate) wires: Wires,
    pub(crate) states: IndexSet<SystemState, FxBuildHasher>,
    /// The contents of lines that were found.
    contents: IndexSet<LineState, FxBuildHasher>,
    pub(crate) edges: SystemEdges,
    /// The state from which each state was found first, with the edge and the member.
    pub(crate) found_from: Vec<Option<(u32, u32, u32)>>,
    told: Told,
    distinctions: Distinctions,
}

/// The limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most states of the system.
    pub states: usize,
    /// The most steps of single nodes.
    pub steps: u64,
    /// Local steps of nodes are taken one by one, and are states of the system.
    pub single_steps: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 1_000_000, steps: 20_000_000, single_steps: false }
    }
}

impl<'m> Space<'m> {
    pub(crate) fn new(nodes: Vec<Node<'m>>, wires: Wires, told: Told, distinctions: Distinctions) -> Self {
        Self {
            nodes,
            wires,
            states: IndexSet::default(),
            contents: IndexSet::default(),
            edges: SystemEdges::default(),
            found_from: Vec::new(),
            told,
            distinctions,
        }
    }

    /// Finds all states from the initial one on; false if a limit was hit.
    pub(crate) fn explore(&mut self, limits: Limits, is_over: &dyn Fn() -> bool) -> bool {
        let line = if self.distinctions.follows_sent { LineState::default() } else { LineState::of_unknown_flag() };
        let nodes: Vec<u32> = self.nodes.iter_mut().map(Node::initial).collect();
        let lines = vec![line; self.wires.lines.len()];
        let initial = Next { nodes, lines, mover: Mover::Nobody, happened: Truth::False };
        self.number(initial, (0, None));
        while self.edges.state_count() < self.states.len() {
            let steps: u64 = self.nodes.iter().map(|node| node.steps).sum();
            if self.states.len() > limits.states || steps > limits.steps || is_over() {
                return false;
            }
            self.expand(self.edges.state_count() as u32);
        }
        true
    }

    /// The number of a state that comes after one with this turn.
    fn number(&mut self, next: Next, (turn, from): (u8, Option<(u32, u32, u32)>)) -> u32 {
        let Next { mut nodes, lines, mover, happened } = next;
        let turn = if self.told.rounds { self.turn(turn, mover, &lines) } else { 0 };
        for (node, place) in nodes.iter_mut().enumerate() {
            if mover != Mover::Node(node) {
                *place = self.nodes[node].quiet(*place);
            }
        }
        let mover = match mover {
            Mover::Node(node)
                if self.told.movers
                    && !is_on(Fault::MoverForgotten)
                    && self.nodes[node].may_have_done_something(nodes[node]) =>
            {
                Some(node as u8)
            }
            _ => None,
        };
        nodes.extend(lines.into_iter().map(|line| self.contents.insert_full(line).0 as u32));
        let (number, is_new) = self.states.insert_full(SystemState { places: nodes.into(), mover, turn, happened });
        if is_new {
            self.found_from.push(from);
        }
        number as u32
    }

    /// The number of nodes and lines.
    fn fair_count(&self) -> usize {
        self.nodes.len() + self.wires.lines.len()
    }

    /// The turn after a step to lines that are so. All have their turn again and again just if rounds end again and again (Baier & Katoen,
    /// Principles of Model Checking, 4.3.4).
    fn turn(&self, before: u8, mover: Mover, lines: &[LineState]) -> u8 {
        let count = self.fair_count() as u8;
        let has_turn = |number: u8| match usize::from(number).checked_sub(self.nodes.len()) {
            None => mover == Mover::Node(usize::from(number)),
            Some(line) => lines[line].is_idle() || mover == Mover::Begin(line) || mover == Mover::Arrive(line),
        };
        let first = match is_on(Fault::RoundsOfTheLast) {
            true => count - 1,
            false if before == count => 0,
            false => before,
        };
        (first..count).find(|number| !has_turn(*number)).unwrap_or(count)
    }

    /// True if states tell the flags of transmitters.
    pub(crate) fn follows_sent(&self) -> bool {
        self.distinctions.follows_sent
    }

    /// True if a round of all nodes and lines ended with the step to a state.
    pub(crate) fn ends_round(&self, state: u32) -> bool {
        usize::from(self.states[state as usize].turn) == self.fair_count() && !is_on(Fault::RoundsNeverEnd)
    }

    /// True if a path ends in a state: it is not followed any further.
    pub(crate) fn is_end(&self, state: u32) -> bool {
        self.end(state).is_some()
    }

    /// The first node whose path ended in a state, with the reason.
    pub(crate) fn end(&self, state: u32) -> Option<(usize, &str)> {
        let here = &self.states[state as usize];
        (0..self.nodes.len()).find_map(|node| match self.nodes[node].state(here.node(node)) {
            NodeState::Ended(reason) => Some((node, reason.as_str())),
            NodeState::At(_) => None,
        })
    }

    /// The lines in a state.
    fn lines(&self, state: &SystemState) -> Vec<LineState> {
        let lines = &state.places[self.nodes.len()..];
        lines.iter().map(|line| self.contents[*line as usize].clone()).collect()
    }

    /// Adds the hyper-edges of the next state that has none.
    fn expand(&mut self, number: u32) {
        self.edges.begin_state();
        if self.is_end(number) {
            return;
        }
        let state = self.states[number as usize].clone();
        let lines = self.lines(&state);
        let from = Source { number, lines, state };
        let mut is_stuck = true;
        for node in 0..self.nodes.len() {
            if is_on(Fault::InterleavingLeftOut) && node + 1 == self.nodes.len() && node > 0 && !is_stuck {
                continue;
            }
            let supply = self.supply(node, &from.state, &from.lines);
            let here = from.state.node(node);
            let edges = self.nodes[node].edges(here, &supply);
            let has_frame = self.has_frame(&from.lines, node);
            for targets in edges.iter() {
                let mut after = Vec::with_capacity(targets.len());
                for target in targets {
                    let broken = has_frame.then(|| self.nodes[node].broken_frame(here, target.state)).flatten();
                    let target = broken.map_or_else(|| target.clone(), |state| Target { state, effect: Effect::NONE });
                    after.push(self.after(&from, node, &target));
                }
                is_stuck = false;
                self.add(&from, Mover::Node(node), after);
            }
        }
        for line in 0..from.lines.len() {
            self.add_moves(&from, line);
        }
    }

    /// True if a frame of a node is on its way, or about to be, or one comes to it.
    fn has_frame(&self, lines: &[LineState], node: usize) -> bool {
        let mut lines = self.wires.lines.iter().zip(lines);
        lines.any(|(line, here)| line.from == node && !here.is_idle() || line.to == node && here.moving.is_some())
    }

    fn add(&mut self, from: &Source, mover: Mover, after: Vec<Next>) {
        let edge = self.edges.begin_edge(mover);
        for (member, next) in after.into_iter().enumerate() {
            let way = (from.number, edge as u32, member as u32);
            let state = self.number(next, (from.state.turn, Some(way)));
            self.edges.add_member(state);
        }
    }

    /// Adds what a line can do by itself.
    fn add_moves(&mut self, from: &Source, line: usize) {
        let here = &from.lines[line];
        let nodes = from.state.places[..self.nodes.len()].to_vec();
        let with = |now: LineState, mover, happened| {
            let mut lines = from.lines.clone();
            lines[line] = now;
            Next { nodes: nodes.clone(), lines, mover, happened }
        };
        if here.goes_on() {
            let mover = Mover::Begin(line);
            let after = with(here.gone_on(), mover, Truth::False);
            self.add(from, mover, vec![after]);
        }
        if here.moving.is_some() {
            let Line { to, buffer, .. } = self.wires.lines[line];
            let receives = self.nodes[to].face(nodes[to]).uart.map_or(Truth::Unknown, |uart| uart.receives);
            let mover = Mover::Arrive(line);
            let happened = Truth::from(self.told.happening);
            let after = match receives.known() {
                Some(is_on_now) => {
                    let lines = here.arrived(buffer, is_on_now);
                    lines.into_iter().map(|lines| with(lines, mover, happened)).collect()
                }
                None => {
                    let ended = self.nodes[to].ended("it is not known whether the receiver is on".to_owned());
                    let mut after = with(here.clone(), mover, happened);
                    after.nodes[to] = ended;
                    vec![after]
                }
            };
            self.add(from, mover, after);
        }
    }

    /// The inputs that the wires supply to a node in a state.
    pub(crate) fn supply_of(&self, node: usize, state: u32) -> Supply {
        let state = &self.states[state as usize];
        self.supply(node, state, &self.lines(state))
    }

    fn supply(&self, node: usize, state: &SystemState, lines: &[LineState]) -> Supply {
        let faces = |node: usize| self.nodes[node].face(state.node(node));
        self.wires.supply(node, &faces, lines)
    }

    /// The state after a step of a node.
    fn after(&self, from: &Source, node: usize, target: &Target) -> Next {
        let [before, face] = [from.state.node(node), target.state].map(|number| self.nodes[node].face(number));
        // A character of which nothing is known stands for all.
        let any = if is_on(Fault::UnknownIsZero) { TvByte::constant(0) } else { TvByte::UNKNOWN };
        let written = target.effect.written.map(|it| if self.distinctions.follows_values { it } else { any });
        let effect = Effect { written, ..target.effect };
        let lines = self.wires.after(node, effect, face, &from.lines);
        let is_changed = lines.iter().zip(&from.lines).any(|(after, before)| !after.carries_same(before));
        let happened = if self.told.happening { changes(before, face) | Truth::from(is_changed) } else { Truth::False };
        let mut nodes = from.state.places[..self.nodes.len()].to_vec();
        nodes[node] = target.state;
        Next { nodes, lines, mover: Mover::Node(node), happened }
    }

    /// The machine of a node.
    pub(crate) fn machine(&self, node: usize) -> &'m Machine {
        self.nodes[node].parts.machine
    }
}

/// True if pins differ in what they give to wires.
fn changes(before: &Face, after: &Face) -> Truth {
    let differs = |one: Truth, other: Truth| match (one.known(), other.known()) {
        (Some(one), Some(other)) => Truth::from(one != other),
        _ => Truth::Unknown,
    };
    let pins = before.pins.iter().zip(&after.pins);
    pins.fold(Truth::False, |all, (before, after)| {
        let level = differs(before.drives & before.level, after.drives & after.level);
        all | differs(before.drives, after.drives) | level | differs(before.pulls, after.pulls)
    })
}
