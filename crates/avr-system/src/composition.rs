//! The composition: states of all nodes with the characters on the lines, and what can happen next.
//!
//! Nodes run at any speed, and characters take any time: the world chooses who does the next step.

use std::collections::VecDeque;

use avr_machine::Machine;
use rustc_hash::FxHashMap;
use three_valued::{Truth, TvByte};

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

/// The mover of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mover {
    /// Nobody yet, or nobody asks.
    Nobody,
    /// The node with this number.
    Node(usize),
    /// A character on the line with this number began to move, or the frame of the last one ended.
    Begin(usize),
    /// A character on the line with this number arrived.
    Arrive(usize),
}

/// A state of the system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SystemState {
    /// The states of the nodes, by number.
    pub(crate) nodes: Box<[u32]>,
    pub(crate) lines: Vec<LineState>,
    /// The mover of the last step, where properties speak of events.
    pub(crate) mover: Mover,
    /// True if the last step changed what a wire carries; false if nobody asks.
    pub(crate) happened: Truth,
}

/// A step to a state of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// The number of the state.
    pub(crate) state: u32,
    /// The index of the outcome where the data sheet leaves it open; 0 is the one that counterexamples take.
    pub(crate) outcome: usize,
}

/// A hyper-edge of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SystemEdge {
    pub(crate) mover: Mover,
    pub(crate) members: Vec<Member>,
}

