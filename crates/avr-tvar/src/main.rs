//! The `avr-tvar` command line.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    avr_tvar::run(std::env::args_os()).into()
}
