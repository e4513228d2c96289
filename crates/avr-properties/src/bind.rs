//! Binding: formulas with names become formulas over atoms of one device and one image.

mod assumption;
mod comparison;
mod conforms;
mod contract;
mod ending;
mod entry;
mod event;
mod fairness;
mod machine;
mod name;
mod no_hang;
mod operand;
mod part;
mod pattern;
mod predicate;
mod returned;
mod start;
mod stated;
mod task_stack;

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use avr_image::Image;
use avr_isa::DataAddress;
use avr_machine::device::Device;
use mu_calculus::{
    AtomId, Comparison, Formula, LinearOperator, Modality, NormalForm, ParseError, PathOperator, PathQuantifier, Span,
    TranslateError, parse_formula, parse_linear,
};

use crate::atom::{Atom, AtomKind, AtomTable};
use crate::conformance::Monitor;
use crate::definitions::{Definitions, definition_title};
use crate::error::{PropertyError, PropertyErrorKind};
use crate::expression::MemoryMap;
use crate::property::{InvariantStart, Property, PropertyKind};
use crate::task_stack::TaskStack;
pub use assumption::{Assumptions, BoundAssumption, bind_assumption, bind_assumptions};
pub use contract::bind_contracts;
use ending::Ending;
pub use fairness::Fairness;
pub use machine::bind_machines;
use pattern::text_of;
pub use pattern::{formula_text, without_always};
pub use predicate::{ComparedNumbers, NamedPredicates, Order, bind_predicates};
pub(crate) use start::{bind_starts, fixed_bits_of_starts};
pub(crate) use stated::{observes_startup, stated};
pub(crate) use task_stack::bind_stacks;

/// The device and the image that names are bound to.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The device, for registers, bits and interrupts.
    pub device: &'a Device,
    /// The image, for symbols.
    pub image: &'a Image,
    /// Flash byte address of the first instruction ([`PropertyFile::start_address`]).
    ///
    /// [`PropertyFile::start_address`]: crate::PropertyFile::start_address
    pub start: u32,
    /// True if paths end in hazards that are allowed and after which nothing is defined ([`PropertyFile::ends_paths`]).
    ///
    /// [`PropertyFile::ends_paths`]: crate::PropertyFile::ends_paths
    pub ends_paths: bool,
    /// The stacks of tasks, by their numbers from 1.
    pub stacks: &'a [TaskStack],
    /// Flash byte address of the boot section ([`PropertyFile::boot_start`]); none on a device without one.
    ///
    /// [`PropertyFile::boot_start`]: crate::PropertyFile::boot_start
    pub boot_start: Option<u32>,
}

/// A property whose names are bound.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundProperty {
    /// The kind, as reports name it.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The text of the formula that is checked.
    pub formula_text: String,
    /// The formula over the atoms of the [`AtomTable`], as it is stated: without what is assumed.
    pub formula: Formula<AtomId>,
    /// The formula that is to be checked, in positive normal form: of the paths that are fair and never end only.
    pub normal_form: NormalForm,
    /// The paths that the property speaks of.
    restriction: Restriction,
    /// The atom that marks paths that end, if some may.
    ending: Option<Ending>,
    /// The atoms of the formula, ascending, each once.
    pub atoms: Vec<AtomId>,
    /// True if the formula speaks of hazards (the atom `hazard`). Then a state behind a hazard is one that is never
    /// left, in which this atom is true and all others are unknown.
    pub observes_hazards: bool,
    /// True if the formula counts steps (`AX`, `EX`, `[]`, `<>`), so that every instruction must be a step. Without
    /// these, and for the patterns, it does not change when steps that change no atom are left out.
    pub is_stutter_sensitive: bool,
    /// Notes for the user about the reading of names.
    pub notes: Vec<String>,
    /// The first states that it speaks of, if it is an invariant.
    pub from: Option<InvariantStart>,
    /// The comparisons of the property's own text that are true in every state: it says nothing by them.
    pub always_true: Vec<String>,
    /// The specification that the firmware is to conform to, if the property names one.
    pub monitor: Option<Arc<Monitor>>,
}

