//! Deterministic parity automata whose transitions are decision trees over letters.
//!
//! Reduction keeps the language: of states with the same language a transition may go to any, as long as it changes its
//! mind finitely often. It does so when it goes for the last component that has one.

use rustc_hash::FxHashMap;

use crate::linear::TooLarge;
use crate::linear::buchi::components;

/// Position in the list of trees.
pub(crate) type TreeId = u32;

/// The largest number of trees of a reduced automaton: each becomes a few subformulas.
const MAX_TREES: usize = 600;

/// A decision tree: what the next letter leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tree {
    /// Every word is accepted from here, or none is.
    Constant(bool),
    /// A transition to a state. Of the priorities met infinitely often the largest decides: even accepts.
    Leaf { priority: u32, target: u32 },
    /// A question for the truth of a letter.
    Branch { letter: u32, high: TreeId, low: TreeId },
}

/// Trees, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    trees: Vec<Tree>,
    numbers: FxHashMap<Tree, TreeId>,
}

impl Trees {
    pub(crate) fn get(&self, id: TreeId) -> Tree {
        self.trees[id as usize]
    }

    /// All of them; a [`TreeId`] is an index.
    pub(crate) fn all(&self) -> &[Tree] {
        &self.trees
    }

    pub(crate) fn intern(&mut self, tree: Tree) -> TreeId {
        let next = self.trees.len() as TreeId;
        let trees = &mut self.trees;
        *self.numbers.entry(tree).or_insert_with(|| {
            trees.push(tree);
            next
        })
    }

    /// A question, unless the answer does not matter.
    pub(crate) fn branch(&mut self, letter: u32, high: TreeId, low: TreeId) -> TreeId {
        if high == low { high } else { self.intern(Tree::Branch { letter, high, low }) }
    }

    /// The trees with other leaves, each from the trees below it (which have smaller numbers), and where each went.
    fn mapped(&self, leaf: impl Fn(u32, u32) -> Tree, constant: impl Fn(bool) -> bool) -> (Self, Vec<TreeId>) {
        let (mut trees, mut number) = (Self::default(), Vec::with_capacity(self.trees.len()));
        for &tree in &self.trees {
            let id = match tree {
                Tree::Constant(value) => trees.intern(Tree::Constant(constant(value))),
                Tree::Leaf { priority, target } => {
                    let tree = leaf(priority, target);
                    trees.intern(tree)
                }
                Tree::Branch { letter, high, low } => trees.branch(letter, number[high as usize], number[low as usize]),
            };
            number.push(id);
        }
        (trees, number)
    }
}

/// A deterministic parity automaton; state 0 is the initial one.
#[derive(Clone, Debug)]
pub(crate) struct Parity {
    /// The tree of each state.
    pub(crate) states: Vec<TreeId>,
    pub(crate) trees: Trees,
}

/// The largest number of states of an automaton whose languages are compared.
const MAX_COMPARED: usize = 40;

/// A step of both sides of a product: from, to, and the priorities on either side.
type DoubleEdge = (u32, u32, [u32; 2]);

/// Two states of one automaton that read the same word.
struct Product<'a> {
    automaton: &'a Parity,
    numbers: FxHashMap<(u32, u32), u32>,
    waiting: Vec<(u32, u32)>,
    edges: Vec<DoubleEdge>,
}

