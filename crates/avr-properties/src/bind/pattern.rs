//! The formulas that properties stand for, as trees over atoms and as text.
//!
//! Both are made side by side: the texts of the user are bound one by one, so that their variables cannot be captured
//! and errors point into them. The whole text is only shown. A test binds the whole text and compares.

use std::collections::BTreeSet;

use avr_image::Image;
use avr_machine::device::Device;
use mu_calculus::{
    AtomId, FixedPoint, Formula, LinearOperator, Modality, PathOperator, PathPairOperator, PathQuantifier, Variable,
    parse_formula, parse_path,
};

use super::{Binder, Binding, Bound, is_stutter_sensitive};
use crate::atom::{AtomKind, AtomTable};
use crate::conformance::SpecificationError;
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::main_entry::main_entry;
use crate::property::{InvariantStart, Property, PropertyKind, StackLimit};
use crate::state_atoms::{HAZARD, IN_STARTUP};
use crate::task_stack::{MAIN_STACK, unknown_stack};

/// The text of the formula that a property stands for, also if it cannot be bound.
///
/// For [`StackLimit::Margin`] on an image that does not tell where its static data end, the end stays a word.
#[must_use]
pub fn formula_text(property: &Property, definitions: &Definitions, binding: &Binding<'_>) -> String {
    let mut table = AtomTable::new();
    let mut binder = Binder::new(definitions, binding, &mut table);
    // An error is told by whoever binds the property.
    let from = binder.pattern(property).map_or(property.from, |_| binder.from);
    let own_text = binder.own_text.take();
    text_of(property, (from, own_text.as_deref()), binding.device, binding.image)
}

/// The text of the formula that a property stands for; those of an invariant's start and of waits are known once it is bound.
pub(super) fn text_of(
    property: &Property,
    (from, own_text): (Option<InvariantStart>, Option<&str>),
    device: &Device,
    image: &Image,
) -> String {
    let invariant = |p: String| match from {
        Some(InvariantStart::Main) => format!("AG ({IN_STARTUP} || {p})"),
        Some(InvariantStart::Reset) | None => format!("AG {p}"),
    };
    match &property.kind {
        PropertyKind::Inherent if property.excepted.is_empty() => format!("AG !{HAZARD}"),
        PropertyKind::Inherent => format!("AG !({HAZARD} other than {})", property.excepted.join(", ")),
        PropertyKind::Stack(limit) => own_text.map_or_else(|| main_stack_text(*limit, device, image), str::to_owned),
        PropertyKind::StackOf { of, limit } => own_text.map_or_else(|| task_stack_text(of, *limit), str::to_owned),
        PropertyKind::Formula { check } => check.clone(),
        PropertyKind::Ltl { check } => match parse_path(check) {
            Ok(psi) if psi.is_path_formula() => format!("A[{}]", check.trim()),
            _ => check.clone(),
        },
        PropertyKind::Conforms { to, .. } => {
            own_text.map_or_else(|| format!("nu {{ the states of {to} }}"), str::to_owned)
        }
        PropertyKind::NoHang { .. } => own_text.unwrap_or("AG (pc in L -> EF !(pc in L)) for each wait L").to_owned(),
        PropertyKind::Recovery { to } => format!("AG EF {}", closed(to)),
        PropertyKind::Always { check } => invariant(closed(check)),
        PropertyKind::Never { check } => invariant(format!("!{}", closed(check))),
        PropertyKind::Reachable { check } => format!("EF {}", closed(check)),
        PropertyKind::Response { after, eventually } => format!("AG ({} -> AF {})", closed(after), closed(eventually)),
        PropertyKind::Precedence { first, then } => format!("A[!{} W {}]", closed(then), closed(first)),
        PropertyKind::Until { holds, until } => format!("A[{} U {}]", closed(holds), closed(until)),
        PropertyKind::Mutex { between } => {
            let pairs = pairs(between).map(|(p, q)| format!("!({} && {})", closed(p), closed(q)));
            invariant(format!("({})", pairs.collect::<Vec<_>>().join(" && ")))
        }
        PropertyKind::StaysAfter { after, stays } => format!("AG ({} -> AG {})", closed(after), closed(stays)),
        PropertyKind::InfinitelyOften { check } => format!("AG AF {}", closed(check)),
        PropertyKind::EventuallyForever { check } if !property.under.is_empty() => format!("A[F G {}]", closed(check)),
        PropertyKind::EventuallyForever { check } => format!("mu X. nu Y. []X || ({} && []Y)", closed(check)),
    }
}

