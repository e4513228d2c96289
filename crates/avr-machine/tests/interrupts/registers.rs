//! Peripheral registers as the program sees them.

use super::bench::{Bench, NOP, SLEEP, address, cbi, input, ldi, lds, out, sbi, sts};
use avr_isa::Instruction;

/// A bench after a program.
fn after(program: &[Instruction]) -> Bench {
    let mut bench = Bench::new(program);
    bench.run(program.len());
    bench
}

#[test]
fn a_16_bit_register_is_written_high_byte_first() {
    let bench = after(&[ldi(16, 0x12), ldi(17, 0x34), sts("TCNT1H", 16), sts("TCNT1L", 17)]);
    assert_eq!((bench.get("TCNT1H"), bench.get("TCNT1L")), (0x12, 0x34));
    let bench = after(&[ldi(16, 0x12), sts("TCNT1H", 16)]);
    assert_eq!(bench.get("TCNT1H"), 0, "the high byte waits for the low byte");
    // Low byte first takes what the shared byte held, here from the write of another register.
    let program = [ldi(16, 0x12), ldi(17, 0x34), sts("OCR1AH", 16), sts("TCNT1L", 17), sts("TCNT1H", 17)];
    let bench = after(&program);
    assert_eq!((bench.get("TCNT1H"), bench.get("TCNT1L"), bench.get("OCR1AH")), (0x12, 0x34, 0));
}

#[test]
fn a_16_bit_counter_is_read_low_byte_first() {
    let mut bench = Bench::new(&[lds(18, "TCNT1L"), lds(19, "TCNT1H"), lds(20, "TCNT1H")]);
    bench.set(&["TCCR1B.CS10"]);
    bench.supply("TCNT1L", 0xfe);
    bench.supply("TCNT1H", 0x01);
    bench.run(1);
    // The counter goes on; the high byte is that of the moment of the first read.
    bench.supply("TCNT1H", 0x02);
    bench.run(2);
    assert_eq!((bench.register(18), bench.register(19), bench.register(20)), (0xfe, 0x01, 0x01));
}

#[test]
fn reading_a_compare_register_bypasses_the_shared_byte() {
    let program = [
        ldi(16, 0x12),
        ldi(17, 0x34),
        sts("OCR1AH", 16),
        sts("OCR1AL", 17),
        ldi(16, 0x56),
        sts("TCNT1H", 16),
        lds(18, "OCR1AL"),
        lds(19, "OCR1AH"),
        sts("TCNT1L", 17),
    ];
    let bench = after(&program);
    assert_eq!((bench.register(18), bench.register(19)), (0x34, 0x12));
    assert_eq!(bench.get("TCNT1H"), 0x56, "the read left the shared byte as it was");
}

#[test]
fn resets_of_prescalers_stay_as_written_while_tsm_is_1() {
    let write_and_read = |value, read| [ldi(16, value), sts("GTCCR", 16), lds(read, "GTCCR")];
    let program = [write_and_read(0x81, 17), write_and_read(0x80, 18), write_and_read(0x01, 19)].concat();
    let bench = after(&program);
    // Hardware, which clears the bit whenever it may, does not while TSM is 1; what is written 0 is 0.
    assert_eq!((bench.register(17), bench.register(18), bench.register(19)), (0x81, 0x80, 0));
}

#[test]
fn a_counter_that_stands_still_reads_back_what_was_written() {
    for (counter, control) in [("TCNT0", "TCCR0B.CS00"), ("TCNT2", "TCCR2B.CS20"), ("TCNT1L", "TCCR1B.CS10")] {
        let program = [ldi(16, 0x5a), sts(counter, 16), lds(17, counter)];
        let mut bench = Bench::new(&program);
        bench.supply(counter, 0x77);
        bench.run(3);
        assert_eq!(bench.register(17), 0x5a, "{counter} stands");
        let mut bench = Bench::new(&program);
        bench.set(&[control]);
        bench.supply(counter, 0x77);
        bench.run(3);
        assert_eq!(bench.register(17), 0x77, "{counter} runs");
    }
}

#[test]
fn a_counter_that_is_stopped_keeps_the_value_of_that_moment() {
    let program = [ldi(16, 0), out("TCCR0B", 16), input(17, "TCNT0"), input(18, "TCNT0")];
    let mut bench = Bench::new(&program);
    bench.set(&["TCCR0B.CS00"]);
    bench.supply("TCNT0", 0x77);
    bench.run(2);
    bench.supply("TCNT0", 0x88);
    bench.run(2);
    assert_eq!((bench.register(17), bench.register(18)), (0x77, 0x77));
}

