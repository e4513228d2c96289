//! Property groups: properties of different visibility are decided apart, because what may be left out for one would be
//! missing for another.
//!
//! The inherent property and the stack come first, because the others mean little without them. Each group first gets some work, so
//! that none waits for another that takes for ever, and then as much as the limits allow. Groups know nothing of each other, so that the
//! results are the same for any number of threads.

use super::confined::{confined, hanging, may_be_confined, seeks_closed_sets};
use super::hardware_run::verified_together;
use super::machine::machine;
use super::property_class::{PropertyClass, class};
use super::recoveries::{self, Recovered};
use crate::early_results::EarlyResults;
use crate::request::{InvariantUse, Request};
use crate::results::{PropertyResult, Results, Unknown, Verdict};
use avr_analysis::interrupts::lets_interrupts_in;
use avr_machine::Machine;
use avr_properties::{AtomTable, PropertyError, bind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tvar::{Exhausted, Progress, Watch};

/// The number of times that limits are looked at while a group is first worked on: after each, some tens of states are expanded.
const FIRST_LOOKS: u64 = 1_000;

/// The most steps before claims are tried, and after that for a group all of whose properties are proved, some by claims that rest on the
/// model.
const FEW_STEPS: u64 = 400_000;

/// The reason why a verdict fails a check of the verifier itself.
pub(crate) const CONTRADICTION: &str = "what a state space says contradicts what was shown without one";

/// Verifies the properties of an image: in groups, or all together if they are of one group.
///
/// # Errors
/// A property that speaks of something that does not exist; what cannot be decided is no error.
pub fn verify(request: &Request<'_>) -> Result<Results, PropertyError> {
    let mut results = verified_in_groups(request)?;
    if let Some(first) = results.properties.first_mut() {
        first.notes.extend(hanging(request, &machine(request)?));
    }
    Ok(results)
}

fn verified_in_groups(request: &Request<'_>) -> Result<Results, PropertyError> {
    let groups = groups(request);
    let properties = &request.file.properties;
    let may_recover = |number: &usize| recoveries::may_prove(request, &properties[*number]);
    let recoveries: BTreeSet<usize> = (0..properties.len()).filter(may_recover).collect();
    let may_be_confined = |number: &usize| seeks_closed_sets(request) && may_be_confined(request, &properties[*number]);
    let confinable: BTreeSet<usize> = (0..properties.len()).filter(may_be_confined).collect();
    if groups.len() < 2 && recoveries.is_empty() && confinable.is_empty() {
        return verified_together(request, request.watch);
    }
    let machine = machine(request)?;
    let invariants = request.find_invariants(&machine);
    let request = &request.with_invariants(invariants.as_ref());
    // Without a map nothing is proved by symbolic execution.
    let has_map = matches!(request.invariants, InvariantUse::Given(_));
    let recoveries = if has_map { recoveries } else { BTreeSet::new() };
    if groups.len() < 2 && recoveries.is_empty() && confinable.is_empty() {
        return verified_together(request, request.watch).map(|results| results.after(invariants.as_ref()));
    }
    let known = EarlyResults::default();
    let mut work = Work {
        request,
        known: request.known.unwrap_or(&known),
        begun: Instant::now(),
        found: BTreeMap::new(),
        all: None,
    };
    if !lets_interrupts_in(&machine) {
        // Without interrupts there are few paths between heads.
        let early = recoveries.iter().filter(|number| recoveries::may_hold_everywhere(request, **number));
        early.for_each(|number| _ = work.recovers(&machine, *number));
    }
    let first = side_by_side(&groups, |group| {
        let few = match group.iter().any(|number| recoveries.contains(number) || confinable.contains(number)) {
            true => FewLooks::before_claims(request.watch),
            false => FewLooks::new(request.watch),
        };
        let wanted: Vec<usize> = group.iter().copied().filter(|number| !work.found.contains_key(number)).collect();
        let results = work.on(group, &few, &wanted);
        (results, few.are_over())
    });
    let mut late = Vec::new();
    for (group, (results, are_over)) in groups.iter().zip(first) {
        let open = work.take(group, results?);
        for number in open.iter().copied().filter(|number| !work.is_decided(*number)).collect::<Vec<_>>() {
            let recovers = recoveries.contains(&number) && work.recovers(&machine, number);
            _ = recovers || confinable.contains(&number) && work.is_confined(&machine, number);
        }
        // Properties that no limit stood in the way of are not tried again.
        late.extend(work.late(open).filter(|_| are_over));
    }
    // A property that claims prove goes with the others: what is refined for it may serve them.
    let second = side_by_side(&late, |late| {
        let few = FewLooks::few_steps(request.watch);
        let watch: &dyn Watch = if late.is_short { &few } else { request.watch };
        work.on(&late.open, watch, &late.wanted)
    });
    for (late, results) in late.iter().zip(second) {
        work.take(&late.open, results?);
    }
    for number in &recoveries {
        work.holds_by_promise(&machine, *number);
        work.suggest_fairness(&machine, *number);
    }
    Ok(work.results().after(invariants.as_ref()))
}

/// The properties of a request in groups, as their numbers, where it is of use to decide these apart: where interrupts may come.
/// All in one group if one of them cannot be bound.
pub(crate) fn groups(request: &Request<'_>) -> Vec<Vec<usize>> {
    let properties = &request.file.properties;
    let together = vec![(0..properties.len()).collect()];
    let is_of_use = properties.len() > 1 && request.allows_reduction();
    if !is_of_use || !machine(request).is_ok_and(|machine| lets_interrupts_in(&machine)) {
        return together;
    }
    let binding = request.binding();
    let mut groups: BTreeMap<PropertyClass, Vec<usize>> = BTreeMap::new();
    for (number, property) in properties.iter().enumerate() {
        let mut table = AtomTable::default();
        let class = match bind(property, &request.file.definitions, &binding, &mut table) {
            Ok(bound) => class(property, &bound, table.atoms()),
            Err(error) if error.undecided().is_some() => PropertyClass::Steps,
            Err(_) => return together,
        };
        groups.entry(class).or_default().push(number);
    }
    groups.into_values().collect()
}

/// The work on groups.
struct Work<'a> {
    request: &'a Request<'a>,
    known: &'a EarlyResults,
    begun: Instant,
    /// The results, by the number of the property.
    found: BTreeMap<usize, PropertyResult>,
    /// The results beside them.
    all: Option<Results>,
}