impl Product<'_> {
    /// Adds the steps from a pair for all letters that agree with those known; false if a constant distinguishes them. A
    /// constant against a state that is none does: states with simple languages have become constants.
    fn walk(&mut self, from: u32, left: TreeId, right: TreeId, known: u64, letters: u64) -> bool {
        let trees = &self.automaton.trees;
        match (trees.get(left), trees.get(right)) {
            (Tree::Constant(one), Tree::Constant(other)) => one == other,
            (Tree::Leaf { priority, target }, Tree::Leaf { priority: other_priority, target: other_target }) => {
                let to = self.number((target, other_target));
                self.edges.push((from, to, [priority, other_priority]));
                true
            }
            (Tree::Branch { letter, high, low }, _) if known >> letter & 1 == 1 => {
                self.walk(from, if letters >> letter & 1 == 1 { high } else { low }, right, known, letters)
            }
            (_, Tree::Branch { letter, high, low }) if known >> letter & 1 == 1 => {
                self.walk(from, left, if letters >> letter & 1 == 1 { high } else { low }, known, letters)
            }
            (Tree::Branch { letter, .. }, _) | (_, Tree::Branch { letter, .. }) => {
                let bit = 1 << letter;
                self.walk(from, left, right, known | bit, letters)
                    && self.walk(from, left, right, known | bit, letters | bit)
            }
            (Tree::Constant(_), Tree::Leaf { .. }) | (Tree::Leaf { .. }, Tree::Constant(_)) => false,
        }
    }

    fn number(&mut self, pair: (u32, u32)) -> u32 {
        let fresh = self.waiting.len() as u32;
        let waiting = &mut self.waiting;
        *self.numbers.entry(pair).or_insert_with(|| {
            waiting.push(pair);
            fresh
        })
    }

    /// True if every cycle has largest priorities of the same parity on both sides: no component of the edges up to two
    /// priorities of different parity has both of them.
    fn cycles_agree(&self) -> bool {
        let highest = self.edges.iter().flat_map(|edge| edge.2).max().unwrap_or(0);
        let pairs = (0..=highest).flat_map(|one| (0..=highest).map(move |other| [one, other]));
        pairs.filter(|[one, other]| one % 2 != other % 2).all(|limits| {
            let below = |edge: &&DoubleEdge| edge.2[0] <= limits[0] && edge.2[1] <= limits[1];
            let mut successors = vec![Vec::new(); self.waiting.len()];
            self.edges.iter().filter(below).for_each(|edge| successors[edge.0 as usize].push(edge.1));
            let component = components(&successors);
            let inside = |edge: &&DoubleEdge| component[edge.0 as usize] == component[edge.1 as usize];
            let mut attained = FxHashMap::<u32, [bool; 2]>::default();
            for edge in self.edges.iter().filter(below).filter(inside) {
                let both = attained.entry(component[edge.0 as usize]).or_default();
                both[0] |= edge.2[0] == limits[0];
                both[1] |= edge.2[1] == limits[1];
            }
            !attained.values().any(|both| *both == [true, true])
        })
    }
}

/// The language of a state of an automaton, as far as it is simple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Empty,
    Full,
    Other,
}

/// A transition: from, to, and the index of its leaf among the trees.
type Edge = (u32, u32, TreeId);

impl Parity {
    /// The size of the automaton: the number of trees that its states use.
    pub(crate) fn size(&self) -> usize {
        self.states.iter().map(|state| self.leaves_and_size(*state).1).sum()
    }

    /// The leaves and constants of a tree, each once, and the number of trees in it.
    fn leaves_and_size(&self, root: TreeId) -> (Vec<TreeId>, usize) {
        let (mut seen, mut pending, mut leaves) = (Vec::new(), vec![root], Vec::new());
        while let Some(id) = pending.pop() {
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
            match self.trees.get(id) {
                Tree::Branch { high, low, .. } => pending.extend([low, high]),
                Tree::Leaf { .. } | Tree::Constant(_) => leaves.push(id),
            }
        }
        (leaves, seen.len())
    }

    /// The automaton of all words that this one does not accept.
    pub(crate) fn complement(self) -> Self {
        let (trees, number) =
            self.trees.mapped(|priority, target| Tree::Leaf { priority: priority + 1, target }, |constant| !constant);
        Self { states: self.states.iter().map(|state| number[*state as usize]).collect(), trees }.with_few_priorities()
    }

    /// An equivalent automaton that is as small as simple means can make it.
    pub(crate) fn reduced(self) -> Result<Self, TooLarge> {
        let small = self.with_few_priorities().with_constants().with_few_priorities().quotient();
        let small = if small.states.len() <= MAX_COMPARED {
            small.redirected().quotient().with_few_priorities().quotient()
        } else {
            small
        };
        if small.size() > MAX_TREES { Err(TooLarge) } else { Ok(small) }
    }

    /// With every transition led to the last component that has a state with the language of its target.
    fn redirected(&self) -> Self {
        let component = self.components_of(&self.edges());
        let count = self.states.len() as u32;
        let best: Vec<u32> = (0..count)
            .map(|state| {
                let equal = (0..count).filter(|other| {
                    component[*other as usize] < component[state as usize] && self.accept_the_same(state, *other)
                });
                equal.min_by_key(|other| component[*other as usize]).unwrap_or(state)
            })
            .collect();
        let mut trees = Trees::default();
        let leaf = |id: TreeId, target: u32| match self.trees.get(id) {
            Tree::Leaf { priority, .. } => Tree::Leaf { priority, target: best[target as usize] },
            other => other,
        };
        let mut states: Vec<TreeId> = self.states.iter().map(|state| self.copy(*state, &mut trees, &leaf)).collect();
        states[0] = states[best[0] as usize];
        Self { states, trees }
    }

