//! Good images: what the loader says about files that avr-gcc wrote (`fixtures/rebuild.sh`).

use avr_image::{
    DataAddress, EepromAddress, FlashByteAddress, FlashWordAddress, Format, Image, LoadOptions, Region, Scalar,
    SymbolKind, SymbolPlace, Warning,
};

const SENSOR_ELF: &[u8] = include_bytes!("../fixtures/sensor.elf");
const SENSOR_HEX: &[u8] = include_bytes!("../fixtures/sensor.hex");
const SENSOR_FLASH_HEX: &[u8] = include_bytes!("../fixtures/sensor-flash.hex");
const SENSOR_STRIPPED: &[u8] = include_bytes!("../fixtures/sensor-stripped.elf");
const TWINS_ELF: &[u8] = include_bytes!("../fixtures/twins.elf");
const BOOT_ELF: &[u8] = include_bytes!("../fixtures/boot.elf");
const BOOT_HEX: &[u8] = include_bytes!("../fixtures/boot.hex");

fn atmega328p() -> LoadOptions {
    LoadOptions::new(0x8000, 0x400)
}

#[track_caller]
fn load(bytes: &[u8]) -> Image {
    Image::parse("test", bytes, &atmega328p()).expect("the fixture is a good image")
}

#[track_caller]
fn load_boot(bytes: &[u8]) -> Image {
    let options = LoadOptions { start: FlashByteAddress(0x7e00), ..atmega328p() };
    Image::parse("test", bytes, &options).expect("the fixture is a good image")
}

#[test]
fn hex_and_elf_of_one_program_give_the_same_memories() {
    let elf = load(SENSOR_ELF);
    assert_eq!((elf.format, elf.format.name()), (Format::Elf, "elf"));
    for bytes in [SENSOR_HEX, SENSOR_FLASH_HEX, SENSOR_STRIPPED] {
        assert_eq!(load(bytes).program, elf.program);
    }
    assert_eq!(load(SENSOR_HEX).format.name(), "hex");
    assert_eq!(load(SENSOR_HEX).eeprom, elf.eeprom);
    assert_eq!(load(SENSOR_FLASH_HEX).eeprom, None);
    assert_eq!(load_boot(BOOT_ELF).program, load_boot(BOOT_HEX).program);
}

#[test]
fn flash_holds_code_constants_and_the_initial_values_of_data() {
    let program = load(SENSOR_ELF).program;
    // `jmp` to `__ctors_end` at 0x6c: the vector table of 26 vectors, then `table`.
    assert_eq!(program.word(FlashWordAddress(0)), Some(0x940c));
    assert_eq!(program.word(FlashWordAddress(1)), Some(0x6c / 2));
    assert_eq!([0x68, 0x69, 0x6a].map(|address| program.byte(FlashByteAddress(address))), [Some(1), Some(2), Some(3)]);
    // `.data` is loaded behind `.text`, which ends at 0x144: `level`, then `counter`.
    assert_eq!([0x144, 0x145].map(|address| program.byte(FlashByteAddress(address))), [Some(0xfd), Some(5)]);
    assert_eq!(program.byte(FlashByteAddress(0x146)), None);
    assert_eq!((program.size_bytes(), program.used_bytes()), (0x8000, 0x146));
    assert_eq!(program.ranges().collect::<Vec<_>>(), [FlashByteAddress(0)..FlashByteAddress(0x146)]);
    assert_eq!(program.words().count(), 0x146 / 2);
}

#[test]
fn eeprom_content_has_its_own_memory() {
    let eeprom = load(SENSOR_ELF).eeprom.expect("the fixture has EEPROM content");
    assert_eq!(eeprom.byte(EepromAddress(0)), Some(7));
    assert_eq!(eeprom.byte(EepromAddress(1)), None);
    assert_eq!(eeprom.byte(EepromAddress(u16::MAX)), None);
}

#[track_caller]
fn check_word(hex: &str, address: u32, expected: Option<u16>) {
    assert_eq!(load(hex.as_bytes()).program.word(FlashWordAddress(address)), expected);
}

#[test]
fn a_word_is_there_when_one_of_its_bytes_is() {
    let odd = ":03000000112233 97\n:01000700AA4E\n:00000001FF\n".replace(' ', "");
    check_word(&odd, 0, Some(0x2211));
    check_word(&odd, 1, Some(0xff33));
    check_word(&odd, 2, None);
    check_word(&odd, 3, Some(0xaaff));
    check_word(&odd, 0x3fff, None);
    check_word(&odd, 0x4000, None);
    check_word(&odd, u32::MAX, None);
}

