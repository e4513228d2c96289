//! Parts of variables by the types of the ELF file, and enumerators.

use avr_isa::DataAddress;
use avr_properties::{AtomKind, AtomTable, Binding, CellsRead, Definitions, Event, Property, bind};
use three_valued::{Truth, TvByte};

use super::support::{State, atom, bound, device, truth, typed};

/// Data addresses of the variables of `tests/fixtures/types.c`.
const CFG: u16 = 0x111;
const PLACE: u16 = 0x10c;
const LINE: u16 = 0x104;
const TEMPERATURE: u16 = 0x10d;
const SIGN: u16 = 0x10f;

/// The cells that a comparison reads.
#[track_caller]
fn reads(text: &str, expected: &[u16]) {
    let (atom, _) = atom(&format!("{text} == 0"), &typed());
    let expected = expected.iter().map(|cell| (DataAddress(*cell), 0xff)).collect();
    assert_eq!(atom.cells(), CellsRead::These(expected), "{text}");
}

/// The truth of a comparison where these cells are known and all others 0.
#[track_caller]
fn check(text: &str, cells: &[(u16, u8)], expected: Truth) {
    let cells: Vec<(u16, TvByte)> = cells.iter().map(|(cell, value)| (*cell, TvByte::constant(*value))).collect();
    assert_eq!(truth(text, &typed(), &State::zero().with(&cells)), expected, "{text}");
}

#[test]
fn members_and_elements_are_where_the_compiler_puts_them() {
    reads("cfg.level", &[CFG]);
    reads("cfg.mode", &[CFG + 1, CFG + 2]);
    reads("cfg.low", &[CFG + 3]);
    reads("cfg.high", &[CFG + 4]);
    reads("cfg.points[0].x", &[CFG + 5]);
    reads("cfg.points[2].y", &[CFG + 12, CFG + 13]);
    reads("cfg.table[1][3]", &[CFG + 21]);
    reads("cfg.next", &[CFG + 27, CFG + 28]);
    reads("line[7]", &[LINE + 7]);
    reads("either.word", &[0x102, 0x103]);
    reads("either.bytes[1]", &[0x103]);
}

#[test]
fn the_type_tells_the_sign() {
    check("temperature < 0", &[(TEMPERATURE, 0xfb), (TEMPERATURE + 1, 0xff)], Truth::True);
    check("temperature == -5", &[(TEMPERATURE, 0xfb), (TEMPERATURE + 1, 0xff)], Truth::True);
    check("signed(temperature) == -5", &[(TEMPERATURE, 0xfb), (TEMPERATURE + 1, 0xff)], Truth::True);
    check("temperature & 0xffff == 0xfffb", &[(TEMPERATURE, 0xfb), (TEMPERATURE + 1, 0xff)], Truth::True);
    check("cfg.points[1].x < -1", &[(CFG + 8, 0xfe)], Truth::True);
    check("cfg.points[1].y > 0x8000", &[(CFG + 10, 0x81)], Truth::True);
    check("line[0] > 127", &[(LINE, 0x80)], Truth::True);
}

#[test]
fn enumerators_are_numbers() {
    check("cfg.mode == RUNNING", &[(CFG + 1, 5)], Truth::True);
    check("cfg.mode == FAILED", &[(CFG + 1, 0x23), (CFG + 2, 1)], Truth::True);
    check("cfg.mode != IDLE", &[], Truth::False);
    check("sign == BELOW", &[(SIGN, 0xff), (SIGN + 1, 0xff)], Truth::True);
    let error = bound("AG (cfg.mode == RUNING)", "atmega328p", &typed()).expect_err("there is no such name");
    assert!(error.to_string().contains("did you mean RUNNING?"), "{error}");
}

#[test]
fn an_index_selects_elements_of_the_array_and_nothing_else() {
    check("line[place] == 7", &[(PLACE, 2), (LINE + 2, 7)], Truth::True);
    check("cfg.points[place].y == 0x102", &[(PLACE, 1), (CFG + 9, 2), (CFG + 10, 1)], Truth::True);
    check("cfg.table[place][line[0]] == 9", &[(PLACE, 1), (LINE, 3), (CFG + 21, 9)], Truth::True);
    // `place` lies behind `line`: element 8 is another variable.
    check("line[place] == 8", &[(PLACE, 8)], Truth::Unknown);
    check("cfg.table[place][0] == 0", &[(PLACE, 2)], Truth::Unknown);
    let unknown = State::zero().with(&[(PLACE, TvByte::UNKNOWN)]);
    assert_eq!(truth("line[place] == 0", &typed(), &unknown), Truth::Unknown);
    let few = State::zero().with(&[(PLACE, TvByte::new(0, 0xfc))]);
    assert_eq!(truth("line[place] == 0", &typed(), &few), Truth::True, "the index is below 4");
}

#[test]
fn static_variables_of_functions_have_the_names_of_both() {
    reads("\"parse::state\"", &[0x100]);
    reads("\"count::count_of_calls\"", &[0x101]);
}

#[test]
fn events_speak_of_members() {
    let (written, _) = atom("write(cfg.mode)", &typed());
    assert_eq!(*written.kind(), AtomKind::Event(Event::Write(DataAddress(CFG + 1)..DataAddress(CFG + 3)), None));
    let (written, _) = atom("write(cfg.table[1][2]) == 3", &typed());
    assert!(
        matches!(written.kind(), AtomKind::Event(Event::Write(cells), Some(_)) if *cells == (DataAddress(CFG + 20)..DataAddress(CFG + 21)))
    );
}

/// The message about a comparison that means nothing.
#[track_caller]
fn refused(text: &str, told: &str) {
    let error = bound(&format!("AG ({text})"), "atmega328p", &typed()).expect_err("it means nothing");
    assert!(error.to_string().contains(told), "{text}: {error}");
}

#[test]
fn what_is_no_number_is_refused() {
    refused("cfg == 0", "is a whole structure");
    refused("cfg.points == 0", "is a whole array");
    refused("cfg.points[0] == 0", "is a whole structure");
    refused("cfg.flag == 0", "is no integer");
    refused("cfg.gain == 0", "is no integer");
    refused("cfg.levle == 0", "'cfg' has no member 'levle'; did you mean level?");
    refused("cfg.points[3].x == 0", "'cfg.points' has 3 elements, so there is no element 3");
    refused("cfg.level.x == 0", "has no member");
    refused("cfg.level[0] == 0", "is no array");
    refused("temperature == 0xfffb", "is never true");
}

/// In a definition a comparison that is never true is noted and not refused: it must stay false for the number that has the same bits.
#[test]
fn a_number_beyond_the_sign_is_equal_to_nothing_in_definitions_either() {
    let image = typed();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    let mut definitions = Definitions::new();
    definitions.define("cold", "temperature == 0xfffb").expect("it is a formula");
    let mut table = AtomTable::new();
    let property = Property::from_command_line("AG !cold").expect("it is a formula");
    bind(&property, &definitions, &binding, &mut table).expect("it is bound, with a note");
    let minus_five = [(TEMPERATURE, TvByte::constant(0xfb)), (TEMPERATURE + 1, TvByte::constant(0xff))];
    let truths: Vec<Truth> = table.atoms().iter().map(|atom| atom.evaluate(&State::zero().with(&minus_five))).collect();
    assert_eq!(truths, [Truth::False]);
}
