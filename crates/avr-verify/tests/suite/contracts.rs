//! Random programs with one function: verdicts with its strongest contract agree with those about its body, and contracts that are false
//! in one point are not proved.

use std::collections::BTreeSet;

use avr_isa::{DataAddress, Instruction};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::image::{Code, image, r};
use avr_testkit::{Random, cases};
use avr_verify::{
    Exhausted, Progress, Request, Results, Verdict, Watch, prove_contracts, verify, verify_with_contracts,
};
use three_valued::fault::{Fault, put_in};

use crate::FAULTS;

const PINB: u8 = 0x03;
const PORTB: u8 = 0x05;
const STATUS: u8 = 0x3f;
/// GPIOR0, and its data address.
const GENERAL: u8 = 0x1e;
const GENERAL_ADDRESS: DataAddress = DataAddress(0x3e);
/// The events that functions may cause.
const EVENTS: [&str; 2] = ["read(PINB)", "write(GPIOR0)"];
/// Two variables.
const VARIABLES: [DataAddress; 2] = [DataAddress(0x100), DataAddress(0x101)];

/// A step of the function with r24 and the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// r24 becomes this.
    Load(u8),
    /// The two lowest bits of a variable are added to r24.
    Add(usize),
    /// r24 becomes two pins.
    Pins,
    Increment,
    /// r24 is stored in a variable.
    Store(usize),
    /// The next operation is left out if this bit of r24 is set.
    Skip(u8),
    /// r25, which is the high byte of the result, becomes this.
    High(u8),
    /// r25 becomes r24.
    Copy,
    /// r24 is written to GPIOR0.
    General,
    /// r18 becomes this.
    Scratch(u8),
    /// r24 is saved on the stack and taken back.
    Push,
}

/// A function: r24 is masked first.
#[derive(Clone, Debug)]
struct Function(Vec<Operation>);

/// The end of a call: r25 and r24, the variables that were written, and which of the events came.
type End = (u16, [Option<u8>; 2], [bool; 2]);

