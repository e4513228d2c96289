//! Mistakes in the instruction table that the build must refuse.

#[path = "../../build/mod.rs"]
mod table;

const TABLE: &str = include_str!("../../isa-tables/instructions.txt");

/// The table with one replacement: does it still compile, and if not, what is wrong?
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert!(TABLE.contains(from), "the table no longer contains `{from}`");
    let error = match table::compile(&TABLE.replacen(from, to, 1)) {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    };
    assert!(error.line > 1);
    assert!(error.message.contains(expected), "{}", error.message);
}

#[test]
fn the_table_is_accepted() {
    let compiled = table::compile(TABLE).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.message));
    assert_eq!(compiled.row_of_word.len(), 1 << 16);
    assert!(compiled.source.contains("pub enum Opcode"));
}

#[test]
fn rows_must_not_overlap() {
    check("0000 11rd dddd rrrr", "0001 11rd dddd rrrr", "`adc` overlaps `add` in line");
    check("1001 0101 1001 1000", "1001 0101 1000 1000", "`sleep` overlaps `break`");
}

#[test]
fn columns_must_agree() {
    check("0000 11rd dddd rrrr ", "0000 11rd dddd rrr ", "15 bits");
    check("0000 11rd dddd rrrr", "0000 11rd dddd rrrx", "`x` in a pattern");
    check(
        "0000 11rd dddd rrrr",
        "0000 11rd dddd bbbb",
        "operand `Rr` has 1 bits in the pattern, which do not reach from r0 to r31",
    );
    check("add Rd, Rr", "add Rd    ", "`r` is in the pattern but belongs to 0 operands");
    check("subi Rd[16..31]", "subi Rd[16..23]", "do not reach from r16 to r23");
    check("| 1     | 1   ", "| 2     | 1   ", "2 words, but the pattern has 1");
    check("1 +1 taken", "1 +2 taken", "cycles `1 +2 taken`");
    check("..HSVNZC", "..H.VNZC", "not S");
    check("..HSVNZC", "..HSVNCZ", "not eight of");
    check("| s        |", "| ........ |", "disagree on s");
    check("| X       | next ", "| -       | next ", "disagree with the operands on X");
    check("| Rd X    |", "| Rd      |", "disagree with the operands on X");
    check("| R1:R0   | Rd Rr ", "| R1:R0   | Rr    ", "Rd is neither read nor written");
    check("| mul      |", "| mult     |", "feature `mult`");
    check("avr4:  movw", "avr4:  move", "feature `move`");
    check("jmp target", "jmp tarjet", "operand `tarjet`");
}

#[test]
fn each_row_says_control_flow_and_memory_access() {
    check("| next             | -           | -        | ADD", "| -           | -        | ADD", "12 columns");
    check(
        "| next             | -           | -        | ADD",
        "|                  | -           | -        | ADD",
        "flow ``",
    );
    check(
        "| next             | -           | -        | ADD",
        "| next             |             | -        | ADD",
        "memory ``",
    );
    check("| jump             | -           | -        | RJMP", "| next | - | - | RJMP", "disagree on the destination");
    check("| next             | -           | -        | ADD", "| jump | - | - | ADD", "disagree on the destination");
    check("| next             | -           | -        | ADD", "| jump-z | - | - | ADD", "not what is read");
    check("| branch           | -           | -        | BRBS", "| jump | - | - | BRBS", "flow column and the cycles");
    check("| skip             | -           | -        | CPSE", "| next | - | - | CPSE", "flow column and the cycles");
    check("| call             | push-pc     | -        | RCALL", "| call | - | - | RCALL", "on the return address");
    check("| return           | pop-pc      | -        | RET", "| next | pop-pc | - | RET", "on the return address");
    check("| store       | -        | STS", "| - | - | STS", "memory column and the operands");
    check(
        "| next             | -           | -        | ADD",
        "| next | load | - | ADD",
        "memory column and the operands",
    );
    check("| store-io    | -        | OUT", "| load | - | OUT", "memory column and the operands");
    check("| store-io    | -        | OUT", "| store-bit | - | OUT", "no operand is one");
    check("| store-bit   | -        | SBI", "| store-io | - | SBI", "an operand is a bit");
    check("| load        | -        | LD (LDD)", "| store | - | LD (LDD)", "not that of the same operation in line");
}

#[test]
fn aliases_must_name_operations_and_operands() {
    check("| Adc       | Rr = Rd", "| Ld        | Rr = Rd", "exactly one row");
    check("| s = 0 ", "| b = 0 ", "`b` is no operand of `brbs`");
    check("| K = 0xff", "| K = 0xfg", "`0xfg` is neither");
    check("| Rr = Rd", "| Rr ~ Rd", "neither `operand = value`");
}
