//! Random properties of a program.

use crate::board::{Board, Interrupt};
use crate::formula::{Atom, Binary, Formula, Logic, Path, Property, Runs, Source, Unary};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::program::{Place, Program};
use crate::solve;
use crate::state::{I, State};
use avr_testkit::Random;

/// Formulas with fixed points of their own are evaluated naively, on graphs up to this size only.
const STATES_FOR_FIXED_POINTS: usize = 1000;
/// Properties that are thought of, and graphs that lack something or belong to another program, to choose sharp ones.
const CANDIDATES: usize = 20;
const THINNED: usize = 2;
const MUTANTS: usize = 4;

/// Asks about a program.
pub(crate) struct Asker<'a> {
    random: &'a mut Random,
    board: &'static Board,
    sources: Vec<Source>,
    addresses: Vec<u16>,
    depth: u8,
    /// A few formulas without time, so that the parts of a formula speak of the same things.
    atoms: Vec<Formula>,
    /// Atoms speak of data only, so that most moments of interrupts make no difference.
    data_only: bool,
    /// Properties count no steps, and speak of branching time.
    branching_only: bool,
    /// The states behind initialisation.
    running: Vec<&'a State>,
}

impl<'a> Asker<'a> {
    pub(crate) fn new(random: &'a mut Random, program: &Program, graph: &'a Graph) -> Self {
        let running: Vec<&State> = graph.states.iter().filter(|state| state.is_initialised()).collect();
        let mut sources = vec![Source::Portb, Source::Gpior0];
        sources.extend(program.observed.iter().map(|place| match *place {
            Place::Register(register) => Source::Register(register),
            Place::Cell(address) => Source::Cell(address, program.board.address(address)),
        }));
        // Mostly what changes while the program runs.
        let changes = |source: &Source| running.iter().any(|state| source.value(state) != source.value(running[0]));
        let changing: Vec<Source> = sources.iter().copied().filter(changes).collect();
        (0..4).for_each(|_| sources.extend(&changing));
        let mut addresses: Vec<u16> = graph.states.iter().map(|state| 2 * state.pc).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let (data_only, branching_only) = (random.once_in(2), random.once_in(2));
        Self {
            random,
            board: program.board,
            data_only,
            branching_only,
            running,
            sources,
            addresses,
            depth: graph.deepest(),
            atoms: Vec::new(),
        }
    }

    /// Some properties, and how many of them are sharp: they would have another verdict if some choice of the environment
    /// were missing at some instruction, or if some instruction were another one.
    pub(crate) fn properties(&mut self, program: &Program, graph: &Graph, count: usize) -> (Vec<Property>, usize) {
        let mut changed: Vec<Graph> = (0..THINNED).filter_map(|_| graph.thinned(self.random)).collect();
        for _ in 0..4 * MUTANTS {
            let mutant = program.mutant(self.random);
            let explored = Graph::explore(&Machine { program: &mutant, fault: None }, 2 * graph.len() + 100);
            changed.extend(explored.ok().filter(|explored| explored.differs(graph)));
            if changed.len() == THINNED + MUTANTS {
                break;
            }
        }
        let (mut sharp, mut others) = (Vec::new(), Vec::new());
        for _ in 0..CANDIDATES {
            let property = self.property();
            if graph.len() > STATES_FOR_FIXED_POINTS && property.has_fixed_points() {
                continue;
            }
            let holds = solve::holds(graph, &property);
            let is_sharp = changed.iter().any(|graph| solve::holds(graph, &property) != holds);
            if is_sharp {
                sharp.push(property)
            } else {
                others.push(property)
            }
            if sharp.len() + 1 == count {
                break;
            }
        }
        let found = sharp.len();
        sharp.extend(others);
        sharp.truncate(count);
        (sharp, found)
    }

    /// A property.
    fn property(&mut self) -> Property {
        let count = 2 + self.random.below(3);
        self.atoms = (0..count)
            .map(|_| if self.random.once_in(3) { Formula::Atom(self.new_atom()) } else { self.description() })
            .collect();
        match self.random.below(if self.branching_only { 9 } else { 20 }) {
            0..=4 => {
                let depth = 1 + self.random.below(3);
                Property::Formula(self.timed(depth))
            }
            5..=8 => {
                // From some state on, wherever it comes.
                let depth = 1 + self.random.below(2);
                let (place, timed) = (Box::new(self.description()), Box::new(self.timed(depth)));
                Property::Formula(match self.random.once_in(2) {
                    true => {
                        let implied = Formula::Logic(Logic::Implies, place, timed);
                        Formula::Unary(Runs::All, Unary::Always, Box::new(implied))
                    }
                    false => {
                        let both = Formula::Logic(Logic::And, place, timed);
                        Formula::Unary(Runs::Some, Unary::Eventually, Box::new(both))
                    }
                })
            }
            9..=13 => Property::Ltl(self.path()),
            14 => Property::Inherent,
            15 => Property::Stack((self.depth + self.random.below(3)).saturating_sub(1)),
            16 => Property::Formula(self.fixed()),
            17 => {
                let path = Box::new(self.path());
                let inner = Formula::Path(self.runs(), path);
                Property::Formula(Formula::Unary(self.runs(), self.unary(false), Box::new(inner)))
            }
            _ => self.entry(),
        }
    }

