//! Errors in a property file or a property: the problem, its place, and advice.

use std::fmt;

use avr_image::SymbolError;
use avr_isa::DataAddress;
use mu_calculus::{ExpandError, ParseErrorKind, Span};
use thiserror::Error;

use crate::conformance::SpecificationError;
use crate::contract_error::ContractError;
use crate::finding_kind::FindingKind;
use crate::machine_error::MachineError;
use crate::nearest::did_you_mean;
use crate::place::{Excerpt, MarkedText, Place, line_and_column, mark};
use crate::start_error::StartError;

/// A property file or a property that cannot be used.
///
/// Its `Display` is `file:line:column: name of the property: message`, as far as these are known, then the line with the
/// place marked, then a line that starts with `hint:` where there is more to say. The file of a property of the command
/// line is `--property`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct PropertyError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    kind: PropertyErrorKind,
    place: Option<Place>,
    property: Option<String>,
    formula: Option<MarkedText>,
}

/// The kind of a [`PropertyError`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PropertyErrorKind {
    /// The text is no RON, or a value has another form than it must have.
    #[error("{0}")]
    Ron(String),
    /// A field that does not exist.
    #[error("there is no field '{found}' here{}", did_you_mean(nearest))]
    UnknownField {
        /// The field.
        found: String,
        /// The nearest fields.
        nearest: Vec<String>,
        /// The fields that exist.
        known: &'static [&'static str],
    },
    /// A kind of property, event or assumption that does not exist.
    #[error("there is no '{found}' here{}", did_you_mean(nearest))]
    UnknownVariant {
        /// The name.
        found: String,
        /// The nearest names.
        nearest: Vec<String>,
        /// The names that exist.
        known: &'static [&'static str],
    },
    /// A field is missing.
    #[error("the field '{0}' is missing")]
    MissingField(&'static str),
    /// A name that is given twice.
    #[error("'{0}' is given twice")]
    Duplicate(String),
    /// A hazard that does not exist.
    #[error("there is no hazard '{name}'{}", did_you_mean(nearest))]
    UnknownHazard {
        /// The name.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// A place of an allowed finding that the image does not have.
    #[error("nothing is named '{name}', and no code is of such a line{}", did_you_mean(nearest))]
    UnknownPlace {
        /// The place.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// A place without a wait.
    #[error("'{0}' has no wait: no cycle with a way out begins there")]
    NoWait(String),
    /// A place that is no code.
    #[error("'{0}' is no code: a hazard is allowed where the program counter is")]
    NoCode(String),
    /// A hazard that has no place and is to be allowed at one.
    #[error("the hazard '{0}' comes between instructions: it can be allowed everywhere only, not at one place")]
    HazardAtPlace(&'static str),
    /// A finding that is to be forbidden.
    #[error("'{0}' is a note and cannot be forbidden: that would need a proof that it never happens")]
    ForbiddenFinding(&'static str),
    /// A certificate of a file that forbids a finding.
    #[error("no certificate can carry the proof that '{0}' never happens")]
    NotCertified(&'static str),
    /// A definition with a name that has a meaning of its own, or that no formula can use.
    #[error("a definition cannot be named '{0}'; use letters, digits and `_`, and no word that has a meaning")]
    ReservedName(String),
    /// `Stack` without a limit or with two.
    #[error("a stack property takes either max_bytes or margin")]
    StackLimit,
    /// `Stack(margin: …)` for an image that does not tell where its static data end.
    #[error("the image does not tell where its static data end, so there is no margin to it")]
    NoStaticData,
    /// A stack that `stacks` of the property file does not name.
    #[error("there is no stack '{name}'{}", did_you_mean(nearest))]
    UnknownStack {
        /// The name.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// `from: "main"` or `in_startup` for an image of which it is not known where its start-up code ends.
    #[error("the image does not tell where main begins")]
    NoMain,
    /// The text of a formula is none.
    #[error("{0}")]
    Formula(ParseErrorKind),
    /// Definitions that cannot be expanded.
    #[error("{0}")]
    Expansion(String),
    /// A formula that grows beyond the limits, with its definitions or as an automaton. The property is undecided, not wrong.
    #[error("{0}")]
    GrowsTooLarge(String),
    /// A name that means nothing on this device and in this image.
    #[error("nothing is named '{name}'{}", did_you_mean(nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
        /// True if the image has no symbols at all.
        no_symbols: bool,
        /// Another device that has a register of this name.
        elsewhere: Option<&'static str>,
    },
    /// A bit that does not exist.
    #[error("{register} has no bit '{bit}'{}", did_you_mean(nearest))]
    UnknownBit {
        /// The register.
        register: String,
        /// The bit.
        bit: String,
        /// The nearest bits, or all of them.
        nearest: Vec<String>,
    },
    /// A name that several symbols have.
    #[error("{0}")]
    Symbol(SymbolError),
    /// A name that means something on the device and also names a symbol.
    #[error("'{name}' is both {meaning} and {symbol}")]
    Shadowed {
        /// The name.
        name: String,
        /// The meaning of the name on the device.
        meaning: String,
        /// The place of the symbol.
        symbol: String,
    },
    /// Bits that hardware changes.
    #[error("hardware changes {bits} of {register}, so no state holds them")]
    NotState {
        /// The register.
        register: String,
        /// The bits, for people.
        bits: String,
        /// True if other bits of the register are state.
        maskable: bool,
    },
    /// State in an assumption.
    #[error("an assumption speaks of inputs, but {bits} of {register} is state")]
    NotInput {
        /// The register or variable.
        register: String,
        /// The bits, for people.
        bits: String,
    },
    /// An assumption that speaks of no register or of several.
    #[error("an assumption speaks of the bits of one register")]
    NotOneInput,
    /// An assumption that no value of the register satisfies.
    #[error("no value of {register} satisfies this: nothing would be left to verify")]
    Unsatisfiable {
        /// The register.
        register: String,
    },
    /// An assumption that contradicts those before it.
    #[error("this contradicts what is assumed of {register} before")]
    Contradiction {
        /// The register.
        register: String,
    },
    /// An assumption that does more than to fix bits.
    #[error("{allowed} of {values} values of {register} satisfy this; they are not all those with some bits fixed")]
    NotFixedBits {
        /// The register.
        register: String,
        /// The number of values that satisfy it.
        allowed: usize,
        /// The number of values that the register can have.
        values: usize,
        /// The mask and value of the bits that it fixes, if there are any.
        implied: Option<(u8, u8)>,
    },
    /// A symbol that is no number in the state.
    #[error("'{name}' {problem}")]
    NotAValue {
        /// The symbol.
        name: String,
        /// The reason why it has no value.
        problem: String,
        /// The text to write instead.
        instead: String,
    },
    /// No register at this address of the I/O area.
    #[error("the device has no register at data address {0:#06x}")]
    NoRegister(u64),
    /// Beyond the data memory.
    #[error("data address {address:#06x} is beyond the data memory, which ends at {end:#06x}")]
    NoMemory {
        /// The address.
        address: u64,
        /// The last address that exists.
        end: DataAddress,
    },
    /// An index beyond the end of a variable.
    #[error("'{name}' has {size} bytes, so there is no byte {index}")]
    NoByte {
        /// The variable.
        name: String,
        /// Its size in bytes.
        size: u32,
        /// The index.
        index: u64,
    },
    /// An index beyond the end of an array.
    #[error("'{name}' has {count} elements, so there is no element {index}")]
    NoElement {
        /// The array.
        name: String,
        /// The number of its elements.
        count: u32,
        /// The index.
        index: u64,
    },
    /// A member that a structure does not have.
    #[error("'{variable}' has no member '{member}'{}", did_you_mean(nearest))]
    UnknownMember {
        /// The structure.
        variable: String,
        /// The member.
        member: String,
        /// The nearest members, or all of them.
        nearest: Vec<String>,
    },
    /// Something stands where another form of expression must stand.
    #[error("expected {expected}")]
    Expected {
        /// The form that must stand here.
        expected: &'static str,
    },
    /// A program counter that cannot be.
    #[error("the program counter is never {0:#x}: instructions have even byte addresses inside of the flash")]
    BadProgramCounter(u64),
    /// A comparison that is true in no state.
    #[error("`{comparison}` is never true: {range}")]
    NeverTrue {
        /// The comparison.
        comparison: String,
        /// The values that its sides can have.
        range: String,
        /// True where a side read as a signed number may be meant.
        signed: bool,
    },
    /// Numbers that grow too large.
    #[error("this can reach 120 bits, or shifts by a number that can be negative")]
    TooLarge,
    /// An assumption under `under` that is none of fairness.
    #[error("`{0}` is no assumption of fairness")]
    NotFairness(String),
    /// A fixed point under an assumption of fairness.
    #[error("a fixed point speaks of no paths, so an assumption of fairness has no meaning for it")]
    FairnessOfFixedPoint,
    /// A property of single states under an assumption of fairness.
    #[error("{0} does not depend on fairness")]
    FairnessWithoutUse(&'static str),
    /// A specification, or a property that names one, that is wrong.
    #[error("{0}")]
    Specification(SpecificationError),
    /// Something is wrong with a contract of a function.
    #[error("{0}")]
    Contract(ContractError),
    /// Something is wrong with a machine of the environment.
    #[error("{0}")]
    Machine(MachineError),
    /// Something is wrong with what is said of the start or of the application.
    #[error("{0}")]
    Start(StartError),
    /// Something that is not supported yet. The property is undecided, not wrong.
    #[error("{0}")]
    Unsupported(UnsupportedProperty),
}

/// A property that is understood but cannot be checked yet; its verdict is unknown, with this as the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{feature} is not supported yet")]
pub struct UnsupportedProperty {
    /// The feature that it would need.
    pub feature: String,
}

impl PropertyErrorKind {
    /// Advice to the user, where the message does not give it.
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownField { known, nearest, .. } | Self::UnknownVariant { known, nearest, .. }
                if nearest.is_empty() =>
            {
                format!("known here: {}", known.join(", "))
            }
            Self::UnknownHazard { nearest, .. } if nearest.is_empty() => {
                let names: Vec<&str> = avr_machine::HazardKind::ALL.iter().map(|kind| kind.name()).collect();
                let findings = FindingKind::ALL.map(FindingKind::name).join(" and ");
                format!("the hazards are {}; {findings} are findings", names.join(", "))
            }
            Self::UnknownPlace { .. } => {
                "a place is a function, a variable, or a source line as in main.c:12".to_owned()
            }
            Self::NoWait(_) => "leave it out of except: the notes of NoHang() list all waits".to_owned(),
            Self::NoCode(_) => "name a function, a label, or a source line as in main.c:12".to_owned(),
            Self::HazardAtPlace(hazard) => format!("write allow: {{\"{hazard}\": \"why\"}}"),
            Self::NotCertified(finding) => format!("leave --certificate out, or \"{finding}\" in forbid"),
            Self::ForbiddenFinding(_) => "run avr-tvar verify --deny findings".to_owned(),
            Self::UnknownStack { .. } => "name the stacks of tasks: stacks: [(symbol: \"task1_stack\")]".to_owned(),
            Self::NoStaticData => "use max_bytes, or verify the ELF file, which has symbols".to_owned(),
            Self::NoMain => "verify the ELF file, which has symbols, or write from: \"reset\"".to_owned(),
            Self::UnknownName { elsewhere: Some(device), name, .. } => format!("the device {device} has {name}"),
            Self::UnknownName { no_symbols: true, nearest, .. } if nearest.is_empty() => {
                "this image has no symbols (HEX files never do): use byte addresses, or verify the ELF file".to_owned()
            }
            Self::UnknownName { name, .. } if name.contains("::") => "quote C++ names: \"Class::member\"".to_owned(),
            Self::Symbol(SymbolError::Ambiguous { .. }) => {
                "give the full name in quotes, or the address of the one you mean".to_owned()
            }
            Self::Shadowed { name, .. } => {
                format!("write \"{name}\" in quotes for the symbol, or mem[…] and mem16[…] with an address")
            }
            Self::NotState { register, maskable, .. } => {
                let mask = if *maskable { "; or mask these bits with &" } else { "" };
                format!("the event read({register}) speaks of what the program reads there{mask}")
            }
            Self::NotInput { .. } => "assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; \
                initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"
                .to_owned(),
            Self::NotOneInput => "write one assumption for each register, as in `PINB & 0xf0 == 0`".to_owned(),
            Self::NotFixedBits { register, implied: Some((mask, value)), .. } => {
                format!("what it says of single bits can be assumed: `{register} & {mask:#04x} == {value:#04x}`")
            }
            Self::NotFixedBits { .. } => {
                "an assumption can fix bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`".to_owned()
            }
            Self::NotAValue { instead, .. } => instead.clone(),
            Self::NeverTrue { signed: true, .. } => {
                "numbers are unsigned unless signed(…) says otherwise, as in `signed(x) < -200`".to_owned()
            }
            Self::NeverTrue { .. } => "write `false` if that is meant".to_owned(),
            Self::NotFairness(_) => {
                "write what recurs or stays: \"G F p\", \"F G p\", or these combined, as in \"G F p -> G F q\""
                    .to_owned()
            }
            Self::FairnessOfFixedPoint => {
                "say it with the operators of CTL, with A[…] and E[…], or with Ltl(check: …)".to_owned()
            }
            Self::Specification(error) => return error.hint(),
            Self::Machine(error) => return error.hint(),
            Self::Start(error) => return error.hint(),
            Self::Contract(error) => return error.hint(),
            Self::FairnessWithoutUse(_) => "leave `under` out: every path counts, fair or not".to_owned(),
            _ => return None,
        })
    }

    /// The error without a place.
    pub(crate) fn error(self) -> PropertyError {
        PropertyError(Box::new(Details { kind: self, place: None, property: None, formula: None }))
    }

    /// The error at a place in a file.
    pub(crate) fn at_place(self, place: Place) -> PropertyError {
        let mut error = self.error();
        error.0.place = Some(place);
        error
    }

    /// The error at a place in a formula.
    pub(crate) fn at(self, span: Span, text: &str) -> PropertyError {
        let mut error = self.error();
        error.0.formula = Some(MarkedText { text: text.to_owned(), span });
        error
    }

    /// That something is not supported yet.
    pub(crate) fn unsupported(feature: impl Into<String>) -> Self {
        Self::Unsupported(UnsupportedProperty { feature: feature.into() })
    }
}

impl From<ExpandError> for PropertyErrorKind {
    fn from(error: ExpandError) -> Self {
        match error {
            ExpandError::TooLarge | ExpandError::TooDeep => Self::GrowsTooLarge(error.to_string()),
            other => Self::Expansion(other.to_string()),
        }
    }
}

impl PropertyError {
    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> &PropertyErrorKind {
        &self.0.kind
    }

    /// The place in the file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// The name of the property or definition.
    #[must_use]
    pub fn property(&self) -> Option<&str> {
        self.0.property.as_deref()
    }

    /// The formula with the part that is wrong.
    #[must_use]
    pub fn formula(&self) -> Option<&MarkedText> {
        self.0.formula.as_ref()
    }

    /// The missing support that keeps the property from having a verdict, if nothing is wrong with it.
    #[must_use]
    pub fn unsupported(&self) -> Option<&UnsupportedProperty> {
        if let PropertyErrorKind::Unsupported(unsupported) = self.kind() { Some(unsupported) } else { None }
    }

    /// The reason for having no verdict, if nothing is wrong with the property: it is not supported yet, or it grows too large.
    #[must_use]
    pub fn undecided(&self) -> Option<String> {
        match self.kind() {
            PropertyErrorKind::Unsupported(unsupported) => Some(unsupported.to_string()),
            PropertyErrorKind::GrowsTooLarge(reason) => Some(reason.clone()),
            _ => None,
        }
    }

    /// Advice to the user, where the message does not give it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.kind().hint()
    }

    /// Adds the property or definition and its place, where none is known yet.
    pub(crate) fn of_property(mut self, name: &str, place: Option<&Place>) -> Self {
        self.0.property.get_or_insert_with(|| name.to_owned());
        self.0.place = self.0.place.or_else(|| place.cloned());
        self
    }

    /// The error without the formula that it was found in, which is not one of the file.
    pub(crate) fn without_formula(mut self) -> Self {
        self.0.formula = None;
        self
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excerpt = self.excerpt();
        let place = excerpt.as_ref().map(|it| (it.file, line_and_column(it.text, it.span.start)));
        match place {
            Some((Some(file), (line, column))) => write!(f, "{file}:{line}:{column}: {}", self.title())?,
            Some((None, (_, column))) => write!(f, "column {column}: {}", self.title())?,
            None => write!(f, "{}", self.title())?,
        }
        if let Some(Excerpt { text, span, .. }) = excerpt {
            mark(f, text, span)?;
        }
        self.hint().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl PropertyError {
    /// The message, with the name of the property or definition where it has one of its own.
    #[must_use]
    pub fn title(&self) -> String {
        match self.property().filter(|name| !self.shows(name)) {
            Some(name) => format!("{name}: {}", self.kind()),
            None => self.kind().to_string(),
        }
    }

    /// True if the excerpt shows this name: it is the text of the entry or of the formula.
    fn shows(&self, name: &str) -> bool {
        let of_entry = self.place().and_then(|place| place.source.0.get(place.span.clone()));
        of_entry.is_some_and(|text| text.trim_matches('"') == name)
            || self.formula().is_some_and(|formula| formula.text == name)
    }

    /// The text that is wrong: the formula where it stands in its file, else the beginning of what the place names, else
    /// the formula alone.
    #[must_use]
    pub fn excerpt(&self) -> Option<Excerpt<'_>> {
        match (self.place(), self.formula()) {
            (Some(place), Some(formula)) => {
                let span = place.part_of(formula);
                let in_file = span.map(|span| Excerpt { file: Some(&place.file), text: &place.source.0, span });
                in_file.or_else(|| Some(Excerpt { file: None, text: &formula.text, span: formula.span.range() }))
            }
            (Some(place), None) => {
                Some(Excerpt { file: Some(&place.file), text: &place.source.0, span: place.beginning() })
            }
            (None, Some(formula)) => Some(Excerpt { file: None, text: &formula.text, span: formula.span.range() }),
            (None, None) => None,
        }
    }
}
