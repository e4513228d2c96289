//! Images, states and binding for the tests.

use avr_image::{Image, LoadOptions};
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::device::Device;
use avr_properties::{
    Atom, AtomTable, Binding, BoundProperty, Definitions, Event, Occurrence, Property, PropertyError, StateView, bind,
};
use three_valued::{Truth, TvByte};

/// A HEX image of one jump to itself: it has no symbols.
pub(crate) fn hex() -> Image {
    Image::parse("loop.hex", b":02000000FFCF30\n:00000001FF\n", &options()).expect("the image is valid")
}

/// An image with symbols: see `crates/avr-image/tests/fixtures/sensor.cpp`.
pub(crate) fn sensor() -> Image {
    fixture("sensor.elf")
}

/// An image whose names need care: see `tests/fixtures/names.c`.
pub(crate) fn careful() -> Image {
    Image::load(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/names.elf"), &options()).expect("it is valid")
}

/// An image in which variables have the names of conditions.
pub(crate) fn conditions() -> Image {
    Image::load(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/conditions.elf"), &options()).expect("it is valid")
}

/// An image with variables of many types: see `tests/fixtures/types.c`.
pub(crate) fn typed() -> Image {
    Image::load(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/types.elf"), &options()).expect("it is valid")
}

/// An image of the loader's tests.
pub(crate) fn fixture(name: &str) -> Image {
    let path = format!("{}/../avr-image/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    Image::load(path, &options()).expect("the fixture is valid")
}

pub(crate) fn options() -> LoadOptions {
    LoadOptions::new(0x8000, 0x400)
}

pub(crate) fn device(name: &str) -> &'static Device {
    Device::named(name).expect("the device exists")
}

/// Binds one property into a table.
pub(crate) fn bound(
    text: &str,
    device_name: &str,
    image: &Image,
) -> Result<(BoundProperty, AtomTable), Box<PropertyError>> {
    let mut table = AtomTable::new();
    let property = Property::from_command_line(text)?;
    let binding =
        Binding { device: device(device_name), image, start: 0, ends_paths: false, stacks: &[], boot_start: None };
    let bound = bind(&property, &Definitions::new(), &binding, &mut table)?;
    Ok((bound, table))
}

/// The only atom of a formula, and whether the formula is its negation.
#[track_caller]
pub(crate) fn atom(text: &str, image: &Image) -> (Atom, bool) {
    let (property, table) = bound(text, "atmega328p", image).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(table.atoms().len(), 1, "{text} has one atom");
    let negated = matches!(property.normal_form.node(property.normal_form.root()), mu_calculus::Node::NegatedAtom(_));
    (table.atoms()[0].clone(), negated)
}

/// The truth of a formula that is one atom or its negation.
#[track_caller]
pub(crate) fn truth(text: &str, image: &Image, state: &State) -> Truth {
    let (atom, negated) = atom(text, image);
    let truth = atom.evaluate(state);
    if negated { !truth } else { truth }
}

/// A state of which everything can be set.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) cells: Vec<TvByte>,
    pub(crate) pc: u32,
    pub(crate) torn: bool,
    pub(crate) depth: usize,
    pub(crate) stack: u8,
    pub(crate) sleeping: Truth,
    pub(crate) events: Vec<(Event, Occurrence)>,
}

impl State {
    /// Every cell is known to be 0.
    pub(crate) fn zero() -> Self {
        Self {
            cells: vec![TvByte::ZERO; 0x900],
            pc: 0,
            torn: false,
            depth: 0,
            stack: 0,
            sleeping: Truth::False,
            events: Vec::new(),
        }
    }

    /// With some cells set.
    pub(crate) fn with(mut self, cells: &[(u16, TvByte)]) -> Self {
        for (address, byte) in cells {
            self.cells[usize::from(*address)] = *byte;
        }
        self
    }
}

impl StateView for State {
    fn cell(&self, address: DataAddress) -> TvByte {
        self.cells[address.index()]
    }

    fn pc(&self) -> FlashByteAddress {
        FlashByteAddress(self.pc)
    }

    fn stack_pointer_torn(&self) -> bool {
        self.torn
    }

    fn stack(&self) -> u8 {
        self.stack
    }

    fn interrupt_depth(&self) -> usize {
        self.depth
    }

    fn sleeping(&self) -> Truth {
        self.sleeping
    }

    fn event(&self, event: &Event) -> Occurrence {
        let found = self.events.iter().find(|(known, _)| known == event);
        found.map_or(Occurrence { happened: Truth::False, value: TvByte::UNKNOWN }, |(_, occurrence)| *occurrence)
    }
}