impl BoundProperty {
    /// A formula of this property as it is checked: about what comes before the start, where the initial content is chosen, and restricted
    /// to the paths that the property speaks of.
    ///
    /// # Errors
    /// If fairness has no meaning for the formula. It has one for every [`formula`](Self::formula) that was bound.
    pub fn from_start(&self, formula: &Formula<AtomId>) -> Result<NormalForm, PropertyError> {
        self.restricted(&Formula::Modal(Modality::Box, Box::new(formula.clone())))
    }

    /// A formula of this property, restricted to the paths that the property speaks of.
    ///
    /// # Errors
    /// As [`from_start`](Self::from_start).
    pub fn restricted(&self, formula: &Formula<AtomId>) -> Result<NormalForm, PropertyError> {
        normal_form(&self.restriction.of(formula)?)
    }

    /// The fairness that is assumed.
    #[must_use]
    pub fn fairness(&self) -> Option<&Fairness> {
        self.restriction.fairness.as_ref()
    }

    /// That a fair path starts in every state that can be reached, without which no verdict stands under fairness. A formula about what
    /// comes before the start; none without fairness.
    ///
    /// # Panics
    /// Never: it translates if what is assumed does.
    #[must_use]
    pub fn stays_fair(&self) -> Option<NormalForm> {
        let goes_on = Box::new(self.fairness()?.goes_on.clone());
        let everywhere = Formula::Path(PathQuantifier::All, PathOperator::Always, goes_on);
        let from_start = Formula::Modal(Modality::Box, Box::new(everywhere));
        let endless = self.ending.map_or_else(|| from_start.clone(), |ending| ending.restrict(&from_start));
        Some(NormalForm::new(&endless).expect("E[fair] translates, and so does AG of it"))
    }

    /// That something is left to speak of where paths may end, without which the property does not hold: some initial content has a path
    /// that never ends. A formula about what comes before the start.
    ///
    /// # Panics
    /// Never: it translates.
    #[must_use]
    pub fn something_is_left(&self) -> Option<NormalForm> {
        let left = self.ending?.something_is_left();
        Some(NormalForm::new(&left).expect("it is closed"))
    }
}

/// The paths that a property speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Restriction {
    /// The fairness that is assumed of them.
    fairness: Option<Fairness>,
    /// Those that end are left out. Not for the inherent property: a path into a hazard that is not allowed never ends.
    ending: Option<Ending>,
}

impl Restriction {
    /// A formula with every operator restricted to these paths.
    ///
    /// # Errors
    /// If fairness has no meaning for the formula.
    fn of(&self, formula: &Formula<AtomId>) -> Result<Formula<AtomId>, PropertyError> {
        let fair = match &self.fairness {
            Some(fairness) => fairness.restrict(formula)?,
            None => formula.clone(),
        };
        Ok(self.ending.map_or_else(|| fair.clone(), |ending| ending.restrict(&fair)))
    }
}

/// Something wrong at a place of the formula.
type Fault = (PropertyErrorKind, Span);

/// Binds a property, and adds its atoms to the table.
///
/// # Errors
/// If a formula is none, when a name means nothing, several things or nothing that a state holds, and when the
/// property is not supported yet ([`PropertyError::unsupported`]). The table is then as before.
pub fn bind(
    property: &Property,
    definitions: &Definitions,
    binding: &Binding<'_>,
    table: &mut AtomTable,
) -> Result<BoundProperty, PropertyError> {
    let before = table.atoms().len();
    let bound = Binder::new(definitions, binding, table).property(property);
    if bound.is_err() {
        table.truncate(before);
    }
    bound.map_err(|error| error.of_property(property.name(), property.place()))
}

/// The atom that tells where a path ended, as reports name it. No property file can.
const ENDED: &str = "the path ended";

/// The literal that a comparison is bound to: an atom, or the negation of one.
#[derive(Clone, Copy)]
struct Literal {
    atom: AtomId,
    negated: bool,
}

/// The subject of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// The content of states.
    States,
    /// The values that hardware supplies.
    Inputs,
    /// The content of memory where the program begins; the EEPROM is part of it.
    Starts,
}

