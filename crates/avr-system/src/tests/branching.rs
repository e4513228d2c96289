//! Random formulas of branching time about random systems of pins, against sets of concrete states.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_testkit::{Random, cases};

use super::pins::{Machine, PORTB, State, Wire, after, system};
use super::{components, letters, results};
use crate::Verdict;
use crate::faults::{Fault, with_fault};

/// A formula.
#[derive(Clone, Debug)]
enum F {
    /// A bit of port B of a node is high.
    High(usize, u8),
    /// The step that led here wrote to port B of a node.
    Writes(usize),
    /// A node is at an instruction.
    At(usize, usize),
    Not(Box<F>),
    And(Box<F>, Box<F>),
    Or(Box<F>, Box<F>),
    /// A quantifier with an operator, as in `AF`.
    One(bool, char, Box<F>),
    /// Until, or weak until.
    Two(bool, char, Box<F>, Box<F>),
    /// It is true, and again after every two steps.
    EvenAlways(Box<F>),
    /// It is true after some even number of steps.
    EvenSometimes(Box<F>),
}

fn formula(random: &mut Random, depth: usize) -> F {
    let sub = |random: &mut Random| Box::new(formula(random, depth - 1));
    let choice = if depth == 0 { random.below(4_u8) } else { 1 + random.below(14_u8) };
    match choice {
        0 | 1 => F::High(random.below(2_usize), random.below(2_u8)),
        2 => F::Writes(random.below(2_usize)),
        3 => F::At(random.below(2_usize), random.below(8_usize)),
        4 => F::Not(sub(random)),
        5 => F::And(sub(random), sub(random)),
        6 => F::Or(sub(random), sub(random)),
        7..=10 => F::One(random.chance(60), random.pick(&['F', 'G', 'F', 'G', 'X', 'X']), sub(random)),
        11 | 12 => F::Two(random.chance(60), random.pick(&['U', 'W']), sub(random), sub(random)),
        13 => F::EvenAlways(sub(random)),
        _ => F::EvenSometimes(sub(random)),
    }
}

fn text(formula: &F) -> String {
    let name = |node: &usize| ["a", "b"][*node];
    let over = |all: &bool| if *all { 'A' } else { 'E' };
    match formula {
        F::High(node, bit) => format!("{}.PORTB.{bit} == 1", name(node)),
        F::Writes(node) => format!("{}.write(PORTB)", name(node)),
        F::At(node, word) => format!("{}.pc == {}", name(node), 2 * word),
        F::Not(p) => format!("!({})", text(p)),
        F::And(p, q) => format!("({}) && ({})", text(p), text(q)),
        F::Or(p, q) => format!("({}) || ({})", text(p), text(q)),
        F::One(all, operator, p) => format!("{}{operator} ({})", over(all), text(p)),
        F::Two(all, operator, p, q) => format!("{}[({}) {operator} ({})]", over(all), text(p), text(q)),
        F::EvenAlways(p) => format!("(nu V. ({}) && [][]V)", text(p)),
        F::EvenSometimes(p) => format!("(mu V. ({}) || <><>V)", text(p)),
    }
}

/// All concrete states, each with the node that wrote to its port in the step before.
struct Graph {
    states: Vec<(State, Option<usize>)>,
    /// The next states with the nodes that take the steps.
    next: Vec<Vec<(usize, usize)>>,
    nodes: usize,
}

impl Graph {
    fn new(programs: &[Vec<I>], wires: &[Wire]) -> Self {
        let initial: (State, Option<usize>) = (vec![Machine::default(); programs.len()], None);
        let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
        let (mut states, mut next) = (vec![initial], Vec::new());
        while next.len() < states.len() {
            let (state, _): (State, _) = states[next.len()].clone();
            let mut here = Vec::new();
            for node in 0..programs.len() {
                let writes = match programs[node][state[node].pc] {
                    I::Sbi { io, .. } | I::Cbi { io, .. } | I::Out { io, .. } => io == PORTB,
                    _ => false,
                };
                for to in after(&state, programs, wires, node) {
                    let to = (to, writes.then_some(node));
                    let count = numbers.len();
                    let number = *numbers.entry(to.clone()).or_insert(count);
                    if number == count {
                        states.push(to);
                    }
                    here.push((node, number));
                }
            }
            next.push(here);
        }
        Self { states, next, nodes: programs.len() }
    }