impl Function {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(6_usize);
        let mut operations: Vec<Operation> = (0..count)
            .map(|_| match random.below(12) {
                0 => Operation::Load(random.below(4) as u8),
                1 => Operation::Add(random.below(2_usize)),
                2 | 3 => Operation::Pins,
                4 => Operation::Increment,
                5 | 6 => Operation::Store(random.below(2_usize)),
                7 => Operation::Skip(random.below(2) as u8),
                8 => Operation::High(random.below(3) as u8),
                9 => Operation::Copy,
                10 => Operation::General,
                _ if random.chance(50) => Operation::Scratch(random.below(4) as u8),
                _ => Operation::Push,
            })
            .collect();
        operations.push(Operation::Scratch(random.below(4) as u8));
        Self(operations)
    }

    fn add_one(operation: Operation, code: &mut Code) {
        match operation {
            Operation::Load(k) => code.add(Instruction::Ldi { rd: r(24), k }),
            Operation::Add(variable) => {
                code.add(Instruction::Lds { rd: r(19), address: VARIABLES[variable] });
                code.add(Instruction::Andi { rd: r(19), k: 3 });
                code.add(Instruction::Add { rd: r(24), rr: r(19) });
            }
            Operation::Pins => {
                code.add(Instruction::In { rd: r(24), io: PINB });
                code.add(Instruction::Andi { rd: r(24), k: 3 });
            }
            Operation::Increment => code.add(Instruction::Inc { rd: r(24) }),
            Operation::Store(variable) => code.add(Instruction::Sts { address: VARIABLES[variable], rr: r(24) }),
            Operation::Skip(_) => {}
            Operation::High(k) => code.add(Instruction::Ldi { rd: r(25), k }),
            Operation::General => code.add(Instruction::Out { io: GENERAL, rr: r(24) }),
            Operation::Copy => code.add(Instruction::Mov { rd: r(25), rr: r(24) }),
            Operation::Scratch(k) => code.add(Instruction::Ldi { rd: r(18), k }),
            Operation::Push => {
                code.add(Instruction::Push { rr: r(24) });
                code.add(Instruction::Ldi { rd: r(24), k: 0 });
                code.add(Instruction::Pop { rd: r(24) });
            }
        }
    }

    fn write(&self, code: &mut Code) {
        code.add(Instruction::Andi { rd: r(24), k: 3 });
        code.add(Instruction::Ldi { rd: r(25), k: 0 });
        for (number, operation) in self.0.iter().enumerate() {
            if let Operation::Skip(bit) = operation {
                let mut next = Code::default();
                Self::add_one(self.0[number + 1], &mut next);
                code.add(Instruction::Sbrc { rr: r(24), bit: *bit });
                code.jump((code.words.len() + 1 + next.words.len()) as u32);
            } else {
                Self::add_one(*operation, code);
            }
        }
        code.add(Instruction::Ret);
    }

    /// All ends of all calls.
    fn ends(&self) -> BTreeSet<End> {
        let mut ends = BTreeSet::new();
        for number in 0..64_u8 {
            let first = (u16::from(number & 3), [number >> 2 & 3, number >> 4 & 3], [None, None]);
            let mut states = BTreeSet::from([(first.0, first.1, first.2, [false; 2], false)]);
            for operation in &self.0 {
                let mut after = BTreeSet::new();
                for (word, variables, written, events, skips) in states {
                    let [value, high] = word.to_le_bytes();
                    let skipping = matches!(operation, Operation::Skip(bit) if value >> bit & 1 == 1);
                    if skips {
                        after.insert((word, variables, written, events, skipping));
                        continue;
                    }
                    let here = |value: u8| (u16::from_le_bytes([value, high]), variables, written, events, false);
                    let above = |high: u8| (u16::from_le_bytes([value, high]), variables, written, events, false);
                    let read =
                        |value: u8| (u16::from_le_bytes([value, high]), variables, written, [true, events[1]], false);
                    match *operation {
                        Operation::Load(k) => _ = after.insert(here(k)),
                        Operation::Add(it) => _ = after.insert(here(value.wrapping_add(variables[it] & 3))),
                        Operation::Pins => after.extend((0..4).map(read)),
                        Operation::General => _ = after.insert((word, variables, written, [events[0], true], false)),
                        Operation::Increment => _ = after.insert(here(value.wrapping_add(1))),
                        Operation::High(k) => _ = after.insert(above(k)),
                        Operation::Copy => _ = after.insert(above(value)),
                        Operation::Store(it) => {
                            let (mut variables, mut written) = (variables, written);
                            (variables[it], written[it]) = (value, Some(value));
                            after.insert((word, variables, written, events, false));
                        }
                        Operation::Skip(_) => {
                            after.insert((word, variables, written, events, skipping));
                        }
                        Operation::Scratch(_) | Operation::Push => _ = after.insert(here(value)),
                    }
                }
                states = after;
            }
            ends.extend(states.into_iter().map(|(word, _, written, events, _)| (word, written, events)));
        }
        ends
    }

    /// Writes of a variable, on some path.
    fn may_write(&self, variable: usize) -> bool {
        self.0.contains(&Operation::Store(variable))
    }

    fn contract(&self) -> Contract {
        let ends = self.ends();
        let mut returns = vec![("mem16[24]".to_owned(), ends.iter().map(|end| end.0).collect::<BTreeSet<u16>>())];
        for (variable, address) in VARIABLES.iter().enumerate() {
            let values: Option<BTreeSet<u16>> = ends.iter().map(|end| end.1[variable].map(u16::from)).collect();
            returns.extend(values.map(|values| (format!("mem[{:#x}]", address.0), values)));
        }
        let written = (0..2).filter(|variable| self.may_write(*variable)).map(|it| VARIABLES[it]);
        let general = self.0.contains(&Operation::General).then_some(GENERAL_ADDRESS);
        let (writes, stack) = (written.chain(general).collect(), u16::from(self.0.contains(&Operation::Push)));
        let may_come = |event: &usize| ends.iter().any(|end| end.2[*event]);
        let events = (0..2).filter(may_come).map(|event| EVENTS[event]).collect();
        Contract { returns, writes, stack, events }
    }
}

/// A contract of the function.
#[derive(Clone, Debug)]
struct Contract {
    returns: Vec<(String, BTreeSet<u16>)>,
    writes: Vec<DataAddress>,
    stack: u16,
    events: Vec<&'static str>,
}

