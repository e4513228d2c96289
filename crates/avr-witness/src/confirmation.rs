//! The claims that a run shows, in words and figures.

use crate::concretise::view::ConcreteView;
use crate::concretise::{Branch, Ending, Walked};
use crate::evidence::{AtomTrace, Evidence, EvidenceKind, LastState, MAX_BRANCHES, Search, Unshown};
use crate::failure::Failure;
use crate::minimise::Minimiser;
use crate::narrative::events::Told;
use crate::narrative::{events, formula_text};
use crate::replay::{Confirmed, confirm};
use crate::target_condition;
use avr_isa::DataAddress;
use avr_machine::simulator::Stimulus;
use avr_model::context::Context;
use avr_properties::{AtomKind, CellsRead};
use mu_calculus::{AtomId, NodeId};
use tvar::{Goal, Watch};

/// Tells what runs show of a goal that has this value.
#[derive(Clone, Copy)]
pub(crate) struct Confirmation<'a, 'f> {
    pub(crate) context: &'a Context<'f>,
    pub(crate) goal: &'a Goal,
    pub(crate) value: bool,
    pub(crate) watch: &'a dyn Watch,
}

impl Confirmation<'_, '_> {
    /// The outcome of a search whose run was to show the verdict by itself.
    pub(crate) fn search(&self, walked: Walked) -> Search {
        match self.evidence(walked) {
            Ok((evidence, _)) => Search::Found(Box::new(evidence)),
            Err(unshown) => Search::failed(*unshown),
        }
    }

    /// A run with its replay, and the claims about other continuations that it leaves.
    pub(crate) fn evidence(&self, walked: Walked) -> Result<(Evidence, Vec<Branch>), Unshown> {
        let Self { context, goal, value, watch } = *self;
        let formula = &goal.formula;
        match confirm(context, formula, value, &walked, watch) {
            Ok(confirmed) if confirmed.alone => {
                let claim = self.claim(&walked);
                let (walked, confirmed) = Minimiser { context, formula, value, watch }.minimise(walked, confirmed);
                let (evidence, branches) = self.told(&walked, confirmed);
                Ok((Evidence { claim, ..evidence }, branches))
            }
            Ok(confirmed) => Ok(self.told(&walked, confirmed)),
            Err(reason) => Err(Box::new((Failure::Fault(reason), Some(unconfirmed(&walked))))),
        }
    }

    /// A subformula with the value that it has.
    pub(crate) fn statement(&self, node: NodeId) -> String {
        formula_text::text(&self.goal.formula, self.context.atoms, node)
    }

    pub(crate) fn told(&self, walked: &Walked, confirmed: Confirmed) -> (Evidence, Vec<Branch>) {
        let context = self.context;
        let watched = Vec::new();
        let view = ConcreteView { machine: context.machine, state: &confirmed.last, watched: &watched, did: &[] };
        let atoms = self.goal.formula.atoms();
        let known = |atom: &AtomId| {
            let text = context.atoms[atom.index()].text().to_owned();
            Some((text, view.label(context.atoms, *atom).known()?))
        };
        let is_end = |atom: &AtomId| matches!(context.atoms[atom.index()].kind(), AtomKind::Hazard | AtomKind::Ended);
        let end = LastState {
            pc: confirmed.last.control.pc.byte().0,
            stack_pointer: view.stack_pointer(),
            stack_end: context.machine.stack_end(confirmed.last.control.stack),
            status: *confirmed.last.data.get(context.machine.status_address()),
            hazard: match walked.ending {
                Ending::Hazard(hazard) => Some(hazard),
                _ => None,
            },
        };
        let atoms: Vec<(String, bool)> = atoms.iter().filter(|atom| !is_end(atom)).filter_map(known).collect();
        let traces = confirmed.traces.into_iter().filter(|(atom, _)| !is_end(atom));
        let text = |atom: AtomId| context.atoms[atom.index()].text().to_owned();
        let traces = traces.map(|(atom, changes)| AtomTrace { text: text(atom), changes }).collect();
        let evidence = Evidence {
            cycles: confirmed.cycles,
            claim: self.claim(walked),
            proved: if confirmed.alone { Vec::new() } else { self.proved(walked) },
            replayed: true,
            end,
            ends_in_startup: confirmed.ends_in_startup,
            calls: confirmed.last.calls.frames().to_vec(),
            atoms,
            traces,
            cells: self.cells(),
            narrative: confirmed.narrative,
            reached: target_condition::reached(&self.goal.formula, context.atoms, self.value, walked),
            ..unconfirmed(walked)
        };
        (evidence, if confirmed.alone { Vec::new() } else { walked.branches.clone() })
    }

