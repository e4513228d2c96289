//! Certificates with ranks that were altered: none passes that proves what is false.
//!
//! Programs switch some pins on and off, with delays in between that no state space counts out, so that it is known without a judge what
//! comes again and again: a pin that no instruction switches on is never on, and behind the last loop of a program that ends nothing changes.

use avr_certificate::{
    Basis, Certificate, Claim, Coming, Loops, Passing, RankClaim, Ranks, Symbolic, SymbolicProof, Term, WaitsFor,
};
use avr_check::Proved;
use avr_image::DataAddress;
use avr_isa::Instruction as I;
use avr_testkit::Random;
use avr_testkit::image::{Code, r};
use std::collections::BTreeMap;

use super::loops::{
    MAIN, OVERFLOW_VECTOR, PINB, PORTB, Sample, TCCR0B, TICKS, TIMSK0, delay, property_text, wait_for_ticks,
};

/// The proof of a certificate.
fn coming(certificate: &mut Certificate) -> &mut Coming {
    match certificate.claims.first_mut() {
        Some(Claim::Symbolic(Symbolic { proof: SymbolicProof::Ranks(coming), .. })) => coming,
        other => panic!("there are no ranks: {other:?}"),
    }
}

/// A wait for a pin that gives up after some rounds.
fn wait_with_limit(code: &mut Code) {
    code.add(I::Ldi { rd: r(18), k: 200 });
    code.add(I::Sbic { io: PINB, bit: 7 });
    code.add(I::Rjmp { offset: 2 });
    code.add(I::Dec { rd: r(18) });
    code.add(I::Brbc { flag: 1, offset: -4 });
}

/// Events that claims wait for, among them such as are none.
const EVENTS: [Option<WaitsFor>; 7] = [
    None,
    Some(WaitsFor::Interrupt(16)),
    Some(WaitsFor::Interrupt(1)),
    Some(WaitsFor::Interrupt(255)),
    Some(WaitsFor::Promised(0)),
    Some(WaitsFor::Promised(1)),
    Some(WaitsFor::Promised(255)),
];

/// The parts of programs.
#[derive(Clone, Copy)]
struct Shape {
    /// It waits for ticks of a handler.
    ticks: bool,
    /// It ends, where pin 1 is on and pin 0 is off.
    ends: bool,
}

