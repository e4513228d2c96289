//! Certificates of invariants that were altered so that they show what is false: none passes.
//!
//! The judge is a state space: where it refutes a property, no certificate may prove it, whatever its map is.

use avr_certificate::{Certificate, Claim, Equal, Header, Invariant, Map, Stack, Upper};
use avr_image::{DataAddress, Image};
use avr_machine::PAGE_CELLS;
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_testkit::programs::interrupted;
use avr_verify::{InvariantUse, PropertyText, Request, Results, Verdict};
use three_valued::TvByte;

/// A property of a cell that a program may have.
struct Property {
    cell: DataAddress,
    values: [u8; 2],
}

impl Property {
    fn random(random: &mut Random) -> Self {
        let cell = DataAddress(random.pick(&[0x100, 0x101, 0x102, 16, 17, 18, 19]));
        let low = random.below(4);
        Self { cell, values: [low, random.pick(&[low, 3, 0x7f, 0xff]).max(low)] }
    }

    fn text(&self) -> String {
        let Self { cell: DataAddress(cell), values: [low, high] } = self;
        format!("AG (mem[{cell:#x}] >= {low} && mem[{cell:#x}] <= {high})")
    }
}

/// The properties of a program, asked together.
struct Asked {
    image: Image,
    text: String,
    file: PropertyFile,
}

impl Asked {
    fn new(words: &[u16], properties: &[Property], depth: u32) -> Self {
        let formulas = properties.iter().map(|property| format!("Formula(check: \"{}\"), ", property.text()));
        let formulas: String = formulas.collect();
        let text = format!("(properties: [{formulas}Inherent(), Stack(max_bytes: {depth})])");
        let file = PropertyFile::parse("small", &text).unwrap_or_else(|error| panic!("{error}"));
        Self { image: avr_testkit::image::image(words), text, file }
    }

    fn request(&self, invariants: InvariantUse<'static>) -> Request<'_> {
        let device = Device::named("atmega328p").expect("it exists");
        Request { invariants, ..Request::of(&self.image, device, &self.file) }
    }

    fn certificate(&self) -> Certificate {
        let text = PropertyText { file: self.text.clone(), ..PropertyText::default() };
        let certified = avr_verify::certify(&self.request(InvariantUse::Find), &text, |_| {}, |_| {});
        certified.unwrap_or_else(|error| panic!("{error}"))
    }

    fn judged(&self) -> Results {
        avr_verify::verify(&self.request(InvariantUse::Off)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn accepts(&self, certificate: &Certificate) -> bool {
        let device = Device::named("atmega328p").expect("it exists");
        avr_check::check(certificate, &self.image, device).is_ok()
    }
}

/// The content of a cell in a state.
fn content(map: &Map, invariant: &Invariant, cell: DataAddress) -> TvByte {
    let page = cell.index() / PAGE_CELLS;
    let block = map.blocks[invariant.memory[page / 16] as usize];
    map.pages[block[page % 16] as usize][cell.index() % PAGE_CELLS]
}

/// Writes a cell of a state anew.
fn set(map: &mut Map, entry: usize, cell: DataAddress, byte: TvByte) {
    let (page, offset) = (cell.index() / PAGE_CELLS, cell.index() % PAGE_CELLS);
    let place = &mut map.entries[entry].invariant.memory[page / 16];
    let mut block = map.blocks[*place as usize];
    let mut content = map.pages[block[page % 16] as usize];
    content[offset] = byte;
    block[page % 16] = number(&mut map.pages, content);
    *place = number(&mut map.blocks, block);
}

/// The number of an item of a list, to which it is added if it is not there.
fn number<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let known = list.iter().position(|known| *known == item);
    known.unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    }) as u32
}

/// Makes every state of a map say that a property is true, by leaving out those that do not or by telling less of them.
fn pretend(map: &mut Map, property: &Property, random: &mut Random) {
    let [low, high] = property.values;
    let leaves_out = random.once_in(2);
    for entry in (0..map.entries.len()).rev() {
        let byte = content(map, &map.entries[entry].invariant, property.cell);
        if byte.low() >= low && byte.high() <= high {
            continue;
        }
        match byte.within(low, high).filter(|_| !leaves_out) {
            Some(part) => set(map, entry, property.cell, part),
            None => _ = map.entries.remove(entry),
        }
    }
}

/// Changes something else.
fn change(map: &mut Map, random: &mut Random) {
    if map.entries.is_empty() {
        return;
    }
    let entry = random.below(map.entries.len());
    match random.below(8) {
        0 => _ = map.entries.remove(entry),
        1 if !map.exits.is_empty() => _ = map.exits.remove(random.below(map.exits.len())),
        2 => map.entries[entry].control.interrupt_delay ^= true,
        3 => map.entries[entry].calls = random.below(map.calls.len() as u32),
        4 => map.entries[entry].handler = map.entries[random.below(map.entries.len())].handler,
        5 => {
            let other = map.entries[random.below(map.entries.len())].invariant.clone();
            map.entries[entry].invariant = other;
        }
        6 => {
            let cell = DataAddress(random.pick(&[0x100, 0x101, 0x102, 16, 17, 18, 0x5f]));
            let list = &mut map.entries[entry].invariant.equalities;
            list.retain(|one| one.0 != cell);
            list.push((cell, Equal::Of(DataAddress(random.below(cell.0)))));
            list.sort_by_key(|one| one.0);
        }
        _ => {
            let cell = DataAddress(random.pick(&[0x100, 0x101, 0x102, 16, 17, 18, 0x3d, 0x5d, 0x5e, 0x5f]));
            let byte = content(map, &map.entries[entry].invariant, cell);
            let values: Vec<u8> = byte.concretisations().collect();
            set(map, entry, cell, TvByte::constant(random.pick(&values)));
        }
    }
}