/// The work on each group, side by side on the threads of the pool that this runs in, and one after the other outside of a pool. The results
/// are in the order of the groups.
///
/// No group is a task that a thread takes up while it waits in the middle of another one: that one would wait for all of it.
fn side_by_side<G: Sync, T: Send>(groups: &[G], work: impl Fn(&G) -> T + Sync) -> Vec<T> {
    if rayon::current_thread_index().is_none() {
        return groups.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = rayon::broadcast(|_| {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(number) else { break done };
            done.push((number, work(group)));
        }
    });
    let done: BTreeMap<usize, T> = done.into_iter().flatten().collect();
    done.into_values().collect()
}

/// The late work on the open properties of a group.
struct Late {
    open: Vec<usize>,
    /// The properties that the work goes on for.
    wanted: Vec<usize>,
    /// True if it is to be little.
    is_short: bool,
}

/// The results of a group, with the time at which the work on it began.
type OfGroup = Result<(Results, Duration), PropertyError>;

impl Work<'_> {
    /// Works on some properties within limits, until those that are wanted are decided.
    fn on(&self, group: &[usize], watch: &dyn Watch, wanted: &[usize]) -> OfGroup {
        let before = self.begun.elapsed();
        let mut file = self.request.file.clone();
        file.properties = group.iter().map(|number| self.request.file.properties[*number].clone()).collect();
        let part = self.known.part(group, before);
        let request = Request { file: &file, watch, known: Some(&part), ..*self.request };
        let until_known = UntilKnown { watch, known: self.known, wanted };
        // Work on properties that are all wanted ends by itself.
        let deciding: &dyn Watch = if wanted.len() < group.len() { &until_known } else { watch };
        let results = verified_together(&request, deciding);
        let mut results = results?;
        results.interrupted &= self.request.watch.cancelled();
        self.known.learn_stack(results.stack);
        Ok((results, before))
    }

    /// Takes the results of a group; gives the properties that are open.
    fn take(&mut self, group: &[usize], (mut results, before): (Results, Duration)) -> Vec<usize> {
        let mut open = Vec::new();
        for (number, mut result) in group.iter().zip(std::mem::take(&mut results.properties)) {
            if result.is_open() {
                open.push(*number);
            }
            result.statistics.time += before;
            match self.found.get(number) {
                Some(earlier) if result.is_open() && !earlier.is_open() => {}
                Some(earlier) if earlier.outweighs(&result) => {}
                Some(earlier) if earlier.contradicts(&result) => {
                    result.verdict = Verdict::Unknown(Unknown::failed_self_check(CONTRADICTION.to_owned()));
                    self.found.insert(*number, result);
                }
                Some(earlier) if result.is_open() => {
                    let others = earlier.notes.iter().filter(|note| !result.notes.contains(note)).cloned();
                    result.notes = result.notes.iter().cloned().chain(others).collect();
                    self.found.insert(*number, result);
                }
                _ => _ = self.found.insert(*number, result),
            }
        }
        self.all = Some(match self.all.take() {
            Some(all) => all.and(results),
            None => results,
        });
        open
    }

    /// True if claims or symbolic execution prove a property; their result is taken.
    fn recovers(&mut self, machine: &Machine, number: usize) -> bool {
        let InvariantUse::Given(invariants) = self.request.invariants else { return false };
        let property = &self.request.file.properties[number];
        match recoveries::recovered(self.request, (machine, invariants), property) {
            Ok(Recovered { mut result, .. }) => {
                if let Some(open) = self.found.get(&number) {
                    result.statistics.time += open.statistics.time;
                }
                self.known.learn(number, result.clone(), Vec::new());
                self.found.insert(number, result);
                true
            }
            Err(note) => {
                if let Some(open) = self.found.get_mut(&number) {
                    open.notes.extend(note);
                }
                false
            }
        }
    }

    /// True if a run comes to states from which nothing leads to where it must be possible to get; its result is taken.
    fn is_confined(&mut self, machine: &Machine, number: usize) -> bool {
        let Some(mut result) = confined(self.request, machine, &self.request.file.properties[number]) else {
            return false;
        };
        if let Some(open) = self.found.get(&number) {
            result.statistics.time += open.statistics.time;
        }
        self.known.learn(number, result.clone(), Vec::new());
        self.found.insert(number, result);
        true
    }

    /// Looks for a proof of a property which the model violates, by what the data sheet promises; its result is taken.
    fn holds_by_promise(&mut self, machine: &Machine, number: usize) {
        let Some(found) = self.found.get(&number).filter(|found| found.is_violated_in_model()).cloned() else { return };
        self.recovers(machine, number);
        let proved = self.found.get_mut(&number).expect("it was found");
        if proved.contradicts(&found) {
            proved.verdict = Verdict::Unknown(Unknown::failed_self_check(CONTRADICTION.to_owned()));
        } else if !proved.outweighs(&found) {
            *proved = found;
        }
    }

    /// Says of a property that does not hold, or is open, which fairness would make it true.
    fn suggest_fairness(&mut self, machine: &Machine, number: usize) {
        let InvariantUse::Given(invariants) = self.request.invariants else { return };
        let Some(found) = self.found.get_mut(&number).filter(|found| found.verdict != Verdict::Holds) else { return };
        let property = &self.request.file.properties[number];
        found.notes.extend(recoveries::fairness_for(self.request, (machine, invariants), property));
    }

    /// The work that is left for properties that were open after the first.
    fn late(&self, open: Vec<usize>) -> Option<Late> {
        let is_in_model = |number: &usize| self.found.get(number).is_some_and(PropertyResult::rests_on_choices);
        let is_wanted = |number: &usize| !self.is_decided(*number) || self.request.strict && is_in_model(number);
        let wanted: Vec<usize> = open.iter().copied().filter(is_wanted).collect();
        let may_be_better = |number: &usize| self.found.get(number).is_some_and(PropertyResult::may_be_better);
        let better: Vec<usize> = open.iter().copied().filter(may_be_better).collect();
        match (wanted.is_empty(), better.is_empty()) {
            (false, _) => Some(Late { open, wanted, is_short: false }),
            (true, false) => Some(Late { open, wanted: better, is_short: true }),
            (true, true) => None,
        }
    }

    fn is_decided(&self, number: usize) -> bool {
        self.found.get(&number).is_some_and(|found| !found.is_open())
    }

    fn results(self) -> Results {
        let all = self.all.expect("there are groups");
        Results { properties: self.found.into_values().collect(), ..all }.checked()
    }
}

