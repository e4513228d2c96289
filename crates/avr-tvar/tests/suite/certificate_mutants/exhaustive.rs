//! Programs so small that nothing is left to chance: every concrete state that an abstract one stands for is looked at with
//! every input, and formulas are evaluated by plain iteration.
//!
//! A step of these programs reads few bits: those of one or two registers, and inputs. All their values are tried one by one. The other
//! unknown bits, which a step passes on as they are (that is checked), are distinguished only as far as hyper-edges do: by
//! splitting them until every case is decided.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use avr_certificate::{Certificate, Running, Space, State};
use avr_image::Image;
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event as Did, Fetched, Frame, Input, Machine, MachineState, Possibilities,
    Question, Stop,
};
use avr_properties::{Atom, AtomKind, CellsRead, StateView};
use mu_calculus::{FixedPoint, Modality, Node, NodeId, NormalForm};
use three_valued::{Truth, TvByte};

use super::claims::Goal;
use super::judge::{Answers, cells};
use avr_testkit::Random;
use avr_testkit::image::{encoded, image, r};

/// I/O addresses of the ports: PINB, DDRB, PORTB and so on.
const PIN: [u8; 3] = [0x03, 0x06, 0x09];
const PORT: [u8; 3] = [0x05, 0x08, 0x0b];
/// The most bits that are tried one by one.
const MAX_BITS: u32 = 18;

/// A small program: two registers are set, then a loop of a few instructions.
pub(super) fn program(random: &mut Random) -> Image {
    let mut all = vec![Instruction::Ldi { rd: r(16), k: random.byte() & 7 }, Instruction::Ldi { rd: r(17), k: 0 }];
    for _ in 0..2 + random.below(5) {
        let (rd, bit, port) = (r(16 + random.below(2)), random.below(3), random.below(3_usize));
        all.push(match random.below(9) {
            0 => Instruction::In { rd, io: PIN[port] },
            1 | 2 => Instruction::Out { io: PORT[port], rr: rd },
            3 => Instruction::Andi { rd, k: random.byte() & 3 },
            4 => Instruction::Eor { rd: r(16), rr: r(17) },
            5 => Instruction::Inc { rd },
            6 => Instruction::Sbic { io: PIN[port], bit },
            7 => Instruction::Sbrs { rr: rd, bit },
            _ => Instruction::Sbi { io: PORT[port], bit },
        });
    }
    // Behind a skip that may be the last.
    all.push(Instruction::Andi { rd: r(16), k: 7 });
    all.push(Instruction::Rjmp { offset: -(all.len() as i16) + 1 });
    let words: Vec<u16> = all.into_iter().flat_map(encoded).collect();
    image(&words)
}

/// The cells that a step from an instruction reads.
fn read_by(instruction: Option<Instruction>) -> Vec<DataAddress> {
    let register = Register::address;
    match instruction {
        Some(Instruction::Out { rr, .. } | Instruction::Sbrs { rr, .. }) => vec![register(rr)],
        Some(Instruction::Andi { rd, .. } | Instruction::Inc { rd }) => vec![register(rd)],
        Some(Instruction::Eor { rd, rr }) => vec![register(rd), register(rr)],
        // Ports are distinguished bit by bit; a bit that is set leaves the others as they are.
        Some(
            Instruction::Ldi { .. }
            | Instruction::In { .. }
            | Instruction::Sbic { .. }
            | Instruction::Sbi { .. }
            | Instruction::Rjmp { .. },
        )
        | None => Vec::new(),
        Some(other) => unreachable!("no program has {other:?}"),
    }
}

/// A world whose inputs are answers; the initial content is left open.
struct Every<'a>(&'a mut Answers);