#[test]
fn hex_of_every_address_form() {
    // A segment record, a linear record, lower-case digits, CRLF, blank lines, a byte order mark, ^Z at the end.
    let text = "\u{feff}\r\n:020000021000EC\r\n:01000000AA55\r\n\r\n:020000040000fa\r\n:0100000011ee\r\n\
                :0400000300007E007B\n:0400000500000000F7\n:00000001FF\r\n\u{1a}";
    let options = LoadOptions::new(0x2_0000, 0);
    let program = Image::parse("test", text.as_bytes(), &options).expect("a good file").program;
    assert_eq!(program.byte(FlashByteAddress(0x1_0000)), Some(0xaa));
    assert_eq!(program.byte(FlashByteAddress(0)), Some(0x11));
}

#[test]
fn bytes_given_twice_may_agree() {
    check_word(":0200000011229 9B\n:0100010022DC\n:00000001FF".replace("9 9B", "CB").as_str(), 0, Some(0x2211));
}

#[test]
fn what_is_outside_of_the_memories_is_named() {
    let warning = |bytes| load(bytes).warnings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let fuses = ["left out 3 bytes (fuse bytes): 0x820000..0x820003 = e2 d9 ff"];
    assert_eq!(warning(SENSOR_ELF), fuses);
    assert_eq!(warning(SENSOR_HEX), fuses);
    assert!(warning(SENSOR_FLASH_HEX).is_empty());
    let beyond = ":0100000011EE\n:020000040001F9\n:01000000AA55\n:01000500AA50\n:00000001FF\n";
    let expected = "left out 2 bytes (beyond the flash): 0x10000..0x10001, 0x10005..0x10006 = aa aa";
    assert_eq!(warning(beyond.as_bytes()), [expected]);
    let Warning::LeftOut(left_out) = &load(SENSOR_ELF).warnings[0] else { panic!("another warning") };
    assert_eq!((left_out.region, left_out.bytes), (Region::Fuses, 3));
    assert!(load(SENSOR_ELF).warnings[0].hint().is_some_and(|hint| hint.contains("fuses:")));
}

#[test]
fn the_device_note_is_checked_against_the_request() {
    let image = load(SENSOR_ELF);
    assert_eq!(image.device.as_deref(), Some("atmega328p"));
    for same in ["atmega328p", "ATmega328P", "atmega328p-gpio"] {
        assert!(image.check_device(same).is_ok(), "{same}");
    }
    let error = image.check_device("atmega2560").expect_err("another device");
    assert_eq!(error.to_string(), "test: was built for atmega328p, but atmega2560 was asked for");
    assert_eq!(error.hint(), "use `--device atmega328p`, or build for the other device");
    assert!(load(SENSOR_HEX).check_device("atmega2560").is_ok());
    assert_eq!(image.architecture, Some(5));
    assert!(image.check_architecture(5).is_ok() && load(SENSOR_HEX).check_architecture(6).is_ok());
    let error = image.check_architecture(6).expect_err("another architecture");
    assert_eq!(
        error.to_string(),
        "test: was linked for the family of the ATmega328P, not for the family of the ATmega2560"
    );
}

#[test]
fn the_digest_is_that_of_the_file() {
    // From sha256sum.
    let digest = load(b":0100000011EE\n:00000001FF\n").sha256;
    assert_eq!(digest, "0db32ee302f895122840bfb1d3f0c664722f8e63e05726af72d9d2b328cc2ac1");
}

#[track_caller]
fn check_place(image: &Image, name: &str, expected: SymbolPlace) {
    let symbol = image.symbols.find(name).expect("the name is known");
    assert_eq!(symbol.place, expected, "{name}");
}

#[test]
fn symbols_by_name() {
    let image = load(SENSOR_ELF);
    let flash = |address| SymbolPlace::Flash(FlashByteAddress(address));
    let data = |address| SymbolPlace::Data(DataAddress(address));
    check_place(&image, "main", flash(0xf4));
    check_place(&image, "_ZN6sensor6Filter4stepEi", flash(0xaa));
    check_place(&image, "sensor::Filter::step(int)", flash(0xaa));
    check_place(&image, "sensor::Filter::step( unsigned  char )", flash(0xbe));
    check_place(&image, "counter", data(0x101));
    check_place(&image, "__bss_end", data(0x10e));
    check_place(&image, "saved", SymbolPlace::Eeprom(EepromAddress(0)));
    check_place(&image, "__stack", SymbolPlace::Absolute(0x8ff));
    check_place(&image, "__fuse", SymbolPlace::Other(0x82_0000));
    assert_eq!(image.symbols.find("_ZL5table").map(|symbol| (symbol.place, symbol.size)), Ok((flash(0x68), 3)));
    assert_eq!(image.symbols.eeprom().count(), 2);
    assert!(load(SENSOR_HEX).symbols.all().is_empty() && load(SENSOR_STRIPPED).symbols.all().is_empty());
}