#[test]
fn flags_of_a_peripheral_that_is_off_stay_cleared() {
    // Register, and the bits that hardware would set if the peripheral were on.
    for (name, flags) in [("TIFR0", 0x07), ("TIFR1", 0x07), ("TIFR2", 0x07), ("UCSR0A", 0x80)] {
        let mut bench = Bench::new(&[lds(16, name), lds(17, name)]);
        bench.supply(name, flags);
        bench.run(2);
        assert_eq!((bench.register(16) & flags, bench.register(17) & flags), (0, 0), "{name}");
    }
}

#[test]
fn a_flag_stays_until_it_is_cleared() {
    let mut bench =
        Bench::new(&[input(16, "TIFR0"), input(17, "TIFR0"), ldi(18, 1), out("TIFR0", 18), input(19, "TIFR0")]);
    bench.set(&["TCCR0B.CS00"]);
    bench.supply("TIFR0", 0x05);
    bench.run(1);
    bench.supply("TIFR0", 0);
    bench.run(4);
    assert_eq!((bench.register(16), bench.register(17), bench.register(19)), (5, 5, 4));
}

#[test]
fn a_flag_may_be_raised_unseen_before_its_timer_stops() {
    let mut bench = Bench::new(&[ldi(16, 0), out("TCCR0B", 16), input(17, "TIFR0")]);
    bench.set(&["TCCR0B.CS00"]);
    bench.supply("TIFR0", 0x01);
    bench.run(2);
    bench.supply("TIFR0", 0x07);
    bench.run(1);
    assert_eq!(bench.register(17), 1);
}

#[test]
fn sbi_on_a_flag_register_clears_one_flag() {
    let mut bench = Bench::new(&[sbi("TIFR0", "TOV0"), cbi("TIFR0", "OCF0A")]);
    bench.set(&["TIFR0.TOV0", "TIFR0.OCF0A", "TIFR0.OCF0B"]);
    bench.run(1);
    assert_eq!(bench.get("TIFR0"), 0x06);
    bench.run(1);
    assert_eq!(bench.get("TIFR0"), 0x06, "writing 0 clears nothing");
    let mut bench = Bench::new(&[input(16, "TIFR0"), out("TIFR0", 16)]);
    bench.set(&["TIFR0.TOV0", "TIFR0.OCF0A"]);
    bench.run(2);
    assert_eq!(bench.get("TIFR0"), 0, "writing back what was read clears all of them");
}

#[test]
fn writing_1_to_a_pin_register_toggles_the_port() {
    let mut bench = Bench::new(&[sbi("PINB", "PINB3"), sbi("PINB", "PINB3"), ldi(16, 0x81), out("PINB", 16)]);
    bench.set(&["PORTB.0"]);
    bench.supply("PINB", 0xff);
    let mut ports = Vec::new();
    for _ in 0..4 {
        bench.run(1);
        ports.push(bench.get("PORTB"));
    }
    assert_eq!(ports, [0x09, 0x01, 0x01, 0x80]);
    let mut bench = Bench::new(&[cbi("PINB", "PINB3")]);
    bench.set(&["PORTB.3"]);
    bench.run(1);
    assert_eq!(bench.get("PORTB"), 0x08, "CBI toggles nothing");
}

#[test]
fn the_receive_flag_goes_with_the_byte() {
    let mut bench = Bench::new(&[lds(16, "UCSR0A"), lds(17, "UDR0"), lds(18, "UCSR0A")]);
    bench.set(&["UCSR0B.RXEN0"]);
    bench.supply("UCSR0A", 0x80);
    bench.supply("UDR0", 0x41);
    bench.run(2);
    bench.supply("UCSR0A", 0);
    bench.run(1);
    assert_eq!((bench.register(16) & 0x80, bench.register(17), bench.register(18) & 0x80), (0x80, 0x41, 0));
}

#[test]
fn writing_a_byte_to_send_empties_the_flag() {
    let mut bench = Bench::new(&[lds(16, "UCSR0A"), sts("UDR0", 17), lds(18, "UCSR0A")]);
    bench.run(3);
    assert_eq!((bench.register(16) & 0x20, bench.register(18) & 0x20), (0x20, 0));
    assert_eq!(bench.get("UDR0"), 0, "what was sent does not come back");
}

