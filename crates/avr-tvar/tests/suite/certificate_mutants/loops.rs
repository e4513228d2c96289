//! Certificates with claims about loops that were altered: none passes that proves what is false.
//!
//! Programs switch some pins on and off, with delays in between that no state space counts out, so that it is known without a judge which
//! recoveries are true: a pin that no instruction switches on is never on, and behind the last loop of a program that ends nothing changes.

use avr_certificate::{Certificate, Claim, Header, LoopClaim, Loops, Rounds, Stack, Symbolic, SymbolicProof, Term};
use avr_image::{DataAddress, Image};
use avr_isa::Instruction as I;
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_testkit::image::{Code, r};
use avr_verify::{InvariantUse, PropertyText, Request};
use std::collections::BTreeMap;

use super::{alter_bytes, read, uncompressed};

pub(super) const PORTB: u8 = 5;
pub(super) const PINB: u8 = 3;
pub(super) const TCCR0B: u8 = 0x25;
pub(super) const TIMSK0: DataAddress = DataAddress(0x6e);
pub(super) const TICKS: DataAddress = DataAddress(0x100);
pub(super) const OVERFLOW_VECTOR: u32 = 0x20;
pub(super) const MAIN: u32 = 0x40;

/// A program with a certificate of a recovery, which is true.
pub(super) struct Sample {
    image: Image,
    pub(super) certificate: Certificate,
}

fn device() -> &'static Device {
    Device::named("atmega328p").expect("it exists")
}

pub(super) fn property_text(formula: &str) -> String {
    format!("(properties: [Formula(check: \"{formula}\")])")
}

impl Sample {
    fn new(code: &Code, formula: &str) -> Self {
        Self::of(code, property_text(formula))
    }

    pub(super) fn of(code: &Code, text: String) -> Self {
        let image = avr_testkit::image::image(&code.words);
        let file = PropertyFile::parse("loops", &text).unwrap_or_else(|error| panic!("{error}"));
        let request = Request { invariants: InvariantUse::Find, ..Request::of(&image, device(), &file) };
        let text = PropertyText { file: text, ..PropertyText::default() };
        let certificate = avr_verify::certify(&request, &text, |_| {}, |_| {});
        let certificate = certificate.unwrap_or_else(|error| panic!("{error}"));
        // The stack takes state spaces.
        let certificate = Certificate { spaces: Vec::new(), stack: Stack::default(), ..certificate };
        Self { image, certificate }
    }

    pub(super) fn is_accepted(&self, certificate: &Certificate) -> bool {
        self.check(certificate).is_ok()
    }

    pub(super) fn check(&self, certificate: &Certificate) -> Result<avr_check::Report, avr_check::Rejection> {
        avr_check::check(certificate, &self.image, device())
    }

    /// The certificate with another formula.
    pub(super) fn about(&self, formula: &str) -> Certificate {
        self.about_properties(property_text(formula))
    }

    /// The certificate with other properties.
    pub(super) fn about_properties(&self, properties: String) -> Certificate {
        let header = Header { properties, ..self.certificate.header.clone() };
        Certificate { header, ..self.certificate.clone() }
    }

    pub(super) fn with_proof(&self, proof: SymbolicProof) -> Certificate {
        let claims = vec![Claim::Symbolic(Symbolic { proof, vacuous: None })];
        Certificate { claims, ..self.certificate.clone() }
    }
}

/// The claims of the only proof of a certificate.
fn loops(certificate: &mut Certificate) -> &mut Vec<LoopClaim> {
    match certificate.claims.first_mut() {
        Some(Claim::Symbolic(Symbolic { proof: SymbolicProof::Loops(proofs), .. })) => &mut proofs[0].claims,
        other => panic!("there are no claims about loops: {other:?}"),
    }
}