#[track_caller]
fn check_unknown(image: &Image, name: &str, expected: &str) {
    let error = image.symbols.find(name).expect_err("no such name, or several");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn names_that_name_nothing_or_too_much() {
    let sensor = load(SENSOR_ELF);
    check_unknown(&sensor, "conter", "no symbol is named \"conter\"; did you mean counter?");
    check_unknown(&sensor, "nothing_like_it", "no symbol is named \"nothing_like_it\"");
    let step = "sensor::Filter::step";
    let candidates = format!("{step}(int) at flash 0xaa, {step}(unsigned char) at flash 0xbe");
    check_unknown(&sensor, step, &format!("the name {step:?} is ambiguous: it may be {candidates}"));
    let twins = load(TWINS_ELF);
    check_unknown(
        &twins,
        "state",
        "the name \"state\" is ambiguous: it may be state at data 0x0100, state at data 0x0102",
    );
    assert_eq!(twins.symbols.find("main").map(|symbol| symbol.kind), Ok(SymbolKind::Function));
    let function = |symbol: &avr_image::Symbol| symbol.is_code();
    assert!(sensor.symbols.find_where("counter", function).is_err());
}

#[track_caller]
fn check_function(image: &Image, address: u32, expected: Option<(&str, u32)>) {
    let found = image.symbols.function_at(FlashByteAddress(address));
    assert_eq!(found.map(|found| (found.symbol.display_name(), found.offset)), expected, "{address:#x}");
}

#[test]
fn functions_by_address() {
    let image = load(SENSOR_ELF);
    check_function(&image, 0, Some(("__vectors", 0)));
    check_function(&image, 0xaa, Some(("sensor::Filter::step(int)", 0)));
    check_function(&image, 0xbd, Some(("sensor::Filter::step(int)", 0x13)));
    check_function(&image, 0xbe, Some(("sensor::Filter::step(unsigned char)", 0)));
    check_function(&image, 0xd2, Some(("__vector_16", 0)));
    // `_exit` is an alias of `exit`; the label `.do_clear_bss_loop` lies in a sized function.
    check_function(&image, 0x140, Some(("exit", 0)));
    check_function(&image, 0x98, Some(("__do_clear_bss", 0xa)));
    // The initial values of `.data` are in no function, and neither is what lies behind them.
    check_function(&image, 0x144, None);
    check_function(&image, 0x7fff, None);
    check_function(&load(SENSOR_HEX), 0, None);
}

#[test]
fn assembly_labels_reach_to_the_next_one() {
    let image = load_boot(BOOT_ELF);
    check_function(&image, 0x7dff, None);
    check_function(&image, 0x7e00, Some(("main", 0)));
    check_function(&image, 0x7e04, Some(("loop", 2)));
    check_function(&image, 0x7e0b, Some(("pause", 5)));
    check_function(&image, 0x7e0c, None);
    let extent = |image: &Image, name| image.symbols.extent(image.symbols.find(name).expect("a known name"));
    let pause = extent(&image, "pause").expect("code has an extent");
    assert_eq!((pause.range, pause.stated), (FlashByteAddress(0x7e06)..FlashByteAddress(0x7e0c), false));
    let main = extent(&load(SENSOR_ELF), "main").expect("code has an extent");
    assert_eq!((main.range, main.stated), (FlashByteAddress(0xf4)..FlashByteAddress(0x140), true));
    assert_eq!(extent(&load(SENSOR_ELF), "counter"), None);
}

#[track_caller]
fn check_object(address: u16, expected: Option<(&str, u32)>) {
    let image = load(SENSOR_ELF);
    let found = image.symbols.object_at(DataAddress(address));
    assert_eq!(found.map(|found| (found.symbol.display_name(), found.offset)), expected, "{address:#x}");
}

#[test]
fn variables_by_address() {
    check_object(0xff, None);
    check_object(0x100, Some(("level", 0)));
    check_object(0x101, Some(("counter", 0)));
    check_object(0x109, Some(("history", 3)));
    check_object(0x110, None);
}

#[track_caller]
fn check_scalar(name: &str, expected: Option<(u8, Option<bool>)>) {
    let image = load(SENSOR_ELF);
    let symbol = image.symbols.find(name).expect("the name is known");
    assert_eq!(symbol.scalar, expected.map(|(bytes, signed)| Scalar { bytes, signed }), "{name}");
}

#[test]
fn types_of_variables() {
    check_scalar("counter", Some((1, Some(false))));
    check_scalar("level", Some((1, Some(true))));
    check_scalar("kept", Some((2, Some(false))));
    check_scalar("mode", Some((2, None)));
    check_scalar("saved", Some((1, Some(false))));
    check_scalar("history", None);
    check_scalar("filter", None);
    check_scalar("main", None);
}

#[test]
fn static_data_end_where_the_sections_do() {
    assert_eq!(load(SENSOR_ELF).static_data_end(), Some(DataAddress(0x110)));
    assert_eq!(load(SENSOR_STRIPPED).static_data_end(), Some(DataAddress(0x110)));
    assert_eq!(load(TWINS_ELF).static_data_end(), Some(DataAddress(0x103)));
    assert_eq!(load(SENSOR_HEX).static_data_end(), None);
    let image = load(SENSOR_ELF);
    let data: Vec<_> = image.sections.iter().filter_map(|s| Some((s.name.as_str(), s.data_range()?))).collect();
    assert_eq!(data, [(".data", 0x100..0x102), (".bss", 0x102..0x10e), (".noinit", 0x10e..0x110)]);
}

#[track_caller]
fn check_line(image: &Image, address: u32, expected: Option<(&str, u32)>) {
    let found = image.source_line(FlashByteAddress(address));
    assert_eq!(found.map(|found| (found.file, found.line)), expected, "{address:#x}");
}

#[test]
fn source_lines() {
    let image = load(SENSOR_ELF);
    // As `avr-objdump --dwarf=decodedline` prints them.
    check_line(&image, 0xaa, Some(("sensor.cpp", 27)));
    check_line(&image, 0xb6, Some(("sensor.cpp", 28)));
    check_line(&image, 0xb8, Some(("sensor.cpp", 29)));
    check_line(&image, 0xd2, Some(("sensor.cpp", 45)));
    check_line(&image, 0x13e, Some(("sensor.cpp", 53)));
    // Start-up code and vectors have none; `discarded`, which the linker moved to 0, is not among them.
    check_line(&image, 0, None);
    check_line(&image, 0x140, None);
    check_line(&image, u32::MAX, None);
    check_line(&load_boot(BOOT_ELF), 0x7e08, Some(("boot.S", 10)));
    check_line(&load(SENSOR_HEX), 0xaa, None);
}

#[test]
fn stabs_gives_a_hint() {
    let image = load(TWINS_ELF);
    assert_eq!(image.warnings, [Warning::StabsOnly]);
    assert!(image.warnings[0].hint().is_some_and(|hint| hint.contains("-gdwarf-4")));
    assert!(load(SENSOR_ELF).warnings.iter().all(|warning| *warning != Warning::StabsOnly));
}

/// The fixture without its symbol table: the section type of `.symtab` becomes one that means nothing here.
fn without_symbols() -> Vec<u8> {
    let mut bytes = SENSOR_ELF.to_vec();
    let headers = u32::from_le_bytes([bytes[32], bytes[33], bytes[34], bytes[35]]) as usize;
    let kinds = (headers + 4..bytes.len()).step_by(40);
    let symtab = kinds.into_iter().find(|&kind| bytes[kind] == 2).expect("the fixture has a symbol table");
    bytes[symtab] = 1;
    bytes
}

#[test]
fn debug_information_names_functions_without_symbols() {
    let image = load(&without_symbols());
    check_function(&image, 0xbd, Some(("sensor::Filter::step(int)", 0x13)));
    check_function(&image, 0xf4, Some(("main", 0)));
    check_function(&image, 0x140, None);
    assert!(image.symbols.find("main").is_ok_and(|symbol| symbol.size == 0x4c));
}

#[test]
fn images_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&load(SENSOR_ELF));
}

#[test]
fn load_reads_the_file_and_names_it() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let image = Image::load(format!("{fixtures}/sensor.elf"), &atmega328p()).expect("the fixture is a good image");
    assert!(image.name.ends_with("sensor.elf"));
    let error = Image::load(format!("{fixtures}/absent.elf"), &atmega328p()).expect_err("there is no such file");
    assert!(error.to_string().contains("absent.elf: cannot be read"));
}
