//! The file `trace.vcd`: the run as waves in real time, with the function and the source line as texts.

use std::io;
use std::num::NonZeroU32;

use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::{Machine, MachineState};
use avr_verify::PropertyResult;
use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType, Writer};

use super::player::{Player, interrupt_level, stack_pointer};
use crate::names::Names;
use crate::report::Report;

/// The source of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The program counter as a flash byte address.
    ProgramCounter,
    StackPointer,
    /// The number of interrupt handlers that were entered and not left.
    InterruptLevel,
    Sleeping,
    /// A cell.
    Cell(DataAddress),
    /// A bit of a port as it is outside: what the port drives, or the level that comes in.
    Pin {
        port: Port,
        bit: u8,
    },
}

/// A wave of texts.
struct TextWave {
    id: IdCode,
    text: fn(&Names<'_>, u32) -> Option<String>,
    shown: Option<String>,
}

/// The picoseconds of a second: the unit of time of the file.
const UNITS: u128 = 1_000_000_000_000;

/// The data addresses of the registers of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) pins: DataAddress,
    pub(crate) direction: DataAddress,
    pub(crate) output: DataAddress,
}

struct Wave {
    source: Source,
    id: IdCode,
    width: u32,
    shown: Option<u64>,
}

impl Report<'_> {
    /// The run of a result as a value change dump, with a system clock of so many hertz; none without evidence.
    ///
    /// # Errors
    /// Never: it is written into memory.
    pub fn vcd(
        &self,
        result: &PropertyResult,
        machine: &Machine,
        clock_hertz: NonZeroU32,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(evidence) = &result.evidence else { return Ok(None) };
        let names = Names { image: self.image, device: machine.device };
        let mut writer = Writer::new(Vec::new());
        let levels = vec![0; machine.sram().start.index()];
        let mut waves = Waves { waves: Vec::new(), texts: Vec::new(), levels, machine, names };
        writer.comment(&format!("the system clock has {clock_hertz} Hz"))?;
        waves.declare(&mut writer, &evidence.cells)?;
        let mut player = Player::new(machine, evidence);
        writer.timestamp(0)?;
        writer.begin(SimulationCommand::Dumpvars)?;
        waves.show(&mut writer, player.state())?;
        writer.end()?;
        while let Some(moment) = player.next() {
            for (address, value) in moment.reads {
                waves.levels[address.index()] = *value;
            }
            if waves.change(moment.state) {
                writer.timestamp(time(moment.cycles, clock_hertz))?;
                waves.show(&mut writer, moment.state)?;
            }
        }
        writer.flush()?;
        Ok(Some(writer.writer().clone()))
    }
}

/// The time of a cycle, in the unit of the file.
fn time(cycle: u64, clock_hertz: NonZeroU32) -> u64 {
    u64::try_from(u128::from(cycle) * UNITS / u128::from(clock_hertz.get())).unwrap_or(u64::MAX)
}

struct Waves<'a> {
    waves: Vec<Wave>,
    texts: Vec<TextWave>,
    /// The value read last from each register of the I/O area.
    levels: Vec<u8>,
    machine: &'a Machine,
    names: Names<'a>,
}

