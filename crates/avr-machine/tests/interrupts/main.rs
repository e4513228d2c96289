//! Interrupts, sleep, resets and peripherals on the machine itself, with concrete values and a world that the tests
//! play.

mod allowed;
mod assumptions;
mod bench;
mod eeprom;
mod entry;
mod fuses;
mod registers;
mod resets;
mod sleep;
mod sources;
mod stacks;
mod starts;
mod windows;
