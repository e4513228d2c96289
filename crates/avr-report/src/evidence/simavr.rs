//! The file `replay.c`: the run as a program against libsimavr, which knows nothing of this tool.
//!
//! simavr executes the instructions; peripherals are taken away from it, so that I/O registers are memory. The program
//! puts into a register what hardware has there before a step that reads it, and enters interrupt handlers when they come.
//! In the end it compares the path, the registers, the stack pointer, the flags and the SRAM.

use std::fmt::Write;

use avr_image::FlashWordAddress;
use avr_isa::{DataAddress, FlashByteAddress, Instruction};
use avr_machine::{Fetched, Happening, Machine, MachineState, StackPointer};
use avr_verify::{Evidence, EvidenceKind, PropertyResult};

use super::player::{Moment, Player};
use crate::report::Report;

/// Longer runs are not written as programs.
pub(super) const MAX_STEPS: u64 = 5_000_000;
/// Nor are runs with more events than this.
const MAX_EVENTS: usize = 500_000;

/// The fixed part of the program.
const PROGRAM: &str = include_str!("replay.c");

/// The declarations before the tables.
const DECLARATIONS: &str = "\
#include <stdint.h>

enum { NOTHING, POKE, ENTER, RESET, ASLEEP };

struct event {
    unsigned long long step;
    int kind;
    unsigned address, value;
};

";

/// Something that happens before a step.
enum Event {
    /// A register has this content.
    Poke { step: u64, address: DataAddress, value: u8 },
    /// Instead of an instruction, the handler at a flash byte address is entered.
    Enter { step: u64, pc: u32 },
    /// Instead of an instruction, execution goes on at a flash byte address after a reset.
    Reset { step: u64, pc: u32 },
    /// For so many steps nothing is executed.
    Asleep { step: u64, count: u64 },
}

impl Report<'_> {
    /// The run of a result as a C program against libsimavr that exits with 0 when simavr does the same.
    ///
    /// # Errors
    /// The reason why there is none, as a sentence without a full stop.
    pub fn replay_program(&self, result: &PropertyResult, machine: &Machine) -> Result<String, String> {
        let evidence = result.evidence.as_ref().ok_or("there is no run")?;
        if evidence.steps > MAX_STEPS {
            return Err(format!("the run is longer than {MAX_STEPS} steps"));
        }
        let mut writer = Recorder::new(machine, evidence);
        writer.run(evidence)?;
        Ok(writer.program(self, result, evidence))
    }
}

/// Notes what a program must do to make simavr take the same run.
struct Recorder<'a> {
    machine: &'a Machine,
    first: MachineState<u8>,
    last: MachineState<u8>,
    /// The content of the I/O area in simavr, where registers are memory.
    memory: Vec<u8>,
    events: Vec<Event>,
    /// A hash over the program counter after each step.
    path: u64,
    /// The state of a lasso that comes again.
    repeated: Option<MachineState<u8>>,
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

impl<'a> Recorder<'a> {
    fn new(machine: &'a Machine, evidence: &Evidence) -> Self {
        let first = Player::new(machine, evidence).state().clone();
        let memory = first.data.cells()[..machine.device.memory.sram_start.index()].to_vec();
        Self { machine, last: first.clone(), first, memory, events: Vec::new(), path: HASH_START, repeated: None }
    }

    fn run(&mut self, evidence: &Evidence) -> Result<(), String> {
        let mut player = Player::new(self.machine, evidence);
        loop {
            let start = evidence.loop_start;
            let Some(moment) = player.next() else { break };
            self.note(&moment);
            if self.events.len() > MAX_EVENTS {
                return Err(format!("the run has more than {MAX_EVENTS} inputs"));
            }
            let pc = moment.state.control.pc.byte().0;
            self.path = [pc as u8, (pc >> 8) as u8, (pc >> 16) as u8].into_iter().fold(self.path, hashed);
            if start == Some(moment.step + 1) {
                self.repeated = Some(moment.state.clone());
            }
        }
        self.last = player.state().clone();
        Ok(())
    }

    fn note(&mut self, moment: &Moment<'_>) {
        let step = moment.step;
        match moment.happened {
            Happening::Interrupt(_) => {
                self.events.push(Event::Enter { step, pc: moment.state.control.pc.byte().0 });
                return;
            }
            Happening::Reset(_) => return self.reset(moment),
            Happening::Continue if moment.asleep => return self.asleep(step),
            Happening::Wake => return self.asleep(step),
            Happening::Continue => {}
        }
        for (address, value) in moment.reads {
            if !self.is_core(*address) && self.memory[address.index()] != *value {
                self.events.push(Event::Poke { step, address: *address, value: *value });
                self.memory[address.index()] = *value;
            }
        }
        let instruction = match self.machine.program.fetch(FlashByteAddress(moment.pc).word()) {
            Fetched::Instruction { instruction, .. } => Some(instruction),
            _ => None,
        };
        for (address, value) in moment.writes {
            let cell = &mut self.memory[address.index()];
            *cell = match instruction {
                Some(Instruction::Sbi { bit, .. }) => *cell | 1 << bit,
                Some(Instruction::Cbi { bit, .. }) => *cell & !(1 << bit),
                _ => *value,
            };
        }
    }

    /// Cells that simavr keeps by itself: registers, SP and SREG.
    fn is_core(&self, address: DataAddress) -> bool {
        let is_stack_pointer = self.machine.stack_pointer().contains(address);
        address < DataAddress::IO || is_stack_pointer || address == self.machine.status_address()
    }