/// A loop that counts a word in three registers down.
pub(super) fn delay(code: &mut Code, random: &mut Random) {
    let [low, middle, high] = [0; 3].map(|_| random.byte());
    code.add(I::Ldi { rd: r(18), k: low | 1 });
    code.add(I::Ldi { rd: r(19), k: middle | 1 });
    code.add(I::Ldi { rd: r(20), k: high | 1 });
    code.add(I::Subi { rd: r(18), k: 1 });
    code.add(I::Sbci { rd: r(19), k: 0 });
    code.add(I::Sbci { rd: r(20), k: 0 });
    code.add(I::Brbc { flag: 1, offset: -4 });
}

/// A wait for a pin.
fn wait(code: &mut Code) {
    code.add(I::Sbis { io: PINB, bit: 7 });
    code.add(I::Rjmp { offset: -2 });
}

/// A wait for ticks of the handler.
pub(super) fn wait_for_ticks(code: &mut Code) {
    code.add(I::Eor { rd: r(18), rr: r(18) });
    code.add(I::Sts { address: TICKS, rr: r(18) });
    code.add(I::Lds { rd: r(18), address: TICKS });
    code.add(I::Cpi { rd: r(18), k: 10 });
    code.add(I::Brbs { flag: 0, offset: -4 });
}

/// A program that switches pins 0 and 1 of port B on and off, again and again unless it ends. Where it ends pin 1 is on and pin 0 is off.
fn program(random: &mut Random, ends: bool) -> Code {
    let mut code = Code::default();
    code.jump(MAIN);
    code.place(OVERFLOW_VECTOR);
    code.add(I::Push { rr: r(16) });
    code.add(I::Lds { rd: r(16), address: TICKS });
    code.add(I::Inc { rd: r(16) });
    code.add(I::Sts { address: TICKS, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
    code.place(MAIN);
    let ticks = random.once_in(2);
    if ticks {
        code.add(I::Ldi { rd: r(16), k: 1 });
        code.add(I::Out { io: TCCR0B, rr: r(16) });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Sts { address: TICKS, rr: r(16) });
        code.add(I::Bset { flag: 7 });
    }
    let start = code.words.len() as u32;
    for pin in [0, 1] {
        code.add(I::Sbi { io: PORTB, bit: pin });
        delay(&mut code, random);
        match random.below(3) {
            0 => wait(&mut code),
            1 if ticks => wait_for_ticks(&mut code),
            _ => {}
        }
        if !(ends && pin == 1) {
            code.add(I::Cbi { io: PORTB, bit: pin });
        }
        delay(&mut code, random);
    }
    if ends {
        code.add(I::Rjmp { offset: -1 })
    } else {
        code.jump(start)
    }
    code
}

/// A random change of the claims of a proof, and its name.
fn alter(claims: &mut Vec<LoopClaim>, random: &mut Random) -> &'static str {
    if claims.is_empty() {
        return "nothing";
    }
    let (number, other) = (random.below(claims.len()), random.below(claims.len()));
    let (head, group) = (claims[other].head, claims[other].group);
    let claim = &mut claims[number];
    match random.below(13) {
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
            claim.rounds.pop();
            "a strategy is dropped"
        }
        11 => {
            let held = vec![(DataAddress(0x23), three_valued::TvByte::constant(random.byte()))];
            let interrupts = random.pick(&[None, Some(Vec::new()), Some(vec![16]), Some(vec![16, 16])]);
            claim.rounds = vec![Rounds { count: 1 + random.below(2u32), interrupts, held, sequences: Vec::new() }];
            "the strategies are others"
        }
        _ => {
            let one = claims[other].clone();
            claims.push(one);
            "a claim is there twice"
        }
    }
}

/// The number of programs, and of altered certificates of each formula.
const PROGRAMS: u64 = 20;
const MUTANTS: u64 = 60;

const SWITCHED: [&str; 4] =
    ["AG EF (PORTB.0 == 1)", "AG EF (PORTB.0 == 0)", "AG EF (PORTB.1 == 1)", "AG EF (PORTB.1 == 0)"];
/// Nothing switches pin 5 on.
const NEVER: [&str; 2] = ["AG EF (PORTB.5 == 1)", "AG (PORTB.0 == 1 -> EF (PORTB.5 == 1))"];

