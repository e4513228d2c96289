//! Meanings of names: registers of the device first, then symbols of the image.

use avr_isa::{DataAddress, EepromAddress, Pointer, Register};
use std::ops::Range;

use avr_image::{Symbol, SymbolError, SymbolPlace, Type};
use avr_machine::device::Device;
use mu_calculus::{Name, Span};

use super::{Binder, Fault, Subject};
use crate::error::PropertyErrorKind;
use crate::nearest::nearest;
use crate::state_atoms::STATE_ATOMS;

/// The meaning of a name in an expression.
pub(super) enum Meaning {
    /// The program counter.
    Pc,
    /// An address or another number that does not depend on the state.
    Number(i128),
    /// The content of cells, in little-endian order.
    Cells(Vec<DataAddress>),
}

impl Binder<'_> {
    pub(super) fn meaning(&self, name: &Name, span: Span) -> Result<Meaning, Fault> {
        if let Some((meaning, what)) = self.of_device(name) {
            self.check_unshadowed(name, what, span)?;
            return Ok(meaning);
        }
        match (self.symbol(name, span), self.enumerator(name, span)?) {
            (Ok(symbol), None) => self.of_symbol(symbol, name, span),
            (Ok(symbol), Some(value)) => {
                let symbol = format!("the symbol at {}", symbol.place);
                let meaning = format!("the enumerator {value}");
                Err((PropertyErrorKind::Shadowed { name: name.text.clone(), meaning, symbol }, span))
            }
            (Err(_), Some(value)) => Ok(Meaning::Number(value.into())),
            (Err(fault), None) => Err(fault),
        }
    }

    /// The value of an enumerator, if the name is one.
    ///
    /// # Errors
    /// If enumerations give it different values.
    fn enumerator(&self, name: &Name, span: Span) -> Result<Option<i64>, Fault> {
        let values = self.image.enumerators(&name.text);
        match values.as_slice() {
            [] => Ok(None),
            [value] => Ok(Some(*value)),
            several => {
                let values = several.iter().map(i64::to_string).collect::<Vec<_>>().join(" and ");
                let problem = format!("is an enumerator with several values: {values}");
                let instead = "write the number".to_owned();
                Err((PropertyErrorKind::NotAValue { name: name.text.clone(), problem, instead }, span))
            }
        }
    }

    /// True if the device gives a name its meaning.
    pub(super) fn is_of_device(&self, name: &Name) -> bool {
        self.of_device(name).is_some()
    }

    /// The meaning of an unquoted name on the device, and the same in words.
    fn of_device(&self, name: &Name) -> Option<(Meaning, &'static str)> {
        if name.quoted {
            return None;
        }
        let cells = |pointer: Pointer| Meaning::Cells(vec![pointer.low().address(), pointer.high().address()]);
        match name.text.as_str() {
            "pc" => return Some((Meaning::Pc, "the program counter")),
            "sp" => {
                let addresses = self.stack_pointer.into_iter().flatten().collect();
                return Some((Meaning::Cells(addresses), "the stack pointer"));
            }
            "x" => return Some((cells(Pointer::X), "the register pair r27:r26")),
            "y" => return Some((cells(Pointer::Y), "the register pair r29:r28")),
            "z" => return Some((cells(Pointer::Z), "the register pair r31:r30")),
            _ => {}
        }
        if let Some(register) = general_register(&name.text) {
            return Some((Meaning::Cells(vec![register]), "a register"));
        }
        if let Some(register) = self.device.register(&name.text) {
            return Some((Meaning::Cells(vec![register.address]), "a register of the device"));
        }
        let pair = self.device.pair(&name.text)?;
        Some((Meaning::Cells(vec![pair.low, pair.high]), "a register of the device"))
    }

    /// Refuses a name of the device that a variable or function has as well: either reading could be meant.
    /// Numbers that the assembler defines (`.equ PORTB, 5`) are no rivals.
    pub(super) fn check_unshadowed(&self, name: &Name, meaning: &'static str, span: Span) -> Result<(), Fault> {
        let rival = |symbol: &&Symbol| matches!(symbol.place, SymbolPlace::Data(_) | SymbolPlace::Flash(_));
        match self.image.symbols.matches(&name.text).into_iter().find(rival) {
            Some(symbol) => {
                let (symbol, meaning) = (format!("the symbol at {}", symbol.place), meaning.to_owned());
                Err((PropertyErrorKind::Shadowed { name: name.text.clone(), meaning, symbol }, span))
            }
            None => match self.image.enumerators(&name.text).first() {
                Some(value) => {
                    let (symbol, meaning) = (format!("the enumerator {value}"), meaning.to_owned());
                    Err((PropertyErrorKind::Shadowed { name: name.text.clone(), meaning, symbol }, span))
                }
                None => Ok(()),
            },
        }
    }

    pub(super) fn symbol(&self, name: &Name, span: Span) -> Result<&Symbol, Fault> {
        self.image.symbols.find(&name.text).map_err(|error| match error {
            SymbolError::Unknown { suggestions, .. } => (self.unknown_name(name, suggestions), span),
            other => (PropertyErrorKind::Symbol(other), span),
        })
    }

    fn unknown_name(&self, name: &Name, symbols: Vec<String>) -> PropertyErrorKind {
        let general: Vec<String> = (0..32).map(|number| format!("r{number}")).collect();
        let device = self.device.registers.iter().map(|register| register.name);
        let pairs = self.device.pairs.iter().map(|pair| pair.name);
        let definitions = self.definitions.iter().map(|(name, _)| name);
        let own = ["pc", "sp", "x", "y", "z"].into_iter().chain(STATE_ATOMS).chain(general.iter().map(String::as_str));
        let enumerators = self.image.enumerator_names();
        let known = own
            .chain(enumerators)
            .chain(device)
            .chain(pairs)
            .chain(definitions)
            .chain(symbols.iter().map(String::as_str));
        PropertyErrorKind::UnknownName {
            name: name.text.clone(),
            nearest: nearest(&name.text, known),
            no_symbols: self.image.symbols.all().is_empty(),
            elsewhere: device_with(&name.text),
        }
    }

    /// A variable of one, two, four or eight bytes is its value, code is its address. What has no size or another one
    /// is refused: whether its content or its address is meant cannot be told.
    fn of_symbol(&self, symbol: &Symbol, name: &Name, span: Span) -> Result<Meaning, Fault> {
        let refuse = |problem: String, instead: String| {
            Err((PropertyErrorKind::NotAValue { name: name.text.clone(), problem, instead }, span))
        };
        if let Some(of @ Type::Struct(_)) = &symbol.of {
            let members = of.member_names().join(", ");
            return refuse("is a whole structure".to_owned(), format!("its members: {members}"));
        }
        match symbol.place {
            SymbolPlace::Data(address) => match symbol.size {
                size @ (1 | 2 | 4 | 8) => {
                    let size = size as u16;
                    Ok(Meaning::Cells((0..size).map(|offset| address.saturating_add(offset)).collect()))
                }
                // Symbols that the linker defines (`__bss_end`, `_end`) are addresses and nothing else.
                0 if symbol.name.starts_with('_') => Ok(Meaning::Number(address.0.into())),
                0 => refuse(
                    "has no size in the symbol table, so it is not known to be a variable".to_owned(),
                    format!("mem[{0}] and mem16[{0}] are what lies there, {address} is its address", name.text),
                ),
                size => refuse(
                    format!("has {size} bytes, which is no number"),
                    match symbol.of {
                        Some(Type::Array { .. }) => {
                            format!("{}[i] is its element i, from 0; {address} is its address", name.text)
                        }
                        _ => format!("{}[i] is its byte i, from 0; {address} is its address", name.text),
                    },
                ),
            },
            SymbolPlace::Flash(address) if symbol.kind != avr_image::SymbolKind::Object => {
                Ok(Meaning::Number(address.0.into()))
            }
            SymbolPlace::Absolute(value) => Ok(Meaning::Number(value.into())),
            SymbolPlace::Flash(address) => {
                refuse("is a constant in flash".to_owned(), format!("{address} is its address in bytes of flash"))
            }
            SymbolPlace::Eeprom(address) if self.subject == Subject::Starts && matches!(symbol.size, 1 | 2 | 4 | 8) => {
                let first = self.eeprom_cell(address);
                Ok(Meaning::Cells((0..symbol.size as u16).map(|offset| first.saturating_add(offset)).collect()))
            }
            SymbolPlace::Eeprom(address) => {
                refuse("lies in the EEPROM".to_owned(), format!("{address} is its address in the EEPROM"))
            }
            SymbolPlace::Other(_) => {
                refuse("lies in no memory that the program can change".to_owned(), "leave it out".to_owned())
            }
        }
    }

    /// The data address of a label without a size, where it is the only meaning of the name.
    pub(super) fn data_label(&self, name: &Name) -> Option<DataAddress> {
        let of_device = !name.quoted && self.of_device(name).is_some();
        let symbol = self.image.symbols.find(&name.text).ok().filter(|symbol| !of_device && symbol.size == 0)?;
        symbol.place.data()
    }

    /// The cell of a byte of the EEPROM.
    fn eeprom_cell(&self, address: EepromAddress) -> DataAddress {
        self.device.memory.unreached_end().saturating_add(address.0)
    }

    /// The array in front of `[…]`: first address if it is a variable, bytes of an element, size if it is known.
    pub(super) fn indexed(&self, name: &Name, span: Span) -> Result<(Option<DataAddress>, u8, Option<u32>), Fault> {
        let bytes = match name.text.as_str() {
            _ if name.quoted => None,
            "mem" => Some(1),
            "mem16" => Some(2),
            _ => None,
        };
        if let Some(bytes) = bytes {
            self.check_unshadowed(name, "the data memory", span)?;
            return Ok((None, bytes, None));
        }
        if self.subject == Subject::Starts && !name.quoted && name.text == "eeprom" {
            self.check_unshadowed(name, "the EEPROM", span)?;
            let bytes = self.device.memory.eeprom_bytes;
            return Ok((Some(self.eeprom_cell(EepromAddress(0))), 1, Some(bytes.into())));
        }
        let expected = PropertyErrorKind::Expected { expected: "mem, mem16 or the name of a variable in front of `[`" };
        if let Some((_, what)) = self.of_device(name) {
            self.check_unshadowed(name, what, span)?;
            return Err((expected, span));
        }
        let symbol = self.symbol(name, span)?;
        let address = match symbol.place {
            SymbolPlace::Eeprom(address) if self.subject == Subject::Starts => Some(self.eeprom_cell(address)),
            place => place.data(),
        };
        let Some(address) = address else { return Err((expected, span)) };
        Ok((Some(address), 1, Some(symbol.size).filter(|size| *size > 0)))
    }

    /// The flash byte addresses of a function.
    pub(super) fn function(&mut self, name: &Name, span: Span) -> Result<Range<u32>, Fault> {
        let symbol = self.symbol(name, span)?;
        let Some(extent) = self.image.symbols.extent(symbol) else {
            let problem = format!("is no code: it lies at {}", symbol.place);
            let instead = "functions and labels in code have an extent".to_owned();
            return Err((PropertyErrorKind::NotAValue { name: name.text.clone(), problem, instead }, span));
        };
        let range = extent.range.start.0..extent.range.end.0;
        if !extent.stated {
            self.notes.push(format!(
                "the image does not state the size of '{}'; it is taken to reach from {:#x} to the next symbol at {:#x}",
                name.text, range.start, range.end
            ));
        }
        Ok(range)
    }
}

/// A device that has a register of this name.
fn device_with(name: &str) -> Option<&'static str> {
    let devices = Device::names().filter_map(|device| Device::named(device).ok());
    let mut having = devices.filter(|device| device.register(name).is_some() || device.pair(name).is_some());
    having.next().map(|device| device.name)
}

/// The data address of `r0` to `r31`.
fn general_register(name: &str) -> Option<DataAddress> {
    let number = name.strip_prefix('r')?;
    let plain = number == "0" || !number.starts_with('0');
    number.parse().ok().and_then(Register::new).filter(|_| plain).map(Register::address)
}