impl Contract {
    fn text(&self, entry: u32) -> String {
        let one = |(cell, values): &(String, BTreeSet<u16>)| {
            let values: Vec<String> = values.iter().map(|value| format!("{cell} == {value}")).collect();
            format!("({})", values.join(" || "))
        };
        let returns: Vec<String> = self.returns.iter().map(one).collect();
        let writes: Vec<String> = self.writes.iter().map(|cell| format!("\"mem[{:#x}]\"", cell.0)).collect();
        let (returns, writes, stack) = (returns.join(" && "), writes.join(", "), self.stack);
        let (function, events) = (format!("{:#x}", entry * 2), format!("{:?}", self.events));
        format!(
            "contracts: {{ \"{function}\": (returns: \"{returns}\", writes: [{writes}], stack: {stack}, events: {events}) }},"
        )
    }
}

/// A step of the main program, in one place of its loop.
#[derive(Clone, Copy, Debug)]
enum Action {
    Call,
    /// A register is written to port B.
    Show(u8),
    ShowVariable(usize),
    SetVariable(usize, u8),
    Set(u8, u8),
    Mask,
    /// The next action is left out if this bit of r24 is set.
    Skip(u8),
}

impl Action {
    fn random(random: &mut Random) -> Self {
        match random.below(13) {
            0..=2 => Self::Call,
            11 => Self::Show(25),
            12 => Self::Show(18),
            3 => Self::Show(24),
            4 => Self::Show(18),
            5 => Self::ShowVariable(random.below(2_usize)),
            6 => Self::SetVariable(random.below(2_usize), random.below(4) as u8),
            7 => Self::Set(24, random.below(4) as u8),
            8 => Self::Set(18, random.below(4) as u8),
            9 => Self::Mask,
            _ => Self::Skip(random.below(2) as u8),
        }
    }

    fn write(self, entry: u32, code: &mut Code) {
        match self {
            Self::Call => code.call(entry),
            Self::Show(register) => code.add(Instruction::Out { io: PORTB, rr: r(register) }),
            Self::ShowVariable(variable) => {
                code.add(Instruction::Lds { rd: r(20), address: VARIABLES[variable] });
                code.add(Instruction::Out { io: PORTB, rr: r(20) });
            }
            Self::SetVariable(variable, k) => {
                code.add(Instruction::Ldi { rd: r(20), k });
                code.add(Instruction::Sts { address: VARIABLES[variable], rr: r(20) });
            }
            Self::Set(register, k) => code.add(Instruction::Ldi { rd: r(register), k }),
            Self::Mask => code.add(Instruction::Andi { rd: r(24), k: 3 }),
            Self::Skip(bit) => {
                // The next action is at most four words long.
                code.add(Instruction::Sbrs { rr: r(24), bit });
            }
        }
    }
}

/// The words of a program, and the flash word address of the function.
fn program(function: &Function, actions: &[Action]) -> (Vec<u16>, u32) {
    let entry = 1;
    let mut code = Code::default();
    let mut body = Code::default();
    body.place(entry);
    function.write(&mut body);
    code.jump(body.words.len() as u32);
    code.words.extend(&body.words[1..]);
    code.add(Instruction::Eor { rd: r(1), rr: r(1) });
    for number in [18, 24, 25] {
        code.add(Instruction::Ldi { rd: r(number), k: 0 });
    }
    for variable in VARIABLES {
        code.add(Instruction::Sts { address: variable, rr: r(24) });
    }
    let start = code.words.len() as u32;
    let mut actions = actions.iter().copied().peekable();
    while let Some(action) = actions.next() {
        action.write(entry, &mut code);
        if let (Action::Skip(_), Some(next)) = (action, actions.peek()) {
            let mut skipped = Code::default();
            skipped.place(code.words.len() as u32 + 1);
            let before = skipped.words.len();
            next.write(entry, &mut skipped);
            code.jump((code.words.len() + 1 + skipped.words.len() - before) as u32);
        }
    }
    code.jump(start);
    (code.words, entry)
}

fn formula(random: &mut Random, depth: usize) -> String {
    let part = |random: &mut Random| formula(random, depth - 1);
    if depth <= 1 && random.chance(15) {
        let event = random.pick(&["read(PINB)", "write(GPIOR0)", "write(PORTB)", "read(PORTB)", "call(0x2)"]);
        return format!("{}{event}", random.pick(&["!", "!", ""]));
    }
    match if depth == 0 { 0 } else { random.below(8) } {
        0 | 1 => {
            let what = random.pick(&["PORTB", "PORTB", "PORTB", "mem[0x100]", "mem[0x101]", "r24", "r16"]);
            let operator = random.pick(&["==", "!=", "<", "<"]);
            format!("{what} {operator} {}", 1 + random.below(6))
        }
        2 => format!("({} && {})", part(random), part(random)),
        3 => format!("({} || {})", part(random), part(random)),
        4 | 5 => format!("AG({})", part(random)),
        6 => format!("{}({})", random.pick(&["EF", "AF", "EG"]), part(random)),
        _ => format!("A[{} W {}]", part(random), part(random)),
    }
}