/// The text of p, where a text is `AG p` and p speaks of one state.
#[must_use]
pub fn without_always(text: &str) -> Option<String> {
    match parse_formula(text).ok()? {
        Formula::Path(PathQuantifier::All, PathOperator::Always, p) if p.is_boolean() => Some(p.to_string()),
        _ => None,
    }
}

/// The text with parentheses, unless it is a single word.
fn closed(text: &str) -> String {
    let text = text.trim();
    let word = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if word { text.to_owned() } else { format!("({text})") }
}

/// Each two, in order.
fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().enumerate().flat_map(|(index, p)| all[index + 1..].iter().map(move |q| (p, q)))
}

/// The limit of [`StackLimit::Margin`] with the end of the static data as a word.
pub(super) fn margin_text(bytes: u32) -> String {
    format!("AG (sp_torn || sp >= end_of_static_data + {bytes} - 1)")
}

/// Section 4.3 of the design: judged wherever SP is whole.
fn stack_text(lowest: u32) -> String {
    format!("AG (sp_torn || sp >= {lowest:#x})")
}

/// The limit of the main stack, where nothing is known of tasks.
fn main_stack_text(limit: StackLimit, device: &Device, image: &Image) -> String {
    match lowest_stack_pointer(limit, device, image) {
        Some(lowest) => stack_text(lowest),
        None => margin_text(margin_of(limit)),
    }
}

/// The limit of one of several stacks, judged where it is in use.
fn stack_text_of(stack: &str, lowest: u32) -> String {
    format!("AG (sp_torn || !on_stack({stack}) || sp >= {lowest:#x})")
}

/// The limit of the stack of a task, with its end as words.
pub(super) fn task_stack_text(of: &str, limit: StackLimit) -> String {
    let lowest = match limit {
        StackLimit::MaxBytes(bytes) => format!("top_of_stack - {bytes}"),
        StackLimit::Margin(bytes) => format!("end_of_stack + {bytes} - 1"),
    };
    format!("AG (sp_torn || !on_stack({of}) || sp >= {lowest})")
}

/// The lowest value that SP may have: SP points to the free byte below the last one that is used.
fn lowest_stack_pointer(limit: StackLimit, device: &Device, image: &Image) -> Option<u32> {
    match limit {
        StackLimit::MaxBytes(bytes) => Some(u32::from(device.memory.sram_end.0).saturating_sub(bytes)),
        StackLimit::Margin(bytes) => {
            let end = image.static_data_end()?;
            Some((u32::from(end.0) + bytes.min(u32::from(u16::MAX))).saturating_sub(1))
        }
    }
}

fn margin_of(limit: StackLimit) -> u32 {
    let (StackLimit::Margin(bytes) | StackLimit::MaxBytes(bytes)) = limit;
    bytes
}

