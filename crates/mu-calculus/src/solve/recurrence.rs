//! Games with two colours: one player wins if certain vertices are met again and again, the other if not.
//!
//! The classical algorithm attracts to those vertices, gives what is not attracted to the other player, removes what
//! he can force there, and starts again: quadratic as soon as losses come one after the other. Here the attractor is
//! kept and repaired: a removal casts doubt only on what was attracted by way of it.

use crate::cancel::{Cancelled, Ticker};
use crate::solve::arena::Player;
use crate::solve::game::Progress;

/// The levels during the solution: of undecided vertices outside of the attractor, and in it.
#[derive(Clone, Copy)]
struct Levels {
    outside: u8,
    inside: u8,
}

impl Progress<'_> {
    /// Decides all of a part that no player can leave, and in which `player` wins exactly by meeting priorities above
    /// `limit` again and again.
    pub(super) fn solve_recurrence(
        &mut self,
        part: &[u32],
        player: Player,
        limit: u32,
        depth: u8,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        let levels = Levels { outside: depth + 1, inside: depth + 2 };
        part.iter().for_each(|&vertex| self.level[vertex as usize] = levels.outside);
        let goals = self.above(part, limit);
        goals.iter().for_each(|&vertex| self.level[vertex as usize] = levels.inside);
        self.gather(player, goals, levels, ticker)?;
        let mut lost = Vec::new();
        let mut outside = self.at_level(part, levels.outside);
        while !outside.is_empty() {
            // There the other player can stay without meeting a goal.
            outside.iter().for_each(|&vertex| self.record_any(vertex, player.other(), levels.outside));
            outside.iter().for_each(|&vertex| self.decide(vertex, player.other()));
            let removed = self.attract(player.other(), outside, levels.outside..=levels.inside, ticker)?;
            let doubtful = self.doubtful(&removed, player, limit, levels, ticker)?;
            lost.extend(removed);
            self.regather(&doubtful, player, levels, ticker)?;
            outside = self.at_level(&doubtful, levels.outside);
        }
        let won = self.at_level(part, levels.inside);
        // Both are decided before the rest of the level is attracted to either.
        won.iter().for_each(|&vertex| self.decide(vertex, player));
        self.attract(player.other(), lost, depth..=depth, ticker)?;
        self.attract(player, won, depth..=depth, ticker)?;
        Ok(())
    }

    fn at_level(&self, vertices: &[u32], level: u8) -> Vec<u32> {
        vertices.iter().copied().filter(|&vertex| self.level[vertex as usize] == level).collect()
    }

    /// Attracts from outside to `joined`, which are inside already, with the move that brought each vertex in.
    fn gather(
        &mut self,
        player: Player,
        joined: Vec<u32>,
        levels: Levels,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        self.calls += 1;
        let arena = self.arena;
        let outside = levels.outside..=levels.outside;
        let (mut queue, mut next) = (joined, 0);
        while let Some(&vertex) = queue.get(next) {
            next += 1;
            let mut work = 1;
            arena.predecessors(vertex, &mut |before, edge| {
                work += 1;
                if self.level[before as usize] == levels.outside && self.is_forced(before, player, &outside) {
                    self.level[before as usize] = levels.inside;
                    self.support[before as usize] = vertex;
                    self.record(before, vertex, edge);
                    queue.push(before);
                }
            });
            ticker.tick(work)?;
        }
        Ok(())
    }

    /// Puts outside what was attracted by way of `removed`, directly or not, and returns it.
    fn doubtful(
        &mut self,
        removed: &[u32],
        player: Player,
        limit: u32,
        levels: Levels,
        ticker: &mut Ticker<'_>,
    ) -> Result<Vec<u32>, Cancelled> {
        let arena = self.arena;
        let mut doubtful: Vec<u32> = Vec::new();
        let mut next = 0;
        while let Some(&vertex) = removed.get(next).or_else(|| doubtful.get(next - removed.len())) {
            next += 1;
            let mut work = 1;
            arena.predecessors(vertex, &mut |before, _| {
                work += 1;
                let index = before as usize;
                if self.level[index] != levels.inside || arena.priority(before) > Some(limit) {
                    return;
                }
                // The other player's vertices are inside only if all their moves lead inside.
                let needs = self.support[index] == vertex || arena.owner(before) == Some(player.other());
                if needs {
                    self.level[index] = levels.outside;
                    doubtful.push(before);
                }
            });
            ticker.tick(work)?;
        }
        Ok(doubtful)
    }

    /// Takes back inside what can still be attracted without going through what is doubtful.
    fn regather(
        &mut self,
        doubtful: &[u32],
        player: Player,
        levels: Levels,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Cancelled> {
        self.calls += 1;
        let outside = levels.outside..=levels.outside;
        let mut joined = Vec::new();
        for &vertex in doubtful {
            ticker.tick(1)?;
            if !self.is_forced(vertex, player, &outside) {
                continue;
            }
            if let Some(next) = self.record_move(vertex, levels.inside) {
                self.level[vertex as usize] = levels.inside;
                self.support[vertex as usize] = next;
                joined.push(vertex);
            }
        }
        self.gather(player, joined, levels, ticker)
    }
}
