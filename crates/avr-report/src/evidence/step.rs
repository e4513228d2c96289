//! The parts of a step in words.

use avr_machine::device::{Device, ResetCause};
use avr_machine::simulator::ExactInput;
use avr_machine::{AUTOMATON_CHOICE, Happening};
use avr_verify::{Change, Chosen, Line};

use super::numbers::Number;
use crate::names::Names;
use crate::variables::number_at;

/// The names of the flags in SREG, from bit 0.
const FLAGS: [char; 8] = ['C', 'Z', 'N', 'V', 'S', 'H', 'T', 'I'];

/// The instruction, or the event that happens instead of one.
pub(crate) fn action(names: &Names<'_>, line: &Line) -> String {
    match line.happened {
        Happening::Continue if line.asleep => "asleep".to_owned(),
        Happening::Continue => names.instruction(line.pc).unwrap_or_else(|| "no instruction".to_owned()),
        other => format!("*** {} ***", happening(names, other)),
    }
}

/// A happening in words.
pub(crate) fn happening(names: &Names<'_>, happening: Happening) -> String {
    match happening {
        Happening::Continue => "no interrupt".to_owned(),
        Happening::Interrupt(number) => format!("interrupt {}", names.interrupt(number)),
        Happening::Wake => "wakes without an interrupt".to_owned(),
        Happening::Reset(ResetCause::PowerOn) => "power-on reset".to_owned(),
        Happening::Reset(ResetCause::External) => "external reset".to_owned(),
        Happening::Reset(ResetCause::BrownOut) => "brown-out reset".to_owned(),
        Happening::Reset(ResetCause::Watchdog) => "watchdog reset".to_owned(),
    }
}

/// The cells that a step changed, registers first as in a debugger: flags by name, SP in one piece, variables of several bytes
/// with all of them.
pub(super) fn changes(names: &Names<'_>, changes: &[Change], numbers: &[Number]) -> Vec<String> {
    let at = |name: &str| names.device.register(name).map(|register| register.address);
    let (status, low, high) = (at("SREG"), at("SPL"), at("SPH"));
    let mut all = Vec::new();
    for change in changes {
        if Some(change.address) == status {
            let flags = (0..8).rev().filter(|bit| (change.before ^ change.after) >> bit & 1 == 1);
            all.extend(flags.map(|bit| format!("{}={}", FLAGS[bit], change.after >> bit & 1)));
        } else if Some(change.address) == low || Some(change.address) == high {
            let half = if Some(change.address) == low { "SPL" } else { "SPH" };
            all.push(format!("{half} {:#04x}", change.after));
        } else {
            let (before, after) = (change.before.into(), change.after.into());
            let told = match number_at(names, change.address) {
                Some(variable) if variable.bytes == 1 => value_change(&variable.name, 1, (before, after)),
                Some(variable) => match numbers.iter().find(|number| number.variable == variable) {
                    Some(Number { before, after, .. }) => {
                        value_change(&variable.name, variable.bytes, (*before, *after))
                    }
                    None => value_change(&names.cell(change.address), 1, (before, after)),
                },
                None => value_change(&names.cell(change.address), 1, (before, after)),
            };
            // A step can change several bytes of a variable.
            if all.last() != Some(&told) {
                all.push(told);
            }
        }
    }
    all
}

/// The values of so many bytes before and after.
fn value_change(name: &str, bytes: u32, (before, after): (u64, u64)) -> String {
    let width = 2 + 2 * bytes as usize;
    format!("{name} {before:#0width$x}->{after:#0width$x}")
}

/// The choices of a step, in words.
pub(crate) fn chosen(names: &Names<'_>, chosen: &Chosen) -> Vec<String> {
    let inputs = chosen.inputs.iter().map(|input| given(names.device, input));
    let initial = chosen.initial.iter().map(|(cell, value)| format!("{} = {value:#04x}", names.cell(*cell)));
    let what = chosen.happening.map(|what| happening(names, what));
    what.into_iter().chain(inputs).chain(initial).collect()
}

/// An input with the bits that it consists of.
fn given(device: &Device, input: &ExactInput) -> String {
    if input.register == AUTOMATON_CHOICE {
        return format!("the environment makes move {} of those that answer", input.value);
    }
    let name =
        device.register_at(input.register).map_or_else(|| format!("{:#06x}", input.register), |at| at.name.to_owned());
    if input.mask.count_ones() == 1 {
        return format!("{name}.{} = {}", input.mask.trailing_zeros(), u8::from(input.value != 0));
    }
    match input.mask {
        0xff => format!("{name} = {:#04x}", input.value),
        mask => format!("{name} & {mask:#04x} = {:#04x}", input.value),
    }
}