/// The number of programs, and of altered certificates of each property of one.
const PROGRAMS: u64 = 120;
const MUTANTS: u64 = 30;

#[test]
fn no_map_proves_what_is_false() {
    let (mut rejected, mut passed, mut false_ones) = (0, 0, 0);
    for seed in 0..avr_testkit::cases(20, PROGRAMS) {
        let mut random = Random::new(seed);
        let words = interrupted::program(&mut random);
        let properties = [0; 4].map(|_| Property::random(&mut random));
        let asked = Asked::new(&words, &properties, random.below(9u32));
        let certificate = asked.certificate();
        assert!(asked.accepts(&certificate), "seed {seed}");
        let Some(map) = &certificate.map else { continue };
        let judged = asked.judged();
        for (number, property) in properties.iter().enumerate() {
            let is_false = judged.properties[number].verdict == Verdict::Violated;
            false_ones += usize::from(is_false);
            for _ in 0..MUTANTS {
                let mut mutant = claims_only(&certificate, number);
                let mut altered = map.clone();
                if is_false {
                    pretend(&mut altered, property, &mut random);
                }
                (0..random.below(3)).for_each(|_| change(&mut altered, &mut random));
                mutant.map = Some(altered);
                let is_accepted = asked.accepts(&mutant);
                assert!(!(is_accepted && is_false), "seed {seed}: a map shows {}", property.text());
                *(if is_accepted { &mut passed } else { &mut rejected }) += 1;
            }
        }
        let deepest = judged.stack.lower.unwrap_or_default();
        for bytes in 0..deepest {
            let mut mutant = claims_only(&certificate, usize::MAX);
            mutant.stack.upper = Some(Upper::Map(bytes));
            assert!(!asked.accepts(&mutant), "seed {seed}: a stack of {deepest} bytes is at most {bytes} deep");
        }
    }
    assert!(rejected > passed && passed > 20 && false_ones > 30, "{rejected}, {passed}, {false_ones}");
}

/// The certificate with a claim of one property alone, which rests on the map.
fn claims_only(certificate: &Certificate, property: usize) -> Certificate {
    let claim = |number| if number == property { Claim::Invariant(None) } else { Claim::Undecided };
    let claims = (0..certificate.claims.len()).map(claim).collect();
    Certificate { claims, spaces: Vec::new(), stack: Stack::default(), ..certificate.clone() }
}

#[test]
fn what_a_map_says_is_not_more_than_it_shows() {
    // `nop; rjmp .-4`
    let words = [0x0000, 0xcffe];
    let asked = Asked::new(&words, &[Property { cell: DataAddress(16), values: [0, 0xff] }], 0);
    let certificate = asked.certificate();
    assert!(asked.accepts(&certificate));
    assert!(certificate.claims.iter().all(|claim| matches!(claim, Claim::Invariant(_))), "{:?}", certificate.claims);
    assert_eq!(certificate.stack.upper, Some(Upper::Map(0)));
    let rejects = |change: &dyn Fn(&mut Certificate)| {
        let mut altered = certificate.clone();
        change(&mut altered);
        assert!(!asked.accepts(&altered));
    };
    rejects(&|certificate| certificate.map = None);
    rejects(&|certificate| certificate.header.sha256[0] ^= 1);
    rejects(&|certificate| certificate.claims[0] = Claim::Invariant(Some(9)));
    rejects(&|certificate| certificate.header = with_properties(&certificate.header, "AF (mem[0x10] >= 0)"));
    rejects(&|certificate| certificate.header = with_properties(&certificate.header, "AG (mem[0x10] <= 0xfe)"));
    rejects(&|certificate| certificate.header = with_properties(&certificate.header, "EG (mem[0x10] >= 0)"));
    rejects(&|certificate| map_of(certificate).entries.clear());
    rejects(&|certificate| map_of(certificate).entries[0].control.pc.0 = u32::MAX);
    rejects(&|certificate| map_of(certificate).entries[0].calls = u32::MAX);
    rejects(&|certificate| map_of(certificate).entries[0].invariant.memory.clear());
    rejects(&|certificate| map_of(certificate).entries[0].invariant.memory[0] = u32::MAX);
    rejects(&|certificate| {
        let page = map_of(certificate).pages[0];
        map_of(certificate).pages.push(page);
    });
}

fn map_of(certificate: &mut Certificate) -> &mut Map {
    certificate.map.as_mut().expect("there is a map")
}

/// The header with another formula in the place of the first.
fn with_properties(header: &Header, formula: &str) -> Header {
    let properties = format!("(properties: [Formula(check: \"{formula}\"), Inherent(), Stack(max_bytes: 0)])");
    Header { properties, ..header.clone() }
}

#[test]
fn a_hazard_that_is_not_excluded_is_no_proof() {
    // `sbic PINB, 0; nop; rjmp .-6`, and the same with a reserved opcode in the place of `nop`.
    let [harmless, wrong] = [0x0000, 0xffff].map(|word| Asked::new(&[0x9918, word, 0xcffd], &[], 0));
    let certificate = harmless.certificate();
    assert!(certificate.map.is_some() && harmless.accepts(&certificate));
    let header = wrong.certificate().header;
    let mutant = Certificate { header, ..claims_only(&certificate, 0) };
    let device = Device::named("atmega328p").expect("it exists");
    let rejection = avr_check::check(&mutant, &wrong.image, device).expect_err("a hazard can come");
    assert!(rejection.to_string().contains("do not exclude reserved"), "{rejection}");
}
