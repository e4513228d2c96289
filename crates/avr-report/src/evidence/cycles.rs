//! The file `replay-cycles.c`: a program against libsimavr that gives it nothing but what comes from outside. Timers, the
//! watchdog and all other peripherals are simavr's own, driven by its cycles; no interrupt is injected and no register is
//! changed. It looks for a state that shows the verdict.

use std::fmt::Write;

use avr_machine::{Machine, StackPointer};
use avr_verify::{Condition, Evidence, PropertyResult};

use super::player::Player;
use super::simavr::{MAX_STEPS, cells_to, comment, flash_to};
use crate::report::Report;

/// So many clock cycles simavr has to show the verdict: four seconds at 16 MHz.
const MAX_CYCLES: u64 = 64_000_000;

/// The fixed part of the program.
const PROGRAM: &str = include_str!("cycles.c");

/// The declarations before the tables.
const DECLARATIONS: &str = "\
#include <stdint.h>

enum { NOTHING, PINS, BYTE, PC, WHOLE, ENTERED, CELLS };

/* What comes from outside, and when. */
struct input {
    unsigned long long cycle;
    int kind, port;
    unsigned value;
};

/* What is looked for: PC from first up to end, or outside; cells first and, with inside, end with an allowed content. */
struct condition {
    int kind;
    unsigned first, end;
    int inside;
    const uint8_t *allowed;
};

";

impl Report<'_> {
    /// A program against libsimavr, driven by cycle times, that exits with 0 when simavr shows the verdict of a result without
    /// help.
    ///
    /// # Errors
    /// The reason why there is none, as a sentence without a full stop.
    pub fn cycles_program(&self, result: &PropertyResult, machine: &Machine) -> Result<String, String> {
        let evidence = result.evidence.as_ref().ok_or("no single run shows it")?;
        if !self.results.assumptions.is_empty() {
            return Err("simavr knows nothing of what is assumed".to_owned());
        }
        if evidence.steps > MAX_STEPS {
            return Err(format!("the run is longer than {MAX_STEPS} steps"));
        }
        let conditions = evidence.reached.as_ref();
        let conditions = conditions.ok_or("it takes more than a state that can be told by its cells to show it")?;
        let mut text = self.cycles_heading(result, machine, evidence);
        text.push_str(DECLARATIONS);
        inputs_to(&mut text, machine, evidence);
        conditions_to(&mut text, conditions);
        flash_to(&mut text, machine);
        let first = Player::new(machine, evidence).state().clone();
        cells_to(&mut text, "first", &first.data.cells()[..=machine.data_end().index()]);
        text.push_str(PROGRAM);
        Ok(text)
    }

    fn cycles_heading(&self, result: &PropertyResult, machine: &Machine, evidence: &Evidence) -> String {
        let first = Player::new(machine, evidence).state().control.pc.byte().0;
        // No instruction has an odd address.
        let main = machine.options().main.map_or(1, |main| main.byte().0);
        let StackPointer { low, high } = machine.stack_pointer();
        let (sram, status) = (machine.device.memory.sram_start, machine.status_address());
        format!(
            "/* Whether\n *\n *   {}\n *\n * (sha256 {})\n *\n * comes by itself to a state that shows: {}\n * for the property {}: {}\n *\n *   \
             cc -O2 -o replay-cycles replay-cycles.c -lsimavr -lelf && ./replay-cycles\n */\n\
             #define MCU \"{}\"\n#define CYCLES {MAX_CYCLES}ull\n#define START {first:#x}u\n\
             #define MAIN {main:#x}u\n#define SRAM_START {sram:#x}u\n#define SP_LOW {low:#x}u\n#define SP_HIGH {:#x}u\n\
             #define STATUS {status:#x}u\n\n",
            comment(&self.image.name),
            self.image.sha256,
            comment(&evidence.claim),
            comment(&result.name),
            comment(&result.formula),
            machine.device.name.trim_end_matches("-gpio"),
            high.unwrap_or_default(),
        )
    }
}

/// Writes the inputs of the run: levels of pins when they are read and have changed, and bytes when they are received.
fn inputs_to(text: &mut String, machine: &Machine, evidence: &Evidence) {
    text.push_str("static const struct input inputs[] = {\n");
    let mut player = Player::new(machine, evidence);
    let mut levels = std::collections::BTreeMap::new();
    let mut before = 0;
    while let Some(moment) = player.next() {
        for (address, value) in moment.reads {
            let name = machine.device.register_at(*address).map_or("", |register| register.name);
            // Writing to a string cannot fail.
            let _ = match name.strip_prefix("PIN").map(str::as_bytes) {
                Some([port]) if levels.insert(*port, *value) != Some(*value) => {
                    writeln!(text, "    {{{before}ull, PINS, '{}', {value:#x}}},", char::from(*port))
                }
                None if name == "UDR0" => writeln!(text, "    {{{before}ull, BYTE, 0, {value:#x}}},"),
                _ => Ok(()),
            };
        }
        before = moment.cycles;
    }
    text.push_str("    {0, NOTHING, 0, 0},\n};\n\n");
}

fn conditions_to(text: &mut String, conditions: &[Condition]) {
    let mut rows = String::new();
    for (condition, number) in conditions.iter().zip(0..) {
        // Writing to a string cannot fail.
        let _ = match condition {
            Condition::Pc { range, inside } => {
                writeln!(rows, "    {{PC, {:#x}, {:#x}, {}, 0}},", range.start, range.end, u8::from(*inside))
            }
            Condition::MainEntered => writeln!(rows, "    {{ENTERED, 0, 0, 0, 0}},"),
            Condition::StackPointerWhole => writeln!(rows, "    {{WHOLE, 0, 0, 0, 0}},"),
            Condition::Cells { addresses, allowed } => {
                let packed = allowed
                    .chunks(8)
                    .map(|bits| bits.iter().zip(0..).fold(0, |byte, (allowed, bit)| byte | u8::from(*allowed) << bit));
                cells_to(text, &format!("allowed_{number}"), &packed.collect::<Vec<u8>>());
                let (first, second) = (addresses[0], addresses.get(1));
                let (has_second, second) = (u8::from(second.is_some()), second.copied().unwrap_or_default());
                writeln!(rows, "    {{CELLS, {first:#x}, {second:#x}, {has_second}, allowed_{number}}},")
            }
        };
    }
    text.push_str(&format!(
        "static const struct condition conditions[] = {{\n{rows}    {{NOTHING, 0, 0, 0, 0}},\n}};\n\n"
    ));
}
