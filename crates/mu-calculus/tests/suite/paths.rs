//! Paths of two-valued graphs, straight from the meaning of linear time: a path satisfies a formula if every position
//! can be labelled with the truth of all its temporal subformulas. Neighbours must agree, and nothing that is promised
//! may be put off for ever (Lichtenstein & Pnueli, 1985). No automaton, no game.

use mu_calculus::{AtomId, Formula, LinearOperator, LinearPairOperator};

/// The truth of the leaves of a path formula in every state.
pub type Leaves<'a> = &'a dyn Fn(&Formula<AtomId>, usize) -> bool;

/// The states from which some path satisfies `psi`. Every state has a successor.
pub fn exists(successors: &[Vec<usize>], leaves: Leaves<'_>, psi: &Formula<AtomId>) -> Vec<bool> {
    let mut temporal = Vec::new();
    collect(psi, &mut temporal);
    let tableau = Tableau { successors, leaves, temporal };
    let edges = tableau.edges();
    let fulfilled = tableau.reaching_fulfilment(&edges);
    let first = |state: usize| {
        let labels = 0..tableau.labels();
        labels
            .map(|bits| (state, bits))
            .any(|at| fulfilled[tableau.index(at)] && tableau.begins(at) && tableau.truth(psi, at))
    };
    (0..successors.len()).map(first).collect()
}

/// The temporal subformulas, inner ones first.
fn collect<'f>(psi: &'f Formula<AtomId>, found: &mut Vec<&'f Formula<AtomId>>) {
    if !psi.is_path_formula() {
        return;
    }
    psi.children().into_iter().for_each(|child| collect(child, found));
    if matches!(psi, Formula::Linear(..) | Formula::LinearPair(..)) && !found.contains(&psi) {
        found.push(psi);
    }
}

/// A state of the graph and the truth of the temporal subformulas there, as bits.
type At = (usize, usize);

struct Tableau<'a> {
    successors: &'a [Vec<usize>],
    leaves: Leaves<'a>,
    temporal: Vec<&'a Formula<AtomId>>,
}