fn file(contract: &str, texts: &[String]) -> PropertyFile {
    let formulas: Vec<String> = texts.iter().map(|text| format!("Formula(check: \"{text}\")")).collect();
    let text = format!("({contract} properties: [Inherent(), Stack(max_bytes: 4), {}])", formulas.join(", "));
    PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn device() -> &'static Device {
    Device::named("atmega328p-gpio").expect("it exists")
}

/// A limit on steps: what is unknown need not be tried for long.
struct FewSteps;

impl Watch for FewSteps {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.steps > 4_000).then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// The answers about random cases.
#[derive(Debug, Default)]
struct Count {
    holds: u64,
    lost: u64,
    violated: u64,
    proved: u64,
    refuted: u64,
    open: u64,
}

fn contract_verdict(words: &[u16], contract: &Contract, entry: u32) -> Verdict {
    let file = file(&contract.text(entry), &[]);
    let image = image(words);
    let results = prove_contracts(&Request::of(&image, device(), &file)).unwrap_or_else(|error| panic!("{error}"));
    results.properties[0].verdict.clone()
}

/// Compares a case; an error says where the verifier is wrong.
fn compare(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let function = Function::random(&mut random);
    let actions: Vec<Action> =
        (0..2 + random.below(5_usize)).map(|_| Action::random(&mut random)).chain([Action::Call]).collect();
    let mut texts: Vec<String> = (0..4).map(|_| format!("AG({})", formula(&mut random, 1))).collect();
    if seed.is_multiple_of(4) {
        texts.push(formula(&mut random, 3));
    }
    compare_case((&function, &actions), &texts, count).map_err(|wrong| format!("seed {seed}: {wrong}"))
}

/// Compares verdicts about a program with and without the contract of its function.
fn compare_case(
    (function, actions): (&Function, &[Action]),
    texts: &[String],
    count: &mut Count,
) -> Result<(), String> {
    let (words, entry) = program(function, actions);
    let contract = function.contract();
    let image = image(&words);
    let answers = |file: &PropertyFile, with: bool| -> Results {
        let request = Request { watch: &FewSteps, ..Request::of(&image, device(), file) };
        let results = if with { verify_with_contracts(&request) } else { verify(&request) };
        results.unwrap_or_else(|error| panic!("{error}: {function:?}"))
    };
    let with = answers(&file(&contract.text(entry), texts), true);
    let without = answers(&file("", texts), false);
    for (with, without) in with.properties.iter().zip(&without.properties) {
        let contradicts = match (&with.verdict, &without.verdict) {
            (Verdict::Holds, Verdict::Violated) | (Verdict::Violated, Verdict::Holds) => true,
            (Verdict::Unknown(unknown), _) => unknown.self_check_failed,
            _ => false,
        };
        count.holds += u64::from(with.verdict == Verdict::Holds);
        count.violated += u64::from(with.verdict == Verdict::Violated);
        count.lost += u64::from(with.verdict != Verdict::Holds && without.verdict == Verdict::Holds);
        if contradicts {
            return Err(format!(
                "{} is {:?} with the contract {} and {:?} without: {function:?} {actions:?}",
                with.name,
                with.verdict,
                contract.text(entry),
                without.verdict
            ));
        }
    }
    match contract_verdict(&words, &contract, entry) {
        Verdict::Holds => count.proved += 1,
        Verdict::Violated => return Err(format!("the contract {contract:?} is violated: {function:?}")),
        Verdict::Unknown(_) => count.open += 1,
    }
    Ok(())
}