impl Waves<'_> {
    fn declare(&mut self, writer: &mut Writer<Vec<u8>>, cells: &[DataAddress]) -> io::Result<()> {
        let names = self.names;
        writer.timescale(1, TimescaleUnit::PS)?;
        writer.add_module("firmware")?;
        self.add_text(writer, "function", |names, pc| names.function(pc))?;
        self.add_text(writer, "line", |names, pc| names.source_line(pc))?;
        self.add(writer, "PC", 24, Source::ProgramCounter)?;
        self.add(writer, "SP", 16, Source::StackPointer)?;
        self.add(writer, "interrupt_level", 8, Source::InterruptLevel)?;
        self.add(writer, "sleeping", 1, Source::Sleeping)?;
        self.add(writer, "SREG", 8, Source::Cell(self.machine.status_address()))?;
        for (letter, port) in ports(names.device) {
            self.add(writer, &format!("PORT{letter}"), 8, Source::Cell(port.output))?;
            self.add(writer, &format!("DDR{letter}"), 8, Source::Cell(port.direction))?;
            for bit in 0..8 {
                self.add(writer, &format!("P{letter}{bit}"), 1, Source::Pin { port, bit })?;
            }
        }
        for cell in cells {
            if !self.waves.iter().any(|wave| wave.source == Source::Cell(*cell)) {
                self.add(writer, &identifier(&names.cell(*cell)), 8, Source::Cell(*cell))?;
            }
        }
        writer.upscope()?;
        writer.enddefinitions()
    }

    fn add(&mut self, writer: &mut Writer<Vec<u8>>, name: &str, width: u32, source: Source) -> io::Result<()> {
        let id = writer.add_var(VarType::Wire, width, name, None)?;
        self.waves.push(Wave { source, id, width, shown: None });
        Ok(())
    }

    fn add_text(
        &mut self,
        writer: &mut Writer<Vec<u8>>,
        name: &str,
        text: fn(&Names<'_>, u32) -> Option<String>,
    ) -> io::Result<()> {
        let id = writer.add_var(VarType::String, 1, name, None)?;
        self.texts.push(TextWave { id, text, shown: None });
        Ok(())
    }

    fn value(&self, source: Source, state: &MachineState<u8>) -> u64 {
        let cell = |address: DataAddress| *state.data.get(address);
        match source {
            Source::ProgramCounter => u64::from(state.control.pc.byte().0),
            Source::StackPointer => stack_pointer(self.machine, state).0.into(),
            Source::InterruptLevel => interrupt_level(state) as u64,
            Source::Sleeping => state.control.sleeping.into(),
            Source::Cell(address) => cell(address).into(),
            Source::Pin { port, bit } => {
                let driven = cell(port.direction);
                let level = cell(port.output) & driven | self.levels[port.pins.index()] & !driven;
                (level >> bit & 1).into()
            }
        }
    }

    /// True if something differs from what is shown.
    fn change(&self, state: &MachineState<u8>) -> bool {
        let pc = state.control.pc.byte().0;
        self.waves.iter().any(|wave| wave.shown != Some(self.value(wave.source, state)))
            || self.texts.iter().any(|wave| wave.shown != Some(word((wave.text)(&self.names, pc))))
    }

    fn show(&mut self, writer: &mut Writer<Vec<u8>>, state: &MachineState<u8>) -> io::Result<()> {
        for index in 0..self.waves.len() {
            let value = self.value(self.waves[index].source, state);
            let wave = &mut self.waves[index];
            if wave.shown == Some(value) {
                continue;
            }
            wave.shown = Some(value);
            let bit = |bit: u32| if value >> bit & 1 == 1 { Value::V1 } else { Value::V0 };
            match wave.width {
                1 => writer.change_scalar(wave.id, bit(0))?,
                width => writer.change_vector(wave.id, (0..width).rev().map(bit))?,
            }
        }
        let pc = state.control.pc.byte().0;
        for wave in &mut self.texts {
            let text = word((wave.text)(&self.names, pc));
            if wave.shown.as_ref() != Some(&text) {
                writer.change_string(wave.id, &text)?;
                wave.shown = Some(text);
            }
        }
        Ok(())
    }
}

/// The ports of a device with their letters.
pub(crate) fn ports(device: &Device) -> Vec<(char, Port)> {
    let address = |name: String| device.register(&name).map(|register| register.address);
    let port = |letter: char| {
        let pins = address(format!("PIN{letter}"))?;
        Some((
            letter,
            Port { pins, direction: address(format!("DDR{letter}"))?, output: address(format!("PORT{letter}"))? },
        ))
    };
    ('A'..='L').filter_map(port).collect()
}

/// A text as the format has them: of one word of printable characters.
fn word(text: Option<String>) -> String {
    let word: String = text.unwrap_or_default().chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}

/// A name without what a reader of the format might stumble over.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn texts_are_words() {
        let check = |text: Option<&str>, expected: &str| assert_eq!(word(text.map(str::to_owned)), expected);
        check(Some("main.c:12"), "main.c:12");
        check(Some("Timer::step(int, char)"), "Timer::step(int,_char)");
        check(Some("a\n#5 \u{e9}"), "a_#5__");
        check(Some(""), "-");
        check(None, "-");
    }
}