    /// The states with all next states, or some, in a set.
    fn step(&self, all: bool, of: &[bool]) -> Vec<bool> {
        let has = |next: &Vec<(usize, usize)>| match all {
            true => next.iter().all(|(_, to)| of[*to]),
            false => next.iter().any(|(_, to)| of[*to]),
        };
        self.next.iter().map(has).collect()
    }

    /// The fixed point of a function from a first set on.
    fn fixed(&self, first: bool, change: &dyn Fn(&[bool]) -> Vec<bool>) -> Vec<bool> {
        let mut now = vec![first; self.states.len()];
        loop {
            let next = change(&now);
            if next == now {
                return now;
            }
            now = next;
        }
    }

    fn until(&self, all: bool, p: &[bool], q: &[bool]) -> Vec<bool> {
        self.fixed(false, &|now| {
            let step = self.step(all, now);
            (0..now.len()).map(|state| q[state] || p[state] && step[state]).collect()
        })
    }

    /// The states with a fair run on which p stays: one that leads to a part in which all nodes take steps.
    fn fair_always(&self, p: &[bool]) -> Vec<bool> {
        let inside: BTreeSet<usize> = (0..p.len()).filter(|state| p[*state]).collect();
        let parts = components(&inside, &|from| {
            self.next[from].iter().map(|(_, to)| *to).filter(|to| inside.contains(to)).collect()
        });
        let mut good = vec![false; p.len()];
        for part in parts {
            let within =
                |from: &usize| self.next[*from].iter().filter(|(_, to)| part.contains(to)).map(|(node, _)| *node);
            let movers: BTreeSet<usize> = part.iter().flat_map(within).collect();
            if movers.len() == self.nodes {
                part.iter().for_each(|state| good[*state] = true);
            }
        }
        self.until(false, p, &good)
    }

    fn values(&self, formula: &F) -> Vec<bool> {
        let not = |p: Vec<bool>| p.into_iter().map(|value| !value).collect::<Vec<bool>>();
        let both = |p: &[bool], q: &[bool]| p.iter().zip(q).map(|(p, q)| *p && *q).collect::<Vec<bool>>();
        let either = |p: &[bool], q: &[bool]| p.iter().zip(q).map(|(p, q)| *p || *q).collect::<Vec<bool>>();
        let everything = vec![true; self.states.len()];
        match formula {
            F::High(node, bit) => self.states.iter().map(|(state, _)| state[*node].port >> bit & 1 == 1).collect(),
            F::Writes(node) => self.states.iter().map(|(_, wrote)| *wrote == Some(*node)).collect(),
            F::At(node, word) => self.states.iter().map(|(state, _)| state[*node].pc == *word).collect(),
            F::Not(p) => not(self.values(p)),
            F::And(p, q) => both(&self.values(p), &self.values(q)),
            F::Or(p, q) => either(&self.values(p), &self.values(q)),
            F::One(all, 'X', p) => self.step(*all, &self.values(p)),
            F::One(false, 'F', p) => self.until(false, &everything, &self.values(p)),
            F::One(true, 'G', p) => not(self.until(false, &everything, &not(self.values(p)))),
            F::One(false, _, p) => self.fair_always(&self.values(p)),
            F::One(true, _, p) => not(self.fair_always(&not(self.values(p)))),
            F::Two(false, operator, p, q) => {
                let (p, q) = (self.values(p), self.values(q));
                let until = self.until(false, &p, &q);
                if *operator == 'U' { until } else { either(&until, &self.fair_always(&p)) }
            }
            F::Two(true, operator, p, q) => {
                // Its denial: p ends without q, or neither q comes.
                let (no_p, no_q) = (not(self.values(p)), not(self.values(q)));
                let ends = self.until(false, &no_q, &both(&no_p, &no_q));
                let stays = if *operator == 'U' { self.fair_always(&no_q) } else { not(everything) };
                not(either(&ends, &stays))
            }
            F::EvenAlways(p) => {
                let p = self.values(p);
                self.fixed(true, &|now| both(&p, &self.step(true, &self.step(true, now))))
            }
            F::EvenSometimes(p) => {
                let p = self.values(p);
                self.fixed(false, &|now| either(&p, &self.step(false, &self.step(false, now))))
            }
        }
    }
}

/// The formulas that a random system is asked.
const FORMULAS: usize = 5;
/// Systems with more concrete states are left out.
const MAX_STATES: usize = 1_500;

