//! Names that a formula can use, with what they stand for.

use avr_image::{Image, Symbol, SymbolPlace, Type};
use avr_isa::Register;
use avr_machine::device::Register as IoRegister;
use avr_properties::STATE_ATOMS;

use super::project::Target;

/// The sort of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Register,
    Bit,
    Member,
    Variable,
    Function,
    Interrupt,
    Constant,
    Keyword,
}

/// A name with what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) sort: Sort,
    /// Its meaning in a line, with its address.
    pub(super) meaning: String,
}

impl Name {
    fn new(text: impl Into<String>, sort: Sort, meaning: impl Into<String>) -> Self {
        Self { text: text.into(), sort, meaning: meaning.into() }
    }
}

/// The words of the language, each with its meaning.
const WORDS: &[(&str, &str)] = &[
    ("AG", "on all paths always"),
    ("AF", "on all paths at some time"),
    ("AX", "in all next states"),
    ("EG", "on some path always"),
    ("EF", "on some path at some time"),
    ("EX", "in some next state"),
    ("mu", "the least fixed point: mu X. …"),
    ("nu", "the greatest fixed point: nu X. …"),
    ("true", "holds always"),
    ("false", "holds never"),
    ("signed", "signed(e): the number with a sign"),
    ("mem", "mem[address]: a byte of the data memory"),
    ("mem16", "mem16[address]: two bytes of the data memory, the low one first"),
    ("read", "read(cell): the step reads it"),
    ("write", "write(cell): the step writes it"),
    ("call", "call(function): the step calls it"),
    ("return", "return(function): the step returns from it"),
    ("interrupt", "interrupt(NAME): the step enters its handler"),
    ("enabled", "enabled(NAME): the interrupt is enabled"),
    ("pc", "the program counter, a byte address in flash"),
    ("sp", "the stack pointer"),
    ("x", "the register pair r27:r26"),
    ("y", "the register pair r29:r28"),
    ("z", "the register pair r31:r30"),
];

/// Every name without a dot.
pub(super) fn all(target: &Target) -> Vec<Name> {
    let device = target.device;
    let words = WORDS.iter().map(|(word, meaning)| Name::new(*word, Sort::Keyword, *meaning));
    let atoms = STATE_ATOMS.iter().map(|atom| Name::new(*atom, Sort::Keyword, "a condition of the state"));
    let general = (0..32).filter_map(Register::new).map(|register| {
        Name::new(register.to_string(), Sort::Register, format!("register at data {}", register.address()))
    });
    let registers = device.registers.iter().filter(|register| !register.is_hidden);
    let registers = registers.map(|register| Name::new(register.name, Sort::Register, register_text(register)));
    let pairs = device.pairs.iter().map(|pair| {
        Name::new(pair.name, Sort::Register, format!("16-bit register at data {} and {}", pair.low, pair.high))
    });
    let interrupts = device
        .interrupts
        .iter()
        .map(|interrupt| Name::new(interrupt.name, Sort::Interrupt, format!("interrupt {}", interrupt.number)));
    let of_device = words.chain(atoms).chain(general).chain(registers).chain(pairs).chain(interrupts);
    let of_image = target.image.iter().flat_map(|image| symbols(image).chain(enumerators(image)));
    of_device.chain(of_image).collect()
}

fn symbols(image: &Image) -> impl Iterator<Item = Name> {
    let all = image.symbols.all().iter().filter(|symbol| !symbol.name.starts_with("__"));
    all.filter_map(|symbol| Some(Name::new(written(symbol), sort(symbol)?, symbol_text(symbol))))
}

/// A symbol as a formula has it: C++ names in quotes, which a text in quotes has to escape.
fn written(symbol: &Symbol) -> String {
    let name = symbol.display_name();
    let is_plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if is_plain { name.to_owned() } else { format!("\\\"{name}\\\"") }
}

fn enumerators(image: &Image) -> impl Iterator<Item = Name> {
    image.enumerator_names().map(|name| {
        let values = image.enumerators(name).iter().map(i64::to_string).collect::<Vec<_>>().join(" or ");
        Name::new(name, Sort::Constant, format!("enumerator {values}"))
    })
}

/// The names behind a dot: bits of a register, members of a structure.
pub(super) fn parts(target: &Target, base: &str) -> Vec<Name> {
    if let Some(register) = target.device.register(base) {
        return bits(register);
    }
    let Some(of) = target.image.as_ref().and_then(|image| type_of(image, base)) else { return Vec::new() };
    let member = |name: &&str| {
        of.member(name).map(|(offset, _)| Name::new(*name, Sort::Member, format!("member, byte {offset}")))
    };
    of.member_names().iter().filter_map(member).collect()
}

fn bits(register: &IoRegister) -> Vec<Name> {
    let mut all = Vec::new();
    for (bit, number) in register.bits.iter().zip(0_u8..) {
        let meaning = format!("bit {number} of {} at data {}", register.name, register.address);
        if let Some(name) = bit.name {
            all.push(Name::new(name, Sort::Bit, meaning.clone()));
        }
        all.push(Name::new(number.to_string(), Sort::Bit, meaning));
    }
    all
}

/// The type of a variable or of a part of one, as in `all[0].member`.
fn type_of(image: &Image, path: &str) -> Option<Type> {
    let mut steps = path.split(['.', '[']);
    let symbol = image.symbols.find(steps.next()?).ok()?;
    let mut of = symbol.of.clone()?;
    for step in steps {
        of = match &of {
            Type::Array { element, .. } if step.ends_with(']') => (**element).clone(),
            _ => of.member(step)?.1.clone(),
        };
    }
    Some(of)
}

/// The meaning of a name or of a part of one.
pub(super) fn meaning(target: &Target, path: &str) -> Option<String> {
    let (base, part) = path.rsplit_once('.').map_or(("", path), |(base, part)| (base, part));
    let known = if base.is_empty() { all(target) } else { parts(target, base) };
    known.into_iter().find(|name| name.text == part).map(|name| name.meaning)
}

fn register_text(register: &IoRegister) -> String {
    let io = register.io_address().map_or_else(String::new, |address| format!(", I/O {address:#04x}"));
    format!("register at data {}{io} ({})", register.address, register.peripheral)
}

fn sort(symbol: &Symbol) -> Option<Sort> {
    match symbol.place {
        SymbolPlace::Flash(_) => Some(Sort::Function),
        SymbolPlace::Data(_) | SymbolPlace::Eeprom(_) => Some(Sort::Variable),
        SymbolPlace::Absolute(_) | SymbolPlace::Other(_) => None,
    }
}

fn symbol_text(symbol: &Symbol) -> String {
    let size = match symbol.size {
        0 => String::new(),
        1 => ", 1 byte".to_owned(),
        size => format!(", {size} bytes"),
    };
    format!("{}{size}", symbol.place)
}