impl Binder<'_> {
    /// The formula of a property, and whether it counts steps.
    pub(super) fn pattern(&mut self, property: &Property) -> Result<(Bound, bool), PropertyError> {
        let formula = match &property.kind {
            PropertyKind::EventuallyForever { check } => {
                let check = self.formula(check)?;
                // It is `F G p` over all paths, which is the same when steps that change no atom are left out.
                let counts = is_stutter_sensitive(&check);
                let fair = !property.under.is_empty();
                return Ok((if fair { all_eventually_always(check) } else { eventually_forever(check) }, counts));
            }
            PropertyKind::Inherent => globally(not(Formula::Atom(self.atom(HAZARD, AtomKind::Hazard)))),
            PropertyKind::Stack(limit) => self.stack(*limit)?,
            PropertyKind::StackOf { of, limit } => self.stack_of(of, *limit)?,
            PropertyKind::Formula { check } => self.formula(check)?,
            PropertyKind::Ltl { check } => self.linear(check)?,
            PropertyKind::NoHang { except } => self.no_hang(except)?,
            PropertyKind::Conforms { to, alphabet, relation, deadlock, specification } => {
                let missing = || PropertyErrorKind::Specification(SpecificationError::NotRead(to.clone())).error();
                let automaton = specification.as_deref().ok_or_else(missing)?;
                self.conforms(automaton, alphabet.as_deref(), *relation, *deadlock)?
            }
            PropertyKind::Recovery { to } => globally(exists_eventually(self.formula(to)?)),
            PropertyKind::Always { check } => {
                let check = self.formula(check)?;
                self.invariant(property, check)?
            }
            PropertyKind::Never { check } => {
                let check = not(self.formula(check)?);
                self.invariant(property, check)?
            }
            PropertyKind::Reachable { check } => exists_eventually(self.formula(check)?),
            PropertyKind::Response { after, eventually } => {
                let (after, eventually) = (self.formula(after)?, self.formula(eventually)?);
                globally(implies(after, all(PathOperator::Eventually, eventually)))
            }
            PropertyKind::Precedence { first, then } => {
                let (first, then) = (self.formula(first)?, self.formula(then)?);
                all_pair(PathPairOperator::WeakUntil, not(then), first)
            }
            PropertyKind::Until { holds, until } => {
                let (holds, until) = (self.formula(holds)?, self.formula(until)?);
                all_pair(PathPairOperator::Until, holds, until)
            }
            PropertyKind::Mutex { between } => {
                let between = between.iter().map(|text| self.formula(text)).collect::<Result<Vec<_>, _>>()?;
                let apart = pairs(&between).map(|(p, q)| not(Formula::And(vec![p.clone(), q.clone()])));
                self.invariant(property, conjunction(apart.collect()))?
            }
            PropertyKind::StaysAfter { after, stays } => {
                let (after, stays) = (self.formula(after)?, self.formula(stays)?);
                globally(implies(after, globally(stays)))
            }
            PropertyKind::InfinitelyOften { check } => globally(all(PathOperator::Eventually, self.formula(check)?)),
        };
        let counts = is_stutter_sensitive(&formula);
        Ok((formula, counts))
    }

    /// `AG p`, or `AG (in_startup || p)` where the invariant begins with the main program.
    fn invariant(&mut self, property: &Property, p: Bound) -> Result<Bound, PropertyError> {
        if property.was_condition {
            let text = &property.name;
            self.notes.push(format!(
                "`{text}` has no temporal operator, so it is checked in every state, as Always(check: …) does; \
                 Formula(check: …) asks for the first state only"
            ));
        }
        let main = main_entry(self.image, self.device);
        let is_of_memory = property.from.is_none() && self.speaks_of_memory(&p);
        let start = match (property.from, main) {
            (Some(InvariantStart::Main), None) => return Err(PropertyErrorKind::NoMain.error()),
            (Some(start), _) => start,
            (None, Some(_)) if is_of_memory => InvariantStart::Main,
            (None, None) if is_of_memory => {
                self.notes.push(
                    "the image does not tell where main begins: the states before are judged as well, in which variables \
                     hold anything until the start-up code sets them"
                        .to_owned(),
                );
                InvariantStart::Reset
            }
            (None, _) => InvariantStart::Reset,
        };
        self.from = Some(start);
        Ok(match start {
            InvariantStart::Reset => globally(p),
            InvariantStart::Main => {
                let startup = Formula::Atom(self.atom(IN_STARTUP, AtomKind::InStartup));
                globally(Formula::Or(vec![startup, p]))
            }
        })
    }

    /// True if a formula reads the SRAM and nothing else: no event, no register, no condition of the language.
    fn speaks_of_memory(&self, formula: &Bound) -> bool {
        let sram = self.device.memory.sram_start;
        let atoms: BTreeSet<AtomId> = formula.atoms().into_iter().copied().collect();
        let mut reads = false;
        let is_of_memory = atoms.iter().all(|atom| {
            let atom = self.table.get(*atom);
            match atom.kind() {
                AtomKind::Constant(_) => true,
                AtomKind::CellEquals { address, .. } => {
                    reads = true;
                    *address >= sram
                }
                AtomKind::Compare(compare) => {
                    reads = true;
                    compare.reads_only_from(sram)
                }
                AtomKind::PcEquals(_)
                | AtomKind::PcIn(_)
                | AtomKind::PcAmong(_)
                | AtomKind::InInterrupt
                | AtomKind::StackPointerTorn
                | AtomKind::OnStack(_)
                | AtomKind::Sleeping
                | AtomKind::InStartup
                | AtomKind::Hazard
                | AtomKind::Ended
                | AtomKind::Event(..) => false,
            }
        });
        reads && is_of_memory
    }

    fn stack(&mut self, limit: StackLimit) -> Result<Bound, PropertyError> {
        let lowest = lowest_stack_pointer(limit, self.device, self.image);
        let lowest = lowest.ok_or_else(|| PropertyErrorKind::NoStaticData.error())?;
        if self.stacks.is_empty() {
            return self.limit_of_stack(stack_text(lowest));
        }
        self.limit_of_stack(stack_text_of(MAIN_STACK, lowest))
    }

    fn stack_of(&mut self, of: &str, limit: StackLimit) -> Result<Bound, PropertyError> {
        let Some(stack) = self.stacks.iter().find(|stack| stack.is_named(of)) else {
            return Err(unknown_stack(of, self.stacks).error());
        };
        let area = self.area_of(stack)?;
        let lowest = match limit {
            StackLimit::MaxBytes(bytes) => u32::from(area.highest.0).saturating_sub(bytes),
            StackLimit::Margin(bytes) => (u32::from(area.lowest.0) + bytes.min(u32::from(u16::MAX))).saturating_sub(1),
        };
        self.limit_of_stack(stack_text_of(&stack.name, lowest))
    }

    /// A limit of a stack by its text.
    fn limit_of_stack(&mut self, text: String) -> Result<Bound, PropertyError> {
        let formula = self.formula(&text);
        self.own_text = Some(text);
        // Nobody wrote the comparison.
        self.notes.clear();
        self.always_true.clear();
        formula
    }
}

