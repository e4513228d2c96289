//! Targets: readers of input.

mod verify;

use avr_image::{Image, LoadOptions};
use avr_properties::{Property, PropertyFile, check_syntax};
use mu_calculus::{AtomId, Formula, NormalForm, parse_formula, parse_linear, parse_path, parse_predicate};
use std::convert::Infallible;

/// Something that reads what may be hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Intel HEX.
    Hex,
    /// ELF with symbols and debug information.
    Elf,
    /// Property files.
    Ron,
    /// Formulas, and their normal forms.
    Formula,
    /// Programs, through the whole of the verification.
    Verify,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Hex, Self::Elf, Self::Ron, Self::Formula, Self::Verify];

    /// The name, which is also that of its folder in the corpus.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hex => "hex",
            Self::Elf => "elf",
            Self::Ron => "ron",
            Self::Formula => "formula",
            Self::Verify => "verify",
        }
    }

    /// Feeds it one input.
    ///
    /// # Panics
    /// If something is wrong with what is tested.
    pub fn take(self, input: &[u8]) {
        match self {
            Self::Hex | Self::Elf => image(input),
            Self::Ron => property_file(input),
            Self::Formula => formula(input),
            Self::Verify => verify::take(input),
        }
    }
}

/// Reads an image, and asks it what is asked of images.
fn image(input: &[u8]) {
    match Image::parse("input", input, &LoadOptions::new(0x8000, 0x400)) {
        Ok(image) => {
            assert!(image.program.used_bytes() <= image.program.size_bytes());
            for (address, _) in image.program.words() {
                let address = address.byte();
                let named = image.symbols.function_at(address).map(|located| located.symbol.display_name().len());
                std::hint::black_box((named, image.source_line(address)));
            }
            image.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            std::hint::black_box(error.hint());
        }
    }
}

fn property_file(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match PropertyFile::parse("input", &text) {
        Ok(file) => {
            for property in &file.properties {
                let checked = check_syntax(property, &file.definitions);
                std::hint::black_box(checked.map_err(|error| error.to_string()).err());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let property = Property::from_command_line(&text);
    std::hint::black_box(property.map_err(|error| error.to_string()).err());
}

/// Checks that a formula that is read is printed as a text that means the same.
fn formula(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for parse in [parse_formula, parse_linear, parse_path] {
        let Ok(formula) = parse(&text) else { continue };
        let numbered: Formula<AtomId> = number(&formula);
        std::hint::black_box(NormalForm::new(&numbered).map_err(|error| error.to_string()).err());
    }
    if let Ok(formula) = parse_formula(&text) {
        let printed = formula.to_string();
        let again = parse_formula(&printed).unwrap_or_else(|error| panic!("{text} is printed as {printed}: {error}"));
        assert_eq!(again.to_string(), printed, "{text}");
    }
    std::hint::black_box(parse_predicate(&text).is_ok());
}

/// The formula with a number for each atom.
fn number<A: PartialEq + Clone>(formula: &Formula<A>) -> Formula<AtomId> {
    let mut known: Vec<A> = Vec::new();
    let numbered = formula.try_map_atoms(&mut |atom| {
        let number = known.iter().position(|other| other == atom).unwrap_or_else(|| {
            known.push(atom.clone());
            known.len() - 1
        });
        Ok::<_, Infallible>(AtomId(number as u32))
    });
    numbered.unwrap_or_else(|never| match never {})
}