impl Environment<TvByte> for Every<'_> {
    fn input(&mut self, source: Input, mask: u8, _: Demand, _: DeterminedBy) -> TvByte {
        if matches!(source, Input::Initial(_)) {
            return TvByte::new(0, !mask);
        }
        let bits = (0..8).filter(|bit| mask >> bit & 1 == 1);
        TvByte::constant(bits.fold(0, |byte, bit| byte | (self.0.answer(2, false) as u8) << bit))
    }

    fn choose(&mut self, count: usize) -> usize {
        self.0.answer(count, false)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        self.0.answer(possibilities.iter().count(), false)
    }

    fn case(&mut self, _: usize, about: Question<'_, TvByte>) -> usize {
        unreachable!("a step reads something else than was thought: {about:?}")
    }

    fn event(&mut self, _: Did<'_, TvByte>) {}
}

/// Bits that must have a value, by cell: mask and value.
type Cube = BTreeMap<DataAddress, (u8, u8)>;

/// True if every state is in one of these cubes.
fn everything(cubes: &[Cube]) -> bool {
    if cubes.iter().any(Cube::is_empty) {
        return true;
    }
    let Some((cell, (mask, _))) = cubes.iter().find_map(|cube| cube.iter().next()) else { return false };
    let bit = mask & mask.wrapping_neg();
    [0, bit].into_iter().all(|value| {
        let half = cubes.iter().filter_map(|cube| {
            let mut cube = cube.clone();
            if let Some((mask, wanted)) = cube.get(cell).copied() {
                if mask & bit != 0 && wanted & bit != value {
                    return None;
                }
                cube.remove(cell);
                if mask & !bit != 0 {
                    cube.insert(*cell, (mask & !bit, wanted & !bit));
                }
            }
            Some(cube)
        });
        everything(&half.collect::<Vec<_>>())
    })
}

/// All values of the unknown bits of some cells, as contents of these cells.
fn contents(memory: &[TvByte], of: &[DataAddress]) -> Vec<Vec<(DataAddress, u8)>> {
    let unknown: Vec<(usize, u8)> = (0..of.len())
        .flat_map(|index| (0..8).map(move |bit| (index, 1 << bit)))
        .filter(|(index, bit)| memory[of[*index].index()].unknown_mask() & bit != 0)
        .collect();
    assert!(unknown.len() as u32 <= MAX_BITS, "{} bits are too many", unknown.len());
    let known: Vec<(DataAddress, u8)> = of.iter().map(|cell| (*cell, memory[cell.index()].value())).collect();
    let content = |number: usize| {
        let mut content = known.clone();
        for (place, (index, bit)) in unknown.iter().enumerate() {
            content[*index].1 |= if number >> place & 1 == 1 { *bit } else { 0 };
        }
        content
    };
    (0..1 << unknown.len()).map(content).collect()
}

/// The facts that are certain of an abstract state of a certificate.
struct Truths {
    /// True if every step leads into some hyper-edge.
    all_covered: bool,
    /// For each hyper-edge, whether from every concrete state some input leads into it.
    forced: Vec<bool>,
    labels: Vec<Truth>,
}

/// Looks at all of one certificate.
pub(super) struct Everything<'a> {
    pub(super) machine: &'a Machine,
    pub(super) atoms: &'a [Atom],
    pub(super) certificate: &'a Certificate,
    memories: Vec<Vec<TvByte>>,
}

impl<'a> Everything<'a> {
    pub(super) fn new(machine: &'a Machine, atoms: &'a [Atom], certificate: &'a Certificate) -> Self {
        let memories = 0..certificate.store.memory_count() as u32;
        let memories = memories.map(|number| cells(certificate, number, machine.cells())).collect();
        Self { machine, atoms, certificate, memories }
    }

    /// True if the certificate's true parts make a goal come out as wanted.
    pub(super) fn proves(&self, goal: &Goal<'_>) -> bool {
        let space = &self.certificate.spaces[goal.proof.space as usize];
        let truths: Vec<Truths> = (0..space.states.len() as u32).map(|state| self.truths(space, state)).collect();
        Graph::new(goal, space, &truths).holds(&goal.formula, goal.wanted)
    }

