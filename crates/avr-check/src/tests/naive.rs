//! A naive reading of certificates: concrete enumeration decides which of their parts are true, everything else may be
//! anything, and the formula is evaluated by iteration.

use avr_certificate::Verdict;
use mu_calculus::{AtomId, FixedPoint, Formula, Modality};
use std::collections::HashMap;
use three_valued::Truth;

use super::certificate::Certificate;
use super::system::{ATOMS, Abstract, Concrete, System};
use crate::play::Foundation;

/// States with what may follow, what someone can force, and labels.
struct Graph {
    may: Vec<Vec<usize>>,
    must: Vec<Vec<Vec<usize>>>,
    labels: Vec<[Truth; ATOMS]>,
}

/// True if the true parts of a certificate prove its claim of the system. Panics if they prove a claim that is false.
pub(super) fn proves(system: &System, certificate: &Certificate) -> bool {
    let graph = Graph::of_certificate(system, certificate);
    let starts = certificate.states.first() == Some(&Abstract::Start);
    let proves =
        certificate.digest == system.digest && starts && graph.holds(&certificate.formula, certificate.verdict);
    if proves && certificate.foundation == Foundation::Model {
        assert!(
            Graph::of_system(system).holds(&certificate.formula, certificate.verdict),
            "the abstraction is unsound"
        );
    }
    proves
}

impl Graph {
    /// The parts of a certificate that are true; the last state is one of which nothing is known.
    fn of_certificate(system: &System, certificate: &Certificate) -> Self {
        let states = &certificate.states;
        let unknown = states.len();
        let mut graph = Self { may: Vec::new(), must: Vec::new(), labels: Vec::new() };
        for (state, number) in states.iter().zip(0..) {
            let edges: Vec<Vec<usize>> = match state {
                Abstract::Hazard if system.observes_hazards => vec![vec![number as usize]],
                Abstract::Hazard | Abstract::Anything => Vec::new(),
                _ => {
                    let members = certificate.edges.of(number);
                    members.map(|edge| edge.iter().map(|member| *member as usize).collect()).collect()
                }
            };
            let mut may = edges.concat();
            let is_member =
                |next: Concrete, members: &[usize]| members.iter().any(|member| states[*member].contains(next));
            let concretes = state.concretes();
            let all_covered = |concrete: &Concrete| {
                System::inputs().all(|input| is_member(system.step(*concrete, input), &edges.concat()))
            };
            if edges.is_empty() || !concretes.iter().all(all_covered) {
                may.push(unknown);
            }
            let can_be_forced = |edge: &Vec<usize>| {
                concretes.iter().all(|concrete| {
                    let good = |input| is_member(system.step(*concrete, input), edge);
                    match certificate.foundation {
                        Foundation::Model => System::inputs().any(good),
                        Foundation::Hardware => System::inputs().all(|input| System::inputs_like(input).any(good)),
                    }
                })
            };
            graph.must.push(edges.iter().filter(|edge| can_be_forced(edge)).cloned().collect());
            graph.may.push(may);
            graph.labels.push(std::array::from_fn(|atom| {
                let stated = certificate.labels[number as usize][atom];
                let agrees = |concrete: &Concrete| system.holds(*concrete, atom) == stated;
                if concretes.iter().all(agrees) { stated } else { Truth::Unknown }
            }));
        }
        graph.may.push(vec![unknown]);
        graph.must.push(Vec::new());
        graph.labels.push([Truth::Unknown; ATOMS]);
        graph
    }

    /// The system itself.
    fn of_system(system: &System) -> Self {
        let states = Abstract::Anything.concretes();
        let start = states.iter().position(|state| *state == Concrete::Start).expect("it is one of all");
        // The first state of a graph is where evaluation starts.
        let mut order: Vec<Concrete> = states.clone();
        order.swap(0, start);
        let number = |state: Concrete| order.iter().position(|other| *other == state).expect("it is one of all");
        let next = |state: &Concrete| -> Vec<usize> {
            System::inputs().map(|input| number(system.step(*state, input))).collect()
        };
        let must = |state: &Concrete| match state {
            Concrete::Hazard if !system.observes_hazards => Vec::new(),
            _ => next(state).into_iter().map(|next| vec![next]).collect(),
        };
        Self {
            may: order.iter().map(next).collect(),
            must: order.iter().map(must).collect(),
            labels: order.iter().map(|state| std::array::from_fn(|atom| system.holds(*state, atom))).collect(),
        }
    }

    /// True if a formula certainly has a value in the first state.
    fn holds(&self, formula: &Formula<AtomId>, verdict: Verdict) -> bool {
        // The claim is about the states after the first step.
        let after_start = Formula::Modal(Modality::Box, Box::new(formula.clone()));
        self.certain(&after_start, verdict == Verdict::Holds, &mut HashMap::new())[0]
    }

    /// The states in which a formula, or its negation, is certainly true.
    fn certain<'f>(
        &self,
        formula: &'f Formula<AtomId>,
        positive: bool,
        values: &mut HashMap<&'f str, Vec<bool>>,
    ) -> Vec<bool> {
        let states = 0..self.may.len();
        match formula {
            Formula::Constant(value) => vec![*value == positive; self.may.len()],
            Formula::Atom(atom) => {
                states.map(|state| self.labels[state][atom.index()] == Truth::from(positive)).collect()
            }
            Formula::Variable(variable) => values[variable.name.as_str()].clone(),
            Formula::Not(inner) => self.certain(inner, !positive, values),
            Formula::And(parts) | Formula::Or(parts) => {
                let all = matches!(formula, Formula::And(_)) == positive;
                let sets: Vec<Vec<bool>> = parts.iter().map(|part| self.certain(part, positive, values)).collect();
                let of = |state: usize| sets.iter().map(move |set| set[state]);
                let combine = |state| if all { of(state).all(|is| is) } else { of(state).any(|is| is) };
                states.map(combine).collect()
            }
            Formula::Modal(modality, inner) => {
                let set = self.certain(inner, positive, values);
                let everywhere = (*modality == Modality::Box) == positive;
                let all = |members: &[usize]| members.iter().all(|member| set[*member]);
                let value = |state: usize| match everywhere {
                    true => all(&self.may[state]),
                    false => self.must[state].iter().any(|edge| all(edge)),
                };
                states.map(value).collect()
            }
            Formula::Fixed(kind, variable, body) => {
                let greatest = (*kind == FixedPoint::Greatest) == positive;
                let mut set = vec![greatest; self.may.len()];
                loop {
                    let outer = values.insert(&variable.name, set.clone());
                    let next = self.certain(body, positive, values);
                    match outer {
                        Some(outer) => values.insert(&variable.name, outer),
                        None => values.remove(variable.name.as_str()),
                    };
                    if next == set {
                        return set;
                    }
                    set = next;
                }
            }
            other => unreachable!("random formulas have no {other:?}"),
        }
    }
}