    fn cells(&self) -> Vec<DataAddress> {
        let atoms = self.goal.formula.atoms();
        let read = atoms.iter().map(|atom| self.context.atoms[atom.index()].cells());
        let mut cells: Vec<DataAddress> = read
            .flat_map(|cells| match cells {
                CellsRead::These(cells) => cells.into_iter().map(|(address, _)| address).collect(),
                CellsRead::All => Vec::new(),
            })
            .collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The claim that the run shows.
    fn claim(&self, walked: &Walked) -> String {
        let steps = walked.run.steps;
        let counted = |count: u64| if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
        match walked.ending {
            Ending::Hazard(hazard) => format!("after {} the next one is the hazard {hazard}", counted(steps)),
            Ending::Lasso(start) => {
                let during = self.atoms_of(walked, "stays");
                format!("from step {start} on the same {} repeat for ever{during}", counted(steps - start))
            }
            Ending::Unending => format!("the run goes on like this for ever{}", self.atoms_of(walked, "stays")),
            Ending::Shown if steps == 0 => format!("in the first state{}", self.at_the_end(walked)),
            Ending::Shown => format!("after {}{}", counted(steps), self.at_the_end(walked)),
        }
    }

    fn at_the_end(&self, walked: &Walked) -> String {
        let atoms = self.atoms_of(walked, "is");
        let remaining = walked.universal.iter().filter(|one| one.step == walked.run.steps);
        let remaining: Vec<String> = remaining.map(|one| self.fails_or_holds(one.node, one.value)).collect();
        let atoms = atoms.trim_start_matches(", and");
        match (atoms.is_empty(), remaining.is_empty()) {
            (true, true) => " the claim is shown".to_owned(),
            (_, true) => atoms.to_owned(),
            _ => format!(" {}", remaining.join(", and ")),
        }
    }

    fn fails_or_holds(&self, node: NodeId, value: bool) -> String {
        let text = self.statement(node);
        if value { format!("'{text}' holds") } else { format!("'{text}' does not hold") }
    }

    /// The atoms that are claimed of the last state.
    fn atoms_of(&self, walked: &Walked, verb: &str) -> String {
        let Some((_, claims)) = walked.claims.last() else { return String::new() };
        let atoms = self.context.atoms;
        let said = claims.iter().map(|(atom, value)| format!("'{}' {verb} {value}", atoms[atom.index()].text()));
        let all: Vec<String> = said.collect();
        if all.is_empty() { String::new() } else { format!(", and {}", all.join(", ")) }
    }

    /// The claims that the run cannot show.
    fn proved(&self, walked: &Walked) -> Vec<String> {
        let mut all = Vec::new();
        for one in &walked.universal {
            let what = self.fails_or_holds(one.node, one.value);
            let place = match (one.step, one.step == walked.run.steps) {
                (_, true) => "at the end".to_owned(),
                (step, _) => format!("up to step {step}"),
            };
            all.push(format!("{what} {place}, whatever comes after it"));
        }
        if walked.ending == Ending::Unending {
            all.push("the run goes on for ever".to_owned());
        }
        for branch in walked.branches.iter().skip(MAX_BRANCHES) {
            all.push(format!("after {} steps {}", branch.step, self.statement(branch.node)));
        }
        all
    }
}

/// The evidence of a run that no replay has confirmed.
pub(crate) fn unconfirmed(walked: &Walked) -> Evidence {
    let run = &walked.run;
    let (kind, loop_start) = match walked.ending {
        Ending::Shown => (EvidenceKind::Path, None),
        Ending::Hazard(_) => (EvidenceKind::Hazard, None),
        Ending::Lasso(start) => (EvidenceKind::Lasso, Some(start)),
        Ending::Unending => (EvidenceKind::Unending, None),
    };
    Evidence {
        kind,
        steps: run.steps,
        cycles: 0,
        loop_start,
        stimulus: Stimulus::exact(run.initial.clone(), run.inputs.clone()),
        chosen: run.chosen.iter().map(|(step, asked)| events::chosen(*step, asked)).collect(),
        abstracted: run.abstracted,
        left_to_hardware: run.left_to_hardware,
        is_repeated_in_time: match walked.ending {
            Ending::Shown | Ending::Hazard(_) => true,
            Ending::Lasso(start) => run.is_repeated_in_time(start),
            Ending::Unending => run.spaced.is_empty(),
        },
        claim: "the run was to show the verdict, and does not".to_owned(),
        proved: Vec::new(),
        replayed: false,
        end: LastState { pc: 0, stack_pointer: DataAddress(0), stack_end: DataAddress(0), status: 0, hazard: None },
        ends_in_startup: false,
        calls: Vec::new(),
        atoms: Vec::new(),
        traces: Vec::new(),
        cells: Vec::new(),
        narrative: Told::default(),
        reached: None,
        confirmed: None,
        specification: Vec::new(),
        branches: Vec::new(),
        continuation: None,
    }
}
