//! States in which a formula about states is true: fixed points on the graph, as in any textbook.

use crate::formula::{Binary, Formula, Property, Runs, Unary};
use crate::graph::Graph;
use crate::linear;

/// A set of states.
pub(crate) type Set = Vec<bool>;

/// True if a property holds: at the start, whatever is in memory then.
pub(crate) fn holds(graph: &Graph, property: &Property) -> bool {
    let everywhere = |set: &Set| set[..graph.initial].iter().all(|holds| *holds);
    match property {
        Property::Formula(formula) | Property::Entry(_, formula) => everywhere(&set(graph, formula)),
        Property::Ltl(path) => everywhere(&linear::on_all_runs(graph, path)),
        // Programs are made without hazards.
        Property::Inherent => true,
        Property::Stack(bytes) => graph.deepest() <= *bytes,
    }
}

/// The states in which a formula is true.
pub(crate) fn set(graph: &Graph, formula: &Formula) -> Set {
    with_variables(graph, formula, &mut Vec::new())
}

fn with_variables(graph: &Graph, formula: &Formula, variables: &mut Vec<Set>) -> Set {
    match formula {
        Formula::Atom(atom) => graph.states.iter().map(|state| atom.holds(state)).collect(),
        Formula::Variable(variable) => variables[*variable].clone(),
        Formula::Not(p) => not(with_variables(graph, p, variables)),
        Formula::Logic(logic, p, q) => {
            let (p, q) = (with_variables(graph, p, variables), with_variables(graph, q, variables));
            p.into_iter().zip(q).map(|(p, q)| logic.of(p, q)).collect()
        }
        Formula::Unary(runs, unary, p) => {
            let p = with_variables(graph, p, variables);
            match runs {
                Runs::Some => unary_of_some(graph, *unary, &p),
                // On all runs, unless on some run not.
                Runs::All => not(unary_of_some(graph, dual(*unary), &not(p))),
            }
        }
        Formula::Binary(runs, binary, p, q) => {
            let (p, q) = (with_variables(graph, p, variables), with_variables(graph, q, variables));
            match runs {
                Runs::Some => binary_of_some(graph, *binary, &p, &q),
                Runs::All => binary_of_all(graph, *binary, &p, &q),
            }
        }
        Formula::Path(Runs::All, path) => linear::on_all_runs(graph, path),
        Formula::Path(Runs::Some, path) => linear::on_some_run(graph, path),
        Formula::Fixed { greatest, variable, body } => {
            variables.truncate(*variable);
            variables.push(vec![*greatest; graph.len()]);
            loop {
                let new = with_variables(graph, body, variables);
                variables.truncate(variable + 1);
                if new == variables[*variable] {
                    return new;
                }
                variables[*variable] = new;
            }
        }
    }
}

pub(crate) fn not(mut set: Set) -> Set {
    set.iter_mut().for_each(|holds| *holds = !*holds);
    set
}

fn both(a: &Set, b: &Set) -> Set {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

fn dual(unary: Unary) -> Unary {
    match unary {
        Unary::Next => Unary::Next,
        Unary::Eventually => Unary::Always,
        Unary::Always => Unary::Eventually,
    }
}

fn unary_of_some(graph: &Graph, unary: Unary, p: &Set) -> Set {
    match unary {
        Unary::Next => (0..graph.len()).map(|state| graph.next(state).any(|next| p[next])).collect(),
        Unary::Eventually => until(graph, &vec![true; graph.len()], p),
        Unary::Always => for_ever(graph, p),
    }
}

fn binary_of_some(graph: &Graph, binary: Binary, p: &Set, q: &Set) -> Set {
    match binary {
        Binary::Until => until(graph, p, q),
        Binary::Weak => {
            let (until, ever) = (until(graph, p, q), for_ever(graph, p));
            until.into_iter().zip(ever).map(|(a, b)| a || b).collect()
        }
        Binary::Release => binary_of_some(graph, Binary::Weak, q, &both(p, q)),
    }
}

fn binary_of_all(graph: &Graph, binary: Binary, p: &Set, q: &Set) -> Set {
    let (not_p, not_q) = (not(p.clone()), not(q.clone()));
    match binary {
        // Until fails where q stays away for ever, or until neither.
        Binary::Until => not(binary_of_some(graph, Binary::Weak, &not_q, &both(&not_p, &not_q))),
        Binary::Weak => not(until(graph, &not_q, &both(&not_p, &not_q))),
        Binary::Release => not(until(graph, &not_p, &not_q)),
    }
}

/// On some run q comes, and p until then.
fn until(graph: &Graph, p: &Set, q: &Set) -> Set {
    let mut found = q.clone();
    let mut waiting: Vec<usize> = (0..graph.len()).filter(|state| q[*state]).collect();
    while let Some(state) = waiting.pop() {
        for previous in graph.previous(state) {
            if p[previous] && !found[previous] {
                found[previous] = true;
                waiting.push(previous);
            }
        }
    }
    found
}

/// On some run p stays for ever: states without a successor that is left are taken away.
fn for_ever(graph: &Graph, p: &Set) -> Set {
    let mut left = p.clone();
    let mut counts: Vec<usize> =
        (0..graph.len()).map(|state| graph.next(state).filter(|next| left[*next]).count()).collect();
    let mut waiting: Vec<usize> = (0..graph.len()).filter(|state| left[*state] && counts[*state] == 0).collect();
    waiting.iter().for_each(|state| left[*state] = false);
    while let Some(state) = waiting.pop() {
        for previous in graph.previous(state) {
            counts[previous] -= 1;
            if left[previous] && counts[previous] == 0 {
                left[previous] = false;
                waiting.push(previous);
            }
        }
    }
    left
}
