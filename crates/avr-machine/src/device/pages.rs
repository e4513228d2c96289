//! The pages of the book that show the device tables bit by bit, made from the tables.

use std::fmt::Write as _;
use std::sync::LazyLock;

use expect_test::expect_file;

use super::library::TABLES;
use super::register::{Changes, Protected};
use super::resolve::parse;
use super::source::{
    ClearedBySource, ConditionSource, DeviceSource, FileSource, FreedomSource, InputWriteSource, InterruptSource,
    KindSource, OwedSource, PairAccess, PairSource, PeripheralSource, RegisterSource, RequestSource, RuleSource,
};

/// The text of the pages before the tables.
const LEGEND: &str = "\
This page is made from the device table, by a test, and holds what the table says about every bit: see
[Devices and what is modelled how](devices.md) for what that means.

* **Changed by**: the *program*; the *environment*, whose choices a verdict may rest on; the *hardware*, whose choices the model leaves open;
  or *undefined*, where the data sheet does not say. The last two make a verdict `in the model`.
* **When** it can change other than by a write, and how long it lasts.
* **A write** of the program. A bit that is *stored* reads back what was written until something else changes it.
* **Decided by**: the programs in `tests/data-sheet`, each with the sentence of the data sheet that decides it. Where several
  bits are alike, a program may try one of them. *Open* are those that are not judged as the sentence says yet, in one way or the other. Storage that names none is decided by a test that writes and reads
  every such bit.
* `#` is the bit with the same number as the one described. Reserved bits read 0.
";

/// The programs that are not judged as the data sheet says.
static OPEN: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data-sheet/open.ron");
    std::fs::read_to_string(path).expect("the file is there")
});

/// A row of a table, without the names of the bits.
#[derive(Clone, Default, PartialEq, Eq)]
struct Row {
    changed_by: String,
    when: String,
    write: String,
    decided_by: String,
}

#[test]
fn the_book_shows_the_tables_as_they_are() {
    for table in &TABLES {
        if let Ok(FileSource::Device(device)) = parse(table.text) {
            let path = format!("{}/../../docs/devices-{}.md", env!("CARGO_MANIFEST_DIR"), device.name);
            expect_file![path].assert_eq(&page(&device));
        }
    }
}

/// The page of a device.
fn page(device: &DeviceSource) -> String {
    let mut page = format!("# {}, bit by bit\n\n{LEGEND}\n", device.name);
    page += &format!("The data sheet is {}.\n\n", device.data_sheet);
    page += "## Conditions\n\n| name | meaning |\n|---|---|\n";
    for (name, condition) in &device.conditions {
        line(&mut page, &[&format!("*{name}*"), &condition_text(condition)]);
    }
    device.peripherals.iter().for_each(|peripheral| add_peripheral(&mut page, peripheral));
    page += "\n## Interrupts\n\n| | name | enabled by | requested by | wakes from | decided by |\n|---|---|---|---|---|---|\n";
    device.interrupts.iter().for_each(|interrupt| add_interrupt(&mut page, interrupt));
    page += "\n## Other facts\n\n| what | section of the data sheet | decided by |\n|---|---|---|\n";
    for (what, section, decided_by) in super::resolve::described_facts(device) {
        line(&mut page, &[&what.replace('_', " "), section, &programs(decided_by)]);
    }
    page
}

/// Adds a row of cells.
fn line(page: &mut String, cells: &[&str]) {
    writeln!(page, "| {} |", cells.join(" | ")).expect("a text takes everything");
}

/// Adds a peripheral: its registers and 16-bit registers.
fn add_peripheral(page: &mut String, peripheral: &PeripheralSource) {
    *page += &format!("\n## {}\n\n", peripheral.name.replace('_', " "));
    if let Some(section) = peripheral.section {
        *page += &format!("Data sheet, section \"{section}\".");
    }
    if !matches!(peripheral.clocked_while, ConditionSource::Always) {
        *page += &format!(" Its clock runs while {}.", condition_text(&peripheral.clocked_while));
    }
    *page = page.trim_end().to_owned();
    *page += "\n\n| register | bits | changed by | when | a write | decided by |\n|---|---|---|---|---|---|\n";
    peripheral.registers.iter().for_each(|register| add_register(page, register));
    for pair in &peripheral.pairs {
        let access = match pair.access {
            PairAccess::Separate => continue,
            PairAccess::Temp(_) => "the high byte goes through the shared byte, written and read",
            PairAccess::TempWrite(_) => "the high byte goes through the shared byte when written, and is read directly",
            PairAccess::Locked { .. } => "reading the low byte locks the result until the high byte is read",
        };
        line(page, &[&pair_name(pair), "", "", "", access, &programs(&pair.decided_by)]);
    }
}

