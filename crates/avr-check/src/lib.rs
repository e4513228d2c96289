//! The checker of certificates.
//!
//! A certificate says which abstract states firmware can be in, where its steps lead, and why a property holds or not.
//! [`check`] follows that argument on its own: it binds the properties again, takes one step from each state with the
//! executor, and plays through the game of each formula. Where invariants of the whole program prove a property, one step
//! from each of their states must be covered by them. It searches for nothing and refines nothing. Claims about loops are discharged
//! by symbolic execution and a SAT solver. A run into a closed set is taken again, and a map from its last state covered in the same way.
//!
//! The trusted base is this crate, the loader, the decoder, the executor with its device tables, the binding of
//! properties, the normal form of formulas, and the closing check of `avr-invariant`; where a report says `proved with SAT`, symbolic
//! execution, the check of claims (`avr-progress` without its search) and the SAT solver as well. Neither the verifier nor the solver
//! of games is.
#![forbid(unsafe_code)]

mod closed_set;
mod cycles;
mod ground;
mod invariants;
mod outcomes;
mod play;
mod rejection;
mod sentence;
mod statements;
mod stepper;
mod symbolic;
#[cfg(test)]
mod tests;
mod view;
mod vigilance;
mod world;

pub use rejection::{Reason, Rejection};

use std::collections::BTreeMap;

use avr_certificate::{Basis, Certificate, Header, Map, Proof, Stack, State, Upper, Verdict};
use avr_image::{EepromAddress, Image};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_predicates::Predicates;
use avr_properties::{Atom, AtomTable, Binding, Event, Occurred, PropertyError, PropertyFile, Setting, watched_events};

use ground::{Land, check_states, check_store};
use invariants::Invariants;
use outcomes::Outcome;
use play::{Duties, Foundation, Relied, play};
use sentence::Sentence;
use statements::{Always, ByExecution, STACK, Statement, Statements};
use stepper::Stepper;

/// The results of a certificate that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The properties, in the order of the certificate.
    pub properties: Vec<Checked>,
    /// The proved bounds of the stack depth.
    pub stack: ProvedStack,
    /// The property file of the certificate: the assumptions of the proofs beside the firmware and the device.
    pub file: PropertyFile,
    /// The number of abstract states that were checked.
    pub states: usize,
    /// The number of outcomes of steps that were checked.
    pub outcomes: usize,
    /// The number of queries to the SAT solver.
    pub queries: usize,
}

/// The result that a certificate proves for one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The name.
    pub name: String,
    /// The kind, as property files name it.
    pub kind: &'static str,
    /// The text of the formula.
    pub formula: String,
    /// The fairness that is assumed.
    pub under: Vec<String>,
    /// The proved result.
    pub proved: Proved,
    /// True if symbolic execution and a SAT solver prove it.
    pub with_sat: bool,
    /// A part of the formula that is proved not to matter.
    pub vacuous: Option<ProvedVacuity>,
}

/// A part of a formula that is proved not to matter: the property holds as well with a constant in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedVacuity {
    /// The text of the part.
    pub subformula: String,
    /// The constant.
    pub replaced_by: bool,
    /// The assumption about hardware under which the proof is valid.
    pub basis: Basis,
}

/// The proved bounds of the stack depth, in bytes below RAMEND, wherever SP is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProvedStack {
    /// No run gets deeper.
    pub upper: Option<u32>,
    /// Some run gets that deep, on this basis.
    pub lower: Option<(u32, Basis)>,
}

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proved {
    /// The property holds, or its negation does, on this basis.
    Decided(Verdict, Basis),
    /// Nothing: the property was not decided.
    Nothing,
    /// Nothing, although the property was decided, for this reason.
    Uncertified(String),
}

/// The property file of a certificate, with the properties of the command line.
///
/// # Errors
/// If the text is none.
pub fn property_file(header: &Header) -> Result<PropertyFile, PropertyError> {
    let mut file = PropertyFile::parse("the certificate's property file", &header.properties)?;
    file.add(&header.more_properties, header.inherent)?;
    // SOUND: what is checked of the inherent property are its hazards alone.
    file.check_certifiable()?;
    Ok(file)
}