impl Tableau<'_> {
    fn labels(&self) -> usize {
        1 << self.temporal.len()
    }

    fn index(&self, (state, bits): At) -> usize {
        state * self.labels() + bits
    }

    fn truth(&self, psi: &Formula<AtomId>, at: At) -> bool {
        if !psi.is_path_formula() {
            return (self.leaves)(psi, at.0);
        }
        match psi {
            Formula::Not(p) => !self.truth(p, at),
            Formula::And(operands) => operands.iter().all(|p| self.truth(p, at)),
            Formula::Or(operands) => operands.iter().any(|p| self.truth(p, at)),
            Formula::Implies(p, q) => !self.truth(p, at) || self.truth(q, at),
            Formula::Iff(p, q) => self.truth(p, at) == self.truth(q, at),
            _ => {
                let number = self.temporal.iter().position(|known| *known == psi).expect("it was collected");
                at.1 >> number & 1 == 1
            }
        }
    }

    /// True if the labels of the past are right in a first position.
    fn begins(&self, at: At) -> bool {
        self.temporal.iter().all(|psi| match psi {
            Formula::Linear(LinearOperator::Yesterday, _) => !self.truth(psi, at),
            Formula::Linear(LinearOperator::Once | LinearOperator::Historically, p) => {
                self.truth(psi, at) == self.truth(p, at)
            }
            Formula::LinearPair(LinearPairOperator::Since, _, q) => self.truth(psi, at) == self.truth(q, at),
            _ => true,
        })
    }

    /// True if the labels of neighbours agree.
    fn agree(&self, now: At, next: At) -> bool {
        self.temporal.iter().all(|psi| {
            let (here, there) = (self.truth(psi, now), self.truth(psi, next));
            match psi {
                Formula::Linear(operator, p) => {
                    let (p, p_next) = (self.truth(p, now), self.truth(p, next));
                    match operator {
                        LinearOperator::Next => here == p_next,
                        LinearOperator::Eventually => here == (p || there),
                        LinearOperator::Always => here == (p && there),
                        LinearOperator::Yesterday => there == p,
                        LinearOperator::Once => there == (p_next || here),
                        LinearOperator::Historically => there == (p_next && here),
                    }
                }
                Formula::LinearPair(operator, p, q) => match operator {
                    LinearPairOperator::Until | LinearPairOperator::WeakUntil => {
                        here == (self.truth(q, now) || self.truth(p, now) && there)
                    }
                    LinearPairOperator::Release => here == (self.truth(q, now) && (self.truth(p, now) || there)),
                    LinearPairOperator::Since => there == (self.truth(q, next) || self.truth(p, next) && here),
                },
                _ => unreachable!("only temporal operators are collected"),
            }
        })
    }

    /// True if a subformula is not being put off at this place.
    fn is_settled(&self, psi: &Formula<AtomId>, at: At) -> bool {
        let value = self.truth(psi, at);
        match psi {
            Formula::Linear(LinearOperator::Eventually, p) => !value || self.truth(p, at),
            Formula::Linear(LinearOperator::Always, p) => value || !self.truth(p, at),
            Formula::LinearPair(LinearPairOperator::Until, _, q) => !value || self.truth(q, at),
            Formula::LinearPair(LinearPairOperator::Release, _, q) => value || !self.truth(q, at),
            Formula::LinearPair(LinearPairOperator::WeakUntil, p, q) => {
                value || !self.truth(p, at) && !self.truth(q, at)
            }
            _ => true,
        }
    }

    fn all(&self) -> impl Iterator<Item = At> {
        let labels = self.labels();
        (0..self.successors.len() * labels).map(move |index| (index / labels, index % labels))
    }

    fn edges(&self) -> Vec<Vec<usize>> {
        let after = |now: At| {
            let next = self.successors[now.0].iter().flat_map(|next| (0..self.labels()).map(|bits| (*next, bits)));
            next.filter(|next| self.agree(now, *next)).map(|next| self.index(next)).collect()
        };
        self.all().map(after).collect()
    }

    /// The places from which a cycle can be reached that settles every subformula.
    fn reaching_fulfilment(&self, edges: &[Vec<usize>]) -> Vec<bool> {
        let places: Vec<At> = self.all().collect();
        let component = components(edges);
        let count = edges.len();
        let mut settled = vec![(false, 0_usize); count];
        for (index, at) in places.iter().enumerate() {
            let part = &mut settled[component[index]];
            part.0 |= edges[index].iter().any(|next| component[*next] == component[index]);
            for (number, psi) in self.temporal.iter().enumerate() {
                part.1 |= usize::from(self.is_settled(psi, *at)) << number;
            }
        }
        let mut good: Vec<bool> = component.iter().map(|part| settled[*part] == (true, self.labels() - 1)).collect();
        loop {
            let before = good.clone();
            for (index, next) in edges.iter().enumerate() {
                good[index] |= next.iter().any(|next| good[*next]);
            }
            if good == before {
                return good;
            }
        }
    }
}

/// The number of a strongly connected component for every vertex (Kosaraju).
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut backwards = vec![Vec::new(); edges.len()];
    for (from, next) in edges.iter().enumerate() {
        next.iter().for_each(|to| backwards[*to].push(from));
    }
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    for root in 0..edges.len() {
        finish(root, edges, &mut seen, &mut order);
    }
    let mut component = vec![usize::MAX; edges.len()];
    for root in order.into_iter().rev() {
        let mut pending = vec![root];
        while let Some(vertex) = pending.pop() {
            if component[vertex] == usize::MAX {
                component[vertex] = root;
                pending.extend(&backwards[vertex]);
            }
        }
    }
    component
}

/// Appends the vertices that are reached in the order in which their search ends.
fn finish(root: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let mut path = vec![(root, 0)];
    while let Some((vertex, position)) = path.last_mut() {
        match edges[*vertex].get(*position) {
            Some(next) => {
                *position += 1;
                if !std::mem::replace(&mut seen[*next], true) {
                    path.push((*next, 0));
                }
            }
            None => {
                order.push(*vertex);
                path.pop();
            }
        }
    }
}