/// A 16-bit register with its halves.
fn pair_name(pair: &PairSource) -> String {
    format!("`{}` ({}, {})", pair.name, pair.high, pair.low)
}

/// Adds the rows of a register: one for its plain storage, and one for each run of other bits about which the same is said.
fn add_register(page: &mut String, register: &RegisterSource) {
    let mut rows: Vec<(Row, Vec<&str>)> = Vec::new();
    for bit in register.bits.split_whitespace().filter(|bit| *bit != "-") {
        let row = row(register, bit);
        let is_plain = row.write == "stored";
        match rows.iter_mut().find(|(other, _)| *other == row || is_plain && other.write == "stored") {
            Some((other, bits)) => {
                let new = row.decided_by.split(", ").filter(|new| !other.decided_by.contains(new)).collect::<Vec<_>>();
                let both = [&other.decided_by, &*new.join(", ")].map(str::to_owned);
                other.decided_by = both.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
                bits.push(bit);
            }
            None => rows.push((row, vec![bit])),
        }
    }
    let place = if register.hidden { " (hidden)".to_owned() } else { format!(" ({:#04x})", register.at) };
    let section = register.section.map_or_else(String::new, |section| format!(", section \"{section}\""));
    for (row, bits) in rows {
        let name = format!("`{}`{place}{section}", register.name);
        line(page, &[&name, &bits.join(" "), &row.changed_by, &row.when, &row.write, &row.decided_by]);
    }
}

/// The line of the table about a bit.
fn row(register: &RegisterSource, bit: &str) -> Row {
    let is_in = |list: &str| list == "*" || list.split_whitespace().any(|name| name == bit);
    let kind = register.kinds.iter().find(|(list, _)| is_in(list)).map(|(_, kind)| kind);
    let mut row = kind.map_or_else(plain_row, |kind| kind_row(kind, bit));
    if register.hidden {
        row = Row { changed_by: "hardware".to_owned(), write: "cannot be written".to_owned(), ..row };
    }
    for (_, rule) in register.rules.iter().filter(|(list, _)| is_in(list)) {
        add_rule(&mut row, rule);
    }
    let decided = register.decided_by.iter().filter(|(list, _)| is_in(list)).flat_map(|(_, programs)| programs);
    row.decided_by = programs(&decided.copied().collect::<Vec<_>>());
    row
}

/// Plain storage.
fn plain_row() -> Row {
    Row { changed_by: "program".to_owned(), write: "stored".to_owned(), ..Row::default() }
}

/// The effect of the rise of a flag on hidden bits, in words.
fn owed_text(owed: &OwedSource) -> String {
    match owed {
        OwedSource::All(one, more, empty) => {
            format!("when it is set, `{one}` takes `{more}`, `{more}` is cleared, and if it was 0 `{empty}` is set")
        }
        OwedSource::One(one, more, condition) => {
            format!("when it is set while {}, `{one}` takes `{more}`", condition_text(condition))
        }
    }
}

/// The cells of the line that a kind fills.
fn kind_row(kind: &KindSource, bit: &str) -> Row {
    let (changed_by, when, write) = match kind {
        KindSource::ReadOnly => ("actions elsewhere".to_owned(), String::new(), "nothing".to_owned()),
        KindSource::Strobe => ("program".to_owned(), "reads 0".to_owned(), "1 acts at once".to_owned()),
        KindSource::Input {
            changes_while,
            latched_by,
            copies,
            changes,
            zero_while,
            ones_while,
            excludes,
            on_write,
            freedom,
        } => {
            let mut when = while_text(*changes, changes_while);
            when.extend(copies.map(|register| format!("takes the bits of `{register}`")));
            when.extend(latched_by.map(|by| format!("when hardware changes `{by}`")));
            when.extend(unless_never("0", zero_while));
            when.extend(unless_never("1", ones_while));
            let (ones, zeros) = (excludes.0.join(" "), excludes.1.join(" "));
            when.extend((!ones.is_empty()).then(|| format!("{zeros} are 0 where {ones} are 1")));
            let write = match on_write {
                InputWriteSource::Stored => "stored until it changes".to_owned(),
                InputWriteSource::Discarded => "nothing".to_owned(),
                InputWriteSource::Toggles(port) => format!("1 toggles the same bit of `{port}`"),
            };
            (freedom_text(freedom), when.join("; "), write)
        }
        KindSource::Flag { raised_while, raised_by, owed, zero_while, cleared_by, freedom } => {
            let mut when = while_text(Changes::Sets, raised_while);
            when.extend(raised_by.map(|by| format!("set when hardware clears `{by}`")));
            when.extend(owed.as_ref().map(owed_text));
            when.extend(unless_never("0", zero_while));
            when.extend(when.is_empty().then(|| "set by resets".to_owned()));
            when.extend(cleared_by.iter().filter_map(cleared_text));
            (freedom_text(freedom), when.join("; "), write_of_flag(cleared_by).to_owned())
        }
        KindSource::Pulse { raised_while, zero_while, kept_while, lost_while, within, freedom } => {
            let in_time = within.map(|cycles| format!(", after {cycles} clock cycles at the latest"));
            let mut when = vec![format!("cleared when it is done{}", in_time.unwrap_or_default())];
            if !matches!(raised_while, ConditionSource::Never) {
                when.extend(while_text(Changes::Sets, raised_while));
            }
            when.extend(unless_never("0", zero_while));
            when.extend(unless_never("kept or as written", kept_while));
            when.extend(unless_never("perhaps over after a write", lost_while));
            (freedom_text(freedom), when.join("; "), "1 sets it, 0 does nothing".to_owned())
        }
        KindSource::Window { cycles, clears, closed_by_write, holds_interrupts_off, .. } => {
            let mut when = vec![format!("cleared after {cycles} clock cycles")];
            when.extend((!clears.is_empty()).then(|| format!("and {} with it", clears.join(" "))));
            when.extend(closed_by_write.then(|| "cleared by the next write".to_owned()));
            when.extend(holds_interrupts_off.then(|| "no interrupt while it is 1".to_owned()));
            ("program, hardware".to_owned(), when.join("; "), opening_text(kind, bit))
        }
    };
    Row { changed_by, when, write, decided_by: String::new() }
}