/// Checks that a certificate proves what it claims of a firmware image.
///
/// # Errors
/// If it does not, with the reason.
pub fn check(certificate: &Certificate, image: &Image, device: &'static Device) -> Result<Report, Rejection> {
    let header = &certificate.header;
    check_subject(header, image, device)?;
    let file = property_file(header)?;
    let eeprom: BTreeMap<EepromAddress, u8> = header.eeprom.iter().copied().collect();
    let machine = Setting { image, device, start: header.start, file: &file, eeprom: &eeprom }.machine()?;
    let mut statements = Statements {
        binding: Binding {
            device,
            image,
            start: file.start_address(device, header.start),
            ends_paths: file.ends_paths(),
            stacks: &file.stacks,
            boot_start: file.boot_start(device),
        },
        file: &file,
        table: AtomTable::new(),
        all: Vec::new(),
        always: Vec::new(),
        by_execution: Vec::new(),
        confined: Vec::new(),
    };
    let mut properties = statements.properties(certificate)?;
    let stack = statements.stack(&certificate.stack)?;
    let Statements { table, all: statements, always, by_execution, confined, .. } = statements;
    let rests_on_map =
        !always.is_empty() || !by_execution.is_empty() || matches!(certificate.stack.upper, Some(Upper::Map(_)));
    // SOUND: maps, claims and closed sets know nothing of the states of machines.
    if !file.machines.is_empty() && (rests_on_map || !confined.is_empty()) {
        return Err(Reason::MachinesUnknown.into());
    }
    let mapped = match &certificate.map {
        Some(map) => check_map(map, &machine, table.atoms(), (&always, &by_execution, &certificate.stack))?,
        None if rests_on_map => return Err(Reason::NoMap.into()),
        None => Mapped::default(),
    };
    for (property, basis) in mapped.bases {
        properties[property].proved = Proved::Decided(Verdict::Holds, basis);
    }
    let (mut states, mut outcomes) = (mapped.states, mapped.outcomes);
    for one in confined {
        let shown = closed_set::show(&machine, (table.atoms(), &one.bound), one.closed);
        let (basis, claims) = shown.map_err(|rejection| rejection.of(&one.name))?;
        properties[one.property].proved = Proved::Decided(Verdict::Violated, basis);
        (states, outcomes) = (states + claims.states, outcomes + claims.outcomes);
    }
    let watched = watched_events(table.atoms());
    let predicates = certificate.predicates.as_ref();
    let predicates = predicates.map(|kept| ground::predicates(kept, &machine, table.atoms())).transpose()?;
    check_store(&certificate.store, &machine, &watched, predicates.as_ref())?;
    let did: Vec<Vec<Occurred>> = certificate.store.did.iter().map(|seen| view::occurred(seen)).collect();
    let predicates = predicates.as_ref();
    let work = Work { certificate, machine: &machine, table: &table, watched: &watched, did: &did, predicates };
    let of_spaces = work.check_spaces(&statements)?;
    let (states, outcomes) = (states + of_spaces.0, outcomes + of_spaces.1);
    Ok(Report { properties, stack, states, outcomes, queries: mapped.queries, file })
}

/// The result of checking invariants and what follows from them.
#[derive(Default)]
struct Mapped {
    states: usize,
    outcomes: usize,
    /// The queries to the SAT solver.
    queries: usize,
    /// The basis of each property that symbolic execution proves.
    bases: Vec<(usize, Basis)>,
}

