//! States in which a formula about runs is true: the product of the graph with a tableau, and its fair strongly
//! connected parts.
//!
//! A state of the product is a state of the graph with a guess, for each operator of time in the formula, whether it is
//! true here. A step must agree with the guesses on both sides, and a run is fair if no guess puts something off for ever.

use crate::formula::{Binary, Logic, Path, Unary};
use crate::graph::Graph;
use crate::solve::{self, Set, not};

/// A part of the formula: its operands are parts before it.
enum Part {
    State(Set),
    Not(usize),
    Logic(Logic, usize, usize),
    /// An operator of time, with its bit in the guess.
    Unary(u32, Unary, usize),
    Binary(u32, Binary, usize, usize),
}

struct Tableau {
    parts: Vec<Part>,
    bits: u32,
}

/// The states from which every run fulfils the formula.
pub(crate) fn on_all_runs(graph: &Graph, path: &Path) -> Set {
    not(on_some_run(graph, &Path::Not(Box::new(path.clone()))))
}

/// The states from which some run fulfils the formula.
pub(crate) fn on_some_run(graph: &Graph, path: &Path) -> Set {
    let mut tableau = Tableau { parts: Vec::new(), bits: 0 };
    let root = tableau.add(graph, path);
    let guesses = 1 << tableau.bits;
    // The truth of each part in each state of the product.
    let truths: Vec<u32> =
        (0..graph.len() * guesses).map(|node| tableau.guessed(node / guesses, (node % guesses) as u32)).collect();
    let product = Product { graph, tableau: &tableau, guesses, truths };
    let fair = product.leads_to_fair_run();
    let is_found = |state: usize| {
        let mut nodes = state * guesses..(state + 1) * guesses;
        nodes.any(|node| fair[node] && product.truths[node] >> root & 1 == 1)
    };
    (0..graph.len()).map(is_found).collect()
}

impl Tableau {
    fn add(&mut self, graph: &Graph, path: &Path) -> usize {
        let part = match path {
            Path::State(formula) => Part::State(solve::set(graph, formula)),
            Path::Not(p) => Part::Not(self.add(graph, p)),
            Path::Logic(logic, p, q) => {
                let p = self.add(graph, p);
                Part::Logic(*logic, p, self.add(graph, q))
            }
            Path::Unary(unary, p) => {
                let p = self.add(graph, p);
                Part::Unary(self.bit(), *unary, p)
            }
            Path::Binary(binary, p, q) => {
                let p = self.add(graph, p);
                let q = self.add(graph, q);
                Part::Binary(self.bit(), *binary, p, q)
            }
        };
        self.parts.push(part);
        self.parts.len() - 1
    }

    fn bit(&mut self) -> u32 {
        self.bits += 1;
        self.bits - 1
    }

    /// The truth of each part, as bits. `of_time` gives the truth of an operator of time, with the parts before it.
    fn truths(&self, state: usize, of_time: impl Fn(&Part, usize, u32) -> bool) -> u32 {
        let mut truths = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let of = |part: &usize| truths >> part & 1 == 1;
            let holds = match part {
                Part::State(set) => set[state],
                Part::Not(p) => !of(p),
                Part::Logic(logic, p, q) => logic.of(of(p), of(q)),
                Part::Unary(..) | Part::Binary(..) => of_time(part, number, truths),
            };
            truths |= u32::from(holds) << number;
        }
        truths
    }

    /// The truth of each part with a guess.
    fn guessed(&self, state: usize, guess: u32) -> u32 {
        self.truths(state, |part, _, _| match part {
            Part::Unary(bit, ..) | Part::Binary(bit, ..) => guess >> bit & 1 == 1,
            Part::State(_) | Part::Not(_) | Part::Logic(..) => false,
        })
    }

    /// The only guess in a state that agrees with what holds in the next one.
    fn guess_before(&self, state: usize, next: u32) -> u32 {
        let truths = self.truths(state, |part, number, now| {
            let of = |part: &usize| now >> part & 1 == 1;
            let later = next >> number & 1 == 1;
            match part {
                Part::Unary(_, Unary::Next, p) => next >> p & 1 == 1,
                Part::Unary(_, Unary::Eventually, p) => of(p) || later,
                Part::Unary(_, Unary::Always, p) => of(p) && later,
                Part::Binary(_, Binary::Until | Binary::Weak, p, q) => of(q) || of(p) && later,
                Part::Binary(_, Binary::Release, p, q) => of(q) && (of(p) || later),
                Part::State(_) | Part::Not(_) | Part::Logic(..) => false,
            }
        });
        let mut guess = 0;
        for (number, part) in self.parts.iter().enumerate() {
            if let Part::Unary(bit, ..) | Part::Binary(bit, ..) = part {
                guess |= (truths >> number & 1) << bit;
            }
        }
        guess
    }

    /// True if a part puts nothing off here; one that puts something off in every state of a run is wrong on it.
    fn settled(part: &Part, number: usize, now: u32) -> bool {
        let of = |part: &usize| now >> part & 1 == 1;
        let here = now >> number & 1 == 1;
        match part {
            Part::State(_) | Part::Not(_) | Part::Logic(..) | Part::Unary(_, Unary::Next, _) => true,
            // Eventualities come.
            Part::Unary(_, Unary::Eventually, p) => !here || of(p),
            Part::Binary(_, Binary::Until, _, q) => !here || of(q),
            // A part that fails some time fails here or later.
            Part::Unary(_, Unary::Always, p) => here || !of(p),
            Part::Binary(_, Binary::Weak, p, q) => here || !of(p) && !of(q),
            Part::Binary(_, Binary::Release, _, q) => here || !of(q),
        }
    }
}