#[test]
fn the_two_wire_interrupt_flag_is_cleared_by_writing_1() {
    let program = [ldi(16, 0x04), sts("TWCR", 16), ldi(16, 0x84), sts("TWCR", 16)];
    let mut bench = Bench::new(&program);
    bench.set(&["TWCR.TWINT", "TWCR.TWEN"]);
    bench.run(2);
    assert_eq!(bench.get("TWCR.TWINT"), 1);
    bench.run(2);
    assert_eq!((bench.get("TWCR.TWINT"), bench.get("TWCR.TWEN")), (0, 1));
}

#[test]
fn a_conversion_ends_when_hardware_says_so() {
    let program = [ldi(16, 0xc0), sts("ADCSRA", 16), lds(17, "ADCSRA"), lds(18, "ADCSRA"), lds(19, "ADCSRA")];
    let mut bench = Bench::new(&program);
    bench.supply("ADCSRA", 0x40);
    bench.run(3);
    bench.supply("ADCSRA", 0);
    bench.run(1);
    // It is over, and nothing starts it again.
    bench.supply("ADCSRA", 0x40);
    bench.run(1);
    assert_eq!((bench.register(17), bench.register(18), bench.register(19)), (0xc0, 0x90, 0x90), "with its flag");
}

/// A conversion that is done when the program has waited for it, with this result.
fn converted(result: [u8; 2], set: &[&str], then: &[Instruction]) -> Bench {
    let mut program = vec![lds(20, "ADCSRA"), NOP];
    program.extend(then);
    let mut bench = Bench::new(&program);
    bench.set(&["ADCSRA.ADEN", "ADCSRA.ADSC"]);
    bench.set(set);
    bench.supply("ADCL", result[0]);
    bench.supply("ADCH", result[1]);
    bench.run(2);
    bench
}

/// Takes a step, after which hardware would have something else.
fn step_then_change(bench: &mut Bench) {
    bench.run(1);
    bench.supply("ADCL", 0x55);
    bench.supply("ADCH", 0x55);
}

#[test]
fn the_result_of_a_conversion_has_ten_bits() {
    let result = |set: &[&str]| {
        let mut bench = converted([0xff, 0xff], set, &[lds(16, "ADCL"), lds(17, "ADCH")]);
        bench.run(2);
        (bench.register(16), bench.register(17))
    };
    assert_eq!((result(&[]), result(&["ADMUX.ADLAR"])), ((0xff, 0x03), (0xc0, 0xff)));
}

#[test]
fn the_result_of_a_conversion_stays_until_the_next_one() {
    let read = [lds(16, "ADCH"), lds(17, "ADCH"), lds(18, "ADCL"), lds(19, "ADCH")];
    let mut bench = converted([0x12, 0x02], &[], &read);
    step_then_change(&mut bench);
    bench.supply("ADCL", 0x12);
    bench.run(3);
    assert_eq!([16, 17, 18, 19].map(|index| bench.register(index)), [2, 2, 0x12, 2]);
    // Without a conversion it is that of reset.
    let mut bench = Bench::new(&read);
    bench.set(&["ADCSRA.ADEN"]);
    bench.supply("ADCH", 0xff);
    bench.run(4);
    assert_eq!(bench.register(16), 0);
}

#[test]
fn the_result_is_adjusted_when_its_bit_is_written() {
    let program = [ldi(21, 0x20), sts("ADMUX", 21), lds(16, "ADCL"), lds(17, "ADCH")];
    let mut bench = converted([0x9b, 0x02], &[], &program);
    bench.run(4);
    assert_eq!((bench.register(16), bench.register(17)), (0xc0, 0xa6));
    let mut bench = converted([0xc0, 0xa6], &["ADMUX.ADLAR"], &[sts("ADMUX", 1), lds(16, "ADCL"), lds(17, "ADCH")]);
    bench.run(3);
    assert_eq!((bench.register(16), bench.register(17)), (0x9b, 0x02));
}