#[test]
fn no_claims_prove_what_is_false() {
    let (mut accepted, mut refused) = (0, 0);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..avr_testkit::cases(4, PROGRAMS) {
        let mut random = Random::new(seed);
        let ends = seed % 2 == 1;
        let code = program(&mut random, ends);
        let (own, wrong): (&str, Vec<&str>) = match ends {
            true => (
                "AG EF (PORTB.1 == 1)",
                ["AG EF (PORTB.0 == 1)", "AG EF (PORTB.1 == 0)"].into_iter().chain(NEVER).collect(),
            ),
            false => (SWITCHED[seed as usize / 2 % 4], NEVER.to_vec()),
        };
        let sample = Sample::new(&code, own);
        let report = sample.check(&sample.certificate).unwrap_or_else(|rejection| panic!("seed {seed}: {rejection}"));
        assert!(report.properties[0].with_sat && report.queries > 0, "seed {seed}: {:?}", sample.certificate.claims);
        for formula in &wrong {
            let about = sample.about(formula);
            assert!(!sample.is_accepted(&about), "seed {seed}: {formula}");
            for _ in 0..MUTANTS / 4 {
                let mut mutant = about.clone();
                let what = (0..=random.below(2)).map(|_| alter(loops(&mut mutant), &mut random)).last();
                assert!(!sample.is_accepted(&mutant), "seed {seed}: {formula}: {what:?}");
            }
        }
        for _ in 0..MUTANTS {
            let mut mutant = sample.certificate.clone();
            let what = alter(loops(&mut mutant), &mut random);
            let is_accepted = sample.is_accepted(&mutant);
            *(if is_accepted { &mut accepted } else { &mut refused }) += 1;
            *kinds.entry(what).or_default() += u64::from(!is_accepted);
        }
    }
    assert!(refused > accepted && accepted > 10, "{accepted} accepted, {refused} refused");
    let must =
        ["a claim is dropped", "a claim is about no head", "a call string does not exist", "a claim is there twice"];
    assert!(must.iter().all(|kind| kinds.get(kind).is_some_and(|refused| *refused > 0)), "{kinds:?}");
}

#[test]
fn a_proof_is_one_of_its_formula_alone() {
    let sample = Sample::new(&program(&mut Random::new(0), false), SWITCHED[0]);
    let certificate = &sample.certificate;
    assert!(sample.is_accepted(certificate));
    let proof = Loops { first: Vec::new(), claims: loops(&mut certificate.clone()).clone() };
    let refuses = |altered: Certificate| {
        let rejection = sample.check(&altered).expect_err("it proves nothing");
        rejection.to_string()
    };
    let of_another_kind = "the proof by symbolic execution is one of another kind of property";
    assert!(refuses(sample.with_proof(SymbolicProof::Everywhere)).contains(of_another_kind));
    assert!(refuses(sample.with_proof(SymbolicProof::Loops(Vec::new()))).contains(of_another_kind));
    assert!(refuses(sample.with_proof(SymbolicProof::Loops(vec![proof.clone(); 2]))).contains(of_another_kind));
    assert!(
        refuses(sample.with_proof(SymbolicProof::Loops(vec![Loops::default()])))
            .contains("there is no claim about the loop at")
    );
    for formula in
        ["AF (PORTB.0 == 1)", "EG (PORTB.0 == 1)", "AG AF (PORTB.0 == 1)", "AG (PORTB.0 == 1)", "AG EX (PORTB.0 == 1)"]
    {
        assert!(refuses(sample.about(formula)).contains(of_another_kind), "{formula}");
    }
    assert!(sample.is_accepted(&sample.about("EF (PORTB.0 == 1)")), "it speaks of some of the states");
    assert!(refuses(sample.about("AG EF (write(PORTB) == 1)")).contains("prove nothing"));
    assert!(refuses(Certificate { map: None, ..certificate.clone() }).contains("there are none"));
    let mut open = certificate.clone();
    open.map.as_mut().expect("it rests on a map").entries.pop();
    assert!(refuses(open).contains("the invariants prove nothing"));
    let both = sample.about("AG (EF (PORTB.0 == 1) && EF (PORTB.0 == 1))");
    let twice = sample.with_proof(SymbolicProof::Loops(vec![proof; 2]));
    assert!(sample.is_accepted(&Certificate { header: both.header, ..twice }));
}

