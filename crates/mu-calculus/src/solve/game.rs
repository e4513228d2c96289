//! Parity games of recursive blocks: attractors, and Zielonka's algorithm component by component.
//!
//! A block with one kind of fixed point is decided by a single attractor, in time linear in graph times block. A block
//! with both kinds goes through Zielonka's algorithm: the vertices of the largest priorities that favour the same
//! player are attracted and set aside, the rest is solved by recursion; if the other player wins nothing there, the
//! whole part is decided. Otherwise the part that the other wins is final and attracted, and the rest is taken apart
//! again. Where no smaller priority favours the same player, the rest needs no recursion and the attractor is repaired
//! instead of computed again (`recurrence`). Parts are strongly connected components, or the rest of one if not much
//! was lost since. They are taken in the order in which nothing undecided lies behind them. The depth of the recursion
//! is at most the number of priorities.

use std::ops::RangeInclusive;

use fixedbitset::FixedBitSet;

use crate::cancel::{Cancelled, Ticker};
use crate::components::{Successor, Successors, Tarjan};
use crate::node::NodeId;
use crate::problem::Problem;
use crate::solution::{Moves, Outcome};
use crate::solve::arena::{Arena, Player, Role, Vertex};
use crate::solve::{Game, SolveError};

/// Decides all nodes of a recursive block, whose other subformulas are decided in `outcome`.
pub(crate) fn solve_block(
    problem: &Problem<'_>,
    game: Game,
    block: &[NodeId],
    outcome: &mut Outcome,
    ticker: &mut Ticker<'_>,
) -> Result<(), SolveError> {
    let arena = Arena::new(problem, game, block)?;
    // The proponent's strategy proves what is certainly true, the opponent's what is certainly false.
    let strategist = if game == Game::Definite { Player::Proponent } else { Player::Opponent };
    let favoured = arena.favoured();
    let mut state = Progress::new(&arena, strategist, favoured != Some(strategist));
    state.take_exits(problem, block, outcome, ticker)?;
    match favoured {
        Some(player) => state.give_rest(player),
        None => state.solve_rest(ticker)?,
    }
    state.finish(block, outcome);
    Ok(())
}

/// The level of a vertex that is no part of the game being solved.
const INACTIVE: u8 = u8::MAX;

/// The state of the solution of one game.
pub(super) struct Progress<'a> {
    pub(super) arena: &'a Arena<'a>,
    strategist: Player,
    /// True if moves must be remembered. It is false if every move that stays won will do.
    recording: bool,
    /// Per vertex: the depth of the recursion at which it is being solved.
    pub(super) level: Vec<u8>,
    /// The vertices that the proponent wins, among the inactive ones.
    won: FixedBitSet,
    /// Per vertex: the first move that may still be open to a player who wants to avoid the attractor …
    watched: Vec<u32>,
    /// … of this call.
    watched_in: Vec<u32>,
    pub(super) calls: u32,
    /// Per vertex: the move by which it came into the attractor that is being repaired.
    pub(super) support: Vec<u32>,
    moves: Vec<Moves>,
}

/// The vertices of one level as a graph.
struct Level<'a> {
    arena: &'a Arena<'a>,
    level: &'a [u8],
    depth: u8,
}

impl Successors for Level<'_> {
    fn successor(&self, vertex: u32, position: u32) -> Successor {
        match self.arena.successor(vertex, position) {
            Some(next) if self.level[next as usize] == self.depth => Successor::To(next),
            Some(_) => Successor::Skip,
            None => Successor::End,
        }
    }
}

/// Parts of the game still to be solved; the last one comes next.
#[derive(Default)]
struct Parts {
    vertices: Vec<u32>,
    /// The start of each part. The flag is set if the part was strongly connected when it was put here.
    starts: Vec<(usize, bool)>,
}

impl Parts {
    fn push(&mut self, part: &[u32], connected: bool) {
        self.starts.push((self.vertices.len(), connected));
        self.vertices.extend_from_slice(part);
    }

    fn pop(&mut self) -> Option<(Vec<u32>, bool)> {
        let (start, connected) = self.starts.pop()?;
        Some((self.vertices.split_off(start), connected))
    }
}

impl<'a> Progress<'a> {
    fn new(arena: &'a Arena<'a>, strategist: Player, recording: bool) -> Self {
        let vertices = arena.vertex_count() as usize;
        let states = arena.graph.state_count();
        let moves = arena.roles().iter().map(|role| match role {
            Role::Binary { owner, .. } if recording && *owner == strategist => {
                Moves::Child(FixedBitSet::with_capacity(states))
            }
            Role::Mixed { owner, .. } if recording && *owner == strategist => Moves::Edge(vec![0; states]),
            _ => Moves::Any,
        });
        Self {
            arena,
            strategist,
            recording,
            level: vec![0; vertices],
            won: FixedBitSet::with_capacity(vertices),
            watched: vec![0; vertices],
            watched_in: vec![0; vertices],
            calls: 0,
            support: Vec::new(),
            moves: moves.collect(),
        }
    }

