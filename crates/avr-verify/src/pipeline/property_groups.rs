//! Property groups: properties of different visibility are decided apart, because what may be left out for one would be
//! missing for another.
//!
//! The inherent property and the stack come first, because the others mean little without them. Each group first gets some work, so
//! that none waits for another that takes for ever, and then as much as the limits allow.

use super::hardware_run::verified_together;
use super::machine::machine;
use super::property_class::{PropertyClass, class};
use crate::early_results::EarlyResults;
use crate::invariants::Invariants;
use crate::request::Request;
use crate::results::{PropertyResult, Results, Verdict};
use avr_analysis::interrupts::lets_interrupts_in;
use avr_properties::{AtomTable, PropertyError, bind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tvar::{Exhausted, Progress, Watch};

/// The number of times that limits are looked at while a group is first worked on: after each, some tens of states are expanded.
const FIRST_LOOKS: u64 = 1_000;

/// Verifies the properties of an image: in groups, or all together if they are of one group.
///
/// # Errors
/// A property that speaks of something that does not exist; what cannot be decided is no error.
pub fn verify(request: &Request<'_>) -> Result<Results, PropertyError> {
    let groups = groups(request);
    if groups.len() < 2 {
        return verified_together(request);
    }
    let invariants = request.find_invariants(&machine(request)?);
    let request = &request.with_invariants(invariants.as_ref());
    let known = EarlyResults::default();
    let mut work = Work {
        request,
        known: request.known.unwrap_or(&known),
        begun: Instant::now(),
        found: BTreeMap::new(),
        all: None,
    };
    let mut late = Vec::new();
    for group in groups {
        let few = FewLooks { watch: request.watch, looks: AtomicU64::new(0) };
        let open = work.on(&group, &few)?;
        // Properties that no limit stood in the way of are not tried again.
        if few.are_over() && !open.is_empty() {
            late.push(open);
        }
    }
    for group in late {
        work.on(&group, request.watch)?;
    }
    let results = work.results();
    let steps = invariants.as_ref().map_or(0, Invariants::steps);
    let exploration = results.exploration.map(|exploration| exploration.with_steps(steps));
    Ok(Results { exploration, ..results })
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

impl Work<'_> {
    /// Works on some properties within limits; gives those that are open then.
    fn on(&mut self, group: &[usize], watch: &dyn Watch) -> Result<Vec<usize>, PropertyError> {
        let before = self.begun.elapsed();
        let mut file = self.request.file.clone();
        file.properties = group.iter().map(|number| self.request.file.properties[*number].clone()).collect();
        let part = self.known.part(group, before);
        let results = verified_together(&Request { file: &file, watch, known: Some(&part), ..*self.request });
        let mut results = results?;
        results.interrupted &= self.request.watch.cancelled();
        self.known.learn_stack(results.stack);
        let mut open = Vec::new();
        for (number, mut result) in group.iter().zip(std::mem::take(&mut results.properties)) {
            if matches!(&result.verdict, Verdict::Unknown(unknown) if !unknown.self_check_failed) {
                open.push(*number);
            }
            result.statistics.time += before;
            self.found.insert(*number, result);
        }
        self.all = Some(match self.all.take() {
            Some(all) => all.and(results),
            None => results,
        });
        Ok(open)
    }

    fn results(self) -> Results {
        let all = self.all.expect("there are groups");
        Results { properties: self.found.into_values().collect(), ..all }.checked()
    }
}

/// The caller's limits, and one on the work.
struct FewLooks<'a> {
    watch: &'a dyn Watch,
    looks: AtomicU64,
}

impl FewLooks<'_> {
    fn are_over(&self) -> bool {
        self.looks.load(Ordering::Relaxed) > FIRST_LOOKS
    }
}

impl Watch for FewLooks<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let limit = self.watch.check(progress);
        if limit.is_none() {
            self.looks.fetch_add(1, Ordering::Relaxed);
        }
        limit.or_else(|| self.are_over().then_some(Exhausted::Interrupted))
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::groups;
    use crate::random_programs::{CELLS, Code, LONG, r, results, with_handlers, with_request};
    use crate::{EarlyResults, Reductions, Request, Results, Verdict, verify};
    use avr_isa::Instruction;

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
    fn nothing_is_apart_without_reductions_or_interrupts() {
        let apart =
            |words: &[u16], reductions| with_request(words, &UNLIKE, reductions, LONG, |request| groups(request).len());
        assert_eq!(apart(&counting(), Reductions::NONE), 1);
        // `nop; rjmp .-2`
        assert_eq!(apart(&[0x0000, 0xcfff], Reductions::ALL), 1);
    }
}
