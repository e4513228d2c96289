//! Queries: satisfiability of a bit, by a SAT solver.
//!
//! The formula is the cone of the bit in clauses (Tseitin, "On the complexity of derivation in propositional calculus", 1968). The
//! solver is limited in steps, never in time, so that the same query has the same answer everywhere.

use crate::domain::assignment::{Assignment, Valuation};
use crate::domain::bit::SymbolicBit;
use crate::domain::graph::{Graph, Literal, Node, Variable};
use batsat::{Callbacks, ClauseKind};
use rustc_hash::FxHashMap;
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal};
use std::cell::Cell;
use thiserror::Error;

/// Limits of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Decisions of the solver and clauses that it learns, together.
    pub steps: u64,
    /// Nodes of the formula.
    pub nodes: usize,
}

impl Default for QueryLimits {
    /// A million steps, a million nodes.
    fn default() -> Self {
        Self { steps: 1_000_000, nodes: 1_000_000 }
    }
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bit is 1 under this assignment.
    Satisfiable(Assignment),
    /// The bit is 0 under every assignment.
    Unsatisfiable,
    /// Nothing is claimed.
    None(Unanswered),
}

/// The reason why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Unanswered {
    /// The bit is open.
    #[error("it depends on what is not known")]
    Open,
    /// The formula has too many nodes.
    #[error("its formula has too many nodes")]
    Nodes,
    /// The solver was stopped by its limit.
    #[error("the solver came to its limit")]
    Steps,
    /// The solver failed, or its model is none.
    #[error("the solver failed")]
    Solver,
}

/// Stops the solver after so many steps.
#[derive(Debug, Default)]
struct Countdown {
    left: Cell<u64>,
}

impl Countdown {
    fn count(&self) {
        self.left.set(self.left.get().saturating_sub(1));
    }
}

impl Callbacks for Countdown {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.count();
        }
    }

    /// Is asked before each decision.
    fn stop(&self) -> bool {
        self.count();
        self.left.get() == 0
    }
}

/// Asks for an assignment under which a bit is 1.
#[must_use]
pub fn satisfy(bit: &SymbolicBit<'_>, limits: QueryLimits) -> Answer {
    match (bit.literal, bit.graph) {
        (Literal::FALSE, _) => Answer::Unsatisfiable,
        (Literal::TRUE, _) => Answer::Satisfiable(Assignment::default()),
        (Literal::OPEN, _) | (_, None) => Answer::None(Unanswered::Open),
        (literal, Some(graph)) => Formula::of(graph, &[literal], limits.nodes)
            .map_or(Answer::None(Unanswered::Nodes), |formula| formula.solve(graph, bit, limits.steps)),
    }
}

/// The value that a bit has wherever some others are 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// The value.
    pub value: bool,
    /// The bits, by index, from which it follows: an unsatisfiable core with the other value, not always a least one.
    pub of: Vec<usize>,
}