#[test]
fn a_result_of_which_the_low_byte_was_read_is_locked() {
    let again =
        [lds(16, "ADCL"), ldi(21, 0xc0), sts("ADCSRA", 21), lds(22, "ADCSRA"), lds(17, "ADCH"), lds(18, "ADCH")];
    let mut bench = converted([0x12, 0x02], &[], &again);
    bench.run(5);
    bench.supply("ADCH", 0x55);
    bench.run(1);
    assert_eq!(bench.get("ADCSRA.ADSC"), 0, "the second conversion is done");
    assert_eq!((bench.register(16), bench.register(17), bench.register(18)), (0x12, 2, 2), "and its result is lost");
}

#[test]
fn the_entry_into_its_handler_ends_a_conversion() {
    let mut bench = Bench::new(&[NOP]);
    bench.set(&["ADCSRA.ADEN", "ADCSRA.ADIE", "SREG.I"]);
    assert_eq!(bench.offers(), "go", "there is no conversion");
    bench.set(&["ADCSRA.ADSC"]);
    assert_eq!(bench.offers(), "go ADC");
    bench.supply("ADCH", 0x03);
    bench.interrupt("ADC");
    assert_eq!((bench.get("ADCSRA.ADSC"), bench.get("ADCSRA.ADIF")), (0, 0));
}

#[test]
fn sleep_begins_a_conversion() {
    let mut bench = Bench::new(&[SLEEP, NOP]);
    bench.set(&["SMCR.SE", "ADCSRA.ADEN", "EIMSK.INT0", "SREG.I"]);
    bench.run(1);
    assert_eq!(bench.get("ADCSRA.ADSC"), 1);
    bench.interrupt("INT0");
    assert_eq!(bench.get("ADCSRA.ADSC"), 1, "it goes on");
}

#[test]
fn a_master_receives_what_it_sends_for() {
    let program = [input(16, "SPDR"), input(17, "SPSR"), out("SPDR", 20), input(18, "SPSR"), input(19, "SPDR"), NOP];
    let mut bench = Bench::new(&program);
    bench.set(&["SPCR.SPE", "SPCR.MSTR", "DDRB.DDB2"]);
    bench.supply("SPSR", 0xff);
    bench.supply("SPDR", 0x77);
    bench.run(2);
    assert_eq!((bench.register(16), bench.register(17)), (0, 0), "nothing was sent");
    bench.run(1);
    bench.supply_hidden("SPI transfer", 0);
    bench.run(1);
    assert_eq!(bench.register(18), 0x80);
    bench.run(1);
    assert_eq!((bench.register(19), bench.get("SPSR.SPIF")), (0x77, 0), "SPSR and SPDR were read");
}

#[test]
fn a_write_during_a_transfer_collides() {
    let program = [out("SPDR", 20), out("SPDR", 20), input(16, "SPSR"), input(17, "SPDR"), input(18, "SPSR")];
    let mut bench = Bench::new(&program);
    bench.set(&["SPCR.SPE", "SPCR.MSTR", "DDRB.DDB2"]);
    bench.supply_hidden("SPI transfer", 1);
    bench.run(5);
    assert_eq!((bench.register(16), bench.register(18)), (0x40, 0));
}

#[test]
fn the_data_register_of_the_bus_is_written_only_while_its_flag_is_1() {
    let mut bench = Bench::new(&[ldi(16, 0x44), sts("TWDR", 16), ldi(16, 0x45), sts("TWDR", 16), lds(17, "TWSR"), NOP]);
    bench.set(&["TWCR.TWEN", "TWCR.TWINT"]);
    bench.run(2);
    assert_eq!((bench.get("TWDR"), bench.get("TWCR.TWWC")), (0x44, 0));
    bench.clear("TWCR.TWINT");
    bench.run(2);
    assert_eq!((bench.get("TWDR"), bench.get("TWCR.TWWC")), (0x44, 1));
    bench.run(1);
    assert_eq!(bench.register(17), 0xf8, "there is no status");
}

#[test]
fn the_status_of_the_bus_stays_while_its_flag_is_1() {
    let mut bench =
        Bench::new(&[lds(16, "TWCR"), lds(17, "TWSR"), lds(20, "TWDR"), lds(18, "TWSR"), lds(19, "TWDR"), NOP]);
    bench.set(&["TWCR.TWEN", "TWCR.TWEA"]);
    bench.supply("TWCR", 0x80);
    bench.supply("TWSR", 0xf0);
    bench.supply("TWDR", 0x31);
    bench.run(3);
    assert_eq!(bench.register(17), 0xc0, "no code is above 0xc8");
    bench.supply("TWSR", 0x08);
    bench.supply("TWDR", 0x32);
    bench.run(2);
    assert_eq!((bench.register(18), bench.register(19)), (0xc0, 0x31));
}