    fn asleep(&mut self, step: u64) {
        match self.events.last_mut() {
            Some(Event::Asleep { step: first, count }) if *first + *count == step => *count += 1,
            _ => self.events.push(Event::Asleep { step, count: 1 }),
        }
    }

    /// After a reset simavr gets the registers as they are then.
    fn reset(&mut self, moment: &Moment<'_>) {
        let step = moment.step;
        self.events.push(Event::Reset { step, pc: moment.state.control.pc.byte().0 });
        for address in DataAddress(0).until(self.machine.device.memory.sram_start) {
            let value = *moment.state.data.get(address);
            self.memory[address.index()] = value;
            self.events.push(Event::Poke { step, address, value });
        }
    }

    /// The program.
    fn program(&self, report: &Report<'_>, result: &PropertyResult, evidence: &Evidence) -> String {
        let mut text = String::from("/* A run of\n *\n");
        let mut line = |arguments: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = text.write_fmt(arguments);
        };
        line(format_args!(" *   {}\n *\n * (sha256 {})\n", comment(&report.image.name), report.image.sha256));
        line(format_args!(" *\n * that shows: {}\n", comment(&evidence.claim)));
        line(format_args!(" * for the property {}: {}\n", comment(&result.name), comment(&result.formula)));
        line(format_args!(" *\n *   cc -O2 -o replay replay.c -lsimavr -lelf && ./replay\n */\n"));
        let mcu = self.machine.device.name.trim_end_matches("-gpio");
        line(format_args!("#define MCU \"{mcu}\"\n"));
        line(format_args!("#define STEPS {}ull\n", evidence.steps));
        line(format_args!("#define START {:#x}u\n", self.first.control.pc.byte().0));
        line(format_args!("#define PATH {:#x}ull\n", self.path));
        line(format_args!("#define LAST_PC {:#x}u\n", self.last.control.pc.byte().0));
        line(format_args!("#define LOOP_START {}ull\n", self.loop_start(evidence)));
        line(format_args!("#define SRAM_START {:#x}u\n", self.machine.device.memory.sram_start));
        line(format_args!("#define DATA_END {:#x}u\n", self.machine.data_end()));
        let StackPointer { low, high } = self.machine.stack_pointer();
        line(format_args!("#define SP_LOW {low:#x}u\n#define SP_HIGH {:#x}u\n", high.unwrap_or_default()));
        line(format_args!("#define STATUS {:#x}u\n\n", self.machine.status_address()));
        text.push_str(DECLARATIONS);
        self.events_to(&mut text);
        flash_to(&mut text, self.machine);
        cells_to(&mut text, "first", self.cells(&self.first));
        cells_to(&mut text, "last", self.cells(&self.last));
        self.named_to(&mut text, evidence);
        text.push_str(PROGRAM);
        text
    }

    fn loop_start(&self, evidence: &Evidence) -> u64 {
        match evidence.kind {
            EvidenceKind::Lasso => evidence.loop_start.unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }

    fn cells<'b>(&self, state: &'b MachineState<u8>) -> &'b [u8] {
        &state.data.cells()[..=self.machine.data_end().index()]
    }

    fn events_to(&self, text: &mut String) {
        text.push_str("static const struct event events[] = {\n");
        for event in &self.events {
            // Writing to a string cannot fail.
            let _ = match event {
                Event::Poke { step, address, value } => {
                    writeln!(text, "    {{{step}, POKE, {address:#x}, {value:#x}}},")
                }
                Event::Enter { step, pc } => writeln!(text, "    {{{step}, ENTER, {pc:#x}, 0}},"),
                Event::Reset { step, pc } => writeln!(text, "    {{{step}, RESET, {pc:#x}, 0}},"),
                Event::Asleep { step, count } => writeln!(text, "    {{{step}, ASLEEP, {count}, 0}},"),
            };
        }
        text.push_str("    {~0ull, NOTHING, 0, 0},\n};\n\n");
    }

    /// The cells of the property that simavr has as we do: registers of peripherals may be kept differently.
    fn named_to(&self, text: &mut String, evidence: &Evidence) {
        text.push_str("static const uint16_t compared[] = {");
        for address in evidence.cells.iter().filter(|address| **address <= self.machine.data_end()) {
            let own = *self.last.data.get(*address);
            let is_memory = *address >= self.machine.device.memory.sram_start || self.is_core(*address);
            if is_memory || self.memory[address.index()] == own {
                // Writing to a string cannot fail.
                let _ = write!(text, "{address:#x}, ");
            }
        }
        text.push_str("0};\n\n");
    }
}

/// The flash, up to the last word that is not erased.
pub(super) fn flash_to(text: &mut String, machine: &Machine) {
    let is_there = |address: &FlashWordAddress| machine.executed_word(*address) != 0xffff;
    let end = machine.program.addresses().filter(is_there).last().map_or(0, |last| last.0 + 1);
    let words = (0..end).map(|address| machine.executed_word(FlashWordAddress(address)));
    let bytes: Vec<u8> = words.flat_map(u16::to_le_bytes).collect();
    cells_to(text, "flash", &bytes);
}

pub(super) fn cells_to(text: &mut String, name: &str, cells: &[u8]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "static const uint8_t {name}[{}] = {{", cells.len().max(1));
    for row in cells.chunks(20) {
        let bytes: Vec<String> = row.iter().map(u8::to_string).collect();
        let _ = writeln!(text, "    {},", bytes.join(", "));
    }
    text.push_str("};\n\n");
}

/// A text that cannot end the comment that it stands in.
pub(super) fn comment(text: &str) -> String {
    let harmless = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().map(harmless).collect::<String>().replace("*/", "* /").replace("/*", "/ *")
}