    fn truths(&self, space: &Space, number: u32) -> Truths {
        let edges: Vec<&[u32]> = space.edges.of(number).collect();
        let open = || vec![Truth::Unknown; self.atoms.len()];
        match &space.states[number as usize] {
            State::Running(running) => {
                let (all_covered, forced) = self.steps(space, running, &edges);
                Truths { all_covered, forced, labels: self.labels(space, number, running) }
            }
            State::Start { .. } => {
                let state = self.machine.power_on(&mut Every(&mut Answers::default()));
                let cubes = |edge: &[u32]| self.cubes(space, edge, &Ok(state.clone()), FlashWordAddress(0));
                let all_covered = everything(&cubes(&edges.concat()));
                // The environment chooses the content.
                let forced = edges.iter().map(|edge| !cubes(edge).is_empty()).collect();
                Truths { all_covered, forced, labels: open() }
            }
            State::Hazard { .. } => {
                let stated = |atom: usize| space.labels.get(number, atom);
                let is_true = |atom: usize| *self.atoms[atom].kind() == AtomKind::Hazard && stated(atom) == Truth::True;
                let label = |atom| if is_true(atom) { Truth::True } else { Truth::Unknown };
                let labels = (0..self.atoms.len()).map(label).collect();
                Truths { all_covered: false, forced: vec![false; edges.len()], labels }
            }
            State::Anything => Truths { all_covered: false, forced: vec![false; edges.len()], labels: open() },
        }
    }

    /// All steps from all concrete states that an abstract one stands for.
    fn steps(&self, space: &Space, running: &Running, edges: &[&[u32]]) -> (bool, Vec<bool>) {
        let memory = &self.memories[running.memory as usize];
        let pc = running.control.pc;
        let instruction = match self.machine.program.fetch(pc) {
            Fetched::Instruction { instruction, .. } => Some(instruction),
            Fetched::Reserved | Fetched::Outside => None,
        };
        let (mut all_covered, mut forced) = (!edges.is_empty(), vec![true; edges.len()]);
        for content in contents(memory, &read_by(instruction)) {
            let before = self.state(running, memory, &content);
            let mut into = vec![Vec::new(); edges.len()];
            let mut answers = Answers::default();
            loop {
                let mut state = before.clone();
                let stepped = self.machine.step(&mut state, &mut Every(&mut answers));
                assert!(stepped.is_err() || passes_on(&before, &state), "a step reads more than was thought at {pc}");
                let led = stepped.map(|_| state);
                if !matches!(led, Err(Stop::Infeasible)) {
                    let mut somewhere = Vec::new();
                    for (edge, into) in edges.iter().zip(&mut into) {
                        let cubes = self.cubes(space, edge, &led, pc);
                        somewhere.extend(cubes.iter().cloned());
                        into.extend(cubes);
                    }
                    all_covered &= everything(&somewhere);
                }
                if !answers.next() {
                    break;
                }
            }
            forced.iter_mut().zip(&into).for_each(|(forced, into)| *forced &= everything(into));
        }
        (all_covered, forced)
    }

    /// The concrete states with this content; what a step does not read stays open.
    fn state(&self, running: &Running, memory: &[TvByte], content: &[(DataAddress, u8)]) -> MachineState<TvByte> {
        let mut state = MachineState::new(memory.len(), TvByte::constant(0));
        memory.iter().zip(0..).for_each(|(cell, address)| state.data.set(DataAddress(address), *cell));
        content.iter().for_each(|(address, value)| state.data.set(*address, TvByte::constant(*value)));
        let mut frames: Vec<Frame> = self.certificate.store.frames(running.calls).copied().collect();
        frames.reverse();
        frames.into_iter().for_each(|frame| state.calls.push(frame));
        state.control = running.control;
        state
    }