/// Formulas `E[p U q]` that are true of the programs that do not end, and false ones that differ in p, in q or in the condition.
const UNTIL: [(&str, [&str; 5]); 3] = [
    (
        "AG (PORTB.0 == 1 -> E[(PORTB.1 == 0 || PORTB.0 == 1) U (PORTB.0 == 0 && PORTB.1 == 0)])",
        [
            "AG (PORTB.0 == 1 -> E[(PORTB.1 == 1 || PORTB.0 == 0) U (PORTB.0 == 0 && PORTB.1 == 0)])",
            "AG (PORTB.0 == 1 -> E[(PORTB.1 == 0 && PORTB.5 == 1) U (PORTB.0 == 0 && PORTB.1 == 0)])",
            "AG (PORTB.0 == 1 -> E[PORTB.1 == 0 U (PORTB.0 == 1 && PORTB.1 == 1)])",
            "AG (PORTB.0 == 0 -> E[(PORTB.0 == 0 && PORTB.1 == 0) U PORTB.0 == 1])",
            "AG E[PORTB.0 == 1 U (PORTB.0 == 0 && PORTB.1 == 0)]",
        ],
    ),
    (
        "AG E[PORTB.5 == 0 U PORTB.1 == 1]",
        [
            "AG E[PORTB.5 == 1 U PORTB.1 == 1]",
            "AG E[PORTB.0 == 0 U PORTB.1 == 1]",
            "AG E[PORTB.5 == 0 U PORTB.5 == 1]",
            "AG E[(PORTB.1 == 0 && PORTB.0 == 0) U PORTB.1 == 1]",
            "AG E[(PORTB.5 == 0 && mem[0x100] == 0) U PORTB.1 == 1]",
        ],
    ),
    (
        "E[PORTB.1 == 0 U PORTB.1 == 1]",
        [
            "E[PORTB.0 == 0 U PORTB.1 == 1]",
            "E[PORTB.1 == 1 U PORTB.1 == 1]",
            "E[PORTB.1 == 0 U PORTB.5 == 1]",
            "E[(PORTB.1 == 0 && r16 == 1 && r16 == 2) U PORTB.1 == 1]",
            "AG E[(PORTB.1 == 0 && PORTB.0 == 1) U PORTB.1 == 1]",
        ],
    ),
];

/// Claims for `E[p U q]`, altered and for other p: in some state on each way that the program has, these do not hold.
#[test]
fn no_claims_prove_a_false_until() {
    let (mut accepted, mut refused, mut conditions) = (0, 0, 0);
    for (seed, (own, wrong)) in (0..).step_by(2).zip(UNTIL) {
        let mut random = Random::new(seed);
        let sample = Sample::new(&program(&mut random, false), own);
        let report = sample.check(&sample.certificate).unwrap_or_else(|rejection| panic!("{own}: {rejection}"));
        assert!(report.properties[0].with_sat, "{own}: {:?}", sample.certificate.claims);
        let first = |certificate: &mut Certificate| match certificate.claims.first_mut() {
            Some(Claim::Symbolic(Symbolic { proof: SymbolicProof::Loops(proofs), .. })) => {
                std::mem::take(&mut proofs[0].first)
            }
            _ => Vec::new(),
        };
        let mut without = sample.certificate.clone();
        assert!(!first(&mut without).is_empty() && !sample.is_accepted(&without), "{own}");
        for formula in wrong {
            let about = sample.about(formula);
            assert!(!sample.is_accepted(&about), "{formula}");
            for _ in 0..MUTANTS / 10 {
                let mut mutant = about.clone();
                let what = alter(loops(&mut mutant), &mut random);
                assert!(!sample.is_accepted(&mutant), "{formula}: {what:?}");
            }
        }
        for _ in 0..MUTANTS / 4 {
            let mut mutant = sample.certificate.clone();
            if random.once_in(4) {
                loops(&mut mutant).iter_mut().for_each(|claim| claim.is_conditional ^= true);
                conditions += 1;
            } else {
                alter(loops(&mut mutant), &mut random);
            }
            let is_accepted = sample.is_accepted(&mutant);
            *(if is_accepted { &mut accepted } else { &mut refused }) += 1;
        }
    }
    assert!(refused > 10 && accepted > 5 && conditions > 3, "{accepted} accepted, {refused} refused, {conditions}");
}