/// The values that some goals have under each assignment under which all facts are 1; none for those that have no such value, and where
/// nothing is claimed. If no assignment makes all facts 1, any value follows. The steps are those of one goal.
#[must_use]
pub fn consequences(
    facts: &[SymbolicBit<'_>],
    goals: &[SymbolicBit<'_>],
    limits: QueryLimits,
) -> Vec<Option<Consequence>> {
    let asked: Vec<usize> = (0..goals.len()).filter(|goal| is_asked(&goals[*goal])).collect();
    let mut all: Vec<Option<Consequence>> =
        goals.iter().map(|goal| goal.literal.known().map(|value| Consequence { value, of: Vec::new() })).collect();
    if let Some(index) = facts.iter().position(|fact| fact.literal == Literal::FALSE) {
        asked.iter().for_each(|goal| all[*goal] = Some(Consequence { value: true, of: vec![index] }));
        return all;
    }
    // SOUND: a fact that is left out only allows more assignments.
    let known: Vec<usize> = (0..facts.len()).filter(|fact| is_asked(&facts[*fact])).collect();
    let Some(graph) = asked.iter().find_map(|goal| goals[*goal].graph) else { return all };
    let known_literals: Vec<Literal> = known.iter().map(|fact| facts[*fact].literal).collect();
    let asked_literals: Vec<Literal> = asked.iter().map(|goal| goals[*goal].literal).collect();
    let cone: Vec<Literal> = known_literals.iter().chain(&asked_literals).copied().collect();
    let Some(formula) = Formula::of(graph, &cone, limits.nodes) else { return all };
    let found = formula.consequences(&known_literals, &asked_literals, limits.steps).unwrap_or_default();
    for (goal, found) in asked.into_iter().zip(found) {
        all[goal] = found.map(|(value, core)| Consequence {
            value,
            of: known
                .iter()
                .zip(&known_literals)
                .filter(|(_, one)| core.contains(one))
                .map(|(fact, _)| *fact)
                .collect(),
        });
    }
    all
}

/// The answer to the question which facts contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Core {
    /// Some facts, by index, that are not 1 together under any assignment, and none of which can be left out as far as the solver sees within its limit.
    Of(Vec<usize>),
    /// All facts that are not open are 1 under this assignment.
    Satisfiable(Assignment),
    /// Nothing is claimed.
    None(Unanswered),
}

/// Asks for facts that contradict each other. The steps are those of one question to the solver.
#[must_use]
pub fn unsatisfiable_core(facts: &[SymbolicBit<'_>], limits: QueryLimits) -> Core {
    if let Some(index) = facts.iter().position(|fact| fact.literal == Literal::FALSE) {
        return Core::Of(vec![index]);
    }
    let asked: Vec<usize> = (0..facts.len()).filter(|fact| is_asked(&facts[*fact])).collect();
    let Some(graph) = asked.iter().find_map(|fact| facts[*fact].graph) else {
        return Core::Satisfiable(Assignment::default());
    };
    let literals: Vec<Literal> = asked.iter().map(|fact| facts[*fact].literal).collect();
    let Some(formula) = Formula::of(graph, &literals, limits.nodes) else { return Core::None(Unanswered::Nodes) };
    match formula.core(graph, &literals, limits.steps) {
        Core::Of(found) => Core::Of(found.into_iter().map(|index| asked[index]).collect()),
        other => other,
    }
}

/// True if a bit is neither a constant nor open.
fn is_asked(bit: &SymbolicBit<'_>) -> bool {
    bit.literal.known().is_none() && !bit.is_open()
}

/// A node with what it is computed from: choices and exclusive disjunctions, which take three nodes, in one (Eén, Mishchenko & Sörensson,
/// "Applying logic synthesis for speeding up SAT", 2007).
#[derive(Clone, Copy, Debug)]
enum Gate {
    /// A constant or a variable.
    Input,
    And(Literal, Literal),
    /// If the first then the second, else the third.
    Select(Literal, Literal, Literal),
}

impl Gate {
    fn of(graph: &Graph, node: usize) -> Self {
        let Node::And(a, b) = graph.node(node) else { return Self::Input };
        let parts =
            |literal: Literal| match literal.node().filter(|_| literal.is_complement()).map(|node| graph.node(node)) {
                Some(Node::And(a, b)) => Some([a, b]),
                _ => None,
            };
        let (Some(first), Some(second)) = (parts(a), parts(b)) else { return Self::And(a, b) };
        for (condition, then) in [(first[0], first[1]), (first[1], first[0])] {
            for (other, otherwise) in [(second[0], second[1]), (second[1], second[0])] {
                if condition == other.not() {
                    return Self::Select(condition, then.not(), otherwise.not());
                }
            }
        }
        Self::And(a, b)
    }

    fn inputs(self) -> Vec<Literal> {
        match self {
            Self::Input => Vec::new(),
            Self::And(a, b) => vec![a, b],
            Self::Select(condition, then, otherwise) => vec![condition, then, otherwise],
        }
    }
}

/// The value of a goal, and the facts that it follows from; none if neither value follows.
type Followed = Option<(bool, Vec<Literal>)>;

/// The clauses of a cone.
struct Formula {
    /// Numbers of the solver's variables, by nodes.
    numbers: FxHashMap<usize, u32>,
    clauses: Vec<Clause>,
}

impl Formula {
    /// The formula of some literals, none of which is a constant or open; none if it has too many nodes.
    fn of(graph: &Graph, goals: &[Literal], most_nodes: usize) -> Option<Self> {
        let mut formula = Self { numbers: FxHashMap::default(), clauses: Vec::new() };
        let mut open: Vec<usize> = goals.iter().filter_map(|goal| goal.node()).collect();
        while let Some(node) = open.pop() {
            if formula.numbers.contains_key(&node) {
                continue;
            }
            formula.numbers.insert(node, formula.numbers.len() as u32);
            if formula.numbers.len() > most_nodes {
                return None;
            }
            open.extend(Gate::of(graph, node).inputs().into_iter().filter_map(Literal::node));
        }
        let mut nodes: Vec<usize> = formula.numbers.keys().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            let own = Lit::positive(formula.numbers[&node]);
            match Gate::of(graph, node) {
                Gate::Input => {}
                Gate::And(a, b) => {
                    let (a, b) = (formula.literal(a)?, formula.literal(b)?);
                    formula.add([[!own, a].as_slice(), &[!own, b], &[own, !a, !b]]);
                }
                Gate::Select(condition, then, otherwise) if then == otherwise.not() => {
                    let (a, b) = (formula.literal(condition)?, formula.literal(then)?);
                    formula.add([[!own, !a, b].as_slice(), &[own, !a, !b], &[!own, a, !b], &[own, a, b]]);
                }
                Gate::Select(condition, then, otherwise) => {
                    let (s, a, b) = (formula.literal(condition)?, formula.literal(then)?, formula.literal(otherwise)?);
                    formula.add([[!own, !s, a].as_slice(), &[own, !s, !a], &[!own, s, b], &[own, s, !b]]);
                    // They follow, and let the solver see more.
                    formula.add([[!own, a, b].as_slice(), &[own, !a, !b]]);
                }
            }
        }
        Some(formula)
    }

    fn add<'c>(&mut self, clauses: impl IntoIterator<Item = &'c [Lit]>) {
        self.clauses.extend(clauses.into_iter().map(|clause| Clause::from_iter(clause.iter().copied())));
    }

    fn literal(&self, literal: Literal) -> Option<Lit> {
        let number = self.numbers.get(&literal.node()?)?;
        Some(Lit::new(*number, literal.is_complement()))
    }

    /// A solver with the clauses, which may take so many steps.
    fn solver(&self, steps: u64) -> Option<rustsat_batsat::Solver<Countdown>> {
        let mut solver = rustsat_batsat::Solver::<Countdown>::default();
        let is_added = self.clauses.iter().all(|clause| solver.add_clause_ref(clause).is_ok());
        solver.batsat_mut().cb_mut().left.set(steps.max(1));
        is_added.then_some(solver)
    }

    /// The values that goals have under each assignment that makes all facts 1, each with the facts that it follows from; none if the
    /// solver fails.
    fn consequences(&self, facts: &[Literal], goals: &[Literal], steps: u64) -> Option<Vec<Followed>> {
        let mut solver = self.solver(steps)?;
        let facts_assumed = facts.iter().map(|fact| self.literal(*fact)).collect::<Option<Vec<Lit>>>()?;
        let lits = goals.iter().map(|goal| self.literal(*goal)).collect::<Option<Vec<Lit>>>()?;
        let mut values = vec![None; goals.len()];
        // Goals that were seen to be 0, and to be 1.
        let mut seen = vec![[false; 2]; goals.len()];
        // The first one is asked about its first value without an assumption of its own.
        for turn in 0..=goals.len() {
            let goal = turn.checked_sub(1);
            let refuted = match goal.map(|goal| seen[goal]) {
                Some([true, true] | [false, false]) => continue,
                Some([_, is_one]) => Some(is_one),
                None => None,
            };
            let opposite = goal.zip(refuted).map(|(goal, value)| if value { !lits[goal] } else { lits[goal] });
            let assumed: Vec<Lit> = facts_assumed.iter().copied().chain(opposite).collect();
            solver.batsat_mut().cb_mut().left.set(steps.max(1));
            match solver.solve_assumps(&assumed).ok()? {
                SolverResult::Sat => {
                    for (seen, lit) in seen.iter_mut().zip(&lits) {
                        match solver.lit_val(*lit).ok()? {
                            TernaryVal::True => seen[1] = true,
                            TernaryVal::False => seen[0] = true,
                            TernaryVal::DontCare => *seen = [true, true],
                        }
                    }
                }
                SolverResult::Unsat => {
                    let core = solver.core().ok()?;
                    let of = facts.iter().zip(&facts_assumed).filter(|(_, lit)| core.contains(&!**lit));
                    let of: Vec<Literal> = of.map(|(fact, _)| *fact).collect();
                    match (goal, refuted) {
                        (Some(goal), Some(value)) => values[goal] = Some((value, of)),
                        _ => return Some(vec![Some((true, of)); goals.len()]),
                    }
                }
                SolverResult::Interrupted => {}
            }
        }
        Some(values)
    }

    /// The core of some facts, which are among the literals of the formula.
    fn core(&self, graph: &Graph, facts: &[Literal], steps: u64) -> Core {
        let lits = facts.iter().map(|fact| self.literal(*fact)).collect::<Option<Vec<Lit>>>();
        let (Some(mut solver), Some(lits)) = (self.solver(steps), lits) else { return Core::None(Unanswered::Solver) };
        let all: Vec<usize> = (0..lits.len()).collect();
        let mut kept = match contradicting(&mut solver, &lits, &all, steps) {
            Ok(Some(kept)) => kept,
            Ok(None) => return self.satisfied(&solver, graph, facts),
            Err(reason) => return Core::None(reason),
        };
        for index in kept.clone() {
            let others: Vec<usize> = kept.iter().copied().filter(|other| *other != index).collect();
            if let Ok(Some(fewer)) = contradicting(&mut solver, &lits, &others, steps) {
                kept = fewer;
            }
        }
        Core::Of(kept)
    }

    /// The assignment that the solver found, if all facts are 1 under it.
    fn satisfied(&self, solver: &impl Solve, graph: &Graph, facts: &[Literal]) -> Core {
        let mut valuation = Valuation::new(graph, self.assignment(solver, graph));
        match facts.iter().all(|fact| valuation.literal(*fact) == Some(true)) {
            true => Core::Satisfiable(valuation.into_assignment()),
            false => Core::None(Unanswered::Solver),
        }
    }

    /// An assignment under which a goal is 1, which is among the literals of the formula.
    fn solve(&self, graph: &Graph, goal: &SymbolicBit<'_>, steps: u64) -> Answer {
        let (Some(mut solver), Some(unit)) = (self.solver(steps), self.literal(goal.literal)) else {
            return Answer::None(Unanswered::Solver);
        };
        if solver.add_clause_ref(&Clause::from_iter([unit])).is_err() {
            return Answer::None(Unanswered::Solver);
        }
        match solver.solve() {
            Ok(SolverResult::Unsat) => Answer::Unsatisfiable,
            Ok(SolverResult::Interrupted) => Answer::None(Unanswered::Steps),
            Ok(SolverResult::Sat) => self.model(&solver, graph, goal),
            Err(_) => Answer::None(Unanswered::Solver),
        }
    }

    /// The assignment that the solver found, if the goal is 1 under it.
    fn model(&self, solver: &impl Solve, graph: &Graph, goal: &SymbolicBit<'_>) -> Answer {
        let mut valuation = Valuation::new(graph, self.assignment(solver, graph));
        match valuation.literal(goal.literal) {
            Some(true) => Answer::Satisfiable(valuation.into_assignment()),
            _ => Answer::None(Unanswered::Solver),
        }
    }

    /// The values that the solver found for the variables.
    fn assignment(&self, solver: &impl Solve, graph: &Graph) -> Assignment {
        let mut assignment = Assignment::default();
        for (node, number) in &self.numbers {
            if graph.node(*node) == Node::Variable {
                let value = solver.lit_val(Lit::positive(*number));
                assignment.set(Variable(*node as u32), matches!(value, Ok(TernaryVal::True)));
            }
        }
        assignment
    }
}