/// A program that switches pins 0 and 1 of port B on and off, again and again unless it ends. Its handler counts.
fn program(random: &mut Random, Shape { ticks, ends }: Shape) -> Code {
    let mut code = Code::default();
    code.jump(MAIN);
    code.place(OVERFLOW_VECTOR);
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: 0x3f });
    code.add(I::Push { rr: r(16) });
    code.add(I::Lds { rd: r(16), address: TICKS });
    code.add(I::Inc { rd: r(16) });
    code.add(I::Sts { address: TICKS, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: 0x3f, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
    code.place(MAIN);
    code.add(I::Ldi { rd: r(16), k: 1 });
    code.add(I::Out { io: TCCR0B, rr: r(16) });
    code.add(I::Sts { address: TIMSK0, rr: r(16) });
    code.add(I::Sts { address: TICKS, rr: r(16) });
    code.add(I::Bset { flag: 7 });
    let start = code.words.len() as u32;
    for pin in [0, 1] {
        code.add(I::Sbi { io: PORTB, bit: pin });
        delay(&mut code, random);
        match random.below(2) {
            _ if ticks && pin == 0 => wait_for_ticks(&mut code),
            0 => wait_with_limit(&mut code),
            _ => {}
        }
        if !(ends && pin == 1) {
            code.add(I::Cbi { io: PORTB, bit: pin });
        }
    }
    if ends {
        code.add(I::Rjmp { offset: -1 })
    } else {
        code.jump(start)
    }
    code
}

/// A random change of a proof, and its name.
fn alter(coming: &mut Coming, random: &mut Random) -> &'static str {
    let Coming { parts, fair } = coming;
    if random.once_in(12) {
        parts.pop();
        return "a part is dropped";
    }
    if !fair.is_empty() && random.once_in(6) {
        if random.once_in(2) {
            fair.pop();
        } else {
            fair[0].claims.pop();
        }
        return "a claim of fairness is dropped";
    }
    let Some(Ranks { idle, claims }) = parts.first_mut().filter(|ranks| !ranks.claims.is_empty()) else {
        return "nothing";
    };
    let (number, other) = (random.below(claims.len()), random.below(claims.len()));
    let (head, group) = (claims[other].head, claims[other].group);
    let claim = &mut claims[number];
    match random.below(14) {
        0 => {
            claims.remove(number);
            "a claim is dropped"
        }
        1 => {
            claim.rank.clear();
            "a rank is dropped"
        }
        2 => {
            let one = claim.rank.pop().unwrap_or(Term::Constant(0, 1));
            claim.rank.push(Term::Difference(Box::new(Term::Constant(u64::MAX, 3)), Box::new(one)));
            "a rank is reversed"
        }
        3 => {
            let cell = random.pick(&[18, 19, 20, 16, 0x25, 0x100, 0xffff]);
            claim.rank = vec![Term::Cells(vec![DataAddress(cell)])];
            "a rank is another one"
        }
        4 => {
            claim.rank = vec![Term::Constant(random.below(3), random.below(10))];
            "a rank is a constant"
        }
        5 => {
            claim.group = random.pick(&[group, group + 1, 0, 9]);
            "a claim is in another group"
        }
        6 => {
            claim.head = head;
            "a claim is about another head"
        }
        7 => {
            claim.head.pc.0 += 1;
            "a claim is about no head"
        }
        8 => {
            claim.head.calls = u32::MAX;
            "a call string does not exist"
        }
        9 => {
            claim.passed = if random.once_in(2) { Vec::new() } else { vec![head] };
            "other heads are passed"
        }
        10 => {
            claim.waits_for = random.pick(&EVENTS);
            "a claim waits for another event"
        }
        11 => {
            claim.is_triggering = !claim.is_triggering;
            "something is awaited in other states"
        }
        12 => {
            idle.push(Passing { head, passed: vec![head] });
            "other heads are passed by idle rounds"
        }
        _ => {
            let one = claims[other].clone();
            claims.push(one);
            "a claim is there twice"
        }
    }
}

