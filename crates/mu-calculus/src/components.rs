//! Strongly connected components (Tarjan, 1972), without recursion, on any numbered graph and on any part of it.

use crate::cancel::{Cancelled, Ticker};

/// A graph whose successors are asked for by position.
pub(crate) trait Successors {
    /// The successor at `position` among those of `vertex`.
    fn successor(&self, vertex: u32, position: u32) -> Successor;
}

/// An answer of [`Successors::successor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Successor {
    /// This vertex.
    To(u32),
    /// Nothing that counts, but there may be more after it.
    Skip,
    /// No more.
    End,
}

/// Strongly connected components in the order in which every component comes after those that it can reach.
#[derive(Debug, Default)]
pub(crate) struct Components {
    vertices: Vec<u32>,
    ends: Vec<usize>,
}

impl Components {
    /// The components, each a slice of vertices.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        self.ends.iter().enumerate().map(|(index, &end)| {
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            &self.vertices[start..end]
        })
    }
}

const UNVISITED: u32 = 0;
const CLOSED: u32 = u32::MAX;

/// The working memory of the algorithm, 8 bytes per vertex, to be used again and again.
#[derive(Debug)]
pub(crate) struct Tarjan {
    index: Vec<u32>,
    low: Vec<u32>,
    open: Vec<u32>,
    path: Vec<(u32, u32)>,
    visited: u32,
}

impl Tarjan {
    /// For a graph with `vertices` vertices.
    pub(crate) fn new(vertices: usize) -> Self {
        Self {
            index: vec![UNVISITED; vertices],
            low: vec![0; vertices],
            open: Vec::new(),
            path: Vec::new(),
            visited: 0,
        }
    }

    /// The components of the subgraph on `vertices`, which no successor may leave.
    pub(crate) fn decompose<G: Successors>(
        &mut self,
        graph: &G,
        vertices: &[u32],
        ticker: &mut Ticker<'_>,
    ) -> Result<Components, Cancelled> {
        for &vertex in vertices {
            self.index[vertex as usize] = UNVISITED;
        }
        self.visited = 0;
        let mut found = Components::default();
        for &root in vertices {
            if self.index[root as usize] == UNVISITED {
                self.visit(graph, root, &mut found, ticker)?;
            }
        }
        Ok(found)
    }

    fn visit<G: Successors>(
        &mut self,
        graph: &G,
        root: u32,
        found: &mut Components,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        self.enter(root);
        while let Some((vertex, position)) = self.path.last_mut() {
            let vertex = *vertex;
            ticker.tick(1)?;
            match graph.successor(vertex, *position) {
                Successor::End => self.leave(vertex, found),
                Successor::Skip => *position += 1,
                Successor::To(next) => {
                    *position += 1;
                    match self.index[next as usize] {
                        UNVISITED => self.enter(next),
                        index => self.low[vertex as usize] = self.low[vertex as usize].min(index),
                    }
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, vertex: u32) {
        self.visited += 1;
        self.index[vertex as usize] = self.visited;
        self.low[vertex as usize] = self.visited;
        self.open.push(vertex);
        self.path.push((vertex, 0));
    }

    fn leave(&mut self, vertex: u32, found: &mut Components) {
        self.path.pop();
        let low = self.low[vertex as usize];
        if let Some((parent, _)) = self.path.last() {
            self.low[*parent as usize] = self.low[*parent as usize].min(low);
        }
        if low == self.index[vertex as usize] {
            self.close(vertex, found);
        }
    }

    fn close(&mut self, root: u32, found: &mut Components) {
        while let Some(vertex) = self.open.pop() {
            self.index[vertex as usize] = CLOSED;
            found.vertices.push(vertex);
            if vertex == root {
                break;
            }
        }
        found.ends.push(found.vertices.len());
    }
}