/// Binds the formulas of one property.
struct Binder<'a> {
    definitions: &'a Definitions,
    device: &'a Device,
    image: &'a Image,
    start: u32,
    subject: Subject,
    map: Arc<MemoryMap>,
    stack_pointer: [Option<DataAddress>; 2],
    ends_paths: bool,
    stacks: &'a [TaskStack],
    boot_start: Option<u32>,
    table: &'a mut AtomTable,
    /// The atoms bound so far.
    known: HashMap<Comparison, Literal>,
    /// The definitions whose atoms are bound.
    visited: BTreeSet<&'a str>,
    notes: Vec<String>,
    /// The comparisons that are true in every state and stand in the property's own text.
    always_true: Vec<String>,
    /// True while the text of a definition is bound.
    in_definition: bool,
    /// The first states that the property speaks of, if it is an invariant.
    from: Option<InvariantStart>,
    /// The text of the formula, if it is known only once it is bound: of waits, of a specification.
    own_text: Option<String>,
    /// The specification, if the property names one.
    monitor: Option<Arc<Monitor>>,
}

/// A formula whose names are bound.
type Bound = Formula<AtomId>;

impl<'a> Binder<'a> {
    fn new(definitions: &'a Definitions, binding: &Binding<'a>, table: &'a mut AtomTable) -> Self {
        let Binding { device, image, start, ends_paths, stacks, boot_start } = *binding;
        let address = |name| device.register(name).map(|register| register.address);
        Self {
            definitions,
            device,
            image,
            start,
            subject: Subject::States,
            map: Arc::new(memory_map(device)),
            stack_pointer: [address("SPL"), address("SPH")],
            ends_paths,
            stacks,
            boot_start,
            table,
            known: HashMap::new(),
            visited: BTreeSet::new(),
            notes: Vec::new(),
            always_true: Vec::new(),
            in_definition: false,
            from: None,
            own_text: None,
            monitor: None,
        }
    }

    fn property(&mut self, property: &Property) -> Result<BoundProperty, PropertyError> {
        let (formula, is_stutter_sensitive) = self.pattern(property)?;
        let always_true = std::mem::take(&mut self.always_true);
        let fairness = self.fairness(property)?;
        let ending = self.ends_paths.then(|| Ending { ended: self.atom(ENDED, AtomKind::Ended) });
        let restriction = Restriction { fairness, ending: ending.filter(|_| property.kind != PropertyKind::Inherent) };
        let normal_form = normal_form(&restriction.of(&formula)?)?;
        let atoms = normal_form.atoms();
        let observes_hazards = atoms.iter().any(|atom| *self.table.get(*atom).kind() == AtomKind::Hazard);
        if observes_hazards && !property.under.is_empty() {
            return Err(PropertyErrorKind::unsupported("the atom `hazard` together with `under`").error());
        }
        Ok(BoundProperty {
            kind: property.kind.name(),
            name: property.name.clone(),
            formula_text: text_of(property, (self.from, self.own_text.as_deref()), self.device, self.image),
            from: self.from,
            atoms,
            observes_hazards,
            formula,
            normal_form,
            restriction,
            ending,
            is_stutter_sensitive,
            notes: std::mem::take(&mut self.notes),
            always_true,
            monitor: self.monitor.take(),
        })
    }

    /// A text as a closed formula over atoms.
    fn formula(&mut self, text: &str) -> Result<Formula<AtomId>, PropertyError> {
        self.bound(text, parse_formula(text))
    }

    /// The text of a formula of linear time as a formula that speaks of all paths.
    fn linear(&mut self, text: &str) -> Result<Formula<AtomId>, PropertyError> {
        self.bound(text, parse_linear(text))
    }

    /// Binds a parsed text to atoms, with definitions expanded.
    fn bound(
        &mut self,
        text: &str,
        parsed: Result<Formula<Comparison>, ParseError>,
    ) -> Result<Formula<AtomId>, PropertyError> {
        let parsed = parsed.map_err(|error| PropertyErrorKind::Formula(error.kind).at(error.span, text))?;
        let definitions = self.definitions;
        let expanded = definitions.formulas.expand(&parsed).map_err(|error| PropertyErrorKind::from(error).error())?;
        self.bind_atoms(&parsed, text)?;
        self.with_negations(&expanded).try_map_atoms(&mut |comparison| Ok(self.literal(comparison).atom))
    }

