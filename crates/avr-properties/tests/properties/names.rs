//! Meanings of names: each formula with the atom that it is bound to.

use avr_image::Image;
use avr_isa::DataAddress;
use avr_properties::{AtomKind, AtomTable, Binding, CellsRead, Definitions, Event, Occurrence, Property, bind};
use three_valued::{Truth, TvByte};

use super::support::{State, atom, careful, device, fixture, hex, sensor, truth};

fn cell(address: u16, mask: u8, equals: u8) -> AtomKind {
    AtomKind::CellEquals { address: DataAddress(address), mask, equals }
}

#[track_caller]
fn check(text: &str, image: &Image, expected: AtomKind) {
    assert_eq!(*atom(text, image).0.kind(), expected, "{text}");
}

#[test]
fn registers_and_bits() {
    let image = hex();
    check("r0 == 1", &image, cell(0, 0xff, 1));
    check("r31 == 1", &image, cell(31, 0xff, 1));
    check("1 == PORTB", &image, cell(0x25, 0xff, 1));
    check("PORTB & 0x0f == 3", &image, cell(0x25, 0x0f, 3));
    check("PORTB.3", &image, cell(0x25, 8, 8));
    check("PORTB.PORTB3 == 0", &image, cell(0x25, 8, 0));
    check("TCCR0B.CS00", &image, cell(0x45, 1, 1));
    check("SREG.I", &image, cell(0x5f, 0x80, 0x80));
    check("SREG.C == 0", &image, cell(0x5f, 1, 0));
    check("mem[0x100] == 7", &image, cell(0x100, 0xff, 7));
    check("mem[0x25] == 7", &image, cell(0x25, 0xff, 7));
    check("mem[0x80 + 0x80] == 7", &image, cell(0x100, 0xff, 7));
    check("enabled(TIMER0_OVF)", &image, cell(0x6e, 1, 1));
    check("OCR1A.9", &image, cell(0x89, 2, 2));
    check("x.8", &image, cell(27, 1, 1));
    check("pc == 0x8c", &image, AtomKind::PcEquals(0x8c));
    check("1 == 2", &image, AtomKind::Constant(false));
}

#[test]
fn bits_that_do_not_matter_may_be_changed_by_hardware() {
    // ADIF and ADSC are; ADEN is not.
    check("ADCSRA & 0x80 == 0x80", &hex(), cell(0x7a, 0x80, 0x80));
    check("WDTCSR.WDE", &hex(), cell(0x60, 8, 8));
}

#[test]
fn symbols() {
    let image = sensor();
    check("pc == main", &image, AtomKind::PcEquals(0xf4));
    check("pc in main", &image, AtomKind::PcIn(0xf4..0x140));
    check("pc in \"sensor::Filter::step(unsigned char)\"", &image, AtomKind::PcIn(0xbe..0xd2));
    check("counter == 5", &image, cell(0x101, 0xff, 5));
    check("\"counter\" == 5", &image, cell(0x101, 0xff, 5));
    check("counter.7", &image, cell(0x101, 0x80, 0x80));
    check("mem[__bss_end] == 5", &image, cell(0x10e, 0xff, 5));
    check("write(counter)", &image, AtomKind::Event(Event::Write(DataAddress(0x101)..DataAddress(0x102)), None));
    check("write(mode)", &image, AtomKind::Event(Event::Write(DataAddress(0x104)..DataAddress(0x106)), None));
    let (called, _) = atom("call(main)", &image);
    assert!(matches!(called.kind(), AtomKind::Event(Event::Call(entry), None) if entry.address == 0xf4));
    check("return(main)", &image, AtomKind::Event(Event::Return(0xf4..0x140), None));
    check("read(PINC)", &image, AtomKind::Event(Event::Read(DataAddress(0x26)..DataAddress(0x27)), None));
    check("interrupt(TIMER0_OVF)", &image, AtomKind::Event(Event::Interrupt(16), None));
}

#[test]
fn names_that_need_care() {
    let image = careful();
    check("\"x\" == 5", &image, cell(0x102, 0xff, 5));
    check("triple[2] == 5", &image, cell(0x106, 0xff, 5));
    check("mem[label] == 5", &image, cell(0x100, 0xff, 5));
    check("mem[label + 1] == 5", &image, cell(0x101, 0xff, 5));
    check("label[1] == 5", &image, cell(0x101, 0xff, 5));
    // The number 5 that the assembler calls PORTB is the I/O address, not the register.
    check("PORTB == 5", &image, cell(0x25, 0xff, 5));
    check("\"PORTB\" == 5", &image, AtomKind::Constant(true));
    check("pc == inner", &image, AtomKind::PcEquals(0xa8));
    check("write(\"x\")", &image, AtomKind::Event(Event::Write(DataAddress(0x102)..DataAddress(0x103)), None));
}