pub(super) fn not(p: Bound) -> Bound {
    Formula::Not(Box::new(p))
}

pub(super) fn implies(p: Bound, q: Bound) -> Bound {
    Formula::Implies(Box::new(p), Box::new(q))
}

fn all(operator: PathOperator, p: Bound) -> Bound {
    Formula::Path(PathQuantifier::All, operator, Box::new(p))
}

pub(super) fn globally(p: Bound) -> Bound {
    all(PathOperator::Always, p)
}

pub(super) fn exists_eventually(p: Bound) -> Bound {
    Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, Box::new(p))
}

fn all_pair(operator: PathPairOperator, p: Bound, q: Bound) -> Bound {
    Formula::PathPair(PathQuantifier::All, operator, Box::new(p), Box::new(q))
}

/// A single operand stays as it is: `And` has two or more.
pub(super) fn conjunction(mut operands: Vec<Bound>) -> Bound {
    if operands.len() == 1 { operands.remove(0) } else { Formula::And(operands) }
}

/// `A[F G p]`, for which fairness has a meaning.
fn all_eventually_always(p: Bound) -> Bound {
    let always = Formula::Linear(LinearOperator::Always, Box::new(p));
    Formula::quantified(PathQuantifier::All, Formula::Linear(LinearOperator::Eventually, Box::new(always)))
}

/// `mu X. nu Y. []X || (p && []Y)`; p is closed, so the names capture nothing.
fn eventually_forever(p: Bound) -> Bound {
    let (x, y) = (Variable::new("X"), Variable::new("Y"));
    let after = |variable: &Variable| Formula::Modal(Modality::Box, Box::new(Formula::Variable(variable.clone())));
    let body = Formula::Or(vec![after(&x), Formula::And(vec![p, after(&y)])]);
    let inner = Formula::Fixed(FixedPoint::Greatest, y, Box::new(body));
    Formula::Fixed(FixedPoint::Least, x, Box::new(inner))
}