    fn new_atom(&mut self) -> Atom {
        let source = self.random.pick(&self.sources.clone());
        let k = self.random.below(4);
        match self.random.below(if self.data_only { 11 } else { 20 }) {
            0..=4 => Atom::Equals(source, k),
            5 => Atom::AtMost(source, k),
            6..=9 => Atom::Bit(source, k & 1),
            10 => Atom::Same(source, Source::Portb),
            11..=13 => Atom::Pc(self.random.pick(&self.addresses.clone())),
            14 => Atom::InInterrupt,
            15 => Atom::Flag(self.random.pick(&[0, 1, 1, I, I])),
            16 => Atom::Deep(1 + self.random.below(self.depth.max(1)), self.board.top),
            17 => Atom::Enabled(self.interrupt()),
            18 => Atom::Entered(self.interrupt()),
            _ => Atom::Equals(Source::Enables(self.board.enables), k),
        }
    }

    fn interrupt(&mut self) -> Interrupt {
        let interrupt = self.random.pick(&self.board.interrupts());
        self.board.interrupt(interrupt)
    }

    /// A formula that describes some state, or almost.
    pub(crate) fn description(&mut self) -> Formula {
        let state = self.random.pick(&self.running);
        let mut all: Vec<Formula> = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let source = self.random.pick(&self.sources);
            let almost = u8::from(self.random.once_in(6));
            let said = match self.random.below(if self.data_only { 6 } else { 10 }) {
                0..=5 => Formula::Atom(Atom::Equals(source, (source.value(state) ^ almost) & 3)),
                6..=7 => Formula::Atom(Atom::Pc(2 * state.pc)),
                8 if state.handlers > 0 => Formula::Atom(Atom::InInterrupt),
                8 => Formula::Not(Box::new(Formula::Atom(Atom::InInterrupt))),
                _ => Formula::Atom(Atom::Flag(self.random.pick(&[0, 1, I]))),
            };
            if !all.contains(&said) {
                all.push(said);
            }
        }
        let both = |p, q| Formula::Logic(Logic::And, Box::new(p), Box::new(q));
        let first = all.remove(0);
        all.into_iter().fold(first, both)
    }

    fn atom(&mut self) -> Formula {
        let index = self.random.below(self.atoms.len());
        self.atoms[index].clone()
    }

    /// An atom, its opposite, or two of them.
    fn plain(&mut self) -> Formula {
        match self.random.below(6) {
            0 => Formula::Not(Box::new(self.atom())),
            1 => {
                let first = self.random.below(self.atoms.len() - 1);
                let second = first + 1 + self.random.below(self.atoms.len() - 1 - first);
                let (p, q) = (self.atoms[first].clone(), self.atoms[second].clone());
                Formula::Logic(self.logic(), Box::new(p), Box::new(q))
            }
            _ => self.atom(),
        }
    }

    fn logic(&mut self) -> Logic {
        self.random.pick(&[Logic::And, Logic::Or, Logic::Implies, Logic::And, Logic::Or, Logic::Same])
    }

    fn runs(&mut self) -> Runs {
        self.random.pick(&[Runs::All, Runs::Some])
    }

    fn binary(&mut self) -> Binary {
        self.random.pick(&[Binary::Until, Binary::Weak, Binary::Release])
    }

    fn unary(&mut self, is_stutter_sensitive: bool) -> Unary {
        if is_stutter_sensitive { Unary::Next } else { self.random.pick(&[Unary::Eventually, Unary::Always]) }
    }

    /// A formula of branching time that begins with an operator of time.
    fn timed(&mut self, depth: usize) -> Formula {
        let runs = self.runs();
        if self.random.once_in(3) {
            let (p, q) = (Box::new(self.formula(depth - 1)), Box::new(self.formula(depth - 1)));
            return Formula::Binary(runs, self.binary(), p, q);
        }
        // Most formulas count no steps, because reductions are for them.
        let is_stutter_sensitive = !self.branching_only && self.random.once_in(12);
        Formula::Unary(runs, self.unary(is_stutter_sensitive), Box::new(self.formula(depth - 1)))
    }

    fn formula(&mut self, depth: usize) -> Formula {
        if depth == 0 {
            return self.plain();
        }
        match self.random.below(6) {
            0 => Formula::Not(Box::new(self.timed(depth))),
            1 => Formula::Logic(self.logic(), Box::new(self.plain()), Box::new(self.timed(depth))),
            2 => Formula::Logic(self.logic(), Box::new(self.timed(depth)), Box::new(self.timed(depth))),
            _ => self.timed(depth),
        }
    }

    fn state(&mut self) -> Path {
        Path::State(self.plain())
    }

    /// A formula of linear time: a usual pattern, or any small one.
    fn path(&mut self) -> Path {
        let unary = |unary, p| Path::Unary(unary, Box::new(p));
        let again = |p| unary(Unary::Always, unary(Unary::Eventually, p));
        let settles = |p| unary(Unary::Eventually, unary(Unary::Always, p));
        let logic = |logic, p, q| Path::Logic(logic, Box::new(p), Box::new(q));
        let (p, q) = (self.state(), self.state());
        match self.random.below(10) {
            0 => again(p),
            1 => settles(p),
            2 => logic(Logic::Implies, again(p), again(q)),
            3 => unary(Unary::Always, logic(Logic::Implies, p, unary(Unary::Eventually, q))),
            4 => logic(Logic::And, unary(Unary::Eventually, p), unary(Unary::Always, q)),
            5 => logic(Logic::Or, settles(p), again(q)),
            6 => unary(Unary::Always, logic(Logic::Implies, p, unary(Unary::Next, q))),
            _ => self.any_path(3),
        }
    }

    /// A formula with at most so many operators of time.
    fn any_path(&mut self, operators: usize) -> Path {
        if operators == 0 {
            return self.state();
        }
        match self.random.below(5) {
            0 => Path::Not(Box::new(self.any_path(operators))),
            1 => {
                let (p, q) = (self.any_path(operators / 2), self.any_path(operators - operators / 2));
                Path::Logic(self.logic(), Box::new(p), Box::new(q))
            }
            2 => {
                let is_stutter_sensitive = self.random.once_in(8);
                Path::Unary(self.unary(is_stutter_sensitive), Box::new(self.any_path(operators - 1)))
            }
            _ => {
                let left = operators - 1;
                let (p, q) = (self.any_path(left / 2), self.any_path(left - left / 2));
                Path::Binary(self.binary(), Box::new(p), Box::new(q))
            }
        }
    }

    /// A formula with fixed points of its own.
    fn fixed(&mut self) -> Formula {
        let (p, q) = (Box::new(self.plain()), Box::new(self.plain()));
        let variable = || Box::new(Formula::Variable(0));
        let next = |runs, p| Box::new(Formula::Unary(runs, Unary::Next, p));
        let (one, two) = (self.runs(), self.runs());
        let greatest = self.random.once_in(2);
        let body = match self.random.below(3) {
            // At every second step.
            0 => Formula::Logic(if greatest { Logic::And } else { Logic::Or }, p, next(one, next(two, variable()))),
            1 => {
                let inner = Formula::Logic(Logic::Or, q, next(two, variable()));
                Formula::Logic(Logic::And, p, next(one, Box::new(inner)))
            }
            _ => {
                let inner = Formula::Logic(Logic::And, q, next(one, variable()));
                Formula::Logic(Logic::Or, p, Box::new(inner))
            }
        };
        Formula::Fixed { greatest, variable: 0, body: Box::new(body) }
    }

    /// An entry that has a name.
    fn entry(&mut self) -> Property {
        let (p, q) = (self.plain(), self.plain());
        let (a, b) = (p.to_string(), q.to_string());
        let all = |unary, p| Formula::Unary(Runs::All, unary, Box::new(p));
        let (always, eventually) = (|p| all(Unary::Always, p), |p| all(Unary::Eventually, p));
        let some = |p| Formula::Unary(Runs::Some, Unary::Eventually, Box::new(p));
        let implies = |p, q| Formula::Logic(Logic::Implies, Box::new(p), Box::new(q));
        let not = |p| Formula::Not(Box::new(p));
        let two = |binary, p, q| Formula::Binary(Runs::All, binary, Box::new(p), Box::new(q));
        let (text, formula) = match self.random.below(10) {
            0 => (format!("Always(check: \"{a}\")"), always(p)),
            1 => (format!("Never(check: \"{a}\")"), always(not(p))),
            2 => (format!("Reachable(check: \"{a}\")"), some(p)),
            3 => (format!("Recovery(to: \"{a}\")"), always(some(p))),
            4 => (format!("Response(after: \"{a}\", eventually: \"{b}\")"), always(implies(p, eventually(q)))),
            5 => (format!("StaysAfter(after: \"{a}\", stays: \"{b}\")"), always(implies(p, always(q)))),
            6 => (format!("InfinitelyOften(check: \"{a}\")"), always(eventually(p))),
            7 => (format!("Until(holds: \"{a}\", until: \"{b}\")"), two(Binary::Until, p, q)),
            8 => (format!("Precedence(first: \"{a}\", then: \"{b}\")"), two(Binary::Weak, not(q), p)),
            _ => {
                let stays = Path::Unary(Unary::Always, Box::new(Path::State(p)));
                let path = Path::Unary(Unary::Eventually, Box::new(stays));
                (format!("EventuallyForever(check: \"{a}\")"), Formula::Path(Runs::All, Box::new(path)))
            }
        };
        Property::Entry(text, formula)
    }
}