/// The states of a system that were found.
#[derive(Debug)]
pub(crate) struct Space<'m> {
    pub(crate) nodes: Vec<Node<'m>>,
    pub(crate) wires: Wires,
    numbers: FxHashMap<SystemState, u32>,
    pub(crate) states: Vec<SystemState>,
    pub(crate) edges: Vec<Vec<SystemEdge>>,
    /// The state from which each state was found first, with the edge and the member.
    pub(crate) found_from: Vec<Option<(u32, usize, usize)>>,
    /// True if states tell who did the last step.
    tells_movers: bool,
    /// True if states tell whether something happened on a wire.
    tells_happening: bool,
    /// True if they tell the flags of transmitters.
    follows_sent: bool,
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
    pub(crate) fn new(
        nodes: Vec<Node<'m>>,
        wires: Wires,
        (tells_movers, tells_happening): (bool, bool),
        distinctions: Distinctions,
    ) -> Self {
        Self {
            follows_sent: distinctions.follows_sent,
            nodes,
            wires,
            numbers: FxHashMap::default(),
            states: Vec::new(),
            edges: Vec::new(),
            found_from: Vec::new(),
            tells_movers,
            tells_happening,
        }
    }

    /// Finds all states from the initial one on; false if a limit was hit.
    pub(crate) fn explore(&mut self, limits: Limits, is_over: &dyn Fn() -> bool) -> bool {
        let nodes = self.nodes.iter_mut().map(Node::initial).collect();
        let line = if self.follows_sent { LineState::default() } else { LineState::of_unknown_flag() };
        let lines = vec![line; self.wires.lines.len()];
        let initial = SystemState { nodes, lines, mover: Mover::Nobody, happened: Truth::False };
        let mut waiting = VecDeque::from([self.number(initial, None)]);
        while let Some(state) = waiting.pop_front() {
            let steps: u64 = self.nodes.iter().map(|node| node.steps).sum();
            if self.states.len() > limits.states || steps > limits.steps || is_over() {
                return false;
            }
            let before = self.states.len() as u32;
            let edges = self.expanded(state);
            self.edges[state as usize] = edges;
            waiting.extend(before..self.states.len() as u32);
        }
        true
    }

    fn number(&mut self, state: SystemState, from: Option<(u32, usize, usize)>) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.states.len() as u32;
        self.states.push(state.clone());
        self.edges.push(Vec::new());
        self.found_from.push(from);
        self.numbers.insert(state, number);
        number
    }

    /// True if a path ends in a state: it is not followed any further.
    pub(crate) fn is_end(&self, state: u32) -> bool {
        self.end(state).is_some()
    }

    /// The first node whose path ended in a state, with the reason.
    pub(crate) fn end(&self, state: u32) -> Option<(usize, &str)> {
        let nodes = self.states[state as usize].nodes.iter().enumerate();
        nodes.into_iter().find_map(|(index, number)| match self.nodes[index].state(*number) {
            NodeState::Ended(reason) => Some((index, reason.as_str())),
            NodeState::At(_) => None,
        })
    }

    fn expanded(&mut self, number: u32) -> Vec<SystemEdge> {
        if self.is_end(number) {
            return Vec::new();
        }
        let state = self.states[number as usize].clone();
        let mut all: Vec<SystemEdge> = Vec::new();
        for node in 0..self.nodes.len() {
            if is_on(Fault::InterleavingLeftOut) && node + 1 == self.nodes.len() && node > 0 && !all.is_empty() {
                continue;
            }
            let supply = self.supply(node, &state);
            let edges = self.nodes[node].edges(state.nodes[node], &supply);
            let has_frame = self.has_frame(&state, node);
            for targets in edges.iter() {
                let mut after = Vec::with_capacity(targets.len());
                for target in targets {
                    let broken =
                        has_frame.then(|| self.nodes[node].broken_frame(state.nodes[node], target.state)).flatten();
                    let target = broken.map_or_else(|| target.clone(), |state| Target { state, effect: Effect::NONE });
                    after.push(self.after(&state, node, &target));
                }
                self.add(number, Mover::Node(node), after, &mut all);
            }
        }
        for line in 0..state.lines.len() {
            self.add_moves(number, &state, line, &mut all);
        }
        all
    }

    /// True if a frame of a node is on its way, or about to be, or one comes to it.
    fn has_frame(&self, state: &SystemState, node: usize) -> bool {
        let mut lines = self.wires.lines.iter().zip(&state.lines);
        lines.any(|(line, here)| line.from == node && !here.is_idle() || line.to == node && here.moving.is_some())
    }

    fn add(&mut self, from: u32, mover: Mover, after: Vec<SystemState>, all: &mut Vec<SystemEdge>) {
        let edge = all.len();
        let members = after.into_iter().enumerate();
        let members = members.map(|(outcome, state)| {
            let state = self.number(state, Some((from, edge, outcome)));
            Member { state, outcome }
        });
        let members = members.collect();
        all.push(SystemEdge { mover, members });
    }

    /// Adds what a line can do by itself.
    fn add_moves(&mut self, from: u32, state: &SystemState, line: usize, all: &mut Vec<SystemEdge>) {
        let here = &state.lines[line];
        let with = |lines: LineState, mover, happened| {
            let mut after = state.clone();
            after.lines[line] = lines;
            (after.mover, after.happened) = (mover, happened);
            after
        };
        if here.goes_on() {
            let mover = Mover::Begin(line);
            let after = with(here.gone_on(), self.told(mover), Truth::False);
            self.add(from, mover, vec![after], all);
        }
        if here.moving.is_some() {
            let Line { to, buffer, .. } = self.wires.lines[line];
            let receives = self.nodes[to].face(state.nodes[to]).uart.map_or(Truth::Unknown, |uart| uart.receives);
            let mover = Mover::Arrive(line);
            let (told, happened) = (self.told(mover), Truth::from(self.tells_happening));
            let after = match receives.known() {
                Some(is_on_now) => {
                    let lines = here.arrived(buffer, is_on_now);
                    lines.into_iter().map(|lines| with(lines, told, happened)).collect()
                }
                None => {
                    let ended = self.nodes[to].ended("it is not known whether the receiver is on".to_owned());
                    let mut after = with(here.clone(), told, happened);
                    after.nodes[to] = ended;
                    vec![after]
                }
            };
            self.add(from, mover, after, all);
        }
    }

    fn told(&self, mover: Mover) -> Mover {
        if self.tells_movers { mover } else { Mover::Nobody }
    }

    /// The inputs that the wires supply to a node in a state.
    pub(crate) fn supply_of(&self, node: usize, state: u32) -> Supply {
        self.supply(node, &self.states[state as usize])
    }

    fn supply(&self, node: usize, state: &SystemState) -> Supply {
        let faces = |node: usize| self.nodes[node].face(state.nodes[node]);
        self.wires.supply(node, &faces, &state.lines)
    }

    /// The state after a step of a node.
    fn after(&self, state: &SystemState, node: usize, target: &Target) -> SystemState {
        let [before, face] = [state.nodes[node], target.state].map(|number| self.nodes[node].face(number));
        let lines = self.wires.after(node, target.effect, face, &state.lines);
        let is_changed = lines.iter().zip(&state.lines).any(|(after, before)| !after.carries_same(before));
        let happened =
            if self.tells_happening { changes(before, face) | Truth::from(is_changed) } else { Truth::False };
        let mut nodes = state.nodes.clone();
        nodes[node] = target.state;
        SystemState { nodes, lines, mover: self.told(Mover::Node(node)), happened }
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
