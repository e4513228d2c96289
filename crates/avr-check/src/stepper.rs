//! Steps from the states of a certificate, with the executor.

use avr_certificate::{Advice, BLOCK_PAGES, Running, Space, State, Store};
use avr_image::{DataAddress, FlashWordAddress};
use avr_machine::{Control, Difference, Frame, Machine, MachineState, Relation, Stop, Sum, cut_cell, cut_what_is_read};
use avr_predicates::{Predicates, Written};
use avr_properties::{Event, EventRecorder, Occurred, occurrences_cover};
use three_valued::TvByte;

use crate::outcomes::{Came, Outcome, Script, outcomes};
use crate::rejection::{Reason, Rejection};
use crate::world::World;

/// No page.
const NONE: u32 = u32::MAX;

/// The working state of the machine.
pub(crate) struct Stepper<'a> {
    machine: &'a Machine,
    predicates: Option<&'a Predicates>,
    store: &'a Store,
    watched: &'a [Event],
    did: &'a [Vec<Occurred>],
    state: MachineState<TvByte>,
    /// The page of the store that each page of the state holds, apart from those that were written since.
    pages: Vec<u32>,
    /// The block that each block of the state holds, under the same condition.
    blocks: Vec<u32>,
    /// The frames of a call string, oldest first.
    frames: (u32, Vec<Frame>),
}

/// The result of a step.
enum Led<'a> {
    /// To the working state, with the events of the step.
    To(&'a [Occurred]),
    Stopped(Stop),
}

impl<'a> Stepper<'a> {
    /// A stepper for the states of a store.
    pub(crate) fn new(
        (machine, predicates): (&'a Machine, Option<&'a Predicates>),
        store: &'a Store,
        watched: &'a [Event],
        did: &'a [Vec<Occurred>],
    ) -> Self {
        let of_predicates = predicates.map_or(0, |_| Predicates::cells());
        let state = MachineState::new(machine.cells() + of_predicates, TvByte::UNKNOWN);
        let pages = vec![NONE; store.memory_blocks * BLOCK_PAGES];
        let blocks = vec![NONE; store.memory_blocks];
        Self { machine, predicates, store, watched, did, state, pages, blocks, frames: (0, Vec::new()) }
    }

    /// All outcomes of the step from a state, with those of the members of its hyper-edges that cover each.
    ///
    /// # Errors
    /// If the state has no step, or one with too many outcomes.
    pub(crate) fn outcomes(&mut self, space: &Space, number: u32) -> Result<Vec<Outcome>, Rejection> {
        let mut members = space.edges.all_members(number).to_vec();
        members.sort_unstable();
        members.dedup();
        let state = space.states[number as usize];
        let (running, advice) = match &state {
            State::Start { advice } => (None, *advice),
            State::Running(running) => (Some(running), running.advice),
            State::Hazard { .. } | State::Anything => return Err(Reason::NoStep.at(number)),
        };
        let advice = &self.store.advice[advice as usize];
        outcomes(number, |script| self.outcome(running, advice, script, space, &members))
    }

    fn outcome(
        &mut self,
        from: Option<&Running>,
        advice: &Advice,
        script: &mut Script,
        space: &Space,
        members: &[u32],
    ) -> Came {
        let pc = from.map_or(FlashWordAddress(0), |running| running.control.pc);
        let events = EventRecorder::new(self.watched, pc.byte());
        let (predicates, written) = (self.predicates, Written::default());
        let mut world = World { script, advice, events, predicates, written };
        let stopped = self.step(from, &mut world).err();
        let did = world.events.occurrences();
        let led = match stopped {
            None => Led::To(&did),
            Some(Stop::Infeasible) => return Came::Impossible,
            Some(stop) => Led::Stopped(stop),
        };
        let covering = |member: &u32| self.covers(&space.states[*member as usize], &led, pc, from);
        Came::CoveredBy(members.iter().copied().filter(|member| covering(member)).collect())
    }

    fn step(&mut self, from: Option<&Running>, world: &mut World<'_>) -> Result<(), Stop> {
        let Some(from) = from else {
            let fresh = self.machine.power_on(world);
            for (address, cell) in self.machine.addresses().zip(fresh.data.cells()) {
                self.state.data.set(address, *cell);
            }
            for address in (self.machine.cells()..self.state.data.len()).map(DataAddress::of_index) {
                self.state.data.set(address, TvByte::UNKNOWN);
            }
            self.state.control = fresh.control;
            self.state.calls.clear();
            self.pages.fill(NONE);
            self.blocks.fill(NONE);
            return Ok(());
        };
        self.load(from);
        let advice = world.advice;
        for (cell, mask) in &advice.cases {
            cut_cell(&mut self.state, *cell, *mask, world);
        }
        if advice.all {
            cut_what_is_read(self.machine, &mut self.state, world);
        }
        self.machine.step(&mut self.state, world).map(|_| ())
    }

