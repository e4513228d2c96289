//! Cycles of a graph: strongly connected components (Tarjan, 1972), without recursion.

const UNVISITED: u32 = 0;
const CLOSED: u32 = u32::MAX;

/// A search for cycles in a graph with numbered vertices, whose successors are added to a list when asked for.
pub(crate) struct Components<S> {
    successors: S,
    index: Vec<u32>,
    low: Vec<u32>,
    entered: u32,
    /// Vertices whose component is not complete.
    open: Vec<u32>,
    path: Vec<Frame>,
    /// The successors that the vertices of the path have left.
    left: Vec<u32>,
}

/// A vertex on the path of the search.
struct Frame {
    vertex: u32,
    /// The start of its successors among those that are left.
    first: usize,
    /// True if it is a successor of itself.
    is_loop: bool,
}

impl<S: FnMut(u32, &mut Vec<u32>)> Components<S> {
    /// A search in a graph with this many vertices.
    pub(crate) fn new(vertices: usize, successors: S) -> Self {
        Self {
            successors,
            index: vec![UNVISITED; vertices],
            low: vec![0; vertices],
            entered: 0,
            open: Vec::new(),
            path: Vec::new(),
            left: Vec::new(),
        }
    }

    /// A vertex with a property that lies on a cycle; none if there is none that can be reached.
    pub(crate) fn find_cycle_through(
        mut self,
        roots: impl Iterator<Item = u32>,
        property: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut found = None;
        self.decompose(roots, &mut |component, is_cycle| {
            if is_cycle && found.is_none() {
                found = component.iter().copied().find(|vertex| property(*vertex));
            }
        });
        found
    }

    /// The vertices on cycles that pass a vertex with a property.
    pub(crate) fn on_cycles_through(
        mut self,
        roots: impl Iterator<Item = u32>,
        property: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut found = Vec::new();
        self.decompose(roots, &mut |component, is_cycle| {
            if is_cycle && component.iter().any(|vertex| property(*vertex)) {
                found.extend_from_slice(component);
            }
        });
        found
    }

    /// Calls `visit` with every component and whether it has a cycle.
    fn decompose(&mut self, roots: impl Iterator<Item = u32>, visit: &mut impl FnMut(&[u32], bool)) {
        for root in roots {
            if self.index[root as usize] == UNVISITED {
                self.enter(root);
                self.search(visit);
            }
        }
    }

    fn search(&mut self, visit: &mut impl FnMut(&[u32], bool)) {
        while let Some(frame) = self.path.last() {
            let vertex = frame.vertex;
            if self.left.len() == frame.first {
                self.leave(visit);
                continue;
            }
            let Some(next) = self.left.pop() else { continue };
            match self.index[next as usize] {
                UNVISITED => self.enter(next),
                // A closed vertex has the largest index.
                index => self.low[vertex as usize] = self.low[vertex as usize].min(index),
            }
        }
    }

    fn enter(&mut self, vertex: u32) {
        self.entered += 1;
        self.index[vertex as usize] = self.entered;
        self.low[vertex as usize] = self.entered;
        self.open.push(vertex);
        let first = self.left.len();
        (self.successors)(vertex, &mut self.left);
        let is_loop = self.left[first..].contains(&vertex);
        self.path.push(Frame { vertex, first, is_loop });
    }

    fn leave(&mut self, visit: &mut impl FnMut(&[u32], bool)) {
        let Some(Frame { vertex, is_loop, .. }) = self.path.pop() else { return };
        let low = self.low[vertex as usize];
        if let Some(parent) = self.path.last() {
            let parent = parent.vertex as usize;
            self.low[parent] = self.low[parent].min(low);
        }
        if low != self.index[vertex as usize] {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == vertex).unwrap_or(0);
        let component = &self.open[start..];
        visit(component, is_loop || component.len() > 1);
        component.iter().for_each(|member| self.index[*member as usize] = CLOSED);
        self.open.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::Components;

    #[track_caller]
    fn check(edges: &[(u32, u32)], property: &[u32], on_cycles: &[u32]) {
        let successors = |vertex: u32, found: &mut Vec<u32>| {
            found.extend(edges.iter().filter(|(from, _)| *from == vertex).map(|(_, to)| *to));
        };
        let has_it = |vertex: u32| property.contains(&vertex);
        let mut found = Components::new(8, successors).on_cycles_through(0..8, has_it);
        found.sort_unstable();
        assert_eq!(found, on_cycles);
        let one = Components::new(8, successors).find_cycle_through(0..8, has_it);
        assert_eq!(one.is_some(), on_cycles.iter().any(|vertex| has_it(*vertex)));
        assert!(one.is_none_or(|vertex| on_cycles.contains(&vertex) && has_it(vertex)));
    }

    #[test]
    fn cycles_are_found() {
        check(&[(0, 1), (1, 2)], &[0, 1, 2], &[]);
        check(&[(0, 1), (1, 1)], &[1], &[1]);
        check(&[(0, 1), (1, 1)], &[0], &[]);
        check(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)], &[1], &[0, 1, 2]);
        check(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)], &[4, 7], &[3, 4]);
        check(&[(5, 0), (0, 1), (1, 0), (1, 2), (2, 6), (6, 5), (6, 7)], &[2], &[0, 1, 2, 5, 6]);
    }
}