/// What is true of a program, and what is not.
fn formulas(Shape { ends, .. }: Shape) -> ([&'static str; 4], Vec<&'static str>) {
    let never = ["AG AF (PORTB.5 == 1)", "AG (PORTB.0 == 1 -> AF (PORTB.5 == 1))", "AF (PORTB.5 == 1)"];
    match ends {
        true => (
            [
                "AG AF (PORTB.1 == 1)",
                "AF (PORTB.1 == 1)",
                "AG (PORTB.0 == 1 -> AF (PORTB.1 == 1))",
                "A[PORTB.1 == 0 U PORTB.0 == 1]",
            ],
            ["AG AF (PORTB.0 == 1)", "AG AF (PORTB.1 == 0)", "A[PORTB.0 == 0 U PORTB.1 == 1]"]
                .into_iter()
                .chain(never)
                .collect(),
        ),
        false => (
            [
                "AG AF (PORTB.0 == 1)",
                "AG AF (PORTB.0 == 0)",
                "AG (PORTB.0 == 1 -> AF (PORTB.1 == 1))",
                "AG (PORTB.0 == 1 -> A[PORTB.1 == 0 U PORTB.0 == 0])",
            ],
            ["A[PORTB.0 == 0 U PORTB.1 == 1]"].into_iter().chain(never).collect(),
        ),
    }
}

/// The text of a property, perhaps under fairness.
fn text(formula: &str, interrupt: Option<&str>) -> String {
    match interrupt {
        None => property_text(formula),
        Some(name) => {
            format!("(properties: [Formula(check: \"{formula}\", under: [\"G F interrupt({name})\"])])")
        }
    }
}

/// The number of programs.
const PROGRAMS: u64 = 16;

#[test]
fn no_ranks_prove_what_is_false() {
    let (mut with_ranks, mut accepted, mut refused) = (0, 0, 0);
    // The number of altered certificates.
    let mutants = avr_testkit::cases(6, 60);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..avr_testkit::cases(3, PROGRAMS) {
        let mut random = Random::new(seed);
        let shape = Shape { ticks: seed % 4 >= 2, ends: seed % 2 == 1 };
        let (own, wrong) = formulas(shape);
        let fair = shape.ticks.then_some("TIMER0_OVF");
        let sample = Sample::of(&program(&mut random, shape), text(own[seed as usize / 4 % 4], fair));
        // A small state space may decide that something comes soon; that takes no ranks.
        if !matches!(sample.certificate.claims.as_slice(), [Claim::Symbolic(_)]) {
            continue;
        }
        with_ranks += 1;
        let report = sample.check(&sample.certificate).unwrap_or_else(|rejection| panic!("seed {seed}: {rejection}"));
        let checked = &report.properties[0];
        assert!(checked.with_sat && report.queries > 0, "seed {seed}: {:?}", sample.certificate.claims);
        // That ticks come again and again takes an interrupt.
        let basis = if shape.ticks { Basis::Model } else { Basis::Hardware };
        assert!(matches!(checked.proved, Proved::Decided(_, proved) if proved == basis), "seed {seed}: {checked:?}");
        let mut false_ones: Vec<String> = wrong.iter().map(|formula| text(formula, fair)).collect();
        if shape.ticks && seed / 4 % 4 != 3 {
            let own = own[seed as usize / 4 % 4];
            false_ones.extend([text(own, None), text(own, Some("TIMER0_COMPA")), text(own, Some("INT0"))]);
        }
        for properties in false_ones {
            let about = sample.about_properties(properties.clone());
            // A program that ends switches pin 1 on before it is off for ever, and the ticks come behind pin 0 alone.
            assert!(!sample.is_accepted(&about), "seed {seed}: {properties}");
            for _ in 0..mutants / 6 {
                let mut mutant = about.clone();
                let what = (0..=random.below(2)).map(|_| alter(coming(&mut mutant), &mut random)).last();
                assert!(!sample.is_accepted(&mutant), "seed {seed}: {properties}: {what:?}");
            }
        }
        for _ in 0..mutants {
            let mut mutant = sample.certificate.clone();
            let what = alter(coming(&mut mutant), &mut random);
            let is_accepted = sample.is_accepted(&mutant);
            *(if is_accepted { &mut accepted } else { &mut refused }) += 1;
            *kinds.entry(what).or_default() += u64::from(!is_accepted);
        }
    }
    assert!(with_ranks >= avr_testkit::cases(3, PROGRAMS * 3 / 4), "{with_ranks} programs take ranks");
    assert!(refused > accepted && accepted > 3, "{accepted} accepted, {refused} refused");
    let must =
        ["a part is dropped", "a claim of fairness is dropped", "a claim is about no head", "a claim is there twice"];
    assert!(must.iter().all(|kind| kinds.get(kind).is_none_or(|refused| *refused > 0)), "{kinds:?}");
}

#[test]
fn ranks_are_those_of_their_property() {
    let shape = Shape { ticks: false, ends: false };
    let sample = Sample::of(&program(&mut Random::new(0), shape), property_text("AG AF (PORTB.0 == 1)"));
    let certificate = &sample.certificate;
    assert!(sample.is_accepted(certificate));
    let proof = coming(&mut certificate.clone()).clone();
    let refuses = |altered: Certificate| sample.check(&altered).expect_err("it proves nothing").to_string();
    let of_another_kind = "the proof by symbolic execution is one of another kind of property";
    assert!(refuses(sample.with_proof(SymbolicProof::Everywhere)).contains(of_another_kind));
    assert!(refuses(sample.with_proof(SymbolicProof::Loops(Vec::new()))).contains(of_another_kind));
    let parts = "there are not as many proofs as the property has parts";
    let with = |parts: Vec<Ranks>, fair| sample.with_proof(SymbolicProof::Ranks(Coming { parts, fair }));
    assert!(refuses(with(Vec::new(), Vec::new())).contains(parts));
    assert!(refuses(with([proof.parts.clone(), proof.parts.clone()].concat(), Vec::new())).contains(parts));
    assert!(refuses(with(proof.parts.clone(), vec![Loops::default()])).contains(parts));
    assert!(refuses(with(vec![Ranks::default()], Vec::new())).contains("there is no claim about the loop at"));
    for formula in
        ["EF (PORTB.0 == 1)", "EG (PORTB.0 == 1)", "AG EF (PORTB.0 == 1)", "AG (PORTB.0 == 1)", "A[G F true]"]
    {
        assert!(refuses(sample.about(formula)).contains(of_another_kind), "{formula}");
    }
    assert!(refuses(sample.about("AG AF (write(PORTB) == 1)")).contains("prove nothing"));
    assert!(refuses(Certificate { map: None, ..certificate.clone() }).contains("there are none"));
    let mut open = certificate.clone();
    open.map.as_mut().expect("it rests on a map").entries.pop();
    assert!(refuses(open).contains("the invariants prove nothing"));
    // Of fairness of another form, or with more interrupts, there is no claim.
    let under = |under: &str| {
        sample.about_properties(format!("(properties: [Formula(check: \"AG AF (PORTB.0 == 1)\", under: [{under}])])"))
    };
    assert!(refuses(under("\"G F interrupt(TIMER0_OVF)\"")).contains(parts));
    let of_outputs = refuses(under("\"G F (PORTB.1 == 1)\""));
    assert!(of_outputs.contains(of_another_kind), "{of_outputs}");
    let both = sample.about("AG (AF (PORTB.0 == 1) && AF (PORTB.0 == 1))");
    let twice = with([proof.parts.clone(), proof.parts].concat(), Vec::new());
    assert!(sample.is_accepted(&Certificate { header: both.header, ..twice }));
}

/// The loop of a delay with a rank that does not fall, and with one that belongs to another loop.
#[test]
fn the_rank_of_a_delay_is_its_counter() {
    let shape = Shape { ticks: false, ends: true };
    let sample = Sample::of(&program(&mut Random::new(1), shape), property_text("AF (PORTB.1 == 1)"));
    let ranked = |certificate: &mut Certificate, alter: &dyn Fn(&mut RankClaim)| {
        let claims = &mut coming(certificate).parts[0].claims;
        alter(claims.iter_mut().find(|claim| !claim.rank.is_empty()).expect("a number falls"));
    };
    let is_accepted = |rank: Vec<Term>| {
        let mut altered = sample.certificate.clone();
        ranked(&mut altered, &|claim| claim.rank.clone_from(&rank));
        sample.is_accepted(&altered)
    };
    let cells = |cells: &[u16]| Term::Cells(cells.iter().map(|cell| DataAddress(*cell)).collect());
    let counter = || cells(&[18, 19, 20]);
    let minus_one = || Term::Difference(Box::new(counter()), Box::new(Term::Constant(1, 3)));
    assert!(is_accepted(vec![counter()]) || is_accepted(vec![minus_one()]));
    for wrong in [cells(&[18]), cells(&[18, 19]), cells(&[20, 19, 18]), cells(&[0x100]), Term::Constant(0, 3)] {
        assert!(!is_accepted(vec![wrong.clone()]), "{wrong:?}");
    }
    assert!(!is_accepted(Vec::new()));
}