struct Product<'a> {
    graph: &'a Graph,
    tableau: &'a Tableau,
    guesses: usize,
    truths: Vec<u32>,
}

impl Product<'_> {
    /// The nodes from which a fair run begins.
    fn leads_to_fair_run(&self) -> Vec<bool> {
        let count = self.truths.len();
        let mut steps: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut previous: Vec<Vec<u32>> = vec![Vec::new(); count];
        for state in 0..self.graph.len() {
            for next in self.graph.next(state).flat_map(|next| next * self.guesses..(next + 1) * self.guesses) {
                let guess = self.tableau.guess_before(state, self.truths[next]);
                let node = state * self.guesses + guess as usize;
                steps[node].push(next as u32);
                previous[next].push(node as u32);
            }
        }
        let mut found = vec![false; count];
        let mut waiting = Vec::new();
        for component in components(&steps) {
            if self.is_fair(&steps, &component) {
                component.iter().for_each(|node| found[*node as usize] = true);
                waiting.extend(component);
            }
        }
        while let Some(node) = waiting.pop() {
            for earlier in &previous[node as usize] {
                if !found[*earlier as usize] {
                    found[*earlier as usize] = true;
                    waiting.push(*earlier);
                }
            }
        }
        found
    }

    /// True if a run can stay in a strongly connected part for ever, and every operator puts nothing off there
    /// again and again.
    fn is_fair(&self, steps: &[Vec<u32>], component: &[u32]) -> bool {
        let first = component[0];
        if component.len() == 1 && !steps[first as usize].contains(&first) {
            return false;
        }
        self.tableau.parts.iter().enumerate().all(|(number, part)| {
            component.iter().any(|node| Tableau::settled(part, number, self.truths[*node as usize]))
        })
    }
}

/// The strongly connected parts of a graph, after Tarjan, without recursion.
fn components(steps: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; steps.len()];
    let mut low = vec![0; steps.len()];
    let mut is_open = vec![false; steps.len()];
    let (mut open, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..steps.len() {
        if index[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, position)) = calls.pop() {
            if position == 0 {
                (index[node], low[node]) = (count, count);
                count += 1;
                open.push(node as u32);
                is_open[node] = true;
            } else {
                let child = steps[node][position - 1] as usize;
                low[node] = low[node].min(low[child]);
            }
            let mut position = position;
            let mut descends = None;
            while let Some(next) = steps[node].get(position) {
                position += 1;
                let next = *next as usize;
                if index[next] == NEW {
                    descends = Some(next);
                    break;
                }
                if is_open[next] {
                    low[node] = low[node].min(index[next]);
                }
            }
            if let Some(next) = descends {
                calls.push((node, position));
                calls.push((next, 0));
            } else if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = open.pop() {
                    is_open[member as usize] = false;
                    component.push(member);
                    if member as usize == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}