/// Those of some literals, by index, that contradict each other, as the solver tells; none if they can be true together.
fn contradicting(
    solver: &mut rustsat_batsat::Solver<Countdown>,
    lits: &[Lit],
    kept: &[usize],
    steps: u64,
) -> Result<Option<Vec<usize>>, Unanswered> {
    let assumed: Vec<Lit> = kept.iter().map(|index| lits[*index]).collect();
    solver.batsat_mut().cb_mut().left.set(steps.max(1));
    match solver.solve_assumps(&assumed).map_err(|_| Unanswered::Solver)? {
        SolverResult::Sat => Ok(None),
        SolverResult::Interrupted => Err(Unanswered::Steps),
        SolverResult::Unsat => {
            let core = solver.core().map_err(|_| Unanswered::Solver)?;
            Ok(Some(kept.iter().copied().filter(|index| core.contains(&!lits[*index])).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_testkit::{Random, cases};
    use three_valued::BitDomain;

    const LIMITS: QueryLimits = QueryLimits { steps: 10_000, nodes: 10_000 };

    fn conjunction<'g>(bits: impl Iterator<Item = SymbolicBit<'g>>) -> SymbolicBit<'g> {
        bits.fold(SymbolicBit::ONE, |all, bit| all.and(&bit))
    }

    /// Disjunctions of three of five variables, negated or not.
    fn random_facts<'g>(graph: &'g Graph, random: &mut Random) -> Vec<SymbolicBit<'g>> {
        let variables: Vec<SymbolicBit<'g>> = (0..5).map(|_| graph.variable()).collect();
        let literal = |random: &mut Random| {
            let variable = variables[random.below(5)];
            if random.once_in(2) { variable.not() } else { variable }
        };
        let mut clause = || literal(random).or(&literal(random)).or(&literal(random));
        (0..25).map(|_| clause()).collect()
    }

    #[test]
    fn a_core_is_unsatisfiable_and_without_any_of_its_facts_satisfiable() {
        let mut random = Random::new(67);
        let (mut found, mut none) = (0, 0);
        for _ in 0..cases(200, 5_000) {
            let graph = Graph::new(10_000);
            let facts = random_facts(&graph, &mut random);
            let all = satisfy(&conjunction(facts.iter().copied()), LIMITS);
            let core = match unsatisfiable_core(&facts, LIMITS) {
                Core::Of(core) => core,
                Core::Satisfiable(assignment) => {
                    assert!(matches!(all, Answer::Satisfiable(_)), "{all:?}");
                    let mut values = Valuation::new(&graph, assignment);
                    assert!(facts.iter().all(|fact| values.bit(fact) == Some(true)));
                    none += 1;
                    continue;
                }
                Core::None(reason) => panic!("{reason}"),
            };
            assert_eq!(satisfy(&conjunction(core.iter().map(|index| facts[*index])), LIMITS), Answer::Unsatisfiable);
            for left_out in &core {
                let others = core.iter().filter(|index| *index != left_out).map(|index| facts[*index]);
                let answer = satisfy(&conjunction(others), LIMITS);
                assert!(matches!(answer, Answer::Satisfiable(_)), "{core:?} without {left_out}");
            }
            found += 1;
        }
        assert!(found > 20 && none > 20, "{found} {none}");
    }

    #[test]
    fn a_fact_that_is_never_true_is_a_core() {
        let graph = Graph::new(100);
        let variable = graph.variable();
        assert_eq!(unsatisfiable_core(&[variable, SymbolicBit::ZERO], LIMITS), Core::Of(vec![1]));
        assert!(matches!(unsatisfiable_core(&[variable, SymbolicBit::ONE], LIMITS), Core::Satisfiable(_)));
        assert_eq!(unsatisfiable_core(&[], LIMITS), Core::Satisfiable(Assignment::default()));
    }
}