#[test]
fn short_frames_have_no_upper_bits_and_no_parity_error_without_parity() {
    let mut bench = Bench::new(&[lds(16, "UCSR0A"), lds(17, "UDR0"), NOP]);
    bench.set(&["UCSR0B.RXEN0"]);
    bench.clear("UCSR0C.UCSZ00");
    bench.supply("UCSR0A", 0xff);
    bench.supply("UDR0", 0xff);
    bench.run(2);
    assert_eq!((bench.register(16) & 0x9c, bench.register(17)), (0x98, 0x7f));
}

#[test]
fn a_serial_master_receives_only_after_it_sent() {
    let mut bench = Bench::new(&[lds(16, "UCSR0A"), sts("UDR0", 20), lds(17, "UCSR0A"), NOP]);
    bench.set(&["UCSR0B.RXEN0", "UCSR0C.UMSEL00", "UCSR0C.UMSEL01"]);
    bench.supply("UCSR0A", 0x80);
    bench.run(3);
    assert_eq!((bench.register(16) & 0x80, bench.register(17) & 0x80), (0, 0x80));
}

#[test]
fn bits_that_act_at_once_read_0() {
    let bench = after(&[ldi(16, 0xff), out("TCCR0B", 16), input(17, "TCCR0B")]);
    assert_eq!(bench.register(17), 0x0f, "FOC0A, FOC0B and the reserved bits");
}

#[test]
fn a_stopped_clock_keeps_writes_and_reads_unknown() {
    let mut bench = Bench::new(&[ldi(16, 0x5a), out("OCR0A", 16), input(17, "OCR0A"), NOP]);
    bench.set(&["PRR.PRTIM0"]);
    bench.supply("OCR0A", 0x33);
    bench.run(3);
    assert_eq!((bench.register(17), bench.cell(address("OCR0A"))), (0x33, 0x33), "as the world wants it");
}

/// A master that has begun a transfer, of which hardware says that it goes on or that it is done, and that runs a program.
fn transferring(goes_on: bool, then: &[Instruction]) -> Bench {
    let mut bench = Bench::new(then);
    bench.set(&["SPCR.SPE", "SPCR.MSTR", "DDRB.DDB2", "SPI transfer.BUSY"]);
    bench.supply("SPSR", 0);
    bench.supply_hidden("SPI transfer", goes_on.into());
    bench
}

#[test]
fn a_transfer_that_was_done_before_the_interface_is_switched_off_has_its_flag() {
    let mut bench = transferring(false, &[out("SPCR", 1), input(16, "SPSR"), NOP]);
    bench.run(1);
    bench.supply_hidden("SPI transfer", 1);
    bench.run(1);
    assert_eq!((bench.register(16), bench.get("SPI transfer.BUSY")), (0x80, 0));
}

#[test]
fn a_transfer_that_is_cut_off_may_go_on_later_and_may_be_lost() {
    for control in [0x10, 0x40] {
        let program = [ldi(16, control), ldi(17, 0x50), out("SPCR", 16), out("SPCR", 17), input(18, "SPSR"), NOP];
        let mut bench = transferring(true, &program);
        bench.run(4);
        assert_eq!(bench.get("SPI transfer.BUSY"), 1, "{control:#x}: it goes on");
        bench.supply_hidden("SPI transfer", 0);
        bench.run(1);
        assert_eq!((bench.register(18), bench.get("SPI transfer.BUSY")), (0x80, 0), "{control:#x}: and is done");
        // Hardware says that it goes on as long as it is asked for that, and then that it is lost.
        let mut bench = transferring(true, &program);
        bench.run(2);
        bench.world.change_at_second("SPI transfer", 0);
        bench.run(3);
        assert_eq!((bench.register(18), bench.get("SPI transfer.BUSY")), (0, 0), "{control:#x}: it is lost");
    }
}