/// Compares verdicts about random formulas: the letters that are right, and those that are given.
fn compare(seed: u64) -> Result<Vec<(char, char)>, String> {
    let (of_system, programs, wires) = system(seed);
    let graph = Graph::new(&programs, &wires);
    if graph.states.len() > MAX_STATES {
        return Ok(Vec::new());
    }
    let random = &mut Random::new(seed ^ 0xb4a7);
    let formulas: Vec<F> = (0..FORMULAS).map(|number| formula(random, 1 + number % 3)).collect();
    let (before, _) = of_system.split_once("properties: [").expect("it has properties");
    let asked: Vec<String> = formulas.iter().map(|it| format!("Formula(\"{}\")", text(it))).collect();
    let found = results(&format!("{before}properties: [{}])", asked.join(", ")), "atmega328p-gpio", &programs);
    let expected = formulas.iter().map(|it| if graph.values(it)[0] { 'h' } else { 'v' });
    let pairs: Vec<(char, char)> = expected.zip(letters(&found).chars()).collect();
    match pairs.iter().position(|(expected, given)| *given != 'u' && given != expected) {
        Some(wrong) => {
            let result = &found.properties[wrong];
            Err(format!(
                "seed {seed}: {} instead of {:?}\n{of_system}\n{programs:?}\n{result:?}",
                pairs[wrong].1, pairs[wrong]
            ))
        }
        None => Ok(pairs),
    }
}

#[test]
fn random_formulas_agree_with_all_concrete_states() {
    let cases = cases(100, 5_000);
    let all: Vec<(char, char)> =
        (0..cases).flat_map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}"))).collect();
    let count = |wanted: (char, char)| all.iter().filter(|pair| **pair == wanted).count();
    let counts = [('h', 'h'), ('h', 'u'), ('v', 'v'), ('v', 'u')].map(count);
    let [holds, unproved, violated, unshown] = counts;
    assert!(holds > 10 * unproved && holds * 8 > all.len(), "{counts:?}");
    assert!(violated > unshown && violated * 5 > all.len(), "{counts:?}");
}

#[test]
fn faults_of_formulas_are_found() {
    for fault in [
        Fault::StepsUncounted,
        Fault::UnfairCounts,
        Fault::RoundsNeverEnd,
        Fault::RoundsOfTheLast,
        Fault::InterleavingLeftOut,
        Fault::MoverForgotten,
        Fault::EventsOverAtOnce,
    ] {
        let found = (0..200).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

#[test]
fn formulas_of_each_kind_have_verdicts() {
    // It drives its pin high for ever, or low for ever, as a pin that it reads says.
    let chooses =
        vec![I::Sbis { io: 0x09, bit: 2 }, I::Rjmp { offset: 1 }, I::Sbi { io: PORTB, bit: 0 }, I::Rjmp { offset: -1 }];
    let rests = vec![I::Rjmp { offset: -1 }];
    let check = |formula: &str, expected: &str| {
        let text = format!(
            "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }}, wires: [], properties: [Formula(\"{formula}\")])"
        );
        let found = results(&text, "atmega328p-gpio", &[chooses.clone(), rests.clone()]);
        assert_eq!(letters(&found), expected, "{formula}: {found:?}");
        found
    };
    check("EF a.PORTB.0 == 1", "h");
    check("EG a.PORTB.0 == 0", "h");
    check("AG (a.PORTB.0 == 1 -> AG a.PORTB.0 == 1)", "h");
    check("AX a.PORTB.0 == 0", "h");
    check("EX a.PORTB.0 == 1", "v");
    check("EX EX a.PORTB.0 == 1", "h");
    check("!EF b.PORTB.0 == 1", "h");
    check("!EF a.PORTB.0 == 1", "v");
    check("!A[a.PORTB.0 == 0 W b.PORTB.0 == 1]", "h");
    // Each node goes on, so the pin is looked at.
    check("AF a.pc > 0", "h");
    check("AF (a.pc > 1 && AG (a.PORTB.0 == 0 || a.PORTB.0 == 1))", "h");
    check("AG a.PORTB.0 == 0", "v");
    check("AF a.PORTB.0 == 1", "v");
    let found = check("AG EF a.PORTB.0 == 1", "v");
    let Verdict::Violated(run) = &found.properties[0].verdict else { panic!("{found:?}") };
    assert!(run.steps[0] > 0, "a run leads to where it is not possible any more");
    check("EF b.PORTB.0 == 1", "v");
    // No single run shows it.
    let found = check("AF AG a.PORTB.0 == 1", "u");
    let Verdict::Unknown(reason) = &found.properties[0].verdict else { panic!("{found:?}") };
    assert!(reason.contains("a single run does not show"), "{reason}");
}