/// `AG p` that no state of the map shows, because a path has compared what none remembers.
#[test]
fn what_is_true_everywhere_is_checked_again() {
    let mut code = Code::default();
    // Reads two words of ports, and sets a bit where they do not differ in any bit and are not equal.
    for (register, io) in [(18, 3), (19, 6), (20, 9), (21, 3), (22, 6), (23, 9)] {
        code.add(I::In { rd: r(register), io });
    }
    for byte in 0..3 {
        code.add(I::Mov { rd: r(24 + byte), rr: r(18 + byte) });
        code.add(I::Eor { rd: r(24 + byte), rr: r(21 + byte) });
    }
    code.add(I::Or { rd: r(24), rr: r(25) });
    code.add(I::Or { rd: r(24), rr: r(26) });
    code.add(I::Brbc { flag: 1, offset: 5 });
    code.add(I::Cp { rd: r(18), rr: r(21) });
    code.add(I::Cpc { rd: r(19), rr: r(22) });
    code.add(I::Cpc { rd: r(20), rr: r(23) });
    code.add(I::Brbs { flag: 1, offset: 1 });
    code.add(I::Sbi { io: 8, bit: 0 });
    code.jump(0);
    let formula = "AG (PORTC.0 == 0)";
    let sample = Sample::new(&code, formula);
    assert_eq!(
        sample.certificate.claims,
        [Claim::Symbolic(Symbolic { proof: SymbolicProof::Everywhere, vacuous: None })]
    );
    let report = sample.check(&sample.certificate).unwrap_or_else(|rejection| panic!("{rejection}"));
    assert!(report.properties[0].with_sat && report.queries > 0);
    assert!(!sample.is_accepted(&Certificate { claims: vec![Claim::Invariant(None)], ..sample.certificate.clone() }));
    // A pin is what it likes.
    for wrong in ["AG (PINC.0 == 0)", "AG (r18 == 0)", "AG (PORTC.0 == 1)", "AG EF (PORTC.0 == 0)"] {
        assert!(!sample.is_accepted(&sample.about(wrong)), "{wrong}");
    }
}

/// Bytes of claims that are anything: they are read or refused, and what is read has an answer.
#[test]
fn altered_bytes_of_claims_are_read_or_refused() {
    let sample = Sample::new(&program(&mut Random::new(2), false), SWITCHED[1]);
    let Sample { image, certificate } = &sample;
    let (readable, _) = alter_bytes(image, certificate, avr_testkit::cases(80, 3_000));
    assert!(readable > 5, "{readable}");
    // The claims are at the end, behind the map.
    let (start, content) = uncompressed(certificate);
    let claims_alone = {
        let nothing = Certificate { claims: vec![Claim::Undecided], ..certificate.clone() };
        content.len() - uncompressed(&nothing).1.len()
    };
    let (mut refused, mut rejected, mut accepted) = (0, 0, 0);
    for seed in 0..avr_testkit::cases(80, 4_000) {
        let mut random = Random::new(seed);
        let mut altered = content.clone();
        let place = altered.len() - 2 - random.below(claims_alone);
        match random.below(3) {
            0 => altered[place] = random.byte(),
            1 => altered[place] ^= 1 << random.below(8),
            _ => altered.insert(place, random.byte()),
        }
        let Ok(read) = read(&start, &altered) else {
            refused += 1;
            continue;
        };
        let is_accepted = sample.is_accepted(&read);
        *(if is_accepted { &mut accepted } else { &mut rejected }) += 1;
    }
    assert!(refused > 10 && rejected > 10, "{refused} refused, {rejected} rejected, {accepted} accepted");
}
