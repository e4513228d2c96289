//! A process that another one waits for.

use std::io::{self, Read};
use std::thread;

use crate::exit::Exit;

/// Ends this process as soon as its standard input is closed, which also happens when the process that waits for it ends.
pub(crate) fn end_with_standard_input() {
    thread::spawn(|| {
        let mut byte = [0];
        // A read of nothing and an error mean the same: nobody is there.
        while matches!(io::stdin().lock().read(&mut byte), Ok(1..)) {}
        std::process::exit(Exit::Interrupted.code().into());
    });
}