    /// Decides what the rest of the formula decides, and what follows from it.
    fn take_exits(
        &mut self,
        problem: &Problem<'_>,
        block: &[NodeId],
        outcome: &Outcome,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        let (mut proponent, mut opponent) = (Vec::new(), Vec::new());
        self.arena.exits(problem, block, &outcome.won, &mut |vertex, winner, position| {
            self.decide(vertex, winner);
            self.record_child(vertex, position);
            if winner == Player::Proponent { proponent.push(vertex) } else { opponent.push(vertex) }
        });
        // The exits of both players are decided before anything is attracted, so that no exit is attracted.
        self.attract(Player::Proponent, proponent, 0..=0, ticker)?;
        self.attract(Player::Opponent, opponent, 0..=0, ticker)?;
        Ok(())
    }

    /// Gives the rest to `player`, who wins if it is played for ever.
    fn give_rest(&mut self, player: Player) {
        for vertex in 0..self.arena.vertex_count() {
            if self.level[vertex as usize] != INACTIVE {
                self.decide(vertex, player);
            }
        }
    }

    fn solve_rest(&mut self, ticker: &mut Ticker<'_>) -> Result<(), Cancelled> {
        let rest = (0..self.arena.vertex_count()).filter(|&vertex| self.level[vertex as usize] == 0).collect();
        self.support = vec![0; self.level.len()];
        let mut tarjan = Tarjan::new(self.arena.vertex_count() as usize);
        self.solve(rest, 0, &mut tarjan, ticker)
    }

    /// Decides all of `vertices`, the ones of level `depth`, each of which has a move to another of them.
    fn solve(
        &mut self,
        vertices: Vec<u32>,
        depth: u8,
        tarjan: &mut Tarjan,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        let mut parts = Parts { vertices, starts: vec![(0, false)] };
        while let Some((mut part, connected)) = parts.pop() {
            let before = part.len();
            ticker.tick(before)?;
            part.retain(|&vertex| self.level[vertex as usize] == depth);
            // Taking it apart again after every loss would be quadratic; it need not be connected, only closed.
            if connected && part.len() > before / 2 {
                self.solve_component(&part, depth, &mut parts, tarjan, ticker)?;
            } else if !part.is_empty() {
                let level = Level { arena: self.arena, level: &self.level, depth };
                let components = tarjan.decompose(&level, &part, ticker)?;
                drop(part);
                components.iter().rev().for_each(|component| parts.push(component, true));
            }
        }
        Ok(())
    }

    /// Decides a part, usually strongly connected, or some of it; puts back what is left.
    fn solve_component(
        &mut self,
        part: &[u32],
        depth: u8,
        parts: &mut Parts,
        tarjan: &mut Tarjan,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        let priorities = || part.iter().filter_map(|&vertex| self.arena.priority(vertex));
        let player = Player::of_priority(priorities().max().unwrap_or(0));
        let Some(limit) = priorities().filter(|&priority| Player::of_priority(priority) != player).max() else {
            part.iter().for_each(|&vertex| self.record_any(vertex, player, depth));
            return self.win(part, player, depth, ticker);
        };
        if priorities().all(|priority| priority > limit || Player::of_priority(priority) != player) {
            return self.solve_recurrence(part, player, limit, depth, ticker);
        }
        let inner = self.without_attractor(part, player, limit, depth + 1, ticker)?;
        self.solve(inner.clone(), depth + 1, tarjan, ticker)?;
        let lost: Vec<u32> = inner.into_iter().filter(|&vertex| self.winner(vertex) != player).collect();
        if lost.is_empty() {
            return self.win(part, player, depth, ticker);
        }
        part.iter().for_each(|&vertex| self.level[vertex as usize] = depth);
        self.win(&lost, player.other(), depth, ticker)?;
        parts.push(part, false);
        Ok(())
    }

    /// Lifts `part` to the level `depth`, takes out what `player` can force to priorities above `limit`, all of which
    /// favour him, and returns the rest.
    fn without_attractor(
        &mut self,
        part: &[u32],
        player: Player,
        limit: u32,
        depth: u8,
        ticker: &mut Ticker<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        part.iter().for_each(|&vertex| self.level[vertex as usize] = depth);
        let top = self.above(part, limit);
        top.iter().for_each(|&vertex| self.decide(vertex, player));
        self.attract(player, top, depth..=depth, ticker)?;
        Ok(part.iter().copied().filter(|&vertex| self.level[vertex as usize] == depth).collect())
    }

    /// The vertices with a priority above `limit`.
    pub(super) fn above(&self, part: &[u32], limit: u32) -> Vec<u32> {
        part.iter().copied().filter(|&vertex| self.arena.priority(vertex) > Some(limit)).collect()
    }

    /// Decides `vertices`, and whatever else of the level can be forced there.
    fn win(&mut self, vertices: &[u32], player: Player, depth: u8, ticker: &mut Ticker<'_>) -> Result<(), Cancelled> {
        vertices.iter().for_each(|&vertex| self.decide(vertex, player));
        self.attract(player, vertices.to_vec(), depth..=depth, ticker)?;
        Ok(())
    }

