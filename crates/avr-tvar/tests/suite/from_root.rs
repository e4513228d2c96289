//! The program, executed in the root of the repository.

use std::process::{Command, Output};

use crate::sample::root;

/// The output of the program for these arguments.
pub fn avr_tvar(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root()).env_remove("CLICOLOR_FORCE").output().expect("the program starts")
}

/// The path of the ELF image of a sample that was built with a level of optimisation, as in `Os`.
pub fn image(sample: &str, level: &str) -> String {
    format!("firmware-samples/{sample}/{sample}.{level}.elf")
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}