    /// Goes to a state of the store.
    fn load(&mut self, running: &Running) {
        let written: Vec<usize> = self.state.data.changed_pages().collect();
        for page in written {
            self.pages[page] = NONE;
            self.blocks[page / BLOCK_PAGES] = NONE;
        }
        self.state.data.clear_changed();
        let store = self.store;
        for (index, block) in store.memory(running.memory).iter().enumerate() {
            if self.blocks[index] != *block {
                self.load_block(index, *block);
            }
        }
        if self.frames.0 != running.calls {
            self.frames = (running.calls, store.frames(running.calls).copied().collect());
            self.frames.1.reverse();
        }
        self.state.calls.clear();
        self.frames.1.iter().for_each(|frame| self.state.calls.push(*frame));
        self.state.calls.select(running.control.stack);
        self.state.control = running.control;
    }

    fn load_block(&mut self, index: usize, block: u32) {
        self.blocks[index] = block;
        for (offset, number) in self.store.blocks[block as usize].iter().enumerate() {
            let page = index * BLOCK_PAGES + offset;
            if page < self.state.data.pages() && self.pages[page] != *number {
                self.state.data.load_page(page, &self.store.pages[*number as usize]);
                self.pages[page] = *number;
            }
        }
    }

    /// True if a state of the certificate covers what a step from the instruction at `pc` led to.
    fn covers(&self, member: &State, led: &Led<'_>, pc: FlashWordAddress, from: Option<&Running>) -> bool {
        match (member, led) {
            (State::Anything, _) => true,
            (State::Running(running), Led::To(did)) => {
                self.control_covers(&running.control)
                    && self.calls_agree(running.calls)
                    && occurrences_cover(&self.did[running.did as usize], did)
                    && self.memory_covers(running.memory, from.map(|from| from.memory))
            }
            (State::Hazard { hazard, pc: place }, Led::Stopped(Stop::Hazard(found))) => hazard == found && *place == pc,
            _ => false,
        }
    }

    /// True if the control of a stored state is the present one, of which it need not have all copies.
    ///
    /// SOUND: a copy, the comparison that flags are the outcome of, and the difference that is computed are facts about a state. Fewer facts are true of more states.
    fn control_covers(&self, stored: &Control) -> bool {
        let (stored_copies, present) = (stored.copies, self.state.control.copies);
        let (relation, difference, sum) = (stored_copies.relation(), stored_copies.difference(), stored_copies.sum());
        stored.of_hardware() == self.state.control.of_hardware()
            && stored_copies.pairs().iter().all(|pair| present.pairs().contains(pair))
            && stored_copies.masked().iter().all(|copy| present.masked().contains(copy))
            && (sum == Sum::default() || sum == present.sum())
            && (relation == Relation::default() || relation == present.relation())
            && (difference == Difference::default() || difference == present.difference())
    }

    fn calls_agree(&self, calls: u32) -> bool {
        let stored = self.store.frames(calls);
        stored.eq(self.state.calls.all().iter().rev())
    }

    /// True if a memory of the store covers the present one, which was another one of the store before the step.
    fn memory_covers(&self, coarse: u32, before: Option<u32>) -> bool {
        let blocks = self.store.memory(coarse);
        let page_of = |page: usize| self.store.blocks[blocks[page / BLOCK_PAGES] as usize][page % BLOCK_PAGES];
        let covers = |page: usize, number: u32| {
            let cells = &self.store.pages[number as usize];
            cells.iter().zip(self.state.data.page(page)).all(|(coarse, fine)| coarse.covers(*fine))
        };
        let Some(before) = before else {
            return (0..self.state.data.pages()).all(|page| covers(page, page_of(page)));
        };
        if !self.state.data.changed_pages().all(|page| covers(page, page_of(page))) {
            return false;
        }
        // Cells that the step did not write are as they were.
        let before = self.store.memory(before);
        let differ = blocks.iter().zip(before).enumerate().filter(|(_, (coarse, before))| coarse != before);
        let mut pages = differ.flat_map(|(index, (coarse, before))| {
            let pairs = self.store.blocks[*coarse as usize].iter().zip(self.store.blocks[*before as usize]);
            pairs.zip(index * BLOCK_PAGES..).filter(|((coarse, before), _)| *coarse != before)
        });
        pages.all(|((coarse, _), page)| page >= self.state.data.pages() || covers(page, *coarse))
    }
}
