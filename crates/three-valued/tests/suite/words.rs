//! Exhaustive tests of three-valued words at small widths: *sound* (covers every concrete result) and *optimal* (equals
//! the join of all concrete results) are checked apart.
use fastrand::Rng;
use three_valued::{Truth, TvSum, TvWord};

/// Every three-valued word of a width.
fn words(width: u32) -> Vec<TvWord> {
    let values = 1u64 << width;
    let mut all: Vec<TvWord> =
        (0..values).flat_map(|known| (0..values).map(move |value| TvWord::new(width, value, known))).collect();
    all.sort_unstable_by_key(|word| (word.known_mask(), word.value()));
    all.dedup();
    assert_eq!(all.len() as u32, 3u32.pow(width));
    all
}

fn concrete(word: TvWord) -> impl Iterator<Item = u64> + Clone {
    (0..1u64 << word.width()).filter(move |value| word.contains(*value))
}

const TRUTHS: [Truth; 3] = [Truth::False, Truth::Unknown, Truth::True];

fn choices(bit: Truth) -> &'static [u64] {
    match bit {
        Truth::False => &[0],
        Truth::Unknown => &[0, 1],
        Truth::True => &[1],
    }
}

fn signed(value: u64, width: u32) -> i64 {
    if value >> (width - 1) & 1 == 1 { value as i64 - (1i64 << width) } else { value as i64 }
}

/// The join of all concrete results of an addition (`sign` = 1) or a subtraction (`sign` = −1), written bit by bit.
#[derive(Default)]
struct Joined {
    value: Option<TvWord>,
    carries: Option<TvWord>,
    overflow: Option<Truth>,
    negative: Option<Truth>,
    zero: Option<Truth>,
}

fn join_word(all: &mut Option<TvWord>, one: TvWord) {
    *all = Some(all.map_or(one, |all| all.join(one)));
}

fn join_truth(all: &mut Option<Truth>, one: bool) {
    let one = Truth::from(one);
    *all = Some(all.map_or(one, |all| all.join(one)));
}

impl Joined {
    fn add(&mut self, width: u32, a: u64, b: u64, c: u64, subtract: bool) {
        let (mut value, mut carries, mut carry) = (0, 0, c);
        for index in 0..width {
            let (x, y) = (a >> index & 1, b >> index & 1);
            value |= (x ^ y ^ carry) << index;
            let x = if subtract { 1 - x } else { x };
            carry = u64::from(x + y + carry >= 2);
            carries |= carry << index;
        }
        let (x, y, c) = (signed(a, width), signed(b, width), c as i64);
        let exact = if subtract { x - y - c } else { x + y + c };
        join_word(&mut self.value, TvWord::constant(width, value));
        join_word(&mut self.carries, TvWord::constant(width, carries));
        join_truth(&mut self.overflow, exact != signed(value, width));
        join_truth(&mut self.negative, exact < 0);
        join_truth(&mut self.zero, value == 0);
    }
}

fn sound(abstract_: Truth, joined: Option<Truth>) -> bool {
    abstract_.is_unknown() || Some(abstract_) == joined
}

fn check_sum(a: TvWord, b: TvWord, carry: Truth, subtract: bool) {
    let result: TvSum = if subtract { a.subtract(b, carry) } else { a.add(b, carry) };
    let mut joined = Joined::default();
    for x in concrete(a) {
        for y in concrete(b) {
            for c in choices(carry) {
                joined.add(a.width(), x, y, *c, subtract);
            }
        }
    }
    let case = format!("{a:?} {b:?} {carry} subtract {subtract}: {result:?}");
    assert_eq!(Some(result.value), joined.value, "value not optimal or not sound: {case}");
    assert_eq!(Some(result.carries), joined.carries, "carries not optimal or not sound: {case}");
    assert_eq!(Some(result.negative), joined.negative, "sign not optimal or not sound: {case}");
    assert!(sound(result.overflow, joined.overflow), "overflow not sound: {case}");
    assert!(sound(result.zero, joined.zero), "zero not sound: {case}");
}

#[test]
fn sums_and_differences_are_optimal_at_widths_up_to_4() {
    for width in 1..=4 {
        let all = words(width);
        for a in &all {
            for b in &all {
                for carry in TRUTHS {
                    check_sum(*a, *b, carry, false);
                    check_sum(*a, *b, carry, true);
                }
            }
        }
    }
}

#[test]
fn products_are_sound_at_width_4() {
    let all = words(4);
    for a in &all {
        for b in &all {
            let product = a.multiply(*b);
            for x in concrete(*a) {
                assert!(concrete(*b).all(|y| product.contains(x * y)), "{a:?} * {b:?} = {product:?} with {x}");
            }
        }
    }
}

#[test]
fn products_of_constants_are_exact() {
    for a in 0..16 {
        for b in 0..16 {
            let product = TvWord::constant(8, a).multiply(TvWord::constant(8, b));
            assert_eq!(product.known(), Some(a * b));
        }
    }
}

#[test]
fn equality_join_and_extension_are_optimal_at_width_4() {
    let all = words(4);
    for a in &all {
        for signed_ in [false, true] {
            let mut joined = None;
            for x in concrete(*a) {
                let wide = if signed_ { signed(x, 4) as u64 } else { x };
                join_word(&mut joined, TvWord::constant(7, wide));
            }
            assert_eq!(Some(a.extend(7, signed_)), joined, "{a:?} extended, signed {signed_}");
        }
        for b in &all {
            let (mut equal, mut union) = (None, None);
            for x in concrete(*a) {
                concrete(*b).for_each(|y| join_truth(&mut equal, x == y));
            }
            concrete(*a).chain(concrete(*b)).for_each(|x| join_word(&mut union, TvWord::constant(4, x)));
            assert_eq!(Some(a.equals(*b)), equal, "{a:?} == {b:?}");
            assert_eq!(Some(a.join(*b)), union, "{a:?} joined with {b:?}");
        }
    }
}

fn random_word(random: &mut Rng, width: u32) -> TvWord {
    TvWord::new(width, random.u64(..), random.u64(..) | random.u64(..))
}

fn random_member(random: &mut Rng, word: TvWord) -> u64 {
    (word.value() | (random.u64(..) & !word.known_mask())) & ((1 << word.width()) - 1)
}

#[test]
fn random_concretisations_lie_inside_at_8_and_16_bits() {
    let mut random = Rng::with_seed(1);
    for round in 0..400_000u32 {
        let width = if round % 2 == 0 { 8 } else { 16 };
        let (a, b, carry) =
            (random_word(&mut random, width), random_word(&mut random, width), TRUTHS[random.usize(..3)]);
        let (sum, difference, product) = (a.add(b, carry), a.subtract(b, carry), a.multiply(b));
        for _ in 0..4 {
            let (x, y) = (random_member(&mut random, a), random_member(&mut random, b));
            let c = choices(carry)[random.usize(..choices(carry).len())];
            assert!(product.contains(x.wrapping_mul(y)));
            for (result, subtract) in [(sum, false), (difference, true)] {
                let mut exact = Joined::default();
                exact.add(width, x, y, c, subtract);
                let case = format!("{a:?} {b:?} {carry} with {x} {y} {c}, subtract {subtract}");
                assert!(result.value.contains(exact.value.unwrap().value()), "value: {case}");
                assert!(result.carries.contains(exact.carries.unwrap().value()), "carries: {case}");
                assert!(sound(result.overflow, exact.overflow), "overflow: {case}");
                assert!(sound(result.negative, exact.negative), "sign: {case}");
                assert!(sound(result.zero, exact.zero), "zero: {case}");
            }
        }
    }
}