    fn literal(&self, comparison: &Comparison) -> Literal {
        *self.known.get(comparison).expect("the atoms of the formula and of its definitions are bound")
    }

    /// The formula with `!` in front of the comparisons whose atom is their negation.
    fn with_negations(&self, formula: &Formula<Comparison>) -> Formula<Comparison> {
        match formula {
            Formula::Atom(comparison) if self.literal(comparison).negated => Formula::Not(Box::new(formula.clone())),
            _ => {
                let signed = formula.try_map_children(&mut |child| Ok::<_, Infallible>(self.with_negations(child)));
                signed.unwrap_or_else(|never| match never {})
            }
        }
    }

    /// Binds the atoms of a formula and of the definitions that it uses, each with its own text for errors.
    fn bind_atoms(&mut self, formula: &Formula<Comparison>, text: &str) -> Result<(), PropertyError> {
        let mut pending = self.bind_own_atoms(formula, text).map_err(|(kind, span)| kind.at(span, text))?;
        while let Some(name) = pending.pop() {
            let definitions = self.definitions;
            let (Some(formula), Some(text)) = (definitions.formulas.get(name), definitions.text(name)) else {
                continue;
            };
            let in_definition =
                |(kind, span): Fault| kind.at(span, text).of_property(&definition_title(name), definitions.place(name));
            self.in_definition = true;
            let used = self.bind_own_atoms(formula, text).map_err(in_definition);
            self.in_definition = false;
            pending.extend(used?);
        }
        Ok(())
    }

    /// Binds the atoms that are no definitions; the names of definitions not seen before.
    fn bind_own_atoms(&mut self, formula: &Formula<Comparison>, text: &str) -> Result<Vec<&'a str>, Fault> {
        let mut used = Vec::new();
        let definitions = self.definitions;
        for comparison in formula.atoms() {
            let name = comparison.bare_name().and_then(|name| definitions.iter().find(|(known, _)| *known == name));
            match name {
                Some((name, _)) if self.visited.insert(name) => used.push(name),
                Some(_) => {}
                None if self.known.contains_key(comparison) => {}
                None => {
                    let bound = self.comparison(comparison, text)?;
                    self.known.insert(comparison.clone(), bound);
                }
            }
        }
        Ok(used)
    }

    fn atom(&mut self, text: &str, kind: AtomKind) -> AtomId {
        self.table.intern(Atom::new(text, kind, self.stack_pointer))
    }
}

/// The normal form of a formula.
fn normal_form(formula: &Formula<AtomId>) -> Result<NormalForm, PropertyError> {
    NormalForm::new(formula).map_err(|error| match error {
        TranslateError::TooLarge | TranslateError::TooDeep => {
            PropertyErrorKind::GrowsTooLarge(error.to_string()).error()
        }
        other => PropertyErrorKind::Expansion(other.to_string()).error(),
    })
}

/// True if the formula names single steps.
fn is_stutter_sensitive(formula: &Formula<AtomId>) -> bool {
    let here = matches!(
        formula,
        Formula::Modal(Modality::Box | Modality::Diamond, _)
            | Formula::Path(_, PathOperator::Next, _)
            | Formula::Linear(LinearOperator::Next | LinearOperator::Yesterday, _)
    );
    here || formula.children().into_iter().any(is_stutter_sensitive)
}

/// The bits of the data memory that are no state: those that hardware changes, and where there is no register.
fn memory_map(device: &Device) -> MemoryMap {
    let hidden = DataAddress(0).until(device.memory.sram_start).map(|address| match device.register_at(address) {
        Some(register) => {
            let hidden =
                |(bit, index): (&avr_machine::device::Bit, u8)| u8::from(bit.kind.is_changed_by_hardware()) << index;
            register.bits.iter().zip(0..).map(hidden).sum()
        }
        None if device.is_io_area(address) => 0xff,
        None => 0,
    });
    MemoryMap { end: device.memory.sram_end, hidden: hidden.collect() }
}