/// The write that opens a window.
fn opening_text(kind: &KindSource, bit: &str) -> String {
    let KindSource::Window { ones, zeros, doubtful_ones, .. } = kind else { return String::new() };
    let others: Vec<_> = ones.iter().copied().filter(|name| *name != bit).collect();
    let mut text = "1 sets it".to_owned();
    if !others.is_empty() {
        text += &format!(", together with {}", others.join(" "));
    }
    if !zeros.is_empty() {
        text += &format!(", with 0 for {}", zeros.join(" "));
    }
    if !doubtful_ones.is_empty() {
        text += &format!("; undefined together with {}", doubtful_ones.join(" "));
    }
    text
}

/// The time in which hardware changes a bit; nothing if never.
fn while_text(changes: Changes, condition: &ConditionSource) -> Vec<String> {
    let verb = match changes {
        Changes::Both => "",
        Changes::Sets => "set ",
        Changes::Clears => "cleared ",
    };
    match condition {
        ConditionSource::Never => Vec::new(),
        ConditionSource::Always => vec![format!("{verb}at any moment")],
        condition => vec![format!("{verb}while {}", condition_text(condition))],
    }
}

/// The value that a bit has while a condition holds.
fn unless_never(value: &str, condition: &ConditionSource) -> Option<String> {
    let is_never = matches!(condition, ConditionSource::Never);
    (!is_never).then(|| format!("{value} while {}", condition_text(condition)))
}

/// A way to clear a flag that is no write to the flag itself.
fn cleared_text(way: &ClearedBySource) -> Option<String> {
    match way {
        ClearedBySource::WriteOne | ClearedBySource::WriteZero => None,
        ClearedBySource::InterruptEntry => Some("cleared by the entry of its interrupt".to_owned()),
        ClearedBySource::Read(register) => Some(format!("cleared by a read of `{register}`")),
        ClearedBySource::Write(register) => Some(format!("cleared by a write to `{register}`")),
        ClearedBySource::ReadThenAccess(first, then, _) => {
            Some(format!("cleared by a read of `{first}` as 1 and then an access to `{then}`"))
        }
    }
}

/// The effect of a write to a flag.
fn write_of_flag(ways: &[ClearedBySource]) -> &'static str {
    let is = |way: fn(&ClearedBySource) -> bool| ways.iter().any(way);
    match (is(|way| matches!(way, ClearedBySource::WriteOne)), is(|way| matches!(way, ClearedBySource::WriteZero))) {
        (true, false) => "1 clears it",
        (false, true) => "0 clears it",
        (true, true) => "clears it",
        (false, false) => "nothing",
    }
}

