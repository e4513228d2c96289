//! From terms to the cyclic graph of nodes.

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::terms::{Term, TermId, Terms, Vector};
use crate::formula::FixedPoint;
use crate::node::{Node, NodeId};

/// From terms to the cyclic graph: the knot of every variable is tied to its fixed point.
pub(crate) struct Tying<'t> {
    terms: &'t Terms,
    automata: &'t [Automaton],
    pub(super) nodes: Vec<Node>,
    /// The priorities of fixed points that come from automata.
    pub(super) priorities: FxHashMap<NodeId, u32>,
    /// The node of each term: once for closed terms, once per innermost binder for open ones.
    known: FxHashMap<(TermId, Option<NodeId>), NodeId>,
}

impl<'t> Tying<'t> {
    pub(super) fn new(terms: &'t Terms, automata: &'t [Automaton]) -> Self {
        Self { terms, automata, nodes: Vec::new(), priorities: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// Adds a node.
    pub(crate) fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a fixed point of a kind with a priority, whose body comes later ([`Self::tie`]).
    pub(crate) fn push_fixed(&mut self, priority: u32) -> NodeId {
        let node = self.push(Node::Constant(false));
        self.priorities.insert(node, priority);
        node
    }

    /// Gives a fixed point with a priority its body.
    pub(crate) fn tie(&mut self, node: NodeId, body: NodeId) {
        let kind = if self.priorities[&node].is_multiple_of(2) { FixedPoint::Greatest } else { FixedPoint::Least };
        self.nodes[node.index()] = Node::Fixed(kind, body);
    }

    /// The node of a closed term.
    pub(crate) fn closed(&mut self, id: TermId) -> NodeId {
        self.node(id, &mut Vec::new())
    }

    /// `scope` holds the nodes of the binders around, outermost first.
    pub(super) fn node(&mut self, id: TermId, scope: &mut Vec<NodeId>) -> NodeId {
        let term = self.terms.get(id);
        if let Term::Variable(index) = term {
            return scope[scope.len() - 1 - index as usize];
        }
        if let Term::Automaton(number) = term {
            if let Some(&known) = self.known.get(&(id, None)) {
                return known;
            }
            let automata = self.automata;
            let node = automata[number as usize].tied(self);
            self.known.insert((id, None), node);
            return node;
        }
        if let Term::Vector(number) = term {
            return self.vector(id, number, scope);
        }
        let key = (id, if self.terms.is_closed(id) { None } else { scope.last().copied() });
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        // Numbered before its body, as the order of priorities needs it.
        let node = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::Constant(false));
        self.nodes[node.index()] = self.tied(term, node, scope);
        self.known.insert(key, node);
        node
    }

    /// A vectorial fixed point: the fixed points of all variables are numbered before their bodies.
    fn vector(&mut self, id: TermId, number: u32, scope: &mut Vec<NodeId>) -> NodeId {
        let key = (id, if self.terms.is_closed(id) { None } else { scope.last().copied() });
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let terms = self.terms;
        let Vector { kind, bodies, result } = terms.vector(number);
        let outside = scope.len();
        for _ in bodies {
            let fixed = self.push(Node::Constant(false));
            scope.push(fixed);
        }
        for (position, body) in bodies.iter().enumerate() {
            let (fixed, body) = (scope[outside + position], self.node(*body, scope));
            self.nodes[fixed.index()] = Node::Fixed(*kind, body);
        }
        let result = self.node(*result, scope);
        scope.truncate(outside);
        self.known.insert(key, result);
        result
    }

    fn tied(&mut self, term: Term, node: NodeId, scope: &mut Vec<NodeId>) -> Node {
        match term {
            Term::Leaf(leaf) => leaf,
            Term::And(p, q) => Node::And(self.node(p, scope), self.node(q, scope)),
            Term::Or(p, q) => Node::Or(self.node(p, scope), self.node(q, scope)),
            Term::Modal(modality, p) => Node::Modal(modality, self.node(p, scope)),
            Term::Fixed(kind, p) => {
                scope.push(node);
                let body = self.node(p, scope);
                scope.pop();
                Node::Fixed(kind, body)
            }
            Term::Variable(_) | Term::Automaton(_) | Term::Vector(_) => unreachable!("these have a node already"),
        }
    }
}