#[test]
fn a_transfer_stands_still_while_the_interface_is_off() {
    let program = [out("SPCR", 1), input(16, "SPSR"), ldi(17, 0x50), out("SPCR", 17), input(18, "SPSR"), NOP];
    let mut bench = transferring(true, &program);
    bench.set(&["SPCR.SPIE", "SREG.I"]);
    bench.run(1);
    bench.supply_hidden("SPI transfer", 0);
    assert_eq!(bench.offers(), "go", "it is not done");
    bench.run(4);
    assert_eq!((bench.register(16), bench.register(18)), (0, 0x80));
}

#[test]
fn a_write_that_leaves_a_master_on_leaves_its_transfer() {
    let mut bench = transferring(true, &[ldi(16, 0x53), out("SPCR", 16), NOP]);
    bench.run(1);
    bench.supply_hidden("SPI transfer", 0);
    bench.run(1);
    assert_eq!((bench.get("SPI transfer.BUSY"), bench.get("SPSR.SPIF")), (1, 0), "hardware is not asked");
}

#[test]
fn switching_the_converter_off_terminates_a_conversion() {
    let program = [sts("ADCSRA", 1), ldi(16, 0x80), sts("ADCSRA", 16), lds(17, "ADCSRA"), NOP];
    for (answer, flags) in [(0x40, 0), (0, 0x10)] {
        let mut bench = Bench::new(&program);
        bench.set(&["ADCSRA.ADEN", "ADCSRA.ADSC"]);
        bench.supply("ADCSRA", answer);
        bench.run(1);
        assert_eq!(bench.get("ADCSRA"), flags, "at once, and with its flag if it was done");
        bench.supply("ADCSRA", 0x40);
        bench.run(3);
        assert_eq!(bench.register(17), 0x80 | flags);
    }
    // A write that starts a conversion of a converter that is off starts none.
    let bench = after(&[ldi(16, 0x40), sts("ADCSRA", 16)]);
    assert_eq!((bench.get("ADCSRA.ADSC"), bench.get("ADCSRA.ADIF")), (0, 0));
}

#[test]
fn errors_of_a_character_are_not_known_after_a_moment_without_them() {
    for (off, on, error) in [(0x06, 0x26, "UPE0"), (0xe6, 0x26, "UPE0"), (0xc6, 0x06, "FE0")] {
        let program = [sts("UCSR0C", 16), lds(18, "UCSR0A"), sts("UCSR0C", 17), lds(19, "UCSR0A"), NOP];
        for value in [0, 0xff] {
            let mut bench = Bench::new(&[&[ldi(16, off), ldi(17, on)], &program[..]].concat());
            bench.set(&["UCSR0B.RXEN0", "UCSR0A.RXC0", "UCSR0C.UPM01", &format!("UCSR0A.{error}")]);
            bench.run(4);
            bench.supply("UCSR0A", value);
            bench.run(2);
            let bit = super::bench::device().bit("UCSR0A", error).expect("it exists").bit;
            let read = |register| bench.register(register) >> bit & 1;
            assert_eq!((read(18), read(19)), (0, value & 1), "{error} {off:#x} {value:#x}");
        }
    }
}

#[test]
fn an_adjusted_result_survives_a_moment_of_the_other_adjustment() {
    let program = [lds(16, "ADCL"), lds(17, "ADCH"), ldi(21, 0x20), sts("ADMUX", 21), sts("ADMUX", 1)];
    let mut bench = converted([0x9b, 0x02], &[], &program);
    bench.run(2);
    // The next conversion goes on meanwhile.
    bench.set(&["ADCSRA.ADSC"]);
    bench.supply("ADCSRA", 0x40);
    bench.supply("ADCL", 0x55);
    bench.run(3);
    assert_eq!((bench.get("ADCL"), bench.get("ADCH")), (0x9b, 2));
}

#[test]
fn a_flag_may_be_raised_unseen_before_the_same_register_rules_it_out() {
    for (enable, flag) in [("WDTCSR.WDIE", "WDIF"), ("TWCR.TWEA", "TWINT"), ("ADCSRA.ADATE", "ADIF")] {
        let (register, _) = enable.split_once('.').expect("REGISTER.BIT");
        let flag = format!("{register}.{flag}");
        let mut bench = Bench::new(&[sts(register, 1), NOP]);
        bench.set(&["TWCR.TWEN", "ADCSRA.ADEN", enable]);
        bench.supply(register, 0xff);
        bench.run(1);
        assert_eq!(bench.get(&flag), 1, "{flag}");
    }
}