/// Contracts that are false in one point, of a random function.
fn compare_false(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let function = Function::random(&mut random);
    let (words, entry) = program(&function, &[Action::Call]);
    let contract = function.contract();
    let mut others = Vec::new();
    for number in 0..contract.returns.len() {
        let mut other = contract.clone();
        let values = &mut other.returns[number].1;
        let value = random.pick(&values.iter().copied().collect::<Vec<_>>());
        values.remove(&value);
        if values.is_empty() {
            values.insert(value ^ 0x80);
        }
        others.push(other);
    }
    for cell in &contract.writes {
        let name = format!("mem[{:#x}]", cell.0);
        let mut other = contract.clone();
        other.writes.retain(|it| it != cell);
        other.returns.retain(|(it, _)| *it != name);
        others.push(other);
    }
    for event in &contract.events {
        let mut other = contract.clone();
        other.events.retain(|it| it != event);
        others.push(other);
    }
    if contract.stack > 0 {
        others.push(Contract { stack: contract.stack - 1, ..contract.clone() });
    }
    for other in others {
        match contract_verdict(&words, &other, entry) {
            Verdict::Holds => return Err(format!("seed {seed}: {other:?} is proved of {function:?}")),
            Verdict::Violated => count.refuted += 1,
            Verdict::Unknown(_) => count.open += 1,
        }
    }
    Ok(())
}

