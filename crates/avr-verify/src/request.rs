//! The request to the verifier.

use crate::early_results::EarlyResults;
use crate::invariants::{Alarms, Invariants, Sought, Trial};
use avr_image::{EepromAddress, Image};
use avr_machine::device::Device;
use avr_machine::{Contract, Machine};
use avr_properties::{ApplicationContent, Binding, PropertyFile, Setting, StartsAt};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use tvar::{Strategy, Unlimited, Watch};

/// The number of states that a location distinguishes where few values are kept, if nothing else is said.
pub const DEFAULT_ENUMERATED: NonZeroUsize = NonZeroUsize::new(tvar::DEFAULT_ENUMERATED).expect("it is not 0");

/// The request: an image, and what is to be verified of it.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The firmware.
    pub image: &'a Image,
    /// The device that it runs on.
    pub device: &'static Device,
    /// Flash byte address of the first instruction, if it is not what the property file or the fuses say.
    pub start: Option<u32>,
    /// The properties and everything else that the property file says.
    pub file: &'a PropertyFile,
    /// The contracts that are followed in place of the bodies of their functions; none but in
    /// [`verify_with_contracts`](crate::verify_with_contracts).
    pub contracts: &'a [Contract],
    /// The content of the EEPROM as far as it is known, by address.
    pub eeprom: &'a BTreeMap<EepromAddress, u8>,
    /// The strategy at the beginning.
    pub strategy: Strategy,
    /// The reductions that may be used, for properties that cannot distinguish what they leave out.
    pub reductions: Reductions,
    /// True if comparisons narrow what they compare; never where a certificate is wanted.
    pub facts: bool,
    /// True if states keep outcomes of comparisons as predicates where few values are kept; only with facts.
    pub predicates: bool,
    /// The number of states that a location distinguishes where few values are kept.
    pub enumerated: NonZeroUsize,
    /// The invariants of the whole program, which prove what they can before any state space is built. Used with the default strategy only.
    pub invariants: InvariantUse<'a>,
    /// True if verdicts that rest on the model are not accepted ([`Results::strict`](crate::Results::strict)), so that others are looked
    /// for as long as the limits allow.
    pub strict: bool,
    /// Limits and progress.
    pub watch: &'a dyn Watch,
    /// The limits of the search for findings, beside what is to be verified; none if no findings are looked for.
    pub findings: Option<&'a dyn Watch>,
    /// The early results, told as soon as they are there, for this request only.
    pub known: Option<&'a EarlyResults>,
}

impl<'a> Request<'a> {
    /// The request to verify an image with nothing else said: the default strategy, an unknown EEPROM, and no limits.
    #[must_use]
    pub fn of(image: &'a Image, device: &'static Device, file: &'a PropertyFile) -> Self {
        static UNKNOWN: BTreeMap<EepromAddress, u8> = BTreeMap::new();
        Self {
            image,
            device,
            start: None,
            file,
            contracts: &[],
            eeprom: &UNKNOWN,
            strategy: Strategy::Default,
            reductions: Reductions::ALL,
            facts: true,
            predicates: true,
            enumerated: DEFAULT_ENUMERATED,
            invariants: InvariantUse::Find,
            strict: false,
            watch: &Unlimited,
            findings: None,
            known: None,
        }
    }

