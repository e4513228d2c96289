//! The hyper-edges of a system, in the order of states.

/// The mover of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mover {
    /// Nobody yet.
    Nobody,
    /// The node with this number.
    Node(usize),
    /// A character on the line with this number began to move, or the frame of the last one ended.
    Begin(usize),
    /// A character on the line with this number arrived.
    Arrive(usize),
}

/// A hyper-edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemEdge<'e> {
    pub(crate) mover: Mover,
    /// The numbers of states that it leads to. Where the data sheet leaves open which one, counterexamples take the first.
    pub(crate) members: &'e [u32],
}

/// The hyper-edges of states that get them in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct SystemEdges {
    /// By state: the number of its first hyper-edge.
    states: Vec<u32>,
    /// By hyper-edge: who takes it, and the place of its first member.
    edges: Vec<(Mover, u32)>,
    members: Vec<u32>,
}

impl SystemEdges {
    /// The number of states that have their hyper-edges.
    pub(crate) fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Begins the hyper-edges of the next state.
    pub(crate) fn begin_state(&mut self) {
        self.states.push(self.edges.len() as u32);
    }

    /// Begins a hyper-edge of the last state; its number there.
    pub(crate) fn begin_edge(&mut self, mover: Mover) -> usize {
        self.edges.push((mover, self.members.len() as u32));
        self.edges.len() - 1 - self.states.last().copied().unwrap_or_default() as usize
    }

    /// Adds a member to the last hyper-edge.
    pub(crate) fn add_member(&mut self, state: u32) {
        self.members.push(state);
    }

    /// The hyper-edges of a state; none of one that was not followed.
    pub(crate) fn of(&self, state: u32) -> impl ExactSizeIterator<Item = SystemEdge<'_>> {
        let place = |state: usize| self.states.get(state).map_or(self.edges.len(), |first| *first as usize);
        (place(state as usize)..place(state as usize + 1)).map(|edge| self.edge(edge))
    }

    /// A hyper-edge of a state.
    pub(crate) fn get(&self, state: u32, number: usize) -> Option<SystemEdge<'_>> {
        self.of(state).nth(number)
    }

    fn edge(&self, edge: usize) -> SystemEdge<'_> {
        let (mover, first) = self.edges[edge];
        let last = self.edges.get(edge + 1).map_or(self.members.len(), |(_, next)| *next as usize);
        SystemEdge { mover, members: &self.members[first as usize..last] }
    }
}