#[test]
fn verdicts_with_the_strongest_contract_are_those_about_the_body() {
    let _alone = FAULTS.lock();
    let (mut count, cases) = (Count::default(), cases(24, 5_000));
    for seed in 0..cases {
        compare(seed, &mut count).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(count.holds > 2 * cases && count.violated > cases / 4, "{count:?}");
    assert!(count.proved > cases / 3, "{count:?}");
}

#[test]
fn contracts_that_are_false_in_one_point_are_not_proved() {
    let _alone = FAULTS.lock();
    let (mut count, cases) = (Count::default(), cases(60, 5_000));
    for seed in 0..cases {
        compare_false(seed, &mut count).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(count.refuted > cases, "{count:?}");
}

/// A fault of what stands in place of a body is found where a property speaks of what it leaves out.
#[test]
fn what_the_body_may_do_is_not_left_out() {
    let _alone = FAULTS.lock();
    let cases = [
        // r18 is alive at the call: it may be left as it is.
        (
            Fault::CallUsedKept,
            vec![Operation::Pins, Operation::Skip(0), Operation::Scratch(3)],
            Action::Show(18),
            "AG(PORTB < 3)",
        ),
        (
            Fault::FirstProduct,
            vec![Operation::Pins, Operation::Skip(0), Operation::High(2)],
            Action::Show(25),
            "AG(PORTB < 2)",
        ),
        (Fault::BodySilent, vec![Operation::Pins], Action::Show(18), "AG(!read(PINB))"),
    ];
    for (fault, operations, action, text) in cases {
        let function = Function(operations);
        let compared = || compare_case((&function, &[Action::Call, action]), &[text.to_owned()], &mut Count::default());
        assert_eq!(compared(), Ok(()), "{}", fault.name());
        put_in(Some(fault));
        let found = compared();
        put_in(None);
        assert!(found.is_err(), "{}", fault.name());
    }
    let body = [Instruction::In { rd: r(24), io: PINB }, Instruction::Ret];
    check_body(&body, "stack: 0, events: []", "violated: a run reads PINB");
    put_in(Some(Fault::BodyUnheard));
    check_body(&body, "stack: 0, events: []", "holds");
    put_in(None);
}

/// The verdict about a contract of the function at flash word address 1, with no symbols.
#[track_caller]
fn check_body(body: &[Instruction], contract: &str, expected: &str) {
    let mut code = Code::default();
    code.jump(0);
    body.iter().for_each(|instruction| code.add(*instruction));
    let text = format!("(contracts: {{ \"0x0002\": ({contract}) }}, properties: [])");
    let file = PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}"));
    let image = image(&code.words);
    let results = prove_contracts(&Request::of(&image, Device::named("atmega328p").expect("it exists"), &file));
    let result = results.unwrap_or_else(|error| panic!("{error}")).properties.remove(0);
    let said = match &result.verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated => format!("violated: {}", result.notes.join("; ")),
        Verdict::Unknown(unknown) => format!("unknown: {}", unknown.reason),
    };
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn each_point_of_a_contract_is_proved_of_the_body() {
    use Instruction as I;
    let _alone = FAULTS.lock();
    let load = |number, k| I::Ldi { rd: r(number), k };
    let store = |number, address| I::Sts { address: DataAddress(address), rr: r(number) };
    check_body(&[load(24, 5), I::Ret], "returns: \"r24 <= 5\", stack: 0", "holds");
    check_body(&[load(24, 6), I::Ret], "returns: \"r24 <= 5\", stack: 0", "violated: a run returns with r24 = 6");
    // Words: the bytes of one are returned together.
    let word = |high| [load(25, high), I::Lds { rd: r(24), address: DataAddress(0x25) }, I::Ret];
    check_body(&word(3), "returns: \"mem16[24] < 1024\", stack: 0", "holds");
    check_body(&word(3), "returns: \"mem16[24] <= 1000\", stack: 0", "violated: a run returns with r25:r24 = 3:");
    check_body(&word(2), "returns: \"mem16[24] <= 1000 && r24 >= 0\", stack: 0", "holds");
    check_body(&[I::Mov { rd: r(25), rr: r(24) }, I::Ret], "returns: \"r24 + r25 != 7\", stack: 0", "holds");
    check_body(&[I::Com { rd: r(24) }, I::Ret], "returns: \"r24 + r25 != 7\", stack: 0", "violated: a run returns");
    check_body(&[store(24, 0x100), I::Ret], "writes: [\"mem[0x100]\"], stack: 0", "holds");
    check_body(
        &[store(24, 0x100), I::Ret],
        "writes: [\"mem[0x101]\"], stack: 0",
        "violated: a run changes mem[0x0100]",
    );
    // What is put back was changed meanwhile.
    let restored =
        [I::Lds { rd: r(24), address: DataAddress(0x25) }, load(25, 7), store(25, 0x25), store(24, 0x25), I::Ret];
    check_body(&restored, "stack: 0", "violated: a run changes PORTB");
    check_body(&restored, "writes: [\"PORTB\"], stack: 0", "holds");
    // Events: each access to an I/O register, also of a byte that stays as it is.
    let kept = [I::Lds { rd: r(24), address: DataAddress(0x25) }, store(24, 0x25), I::Ret];
    check_body(&kept, "stack: 0", "holds");
    check_body(&kept, "stack: 0, events: [\"read(PORTB)\", \"write(PORTB)\"]", "holds");
    check_body(&kept, "stack: 0, events: [\"read(PORTB)\"]", "violated: a run writes PORTB");
    check_body(&kept, "stack: 0, events: [\"write(PORTB)\"]", "violated: a run reads PORTB");
    check_body(
        &[I::Sbic { io: 5, bit: 0 }, load(24, 1), I::Ret],
        "stack: 0, events: []",
        "violated: a run reads PORTB",
    );
    check_body(&[load(24, 5), I::Ret], "stack: 0, events: []", "holds");
    // Call-saved registers.
    let saved = [I::Push { rr: r(16) }, load(16, 9), I::Pop { rd: r(16) }, I::Ret];
    check_body(&saved, "stack: 1", "holds");
    check_body(&saved, "stack: 0", "violated: a run takes more stack than 0 bytes");
    check_body(&[load(16, 9), I::Ret], "stack: 0", "violated: a run returns with r16 = 9");
    check_body(&[load(30, 9), I::Ret], "stack: 0", "holds");
    // r1 is 0 at a call, and at the return.
    check_body(&[I::Eor { rd: r(1), rr: r(1) }, I::Ret], "stack: 0", "holds");
    check_body(&[I::Inc { rd: r(1) }, I::Ret], "stack: 0", "violated: a run returns with r1 = 1");
    // Hazards, interrupts, and bodies that do not return.
    check_body(
        &[I::Lds { rd: r(24), address: DataAddress(0x8ff + 1) }, I::Ret],
        "stack: 0",
        "violated: a run comes to the hazard",
    );
    check_body(&[I::Bset { flag: 7 }, I::Ret], "stack: 0", "violated: a run enables interrupts");
    check_body(&[I::Bset { flag: 7 }, I::Bclr { flag: 7 }, I::Ret], "stack: 0", "violated: a run enables interrupts");
    check_body(&[I::Reti], "stack: 0", "violated: a run enables interrupts");
    check_body(&[I::Rjmp { offset: -1 }], "stack: 0", "unknown: its paths cannot all be followed");
    // The stack pointer, and memory where a stack may be.
    check_body(&[I::In { rd: r(24), io: 0x3d }, I::Ret], "stack: 0", "unknown: it accesses the stack pointer");
    check_body(
        &[I::Lds { rd: r(24), address: DataAddress(0x100) }, I::Ret],
        "stack: 0",
        "unknown: it accesses mem[0x0100]",
    );
    check_body(&[I::Pop { rd: r(24) }, I::Pop { rd: r(24) }, I::Ret], "stack: 0", "violated");
    // Flags may change, but for I: it is 0.
    check_body(&[I::Out { io: STATUS, rr: r(1) }, I::Ret], "stack: 0", "holds");
}

/// A body that changes a variable and a register, and puts back what it changed.
#[test]
fn what_is_put_back_is_seen_meanwhile() {
    use Instruction as I;
    let _alone = FAULTS.lock();
    let (function, main) = (0x50, 0x60);
    let mut code = Code::default();
    code.jump(main);
    code.place(function);
    code.add(I::Ldi { rd: r(24), k: 7 });
    code.add(I::Sts { address: VARIABLES[0], rr: r(24) });
    code.add(I::Sts { address: VARIABLES[0], rr: r(1) });
    code.add(I::Ldi { rd: r(24), k: 0 });
    code.add(I::Ret);
    code.place(main);
    code.add(I::Eor { rd: r(1), rr: r(1) });
    code.add(I::Sts { address: VARIABLES[0], rr: r(1) });
    code.add(I::Ldi { rd: r(24), k: 0 });
    code.add(I::Ldi { rd: r(16), k: 1 });
    code.add(I::Out { io: PORTB, rr: r(16) });
    code.call(function);
    let end = code.words.len() as u32;
    code.jump(end);
    let image = image(&code.words);
    let contract = "returns: \"mem[0x100] == 0 && r24 == 0\", writes: [\"mem[0x100]\"], stack: 0";
    for (cell, fault) in [("mem[0x100]", Fault::WrittenKept), ("r24", Fault::BodySeen)] {
        let text = format!(
            "(contracts: {{ \"0x00a0\": ({contract}) }}, properties: [Formula(check: \"AG (PORTB == 1 -> {cell} == 0)\")])"
        );
        let file = PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}"));
        let verdict = || {
            let request = Request { watch: &FewSteps, ..Request::of(&image, device(), &file) };
            let results = verify_with_contracts(&request).unwrap_or_else(|error| panic!("{error}"));
            results.properties[0].verdict.clone()
        };
        assert_eq!(verdict(), Verdict::Violated, "{cell}");
        put_in(Some(fault));
        let wrong = verdict();
        put_in(None);
        assert_eq!(wrong, Verdict::Holds, "{cell}: the fault is found");
    }
}