    /// True if two states have the same language: in the product no cycle and no constant distinguishes them.
    fn accept_the_same(&self, one: u32, other: u32) -> bool {
        let mut product =
            Product { automaton: self, numbers: FxHashMap::default(), waiting: vec![(one, other)], edges: Vec::new() };
        product.numbers.insert((one, other), 0);
        let mut next = 0;
        while let Some(&(one, other)) = product.waiting.get(next) {
            let (left, right) = (self.states[one as usize], self.states[other as usize]);
            if !product.walk(next as u32, left, right, 0, 0) {
                return false;
            }
            next += 1;
        }
        product.cycles_agree()
    }

    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (state, tree) in (0..).zip(&self.states) {
            for leaf in self.leaves_and_size(*tree).0 {
                if let Tree::Leaf { target, .. } = self.trees.get(leaf) {
                    edges.push((state, target, leaf));
                }
            }
        }
        edges
    }

    pub(super) fn priority(&self, edge: Edge) -> u32 {
        match self.trees.get(edge.2) {
            Tree::Leaf { priority, .. } => priority,
            Tree::Constant(_) | Tree::Branch { .. } => 0,
        }
    }

    /// The component of each state in the graph of some edges.
    fn components_of(&self, edges: &[Edge]) -> Vec<u32> {
        let mut successors = vec![Vec::new(); self.states.len()];
        edges.iter().for_each(|(from, to, _)| successors[*from as usize].push(*to));
        components(&successors)
    }

    /// Gives every transition the least priority that leaves what is accepted as it is (Carton & Maceiras). Transitions
    /// on no cycle get 0.
    fn with_few_priorities(self) -> Self {
        let mut least: FxHashMap<(u32, TreeId), u32> = FxHashMap::default();
        self.lower(self.edges(), &mut least);
        let mut trees = Trees::default();
        // A leaf that several states share may get several priorities: every state has its own copy.
        let states = (0..).zip(&self.states).map(|(state, tree)| {
            self.copy(*tree, &mut trees, &|leaf, target| {
                let priority = least.get(&(state, leaf)).copied().unwrap_or(0);
                Tree::Leaf { priority, target }
            })
        });
        let states = states.collect();
        Self { states, trees }
    }

    /// A tree with other leaves, in another list of trees.
    fn copy(&self, root: TreeId, trees: &mut Trees, leaf: &impl Fn(TreeId, u32) -> Tree) -> TreeId {
        let mut known: FxHashMap<TreeId, TreeId> = FxHashMap::default();
        self.copy_known(root, trees, leaf, &mut known)
    }

    fn copy_known(
        &self,
        id: TreeId,
        trees: &mut Trees,
        leaf: &impl Fn(TreeId, u32) -> Tree,
        known: &mut FxHashMap<TreeId, TreeId>,
    ) -> TreeId {
        if let Some(copy) = known.get(&id) {
            return *copy;
        }
        let copy = match self.trees.get(id) {
            constant @ Tree::Constant(_) => trees.intern(constant),
            Tree::Leaf { target, .. } => trees.intern(leaf(id, target)),
            Tree::Branch { letter, high, low } => {
                let (high, low) = (self.copy_known(high, trees, leaf, known), self.copy_known(low, trees, leaf, known));
                trees.branch(letter, high, low)
            }
        };
        known.insert(id, copy);
        copy
    }

    /// Lowers the priorities on the cycles of `edges`, innermost first; the rest has no cycle without what is above.
    fn lower(&self, edges: Vec<Edge>, least: &mut FxHashMap<(u32, TreeId), u32>) {
        let component = self.components_of(&edges);
        let mut parts: FxHashMap<u32, Vec<Edge>> = FxHashMap::default();
        for edge in edges {
            if component[edge.0 as usize] == component[edge.1 as usize] {
                parts.entry(component[edge.0 as usize]).or_default().push(edge);
            }
        }
        for (_, part) in parts {
            self.lower_part(part, least);
        }
    }

    fn lower_part(&self, part: Vec<Edge>, least: &mut FxHashMap<(u32, TreeId), u32>) {
        let highest = part.iter().map(|edge| self.priority(*edge)).max().unwrap_or(0);
        let (top, rest): (Vec<Edge>, Vec<Edge>) = part.iter().partition(|edge| self.priority(**edge) == highest);
        self.lower(rest.clone(), least);
        let inner = rest.iter().filter_map(|edge| least.get(&(edge.0, edge.2))).max().copied();
        let lowest = match inner {
            Some(inner) => inner + (inner + highest) % 2,
            None => highest % 2,
        };
        for edge in rest {
            // On no cycle of the rest: what is above decides.
            least.entry((edge.0, edge.2)).or_insert(0);
        }
        for edge in top {
            least.insert((edge.0, edge.2), lowest);
        }
    }

    /// Replaces transitions to states that accept everything or nothing by constants.
    fn with_constants(self) -> Self {
        let languages = self.languages();
        let mut trees = Trees::default();
        let leaf = |id: TreeId, target: u32| match (languages[target as usize], self.trees.get(id)) {
            (Language::Empty, _) => Tree::Constant(false),
            (Language::Full, _) => Tree::Constant(true),
            (Language::Other, tree) => tree,
        };
        let states = self.states.iter().map(|state| self.copy(*state, &mut trees, &leaf)).collect::<Vec<TreeId>>();
        let initial = match languages[0] {
            Language::Other => states[0],
            simple => trees.intern(Tree::Constant(simple == Language::Full)),
        };
        Self { states: [vec![initial], states[1..].to_vec()].concat(), trees }
    }

    /// The language of each state: empty, full, or neither.
    fn languages(&self) -> Vec<Language> {
        let (accepts, rejects) = (self.can_reach(true), self.can_reach(false));
        let simple = |(accepts, rejects): (bool, bool)| match (accepts, rejects) {
            (false, _) => Language::Empty,
            (_, false) => Language::Full,
            _ => Language::Other,
        };
        accepts.into_iter().zip(rejects).map(simple).collect()
    }

    /// The states from which some word is accepted, or rejected: those that reach a constant of that kind or a cycle
    /// whose largest priority is of that kind.
    fn can_reach(&self, accepted: bool) -> Vec<bool> {
        let edges = self.edges();
        let mut can = vec![false; self.states.len()];
        for (state, tree) in self.states.iter().enumerate() {
            let constant = |leaf: &TreeId| self.trees.get(*leaf) == Tree::Constant(accepted);
            can[state] = self.leaves_and_size(*tree).0.iter().any(constant);
        }
        let highest = edges.iter().map(|edge| self.priority(*edge)).max().unwrap_or(0);
        for priority in (0..=highest).filter(|priority| (priority % 2 == 0) == accepted) {
            let below: Vec<Edge> = edges.iter().filter(|edge| self.priority(**edge) <= priority).copied().collect();
            let component = self.components_of(&below);
            for edge in below.iter().filter(|edge| self.priority(**edge) == priority) {
                can[edge.0 as usize] |= component[edge.0 as usize] == component[edge.1 as usize];
            }
        }
        let component = self.components_of(&edges);
        let mut backwards = edges;
        backwards.sort_by_key(|edge| component[edge.0 as usize]);
        // Components come after those that they can reach; inside of one, twice is enough to go all around.
        loop {
            let before = can.iter().filter(|can| **can).count();
            for edge in &backwards {
                can[edge.0 as usize] |= can[edge.1 as usize];
            }
            if can.iter().filter(|can| **can).count() == before {
                return can;
            }
        }
    }

    /// Bisimilar states merged, unreachable ones left out.
    fn quotient(&self) -> Self {
        let mut class = vec![0_u32; self.states.len()];
        let mut count = 1;
        loop {
            let (_, number) =
                self.trees.mapped(|priority, target| Tree::Leaf { priority, target: class[target as usize] }, |c| c);
            let mut numbers: FxHashMap<TreeId, u32> = FxHashMap::default();
            let next = self.states.iter().map(|state| {
                let fresh = numbers.len() as u32;
                *numbers.entry(number[*state as usize]).or_insert(fresh)
            });
            class = next.collect();
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        self.reachable(&class)
    }

    /// The classes that can be reached, numbered in the order in which they are met.
    fn reachable(&self, class: &[u32]) -> Self {
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        number.insert(class[0], 0);
        let mut order = vec![0_u32];
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for leaf in self.leaves_and_size(self.states[state as usize]).0 {
                let Tree::Leaf { target, .. } = self.trees.get(leaf) else { continue };
                let fresh = number.len() as u32;
                number.entry(class[target as usize]).or_insert_with(|| {
                    order.push(target);
                    fresh
                });
            }
        }
        let mut trees = Trees::default();
        let leaf = |id: TreeId, target: u32| match self.trees.get(id) {
            Tree::Leaf { priority, .. } => Tree::Leaf { priority, target: number[&class[target as usize]] },
            other => other,
        };
        let states = order.iter().map(|state| self.copy(self.states[*state as usize], &mut trees, &leaf)).collect();
        Self { states, trees }
    }
}
