//! Hyper-edges: the successors that the generalised Kripke modal transition systems of Shoham & Grumberg give a state.

/// The hyper-edges of one state while they are being collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperEdges<T> {
    members: Vec<T>,
    ends: Vec<usize>,
    open: Vec<Vec<usize>>,
    /// The positions of members that the system may not come to.
    unsure: Vec<usize>,
}

impl<T> Default for HyperEdges<T> {
    fn default() -> Self {
        Self { members: Vec::new(), ends: Vec::new(), open: Vec::new(), unsure: Vec::new() }
    }
}

impl<T> HyperEdges<T> {
    /// Adds a hyper-edge.
    ///
    /// # Panics
    /// If there is no member: a step always leads somewhere.
    pub fn add(&mut self, members: impl IntoIterator<Item = T>) {
        let before = self.members.len();
        self.members.extend(members);
        assert!(self.members.len() > before, "a hyper-edge has at least one member");
        self.ends.push(self.members.len());
    }

    /// Sets the hyper-edges for the case that abstracted choices are not made by the environment but merely not known.
    /// Each is given as the positions of its members among all members that were added.
    pub fn set_open(&mut self, edges: Vec<Vec<usize>>) {
        self.open = edges;
    }

    /// The hyper-edges of [`Self::set_open`]; empty if the state has no such choices.
    #[must_use]
    pub fn open(&self) -> &[Vec<usize>] {
        &self.open
    }

    /// Names the members that the system itself may not come to when their edge is chosen, by rising position among all
    /// that were added. Such an edge says what may happen, and nothing of what the environment can do.
    pub fn set_unsure(&mut self, members: impl IntoIterator<Item = usize>) {
        self.unsure.clear();
        self.unsure.extend(members);
    }

    /// The members of [`Self::set_unsure`].
    #[must_use]
    pub fn unsure(&self) -> &[usize] {
        &self.unsure
    }

    /// Removes all hyper-edges.
    pub fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
        self.open.clear();
        self.unsure.clear();
    }

    /// The same hyper-edges over other members, which are given in the order in which they were added.
    #[must_use]
    pub fn map<U>(self, other: impl FnMut(T) -> U) -> HyperEdges<U> {
        let members = self.members.into_iter().map(other).collect();
        HyperEdges { members, ends: self.ends, open: self.open, unsure: self.unsure }
    }

    /// The number of hyper-edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The hyper-edges in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.members[start..*end])
    }
}