    /// Decides for `player` every vertex of the levels from which he can force the play into `decided`, nearest first;
    /// returns all of them, `decided` included.
    pub(super) fn attract(
        &mut self,
        player: Player,
        decided: Vec<u32>,
        levels: RangeInclusive<u8>,
        ticker: &mut Ticker<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        self.calls += 1;
        let arena = self.arena;
        let (mut queue, mut next) = (decided, 0);
        while let Some(&vertex) = queue.get(next) {
            next += 1;
            let mut work = 1;
            arena.predecessors(vertex, &mut |before, edge| {
                work += 1;
                if levels.contains(&self.level[before as usize]) && self.is_forced(before, player, &levels) {
                    self.decide(before, player);
                    self.record(before, vertex, edge);
                    queue.push(before);
                }
            });
            ticker.tick(work)?;
        }
        Ok(queue)
    }

    /// True if a vertex with a move into the attractor belongs to it: its owner wants that or has no other move.
    pub(super) fn is_forced(&mut self, vertex: u32, player: Player, levels: &RangeInclusive<u8>) -> bool {
        if self.arena.owner(vertex).is_none_or(|owner| owner == player) {
            return true;
        }
        let index = vertex as usize;
        let mut position = if self.watched_in[index] == self.calls { self.watched[index] } else { 0 };
        // Moves that were closed stay closed during one call, so none is looked at twice.
        while let Some(next) = self.arena.successor(vertex, position) {
            if self.is_open(next, player, levels) {
                self.watched_in[index] = self.calls;
                self.watched[index] = position;
                return false;
            }
            position += 1;
        }
        true
    }

    /// True if the other player may move to `next` to avoid the attractor of `player`: it is undecided, or decided for
    /// him but not yet attracted to. (Vertices of other levels are out of reach, thus closed. A vertex from which he
    /// can move to one that is decided for him and has been attracted to is decided itself and not asked.)
    fn is_open(&self, next: u32, player: Player, levels: &RangeInclusive<u8>) -> bool {
        let level = self.level[next as usize];
        levels.contains(&level) || (level == INACTIVE && self.winner(next) != player)
    }

    pub(super) fn decide(&mut self, vertex: u32, winner: Player) {
        self.level[vertex as usize] = INACTIVE;
        self.won.set(vertex as usize, winner == Player::Proponent);
    }

    fn winner(&self, vertex: u32) -> Player {
        if self.won.contains(vertex as usize) { Player::Proponent } else { Player::Opponent }
    }

    /// Remembers the move from `vertex` to `next`, over `edge` if one was picked.
    pub(super) fn record(&mut self, vertex: u32, next: u32, edge: Option<u32>) {
        if !self.recording {
            return;
        }
        let Vertex::Node(node, state) = self.arena.decode(vertex) else { return };
        match (&mut self.moves[node as usize], edge) {
            (Moves::Edge(edges), Some(edge)) => edges[state.index()] = edge,
            (Moves::Child(second), _) => {
                let Role::Binary { children, .. } = self.arena.role_of(node) else { return };
                let is_second = children[1].is_some_and(|child| self.arena.vertex(child, state) == next);
                second.set(state.index(), is_second);
            }
            _ => {}
        }
    }

    /// Remembers that a subformula outside of the block was chosen.
    fn record_child(&mut self, vertex: u32, position: Option<usize>) {
        if let (Vertex::Node(node, state), Some(position)) = (self.arena.decode(vertex), position)
            && let Moves::Child(second) = &mut self.moves[node as usize]
        {
            second.set(state.index(), position == 1);
        }
    }

    /// Remembers some move that stays in the level, for a vertex of the strategist in a part that he wins.
    pub(super) fn record_any(&mut self, vertex: u32, winner: Player, depth: u8) {
        if self.recording && winner == self.strategist && self.arena.owner(vertex) == Some(winner) {
            self.record_move(vertex, depth);
        }
    }

    /// Finds a move to a vertex of the level, remembers it if moves are remembered, and returns where it leads.
    pub(super) fn record_move(&mut self, vertex: u32, depth: u8) -> Option<u32> {
        let arena = self.arena;
        let mut moves = (0..).map_while(|position| arena.successor(vertex, position)).enumerate();
        let (position, next) = moves.find(|(_, next)| self.level[*next as usize] == depth)?;
        if let Vertex::Node(_, state) = arena.decode(vertex) {
            self.record(vertex, next, arena.graph.edge_range(state).nth(position));
        }
        Some(next)
    }

    /// Hands the winners and moves over.
    fn finish(self, block: &[NodeId], outcome: &mut Outcome) {
        let states = self.arena.graph.state_count();
        for (number, (node, moves)) in block.iter().zip(self.moves).enumerate() {
            let mut won = FixedBitSet::with_capacity(states);
            let offset = number * states;
            (0..states).filter(|state| self.won.contains(offset + state)).for_each(|state| won.insert(state));
            outcome.won[node.index()] = won;
            outcome.moves[node.index()] = moves;
        }
    }
}