    /// For each member that a step leads to, what must be true of the bits that the step passed on.
    fn cubes(
        &self,
        space: &Space,
        members: &[u32],
        led: &Result<MachineState<TvByte>, Stop>,
        pc: FlashWordAddress,
    ) -> Vec<Cube> {
        let cube = |member: &u32| match (&space.states[*member as usize], led) {
            (State::Anything, _) => Some(Cube::new()),
            (State::Hazard { hazard, pc: place }, Err(Stop::Hazard(found))) => {
                (hazard == found && *place == pc).then(Cube::new)
            }
            (State::Running(running), Ok(state)) => self.cube(running, state),
            _ => None,
        };
        members.iter().filter_map(cube).collect()
    }

    fn cube(&self, running: &Running, state: &MachineState<TvByte>) -> Option<Cube> {
        let frames = self.certificate.store.frames(running.calls);
        if running.control != state.control || !frames.eq(state.calls.frames().iter().rev()) {
            return None;
        }
        let mut cube = Cube::new();
        let memory = &self.memories[running.memory as usize];
        for ((coarse, fine), address) in memory.iter().zip(state.data.cells()).zip(0..) {
            let both = coarse.known_mask() & fine.known_mask();
            if (coarse.value() ^ fine.value()) & both != 0 {
                return None;
            }
            let open = coarse.known_mask() & fine.unknown_mask();
            if open != 0 {
                cube.insert(DataAddress(address), (open, coarse.value() & open));
            }
        }
        Some(cube)
    }

    /// Labels that all concrete states agree with.
    fn labels(&self, space: &Space, number: u32, running: &Running) -> Vec<Truth> {
        let memory = &self.memories[running.memory as usize];
        let label = |(index, atom): (usize, &Atom)| {
            let stated = space.labels.get(number, index);
            let CellsRead::These(cells) = atom.cells() else { return Truth::Unknown };
            let addresses: Vec<DataAddress> = cells.iter().map(|(address, _)| *address).collect();
            let agrees = |content: &Vec<(DataAddress, u8)>| {
                let view = View { memory, content, running };
                atom.evaluate(&view) == stated
            };
            if contents(memory, &addresses).iter().all(agrees) { stated } else { Truth::Unknown }
        };
        self.atoms.iter().enumerate().map(label).collect()
    }
}

/// True if a step has left open nothing but what was open before, in the same place.
fn passes_on(before: &MachineState<TvByte>, after: &MachineState<TvByte>) -> bool {
    let pairs = before.data.cells().iter().zip(after.data.cells());
    pairs.into_iter().all(|(before, after)| after.unknown_mask() & !before.unknown_mask() == 0)
}

/// A concrete state as atoms see it.
struct View<'a> {
    memory: &'a [TvByte],
    content: &'a [(DataAddress, u8)],
    running: &'a Running,
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        let given = self.content.iter().find(|(cell, _)| *cell == address);
        given.map_or(self.memory[address.index()], |(_, value)| TvByte::constant(*value))
    }
    fn pc(&self) -> FlashByteAddress {
        self.running.control.pc.byte()
    }
    fn stack_pointer_torn(&self) -> bool {
        self.running.control.torn
    }
    fn stack(&self) -> u8 {
        self.running.control.stack
    }
    fn interrupt_depth(&self) -> usize {
        0
    }
    fn hazard(&self) -> Truth {
        Truth::False
    }
}

/// The true part of a certificate, as a graph; the last state is one of which nothing is known.
struct Graph {
    may: Vec<Vec<usize>>,
    must: Vec<Vec<Vec<usize>>>,
    labels: Vec<Vec<Truth>>,
}

impl Graph {
    fn new(goal: &Goal<'_>, space: &Space, truths: &[Truths]) -> Self {
        let unknown = truths.len();
        let mut graph = Self { may: Vec::new(), must: Vec::new(), labels: Vec::new() };
        for (truths, number) in truths.iter().zip(0..) {
            let is_end = matches!(space.states[number as usize], State::Hazard { .. }) && goal.observes_hazards;
            let edges: Vec<Vec<usize>> =
                space.edges.of(number).map(|edge| edge.iter().map(|member| *member as usize).collect()).collect();
            let mut may = edges.concat();
            let forced = edges.into_iter().zip(&truths.forced).filter(|(_, forced)| **forced).map(|(edge, _)| edge);
            let mut must: Vec<Vec<usize>> = forced.collect();
            if is_end {
                (may, must) = (vec![number as usize], vec![vec![number as usize]]);
            } else if !truths.all_covered {
                may.push(unknown);
            }
            graph.may.push(may);
            graph.must.push(must);
            graph.labels.push(truths.labels.clone());
        }
        graph.may.push(vec![unknown]);
        graph.must.push(Vec::new());
        graph.labels.push(vec![Truth::Unknown; truths.first().map_or(0, |first| first.labels.len())]);
        graph
    }