    /// The binding of names.
    pub(crate) fn binding(&self) -> Binding<'a> {
        Binding {
            device: self.device,
            image: self.image,
            start: self.file.start_address(self.device, self.start),
            ends_paths: self.file.ends_paths(),
            stacks: &self.file.stacks,
            boot_start: self.file.boot_start(self.device),
        }
    }

    /// The outcome of looking for invariants of the machine of this request, if that is wanted. Their stack bound is known from then on.
    pub(crate) fn find_invariants(&self, machine: &Machine) -> Option<Sought> {
        // SOUND: maps and claims know nothing of the stacks of tasks, of machines that drive inputs, nor of what these leave without a value.
        let is_known = self.file.machines.is_empty() && !machine.has_stacks();
        let is_wanted = matches!(self.invariants, InvariantUse::Find) && self.strategy == Strategy::Default && is_known;
        let mut sought = is_wanted.then(|| Sought::look(machine, self.image, self.watch))?;
        let Self { image, device, start, file, eeprom, .. } = *self;
        sought.find_lines(&Trial {
            file,
            device,
            machine: &|file| Setting { image, device, start, file, eeprom }.machine().ok(),
            is_over: &|| self.watch.cancelled(),
        });
        if let Some(known) = self.known {
            known.learn_invariants(sought.outcome.clone());
            sought.found.iter().for_each(|found| known.learn_stack(found.stack_bound()));
        }
        Some(sought)
    }

    /// The same after they were looked for.
    pub(crate) fn with_invariants<'b>(&self, sought: Option<&'b Sought>) -> Request<'b>
    where
        'a: 'b,
    {
        let found = sought.and_then(|sought| sought.found.as_ref());
        let alarms = sought.and_then(|sought| sought.alarms.as_ref());
        let invariants = match (found, alarms, self.invariants) {
            (Some(found), ..) => InvariantUse::Given(found),
            (None, Some(alarms), _) => InvariantUse::Open(alarms),
            (None, None, InvariantUse::Find) => InvariantUse::Off,
            (None, None, invariants) => invariants,
        };
        Request { invariants, ..*self }
    }

    /// True if something may be left out for properties that cannot tell: it was not turned off. A certificate needs it all the same.
    #[must_use]
    pub fn allows_reduction(&self) -> bool {
        // SOUND: where paths end, what comes before their end is never looked at afterwards, so nothing may be deferred.
        // Nor where machines drive inputs: accesses in a handler and in the main program move the same machine. Where tasks have stacks of
        // their own, a handler need not return to what it interrupted.
        let is_plain = self.file.machines.is_empty() && self.file.stacks.is_empty();
        // A handler that changes what a later reset depends on is not independent of what it interrupts.
        let is_plain = is_plain && self.file.initially.iter().all(|condition| condition.at != StartsAt::Reset);
        let is_allowed = self.strategy == Strategy::Default && !self.file.ends_paths() && is_plain;
        is_allowed && self.sound_reductions() != Reductions::NONE
    }

    /// The reductions that were not turned off, as far as they are sound for the property file.
    pub(crate) fn sound_reductions(&self) -> Reductions {
        let content = self.file.application.as_ref().map(|application| &application.content);
        match content {
            // SOUND: no interrupt comes where the run has ended, so none may be deferred until then.
            Some(ApplicationContent::Any) => Reductions { interrupts: false, handlers: false, ..self.reductions },
            _ => self.reductions,
        }
    }

    /// The same, for looking at the states themselves.
    pub(crate) fn with_all_states(&self) -> Self {
        Self { reductions: Reductions { paths: false, ..self.reductions }, ..*self }
    }
}

/// The use of invariants of the whole program.
#[derive(Clone, Copy, Debug)]
pub enum InvariantUse<'a> {
    /// None are looked for.
    Off,
    /// They are looked for.
    Find,
    /// They were looked for, and nothing follows because of these alarms.
    Open(&'a Alarms),
    /// These are used, which were found for the same request, or for one that differs in properties that do not speak of the start-up
    /// code.
    Given(&'a Invariants),
}

/// The reductions for properties that cannot distinguish what is left out: those of hazards and the stack, and
/// stutter-invariant formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Interrupts are reduced by partial order.
    pub interrupts: bool,
    /// Paths are compressed.
    pub paths: bool,
    /// Handlers are passed in one step by handler summaries, where interrupts and paths are reduced as well.
    pub handlers: bool,
}

impl Reductions {
    /// Everything that no property can distinguish is left out.
    pub const ALL: Self = Self { interrupts: true, paths: true, handlers: true };
    /// Nothing is left out.
    pub const NONE: Self = Self { interrupts: false, paths: false, handlers: false };
}

#[cfg(test)]
mod tests {
    use avr_properties::{PropertyFile, Setting};
    use avr_testkit::image::image;

    use super::{Device, Request};

    /// Reductions and maps rest on handlers that return to what they interrupt.
    #[test]
    fn nothing_is_reduced_where_tasks_have_stacks() {
        let (image, device) = (image(&[0xcfff]), Device::named("atmega328p").expect("it exists"));
        let is_reduced = |text: &str| {
            let file = PropertyFile::parse("p.ron", text).expect("it is a property file");
            let request = Request::of(&image, device, &file);
            let Request { image, device, start, file, eeprom, .. } = request;
            let machine = Setting { image, device, start, file, eeprom }.machine().expect("it is a machine");
            (request.allows_reduction(), request.find_invariants(&machine).is_some())
        };
        assert_eq!(is_reduced("()"), (true, true));
        assert_eq!(is_reduced("(initially: (reset: [\"mem[0x100] == 0\"]))"), (false, true));
        assert_eq!(is_reduced("(initially: [\"mem[0x100] == 0\"])"), (true, true));
        assert_eq!(is_reduced("(stacks: [(symbol: \"task\", at: 0x300, bytes: 20)])"), (false, false));
    }
}