#[test]
fn a_variable_of_several_bytes_is_little_endian() {
    let state = State::zero().with(&[(0x104, TvByte::constant(0x34)), (0x105, TvByte::constant(0x12))]);
    for text in ["mode == 0x1234", "mem16[0x104] == 0x1234", "signed(mode) == 0x1234", "history < 1", "mode[1] == 0x12"]
    {
        assert_eq!(truth(text, &sensor(), &state), Truth::True, "{text}");
    }
    let negative = State::zero().with(&[(0x104, TvByte::constant(0xfe)), (0x105, TvByte::constant(0xff))]);
    assert_eq!(truth("signed(mode) == -2", &sensor(), &negative), Truth::True);
    assert_eq!(truth("mode == 0xfffe", &sensor(), &negative), Truth::True);
}

#[test]
fn cells_that_are_read() {
    #[track_caller]
    fn check(text: &str, expected: CellsRead, reads_pc: bool, reads_sp: bool) {
        let (atom, _) = atom(text, &hex());
        assert_eq!((atom.cells(), atom.reads_pc(), atom.reads_sp()), (expected, reads_pc, reads_sp), "{text}");
    }
    let these =
        |cells: &[(u16, u8)]| CellsRead::These(cells.iter().map(|(cell, mask)| (DataAddress(*cell), *mask)).collect());
    check("PORTB & 0x0f < 3", these(&[(0x25, 0x0f)]), false, false);
    check("PORTB.3 < 3", these(&[(0x25, 8)]), false, false);
    check("r16 + r17 == 3", these(&[(16, 0xff), (17, 0xff)]), false, false);
    check("mem[0x100 + PORTB.0] == 3", these(&[(0x25, 1), (0x100, 0xff), (0x101, 0xff)]), false, false);
    check("mem[x] == 3", CellsRead::All, false, true);
    check("sp == 3", these(&[(0x5d, 0xff), (0x5e, 0xff)]), false, true);
    check("sp_torn", these(&[]), false, true);
    check("pc > r16", these(&[(16, 0xff)]), true, false);
    check("pc == 0", these(&[]), true, false);
    check("in_interrupt", these(&[]), false, false);
}

#[test]
fn events_with_values() {
    #[track_caller]
    fn check(text: &str, happened: Truth, value: TvByte, expected: Truth) {
        let event = (Event::Write(DataAddress(0x25)..DataAddress(0x26)), Occurrence { happened, value });
        let state = State { events: vec![event], ..State::zero() };
        assert_eq!(truth(text, &hex(), &state), expected, "{text}");
    }
    use Truth::{False, True, Unknown};
    let (five, low_bit) = (TvByte::constant(5), TvByte::new(1, 1));
    check("write(PORTB)", True, five, True);
    check("write(PORTB)", Unknown, five, Unknown);
    check("write(PORTB) & 1 == 1", True, low_bit, True);
    check("write(PORTB) & 1 == 1", Unknown, low_bit, Unknown);
    check("write(PORTB) & 1 == 0", Unknown, low_bit, False);
    check("write(PORTB) == 5", True, low_bit, Unknown);
    // Without the event nothing is written, neither 5 nor something else.
    check("write(PORTB) != 5", False, five, False);
    check("write(PORTB) == 5", False, five, False);
    check("write(PORTC)", True, five, False);
}

#[test]
fn equal_atoms_of_several_properties_are_one() {
    let image = hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    let mut definitions = Definitions::new();
    definitions.define("idle", "PORTB == 0 && pc == 0x8c").expect("it is a formula");
    let mut table = AtomTable::new();
    for text in ["AG PORTB == 0", "EF (PORTB != 0)", "AG EF idle", "AG (pc==0x8c -> 0 == PORTB)"] {
        let property = Property::from_command_line(text).expect("it is a formula");
        bind(&property, &definitions, &binding, &mut table).expect("every name exists");
    }
    let texts: Vec<&str> = table.atoms().iter().map(|atom| atom.text()).collect();
    assert_eq!(texts, ["PORTB == 0", "pc == 0x8c"]);
    let wrong = Property::from_command_line("AG (PORTC == 1 && nothing == 1)").expect("it is a formula");
    assert!(bind(&wrong, &definitions, &binding, &mut table).is_err());
    assert_eq!(table.atoms().len(), 2, "a property that cannot be bound leaves no atoms");
}

#[test]
fn a_guessed_extent_is_noted() {
    let (property, _) =
        super::support::bound("AG pc in _exit", "atmega328p", &fixture("twins.elf")).expect("it exists");
    assert_eq!(property.notes.len(), 1, "{:?}", property.notes);
}