/// The caller's limits, and others on the work.
pub(crate) struct FewLooks<'a> {
    watch: &'a dyn Watch,
    looks: AtomicU64,
    most: u64,
    most_steps: u64,
    has_most_steps: AtomicBool,
}

impl<'a> FewLooks<'a> {
    pub(crate) fn new(watch: &'a dyn Watch) -> Self {
        let (looks, has_most_steps) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { watch, looks, most: first_looks(), most_steps: u64::MAX, has_most_steps }
    }

    /// Those where claims may prove what is open then.
    pub(crate) fn before_claims(watch: &'a dyn Watch) -> Self {
        Self { most_steps: few_steps(), ..Self::new(watch) }
    }

    /// As many steps, however often limits are looked at.
    pub(crate) fn few_steps(watch: &'a dyn Watch) -> Self {
        Self { most: u64::MAX, ..Self::before_claims(watch) }
    }

    pub(crate) fn are_over(&self) -> bool {
        self.looks.load(Ordering::Relaxed) > self.most || self.has_most_steps.load(Ordering::Relaxed)
    }
}

impl Watch for FewLooks<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let limit = self.watch.check(progress);
        if limit.is_none() {
            self.looks.fetch_add(1, Ordering::Relaxed);
            self.has_most_steps.fetch_or(progress.steps > self.most_steps, Ordering::Relaxed);
        }
        limit.or_else(|| self.are_over().then_some(Exhausted::Interrupted))
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