/// A call while interrupts may come is not replaced: the handler sees what the function hides from its caller.
#[test]
fn interrupts_do_not_come_between_unseen() {
    use Instruction as I;
    let _alone = FAULTS.lock();
    let (handler, function, main) = (0x40, 0x50, 0x60);
    let mut code = Code::with_vectors(main, &[handler]);
    code.place(handler);
    code.add(I::Lds { rd: r(20), address: VARIABLES[1] });
    code.add(I::Sts { address: VARIABLES[0], rr: r(20) });
    code.add(I::Reti);
    code.place(function);
    code.add(I::Ldi { rd: r(24), k: 1 });
    code.add(I::Sts { address: VARIABLES[1], rr: r(24) });
    code.add(I::Sts { address: VARIABLES[1], rr: r(1) });
    code.add(I::Ret);
    code.place(main);
    code.add(I::Eor { rd: r(1), rr: r(1) });
    VARIABLES.into_iter().for_each(|address| code.add(I::Sts { address, rr: r(1) }));
    code.add(I::Ldi { rd: r(16), k: 1 });
    code.add(I::Out { io: 0x1d, rr: r(16) });
    code.add(I::Bset { flag: 7 });
    code.call(function);
    let end = code.words.len() as u32;
    code.jump(end);
    let image = image(&code.words);
    let device = Device::named("atmega328p").expect("it exists");
    let contract = "returns: \"mem[0x101] == 0\", writes: [\"mem[0x101]\"], stack: 0";
    let text = format!(
        "(contracts: {{ \"0x00a0\": ({contract}) }}, properties: [Formula(check: \"AG((pc == {:#x}) -> mem[0x100] == 0)\")])",
        2 * end
    );
    let file = PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}"));
    let verdict = || {
        let request = Request { watch: &FewSteps, ..Request::of(&image, device, &file) };
        let results = verify_with_contracts(&request).unwrap_or_else(|error| panic!("{error}"));
        results.properties[0].verdict.clone()
    };
    assert_ne!(verdict(), Verdict::Holds);
    put_in(Some(Fault::BodyInterrupted));
    let wrong = verdict();
    put_in(None);
    assert_eq!(wrong, Verdict::Holds, "the fault is found");
}