    /// True if a formula certainly has a value in the first state: fixed points of a larger priority are outside of
    /// those of a smaller one.
    fn holds(&self, formula: &NormalForm, value: bool) -> bool {
        let mut levels: BTreeMap<Reverse<u32>, Vec<NodeId>> = BTreeMap::new();
        for node in (0..formula.node_count() as u32).map(NodeId) {
            if matches!(formula.node(node), Node::Fixed(..)) {
                levels.entry(Reverse(formula.priority(node).unwrap_or(0))).or_default().push(node);
            }
        }
        let mut sets = HashMap::new();
        self.iterate(formula, &levels.into_values().collect::<Vec<_>>(), value, &mut sets);
        self.certain(formula, formula.root(), value, &sets)[0]
    }

    /// Iterates the fixed points of some levels, the outermost first.
    fn iterate(&self, formula: &NormalForm, levels: &[Vec<NodeId>], value: bool, sets: &mut HashMap<u32, Vec<bool>>) {
        let Some((outer, inner)) = levels.split_first() else { return };
        let parts = outer.iter().filter_map(|node| match formula.node(*node) {
            Node::Fixed(kind, body) => Some((node.0, kind, body)),
            _ => None,
        });
        let parts: Vec<(u32, FixedPoint, NodeId)> = parts.collect();
        for (node, kind, _) in &parts {
            sets.insert(*node, vec![(*kind == FixedPoint::Greatest) == value; self.may.len()]);
        }
        loop {
            self.iterate(formula, inner, value, sets);
            let next: Vec<_> = parts.iter().map(|(_, _, body)| self.certain(formula, *body, value, sets)).collect();
            if parts.iter().zip(&next).all(|((node, ..), next)| sets[node] == *next) {
                return;
            }
            parts.iter().zip(next).for_each(|((node, ..), next)| _ = sets.insert(*node, next));
        }
    }

    /// The states in which a part of a formula certainly has a value, where its fixed points have these.
    fn certain(&self, formula: &NormalForm, node: NodeId, value: bool, sets: &HashMap<u32, Vec<bool>>) -> Vec<bool> {
        let states = 0..self.may.len();
        match formula.node(node) {
            Node::Constant(constant) => vec![constant == value; self.may.len()],
            Node::Atom(atom) => states.map(|state| self.labels[state][atom.index()] == Truth::from(value)).collect(),
            Node::NegatedAtom(atom) => {
                states.map(|state| self.labels[state][atom.index()] == Truth::from(!value)).collect()
            }
            other @ (Node::And(p, q) | Node::Or(p, q)) => {
                let both = matches!(other, Node::And(..)) == value;
                let (p, q) = (self.certain(formula, p, value, sets), self.certain(formula, q, value, sets));
                p.into_iter().zip(q).map(|(p, q)| if both { p && q } else { p || q }).collect()
            }
            Node::Modal(modality, next) => {
                let set = self.certain(formula, next, value, sets);
                let everywhere = (modality == Modality::Box) == value;
                let all = |members: &[usize]| members.iter().all(|member| set[*member]);
                let is_certain = |state: usize| match everywhere {
                    true => all(&self.may[state]),
                    false => self.must[state].iter().any(|edge| all(edge)),
                };
                states.map(is_certain).collect()
            }
            Node::Fixed(..) => sets[&node.0].clone(),
        }
    }
}