/// Adds what a rule says.
fn add_rule(row: &mut Row, rule: &RuleSource) {
    let RuleSource {
        writable_while,
        perhaps_writable_while,
        refusal,
        set_by_write,
        set_by_ones,
        guard,
        forced_one_while,
    } = rule;
    let mut write = vec![std::mem::take(&mut row.write)];
    if !matches!(writable_while, ConditionSource::Always) {
        write.push(format!("only while {}", condition_text(writable_while)));
    }
    if !matches!(perhaps_writable_while, ConditionSource::Never) {
        write.push(format!("undefined while {}", condition_text(perhaps_writable_while)));
    }
    write.extend(refusal.map(|bit| format!("`{bit}` says whether it was refused")));
    if let Some((register, condition, collision)) = set_by_write {
        let when = match condition {
            ConditionSource::Always => String::new(),
            condition => format!(" while {}", condition_text(condition)),
        };
        let of = if set_by_ones.is_empty() { String::new() } else { format!(" of 1 to {}", set_by_ones.join(" or ")) };
        write.push(format!("set by a write{of} to `{register}`{when}"));
        write.extend(collision.map(|bit| format!("or, while it is 1, `{bit}` is")));
    }
    write.extend(guard.map(|(window, protects)| match protects {
        Protected::AnyChange => format!("changed only while {window} is 1"),
        Protected::Clearing => format!("cleared only while {window} is 1"),
        Protected::Setting => format!("set only while {window} is 1"),
    }));
    write.extend(unless_never("1", forced_one_while));
    row.write = write.join("; ");
}

/// Who determines what hardware does.
fn freedom_text(freedom: &FreedomSource) -> String {
    match freedom {
        FreedomSource::Real => "environment".to_owned(),
        FreedomSource::Abstracted => "hardware".to_owned(),
        FreedomSource::Undefined => "undefined".to_owned(),
        FreedomSource::AbstractedWhile(condition) => {
            format!("hardware while {}, else undefined", condition_text(condition))
        }
        FreedomSource::RealWhile(condition) => {
            format!("environment while {}, else hardware", condition_text(condition))
        }
        FreedomSource::RealOrUndefined(condition) => {
            format!("environment while {}, else undefined", condition_text(condition))
        }
        FreedomSource::RealEvery(cycles) => format!("environment every {cycles} clock cycles, else hardware"),
        FreedomSource::RealEveryWhile(cycles, condition) => {
            format!("environment every {cycles} clock cycles while {}, else hardware", condition_text(condition))
        }
    }
}

/// A condition in words.
fn condition_text(condition: &ConditionSource) -> String {
    let part = |part: &ConditionSource| match part {
        ConditionSource::All(_) | ConditionSource::Any(_) => format!("({})", condition_text(part)),
        _ => condition_text(part),
    };
    let joined = |parts: &[ConditionSource], with: &str| parts.iter().map(part).collect::<Vec<_>>().join(with);
    match condition {
        ConditionSource::Always => "always".to_owned(),
        ConditionSource::Never => "never".to_owned(),
        ConditionSource::All(parts) => joined(parts, " and "),
        ConditionSource::Any(parts) => joined(parts, " or "),
        ConditionSource::Not(inner) => format!("not {}", part(inner)),
        ConditionSource::Set(bit) | ConditionSource::Stored(bit) => format!("`{bit}` is 1"),
        ConditionSource::Clear(bit) => format!("`{bit}` is 0"),
        ConditionSource::Equals(register, bits, number) => format!("`{register}` {} are {number}", bits.join(" ")),
        ConditionSource::NonZero(register, bits) => format!("`{register}` {} are not 0", bits.join(" ")),
        ConditionSource::Named(name) => format!("*{name}*"),
    }
}

/// Programs by name, with a mark at those that are not judged as the data sheet says.
fn programs(programs: &[&str]) -> String {
    let is_open = |program: &str| OPEN.contains(&format!("image: \"{program}\","));
    let mark = |program: &&str| format!("{program}{}", if is_open(program) { " (open)" } else { "" });
    programs.iter().map(mark).collect::<Vec<_>>().join(", ")
}

/// Adds the row of an interrupt.
fn add_interrupt(page: &mut String, interrupt: &InterruptSource) {
    let mut request = match &interrupt.request {
        RequestSource::Latched(flag) => format!("`{flag}`, cleared by the entry"),
        RequestSource::Persistent(flag) => format!("`{flag}`"),
        RequestSource::Condition { holds, .. } => condition_text(holds),
    };
    if !matches!(interrupt.level_while, ConditionSource::Never) {
        request += &format!("; the level itself while {}", condition_text(&interrupt.level_while));
    }
    for (bit, condition) in &interrupt.entry_clears {
        request += &format!("; the entry clears `{bit}` while {}", condition_text(condition));
    }
    let wakes_from = interrupt.wakes_from.iter().map(|mode| mode.replace('_', " ")).collect::<Vec<_>>().join(", ");
    let decided_by = programs(&interrupt.decided_by);
    let (number, enable) = (interrupt.number.to_string(), format!("`{}`", interrupt.enable));
    line(page, &[&number, interrupt.name, &enable, &request, &wakes_from, &decided_by]);
}
