//! Code of libraries, about which nobody writes properties: the C library, the compiler's, the Arduino core.

use avr_image::{FlashByteAddress, Image};

/// Parts of the paths of source files that belong to libraries.
const FOLDERS: [&str; 8] = [
    "/avr/include/",
    "/avr-libc",
    "/libgcc/",
    "/lib/gcc/",
    "/cores/arduino/",
    "/hardware/arduino/",
    "/framework-arduino",
    "/libraries/",
];

/// Functions of the C library that stay in an image, and of the Arduino core.
const FUNCTIONS: [&str; 16] = [
    "exit",
    "abort",
    "init",
    "initVariant",
    "serialEventRun",
    "yield",
    "delay",
    "delayMicroseconds",
    "micros",
    "millis",
    "pinMode",
    "digitalRead",
    "digitalWrite",
    "analogRead",
    "analogWrite",
    "atexit",
];

/// Classes of the Arduino core.
const CLASSES: [&str; 8] =
    ["HardwareSerial::", "Print::", "Printable::", "Stream::", "String::", "TwoWire::", "SPIClass::", "Client::"];

/// True if the instruction at a flash byte address belongs to a library. Where the image has source lines, its file tells, and
/// libraries that were compiled without them have none; else the name of the function does.
pub(super) fn is_library(image: &Image, address: FlashByteAddress) -> bool {
    let function = image.symbols.function_at(address);
    if function.is_some_and(|located| is_library_name(located.symbol.base_name())) {
        return true;
    }
    match image.source_line(address) {
        Some(line) => {
            let file = line.file.replace('\\', "/");
            FOLDERS.iter().any(|folder| file.contains(folder))
        }
        None => has_lines(image),
    }
}

/// True if a function of this name belongs to a library.
pub(super) fn is_library_name(name: &str) -> bool {
    FUNCTIONS.contains(&name) || CLASSES.iter().any(|class| name.starts_with(class))
}

/// True if the image tells the source lines of the programmer's code.
fn has_lines(image: &Image) -> bool {
    let main = image.symbols.find("main").ok().and_then(|main| main.place.flash());
    main.is_some_and(|main| image.source_line(main).is_some())
}

#[cfg(test)]
mod tests {
    use super::is_library_name;

    #[test]
    fn functions_of_libraries_are_known_by_name() {
        for name in ["exit", "HardwareSerial::write", "delay"] {
            assert!(is_library_name(name), "{name}");
        }
        for name in ["exit_menu", "main", "loop", "Printer::write"] {
            assert!(!is_library_name(name), "{name}");
        }
    }
}
