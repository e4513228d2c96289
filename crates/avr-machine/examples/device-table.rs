//! Prints a device as plain lines, for comparing its table with other descriptions of the part.
//!
//! `cargo run -p avr-machine --example device-table -- atmega328p` prints one fact a line, numbers in hexadecimal:
//!
//! * `register NAME ADDRESS RESET UNDEFINED`, `bit REGISTER NAME NUMBER KIND ACCESS`, `pair NAME LOW`, `alias NAME NUMBER REGISTER BIT`;
//!   the kind is `storage` for a plain bit without rules, and the access is `read_only` where no write changes the bit,
//!   `write_only` where it always reads 0, `anything` where hardware may change it at any moment, and else `read_write`;
//! * `vector NUMBER NAME WORD-ADDRESS ENABLE-ADDRESS ENABLE-BIT FLAG-ADDRESS FLAG-BIT PERSISTENT`, 0 0 for no flag;
//! * `fuse NAME BYTE MASK` and `fact NAME VALUE`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::process::ExitCode;

use avr_isa::DataAddress;
use avr_machine::device::{BitKind, BitRef, ClearedBy, Condition, Device, InputWrite, Interrupt, Register, Request};

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_else(|| "atmega328p".to_owned());
    match Device::named(&name) {
        Ok(device) => {
            print(device);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints everything.
fn print(device: &Device) {
    device.registers.iter().filter(|register| !register.is_hidden).for_each(print_register);
    for pair in &device.pairs {
        println!("pair {} {:x}", pair.name, pair.low);
    }
    for (alias, bit) in &device.aliases {
        print_alias(device, alias, *bit);
    }
    device.interrupts.iter().for_each(print_interrupt);
    for fuse in &device.fuses {
        println!("fuse {} {:?} {:x}", fuse.name, fuse.byte, fuse.mask);
    }
    print_facts(device);
}

/// Prints another name of a bit.
fn print_alias(device: &Device, alias: &str, BitRef { address, bit }: BitRef) {
    let register = device.register_at(address);
    let name = register.and_then(|register| register.bits[usize::from(bit)].name);
    if let (Some(register), Some(name)) = (register, name) {
        println!("alias {alias} {bit:x} {} {name}", register.name);
    }
}

/// Prints an interrupt source.
fn print_interrupt(interrupt: &Interrupt) {
    let Interrupt { number, name, vector, enable, .. } = interrupt;
    let flag = interrupt.flag().unwrap_or(BitRef { address: DataAddress(0), bit: 0 });
    let persistent = u8::from(matches!(interrupt.request, Request::Persistent { .. }));
    println!(
        "vector {number:x} {name} {vector:x} {:x} {:x} {:x} {:x} {persistent}",
        enable.address, enable.bit, flag.address, flag.bit
    );
}

/// Prints a register and its named bits.
fn print_register(register: &Register) {
    let Register { name, address, reset, .. } = register;
    println!("register {name} {address:x} {:x} {:x}", reset.value, reset.undefined);
    for (number, bit) in register.bits.iter().enumerate() {
        if let Some(bit_name) = bit.name {
            let kind = if bit.is_storage() { "storage" } else { kind_name(&bit.kind) };
            println!("bit {name} {bit_name} {number:x} {kind} {}", access_name(&bit.kind));
        }
    }
}

/// The name of a kind of bit.
fn kind_name(kind: &BitKind) -> &'static str {
    match kind {
        BitKind::Plain => "plain",
        BitKind::ReadOnly => "read_only",
        BitKind::Reserved => "reserved",
        BitKind::Input(_) => "input",
        BitKind::Flag(_) => "flag",
        BitKind::Pulse(_) => "pulse",
        BitKind::Strobe => "strobe",
        BitKind::Window(_) => "window",
    }
}

/// The accesses that a bit of some kind answers.
fn access_name(kind: &BitKind) -> &'static str {
    match kind {
        BitKind::ReadOnly | BitKind::Reserved => "read_only",
        BitKind::Input(input) if input.changes_while == Condition::Always => "anything",
        BitKind::Input(input) if input.on_write == InputWrite::Discarded => "read_only",
        BitKind::Flag(flag)
            if !flag.cleared_by.iter().any(|way| matches!(way, ClearedBy::WriteOne | ClearedBy::WriteZero)) =>
        {
            "read_only"
        }
        BitKind::Strobe => "write_only",
        BitKind::Plain | BitKind::Input(_) | BitKind::Flag(_) | BitKind::Pulse(_) | BitKind::Window(_) => "read_write",
    }
}

/// Prints sizes and other single numbers.
fn print_facts(device: &Device) {
    let memory = &device.memory;
    for (name, value) in [
        ("flash_end", memory.flash_bytes - 1),
        ("flash_page_bytes", memory.flash_page_bytes.into()),
        ("sram_start", memory.sram_start.0.into()),
        ("sram_end", memory.sram_end.0.into()),
        ("eeprom_end", u32::from(memory.eeprom_bytes) - 1),
        ("fuse_low", device.default_fuses.low.into()),
        ("fuse_high", device.default_fuses.high.into()),
        ("fuse_extended", device.default_fuses.extended.into()),
        ("signature_0", device.signature[0].into()),
        ("signature_1", device.signature[1].into()),
        ("signature_2", device.signature[2].into()),
        (
            "vectors_bytes",
            (device.interrupts.last().map_or(0, |last| u32::from(last.number)) + 1)
                * u32::from(device.core.vector_words)
                * 2,
        ),
    ] {
        println!("fact {name} {value:x}");
    }
    for mode in device.sleep.iter().flat_map(|sleep| &sleep.modes) {
        println!("fact sleep_{} {:x}", mode.name, mode.value);
    }
}
