//! Cases that are joined again: a value that is cut into cases before a step is often of no more use a few steps later,
//! such as the index of a ring buffer after the store. All cases are followed until then, side by side, and what they
//! came to is joined into one state. See `docs/soundness.md`, section "Cases that are joined again".

use crate::compression::{Fault, Passage, faulty};
use crate::reduction::{Footsteps, Postponed};
use crate::script::Scripted;
use crate::state::{PrecisionLookup, Running};
use crate::step::{Open, Stepped};
use crate::system::Firmware;
use avr_machine::{Control, PAGE_CELLS};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::{ByteDomain, Truth, TvByte};
use tvar::LocationPrecision;

/// The most steps until cases are joined.
const MAX_STEPS: usize = 16;

/// What cases came to, joined.
struct Joined {
    control: Control,
    postponed: Postponed,
    /// The pages that some case changed.
    pages: BTreeMap<usize, [TvByte; PAGE_CELLS]>,
    /// The steps that were taken, from one flash word address to the next.
    moves: BTreeSet<(u32, u32)>,
}

/// How far a case was followed: where it is after each step.
struct Followed {
    after: Vec<(Control, Postponed)>,
    /// The live registers and flags after each step.
    live: Vec<Vec<TvByte>>,
}

/// A state whose step is cut into cases, the precision there, and the precision of what comes after it.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'a> {
    pub(crate) running: &'a Running,
    pub(crate) here: &'a LocationPrecision,
    pub(crate) precision: &'a PrecisionLookup<'a>,
    /// The labels of the state.
    pub(crate) labels: &'a [Truth],
}

impl Firmware<'_> {
    /// Follows all cases into which a step is cut, from the present script on, until they can be joined. The machine at work is
    /// then in the joined state; with what is postponed there comes whether there are more scripts. None if the cases cannot be
    /// joined soon; then the script is as it was, and the machine at work is anywhere.
    pub(crate) fn join_cases(
        &mut self,
        cut: Cut<'_>,
        environment: &mut Scripted<'_, Open<'_>>,
        passage: &mut Passage<'_>,
    ) -> Option<(Postponed, bool)> {
        let first = environment.script.clone();
        let steps = self.steps_to_join(cut, environment);
        environment.replay(first.clone());
        let Some((joined, more)) = steps.and_then(|steps| self.joined(cut, environment, steps)) else {
            environment.replay(first);
            return None;
        };
        self.workspace.load(&self.store, cut.running);
        let data = &mut self.workspace.state.data;
        for (page, cells) in &joined.pages {
            for (address, cell) in (page * PAGE_CELLS..).zip(cells) {
                if data.get(address as u16) != cell {
                    data.set(address as u16, *cell);
                }
            }
        }
        self.workspace.state.control = joined.control;
        self.note_joined(passage, &joined.moves, steps.map_or(0, |steps| steps as u32));
        Some((joined.postponed, more))
    }

    /// After how many steps the first case and the last one differ in nothing any more that is live.
    fn steps_to_join(&mut self, cut: Cut<'_>, environment: &mut Scripted<'_, Open<'_>>) -> Option<usize> {
        let one = self.followed(cut, environment, MAX_STEPS)?;
        environment.replay(environment.last_case());
        let other = self.followed(cut, environment, MAX_STEPS)?;
        let both = one.after.iter().zip(&other.after).zip(one.live.iter().zip(&other.live));
        both.map(|((one, other), (live, other_live))| one == other && live == other_live)
            .position(|is_same| is_same)
            .map(|index| index + 1)
    }

    /// What all cases came to after some steps, and whether there are more scripts.
    fn joined(
        &mut self,
        cut: Cut<'_>,
        environment: &mut Scripted<'_, Open<'_>>,
        steps: usize,
    ) -> Option<(Joined, bool)> {
        let (uncut, mut joined) = (environment.uncut(), None);
        loop {
            if !(joined.is_some() && faulty(Fault::FirstCaseOnly)) {
                joined = Some(self.join(cut, environment, steps, joined)?);
            }
            if !environment.advance() {
                return Some((joined?, false));
            }
            if environment.script.len() <= uncut {
                return Some((joined?, true));
            }
        }
    }

    /// Follows a case, and joins what it came to with the others.
    fn join(
        &mut self,
        cut: Cut<'_>,
        environment: &mut Scripted<'_, Open<'_>>,
        steps: usize,
        others: Option<Joined>,
    ) -> Option<Joined> {
        let followed = self.followed(cut, environment, steps)?;
        let (control, postponed) = followed.after.get(steps - 1).copied()?;
        let data = &self.workspace.state.data;
        let mut joined = others.unwrap_or_else(|| {
            let page = |page: usize| (page, data.page(page).try_into().expect("a page has its size"));
            let pages = data.changed_pages().map(page).collect();
            Joined { control, postponed, pages, moves: BTreeSet::new() }
        });
        if (joined.control, joined.postponed) != (control, postponed) {
            return None;
        }
        for page in data.changed_pages() {
            // What the cases before did not change is as it was.
            joined.pages.entry(page).or_insert(*self.store.page(cut.running.memory, page));
        }
        for (page, cells) in &mut joined.pages {
            for (cell, other) in cells.iter_mut().zip(data.page(*page)) {
                *cell = cell.join(other);
            }
        }
        let mut at = cut.running.control.pc;
        for (control, _) in &followed.after {
            joined.moves.insert((at, control.pc));
            at = control.pc;
        }
        Some(joined)
    }

    /// Takes the step that is cut, with the present script, and at most `most` steps in all, as long as each has one outcome, the
    /// stack stays as deep as it is, and no state is to be kept. None if not even the first step is like that.
    fn followed(&mut self, cut: Cut<'_>, environment: &mut Scripted<'_, Open<'_>>, most: usize) -> Option<Followed> {
        self.workspace.load(&self.store, cut.running);
        let pointer = self.forgetting.whole_pointer(&self.workspace.state)?;
        environment.clear_notes();
        let stepped = self.step(cut.running.postponed, cut.here, environment);
        let Stepped::On(mut postponed) = stepped else { return None };
        if !environment.is_only_cut() {
            return None;
        }
        let mut steps = self.reduction.is_some().then(Footsteps::default);
        let mut followed = Followed { after: Vec::new(), live: Vec::new() };
        loop {
            let control = self.workspace.state.control;
            let is_level = self.forgetting.whole_pointer(&self.workspace.state) == Some(pointer)
                && self.workspace.save_calls(&mut self.store) == cut.running.calls;
            if !is_level || control.sleeping {
                break;
            }
            if self.can_tell(cut.labels) {
                break;
            }
            followed.after.push((control, postponed));
            followed.live.push(self.forgetting.live_values(&self.store, &self.workspace.state, cut.running.calls));
            if followed.after.len() >= most || self.is_loop_head(control.pc) {
                break;
            }
            let deferred = self.workspace.deferred;
            match self.next_step(postponed, cut.precision, &mut steps) {
                (Stepped::On(next), false) => postponed = next,
                _ => {
                    self.workspace.deferred = deferred;
                    break;
                }
            }
        }
        (!followed.after.is_empty()).then_some(followed)
    }
}