/// Checks the invariants and what is claimed to follow from them.
fn check_map(
    map: &Map,
    machine: &Machine,
    atoms: &[Atom],
    (always, by_execution, stack): (&[Always], &[ByExecution<'_>], &Stack),
) -> Result<Mapped, Rejection> {
    let invariants = Invariants::check(map, machine)?;
    for one in always {
        let shown = invariants.show(atoms, &one.bound, &one.formulas);
        shown.map_err(|rejection| rejection.of(&one.name))?;
    }
    if let Some(Upper::Map(bytes)) = &stack.upper {
        invariants.show_depth(*bytes).map_err(|rejection| rejection.of(STACK))?;
    }
    let mut mapped =
        Mapped { states: invariants.claims.states, outcomes: invariants.claims.outcomes, ..Mapped::default() };
    for one in by_execution {
        let shown = symbolic::show((machine, &invariants), (map, one), atoms);
        let accepted = shown.map_err(|rejection| rejection.of(&one.name))?;
        mapped.queries += accepted.queries;
        let basis = if accepted.freedom.rests_on_choices() { Basis::Model } else { Basis::Hardware };
        mapped.bases.push((one.property, basis));
    }
    Ok(mapped)
}

fn check_subject(header: &Header, image: &Image, device: &'static Device) -> Result<(), Rejection> {
    let certificate: String = header.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    if certificate != image.sha256 {
        return Err(Reason::OtherFirmware { certificate, firmware: image.sha256.clone() }.into());
    }
    if header.device != device.name {
        return Err(Reason::OtherDevice { certificate: header.device.clone(), device: device.name }.into());
    }
    Ok(())
}

/// The machine, the certificate and the labels that the checks of state spaces share.
struct Work<'a> {
    certificate: &'a Certificate,
    machine: &'a Machine,
    table: &'a AtomTable,
    watched: &'a [Event],
    did: &'a [Vec<Occurred>],
    predicates: Option<&'a Predicates>,
}

impl Work<'_> {
    /// Checks all proofs. Returns the numbers of states and of outcomes of steps that were checked.
    fn check_spaces(&self, statements: &[Statement<'_>]) -> Result<(usize, usize), Rejection> {
        let mut relied = vec![Relied::default(); self.certificate.spaces.len()];
        for space in &self.certificate.spaces {
            check_states(space, self.machine)?;
            let (labels, atoms) = (space.labels.atoms(), self.table.atoms().len());
            if labels != atoms {
                return Err(Reason::AtomCount { labels, atoms }.into());
            }
        }
        for statement in statements {
            for (sentence, proof) in &statement.proofs {
                let relied = &mut relied[proof.space as usize];
                let played = self.play(statement, sentence, proof, relied);
                played.map_err(|rejection| rejection.of(&statement.name))?;
            }
        }
        let mut outcomes = 0;
        for (number, relied) in relied.into_iter().enumerate() {
            outcomes += self.check_steps(number, &relied.duties())?;
        }
        Ok((self.certificate.spaces.iter().map(|space| space.states.len()).sum(), outcomes))
    }

    fn play(
        &self,
        statement: &Statement<'_>,
        sentence: &Sentence,
        proof: &Proof,
        relied: &mut Relied,
    ) -> Result<(), Rejection> {
        let land = Land {
            machine: self.machine,
            space: &self.certificate.spaces[proof.space as usize],
            store: &self.certificate.store,
            atoms: self.table.atoms(),
            watched: self.watched,
            did: self.did,
            predicates: self.predicates,
            observes_hazards: statement.observes_hazards,
        };
        let played = play(sentence, &land, &proof.strategy, Foundation::from(proof.basis), relied);
        played.map_err(|rejection| self.placed(proof.space as usize, rejection))
    }

    /// Checks everything that is relied on in a state space; how many outcomes were looked at.
    fn check_steps(&self, number: usize, duties: &Duties) -> Result<usize, Rejection> {
        let space = &self.certificate.spaces[number];
        let mut stepper =
            Stepper::new((self.machine, self.predicates), &self.certificate.store, self.watched, self.did);
        let mut looked_at = 0;
        for state in 0..space.states.len() as u32 {
            if !duties.concerns(state) {
                continue;
            }
            let checked = stepper.outcomes(space, state).and_then(|all: Vec<Outcome>| {
                looked_at += all.len();
                outcomes::check(state, &all, &space.edges, duties)
            });
            checked.map_err(|rejection| self.placed(number, rejection))?;
        }
        Ok(looked_at)
    }

    /// The rejection with the place of its state.
    fn placed(&self, space: usize, mut rejection: Rejection) -> Rejection {
        if let Some((state, place)) = &mut rejection.state {
            *place = match &self.certificate.spaces[space].states[*state as usize] {
                State::Running(running) => Some(running.control.pc.byte().0),
                State::Hazard { pc, .. } => Some(pc.byte().0),
                State::Start { .. } | State::Anything => None,
            };
        }
        rejection
    }
}