/// The caller's limits, until some properties are decided.
struct UntilKnown<'a> {
    watch: &'a dyn Watch,
    known: &'a EarlyResults,
    wanted: &'a [usize],
}

impl Watch for UntilKnown<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let is_known = |number: &usize| self.known.result(*number).is_some_and(|known| !known.may_be_better());
        let are_known = || self.wanted.iter().all(is_known);
        self.watch.check(progress).or_else(|| are_known().then_some(Exhausted::Interrupted))
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

#[cfg(not(test))]
const fn first_looks() -> u64 {
    FIRST_LOOKS
}

/// The most steps, in proportion to the looks.
fn few_steps() -> u64 {
    FEW_STEPS * first_looks() / FIRST_LOOKS
}

#[cfg(test)]
thread_local! {
    /// The number of times that limits are looked at while a group is first worked on, on this thread.
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(FIRST_LOOKS) };
}

#[cfg(test)]
fn first_looks() -> u64 {
    LOOKS.get()
}

/// Does something with another number of looks while a group is first worked on.
#[cfg(test)]
pub(crate) fn with_first_looks<T>(looks: u64, work: impl FnOnce() -> T) -> T {
    let before = LOOKS.replace(looks);
    let result = work();
    LOOKS.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::{groups, side_by_side};
    use crate::random_programs::{CELLS, Code, LONG, r, results, with_handlers, with_request};
    use crate::{EarlyResults, Reductions, Request, Results, Verdict, verify};
    use avr_isa::Instruction;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// A main program that counts up to 255 in the second cell and begins anew, beside handlers that set the first one.
    fn counting() -> Vec<u16> {
        let handler = |code: &mut Code, _| {
            code.add(Instruction::Ldi { rd: r(16), k: 1 });
            code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
        };
        with_handlers(handler, |code| {
            let start = code.words.len() as u32;
            code.add(Instruction::Lds { rd: r(18), address: CELLS[1] });
            code.add(Instruction::Inc { rd: r(18) });
            code.add(Instruction::Sts { address: CELLS[1], rr: r(18) });
            code.jump(start);
        })
    }

    /// One of each group, not in the order of the groups.
    const UNLIKE: [&str; 6] = [
        "AF (EIMSK == 3)",
        "nu X. EIMSK != 1 && []X",
        "EF (mem[0x100] == 1 && EIMSK == 3)",
        "Inherent()",
        "AG (EIMSK == 0 || EIMSK == 3)",
        "Stack(max_bytes: 20)",
    ];

    fn verdicts(results: &Results) -> Vec<Verdict> {
        results.properties.iter().map(|result| result.verdict.clone()).collect()
    }

    #[test]
    fn unlike_properties_are_decided_apart_and_come_in_their_order() {
        let words = counting();
        let known = EarlyResults::default();
        let (groups, together) = with_request(&words, &UNLIKE, Reductions::ALL, LONG, |request| {
            let request = Request { known: Some(&known), ..*request };
            (groups(&request), verify(&request).expect("the properties are bound"))
        });
        assert_eq!(groups, [vec![3, 5], vec![4], vec![2], vec![0], vec![1]]);
        assert_eq!(verdicts(&together), vec![Verdict::Holds; UNLIKE.len()]);
        assert_eq!(together.stack, results(&words, &["Inherent()"], Reductions::ALL, LONG).stack);
        assert_eq!(known.stack(), together.stack);
        for (number, text) in UNLIKE.iter().enumerate() {
            assert_eq!(together.properties[number].name, *text);
            assert_eq!(
                known.result(number).map(|told| (told.name, told.verdict)),
                Some(((*text).to_owned(), Verdict::Holds))
            );
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_results() {
        let words = counting();
        let results = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
            let mut results = pool.install(|| results(&words, &UNLIKE, Reductions::ALL, LONG));
            for result in &mut results.properties {
                result.statistics.time = Duration::ZERO;
            }
            let Results { properties, stack, survey, passes, .. } = results;
            (properties, stack, survey, passes)
        };
        let one = results(1);
        assert_eq!(one.0.len(), UNLIKE.len());
        assert!([2, 3, 8].into_iter().all(|threads| results(threads) == one));
    }

    #[test]
    fn groups_are_worked_on_side_by_side() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
        let groups: Vec<Vec<usize>> = (0..6).map(|number| vec![number]).collect();
        let (inside, begun) = (AtomicUsize::new(0), Instant::now());
        let most = AtomicUsize::new(0);
        let numbers = pool.install(|| {
            side_by_side(&groups, |group| {
                most.fetch_max(1 + inside.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                while most.load(Ordering::Relaxed) < 2 && begun.elapsed() < LONG {
                    std::thread::yield_now();
                }
                inside.fetch_sub(1, Ordering::Relaxed);
                group[0]
            })
        });
        assert_eq!(most.into_inner(), 2);
        assert_eq!(numbers, (0..6).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_apart_without_reductions_or_interrupts() {
        let apart =
            |words: &[u16], reductions| with_request(words, &UNLIKE, reductions, LONG, |request| groups(request).len());
        assert_eq!(apart(&counting(), Reductions::NONE), 1);
        // `nop; rjmp .-2`
        assert_eq!(apart(&[0x0000, 0xcfff], Reductions::ALL), 1);
    }
}
