//! Tests of the byte domains: three-valued bytes against all concrete bytes, and bytes with provenance against three-valued ones.
use three_valued::{BitDomain, ByteDomain, Provenance, ProvenanceBit, ProvenanceByte, Signedness, Sum, Truth, TvByte};

/// Three-valued bytes with at most `unknown` unknown bits, spread over the byte, and all values of the others.
fn sample_bytes() -> Vec<TvByte> {
    let masks = [0x00u8, 0x01, 0x80, 0x81, 0x18, 0x0f, 0xf0, 0x55, 0xc3, 0xff];
    let values = [0x00u8, 0x01, 0x7f, 0x80, 0xff, 0x5a, 0x10, 0x0f];
    let mut all: Vec<TvByte> =
        masks.iter().flat_map(|unknown| values.iter().map(move |value| TvByte::new(*value, !unknown))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn joined(values: impl Iterator<Item = u8>) -> TvByte {
    values.map(TvByte::constant).reduce(|a, b| a.join(&b)).expect("a three-valued byte is never empty")
}

#[track_caller]
fn check_unary(optimal: impl Fn(&TvByte) -> TvByte, exact: impl Fn(u8) -> u8) {
    for a in (0..=255).flat_map(|known| (0..=255).map(move |value| TvByte::new(value, known))) {
        assert_eq!(optimal(&a), joined(a.concretisations().map(&exact)), "{a}");
    }
}

#[test]
fn unary_operations_are_optimal_on_every_byte() {
    check_unary(ByteDomain::not, |a| !a);
    check_unary(ByteDomain::swap_nibbles, |a| a.rotate_left(4));
    check_unary(|a| a.shift_right(&Truth::False), |a| a >> 1);
    check_unary(|a| a.shift_right(&Truth::True), |a| a >> 1 | 0x80);
    check_unary(|a| a.with_bit(3, &Truth::True), |a| a | 8);
    check_unary(|a| a.with_bit(3, &Truth::False), |a| a & !8);
}

#[track_caller]
fn check_binary(optimal: impl Fn(&TvByte, &TvByte) -> TvByte, exact: impl Fn(u8, u8) -> u8) {
    for a in sample_bytes() {
        for b in sample_bytes() {
            let all = a.concretisations().flat_map(|x| b.concretisations().map(move |y| (x, y)));
            assert_eq!(optimal(&a, &b), joined(all.map(|(x, y)| exact(x, y))), "{a} {b}");
        }
    }
}

#[test]
fn bitwise_operations_are_optimal() {
    check_binary(ByteDomain::and, |a, b| a & b);
    check_binary(ByteDomain::or, |a, b| a | b);
    check_binary(ByteDomain::xor, |a, b| a ^ b);
}

#[test]
fn zero_and_equality_are_optimal() {
    for a in sample_bytes() {
        let zero = a.concretisations().map(|x| Truth::from(x == 0)).reduce(Truth::join);
        assert_eq!(Some(a.is_zero()), zero, "{a}");
        for b in sample_bytes() {
            let pairs = a.concretisations().flat_map(|x| b.concretisations().map(move |y| Truth::from(x == y)));
            assert_eq!(Some(a.equals(&b)), pairs.reduce(Truth::join), "{a} {b}");
        }
    }
}

fn covers(abstract_: &Sum<TvByte>, exact: &Sum<u8>) -> bool {
    let bit = |a: Truth, c: bool| a.known().is_none_or(|a| a == c);
    abstract_.value.contains(exact.value)
        && abstract_.carries.contains(exact.carries)
        && bit(abstract_.overflow, exact.overflow)
        && bit(abstract_.negative, exact.negative)
        && bit(abstract_.zero, exact.zero)
}

#[test]
fn sums_cover_every_concrete_sum() {
    for a in sample_bytes() {
        for b in sample_bytes() {
            for carry in [Truth::False, Truth::Unknown, Truth::True] {
                let (sum, difference) = (a.add(&b, &carry), a.subtract(&b, &carry));
                for (x, y) in a.concretisations().flat_map(|x| b.concretisations().map(move |y| (x, y))) {
                    for c in [false, true].into_iter().filter(|c| carry.known().is_none_or(|k| k == *c)) {
                        assert!(covers(&sum, &x.add(&y, &c)), "{a} + {b} + {carry} with {x} {y} {c}");
                        assert!(covers(&difference, &x.subtract(&y, &c)), "{a} - {b} - {carry} with {x} {y} {c}");
                    }
                }
            }
        }
    }
}

#[test]
fn concrete_sums_follow_the_schoolbook() {
    for a in 0..=255u8 {
        for b in 0..=255u8 {
            for c in [false, true] {
                let sum = a.add(&b, &c);
                assert_eq!(sum.value, a.wrapping_add(b).wrapping_add(u8::from(c)));
                assert_eq!(sum.carries >> 7 == 1, u16::from(a) + u16::from(b) + u16::from(c) > 255);
                assert_eq!(sum.carries >> 3 & 1 == 1, (a & 15) + (b & 15) + u8::from(c) > 15);
                let difference = a.subtract(&b, &c);
                assert_eq!(difference.value, a.wrapping_sub(b).wrapping_sub(u8::from(c)));
                assert_eq!(difference.carries >> 7 == 1, u16::from(a) < u16::from(b) + u16::from(c));
                assert_eq!(difference.carries >> 3 & 1 == 1, (a & 15) < (b & 15) + u8::from(c));
            }
        }
    }
}

#[test]
fn products_cover_every_concrete_product() {
    use Signedness::{Signed, Unsigned};
    for a in sample_bytes() {
        for b in sample_bytes() {
            for (sign, other_sign) in [(Unsigned, Unsigned), (Signed, Signed), (Signed, Unsigned)] {
                let (low, high) = a.multiply(sign, &b, other_sign);
                for x in a.concretisations() {
                    for y in b.concretisations() {
                        let (l, h) = x.multiply(sign, &y, other_sign);
                        assert!(low.contains(l) && high.contains(h), "{a} * {b} with {x} {y}");
                    }
                }
            }
        }
    }
    assert_eq!(0x80u8.multiply(Signed, &0x80, Signed), (0x00, 0x40));
    assert_eq!(0xffu8.multiply(Signed, &0xff, Unsigned), (0x01, 0xff));
}

#[test]
fn meet_and_cover_agree_with_the_sets() {
    for a in sample_bytes() {
        for b in sample_bytes() {
            let both: Vec<u8> = a.concretisations().filter(|x| b.contains(*x)).collect();
            match a.meet(b) {
                None => assert!(both.is_empty(), "{a} {b}"),
                Some(meet) => {
                    assert_eq!(meet.concretisations().collect::<Vec<_>>(), both, "{a} {b}")
                }
            }
            assert_eq!(a.covers(b), b.concretisations().all(|x| a.contains(x)), "{a} {b}");
        }
    }
}

type Unary = fn(u8) -> u8;
type Binary = fn(u8, u8) -> u8;
type Addition = fn(&u8, &u8, &bool) -> Sum<u8>;

/// Bytes with ranges, of all widths and at all places of the byte.
fn ranged_bytes() -> Vec<TvByte> {
    let masks = [0x0f_u8, 0x1f, 0x3f, 0x3c, 0x7f, 0x81, 0xaa, 0xf0, 0xff];
    let ends = [(0, 16), (1, 23), (3, 4), (9, 90), (9, 200), (100, 160), (127, 129), (131, 250), (250, 255), (0, 255)];
    let bytes = masks.iter().flat_map(|unknown| [0x00_u8, 0x80, 0x5a].map(|value| TvByte::new(value, !unknown)));
    let mut all: Vec<TvByte> =
        bytes.flat_map(|byte| ends.iter().filter_map(move |(low, high)| byte.within(*low, *high))).collect();
    all.sort_unstable();
    all.dedup();
    assert!(all.iter().filter(|byte| byte.is_ranged()).count() > 40, "{}", all.len());
    all
}

#[test]
fn a_range_keeps_exactly_the_values_in_it() {
    for byte in sample_bytes() {
        for (low, high) in [(0, 255), (0, 0), (1, 23), (17, 90), (128, 128), (129, 254), (9, 3)] {
            let wanted: Vec<u8> = byte.concretisations().filter(|value| (low..=high).contains(value)).collect();
            let Some(within) = byte.within(low, high) else {
                assert!(wanted.is_empty(), "{byte} {low} {high}");
                continue;
            };
            assert_eq!(within.concretisations().collect::<Vec<_>>(), wanted, "{byte} {low} {high}");
            assert_eq!((within.low(), within.high()), (wanted[0], wanted[wanted.len() - 1]));
            assert_eq!(within.count(), wanted.len());
            assert_eq!(within.known().is_some(), wanted.len() == 1, "{within}");
        }
    }
}

#[test]
fn operations_on_ranges_cover_every_concrete_result() {
    let all = ranged_bytes();
    for a in &all {
        let unary: [(TvByte, Unary); 5] = [
            (a.not(), |x| !x),
            (a.swap_nibbles(), |x| x.rotate_left(4)),
            (a.shift_right(&Truth::False), |x| x >> 1),
            (a.shift_right(&Truth::True), |x| x >> 1 | 0x80),
            (a.with_bit(4, &Truth::True), |x| x | 0x10),
        ];
        for (result, exact) in unary {
            assert!(a.concretisations().all(|x| result.contains(exact(x))), "{a} to {result}");
        }
        for mask in [0x01, 0x80, 0x3c] {
            let forgotten = a.forget(mask);
            assert!(
                a.concretisations()
                    .all(|x| (0..=255).all(|y| !forgotten.contains(x) || forgotten.contains(x ^ y & mask)))
            );
            assert!(forgotten.covers(*a), "{a} without {mask:#x} is {forgotten}");
        }
        assert!(a.hull(*a) == *a && a.join(a) == *a, "{a}");
        let zero = a.concretisations().map(|x| Truth::from(x == 0)).reduce(Truth::join);
        assert_eq!(Some(a.is_zero()), zero, "{a}");
        for b in &all {
            check_ranges(*a, *b);
        }
    }
}

fn check_ranges(a: TvByte, b: TvByte) {
    let bitwise: [(TvByte, Binary); 3] =
        [(a.and(&b), |x, y| x & y), (a.or(&b), |x, y| x | y), (a.xor(&b), |x, y| x ^ y)];
    let (join, hull, meet) = (a.join(&b), a.hull(b), a.meet(b));
    assert!(join.covers(a) && join.covers(b) && hull.covers(a) && hull.covers(b), "{a} {b}");
    let both: Vec<u8> = a.concretisations().filter(|x| b.contains(*x)).collect();
    assert_eq!(meet.map_or(Vec::new(), |meet| meet.concretisations().collect()), both, "{a} {b}");
    assert!(!a.covers(b) || b.concretisations().all(|y| a.contains(y)), "{a} {b}");
    let product = a.multiply(Signedness::Unsigned, &b, Signedness::Unsigned);
    // The ends, and values between them.
    let some = |byte: TvByte| byte.concretisations().step_by(3).chain([byte.high()]).collect::<Vec<u8>>();
    for (x, y) in some(a).into_iter().flat_map(|x| some(b).into_iter().map(move |y| (x, y))) {
        for (result, exact) in &bitwise {
            assert!(result.contains(exact(x, y)), "{a} {b} to {result} with {x} {y}");
        }
        assert!(a.equals(&b).known().is_none_or(|same| same == (x == y)), "{a} {b} {x} {y}");
        let exact = x.multiply(Signedness::Unsigned, &y, Signedness::Unsigned);
        assert!(product.0.contains(exact.0) && product.1.contains(exact.1), "{a} * {b}");
        for c in [false, true] {
            for carry in [Truth::from(c), Truth::Unknown] {
                assert!(covers(&a.add(&b, &carry), &x.add(&y, &c)), "{a} + {b} + {carry} with {x} {y}");
                assert!(covers(&a.subtract(&b, &carry), &x.subtract(&y, &c)), "{a} - {b} - {carry} with {x} {y}");
            }
        }
    }
}

#[test]
fn ranges_say_what_bits_cannot() {
    let index = TvByte::UNKNOWN.within(0, 23).expect("there are such values");
    let next = index.add(&TvByte::constant(1), &Truth::False);
    assert_eq!(
        (next.value.low(), next.value.high(), next.carries.bit(7), next.zero),
        (1, 24, Truth::False, Truth::False)
    );
    let left = TvByte::constant(24).subtract(&index, &Truth::False);
    assert_eq!((left.value.low(), left.value.high(), left.carries.bit(7)), (1, 24, Truth::False));
    assert_eq!(format!("{index}"), "0b000XXXXX in 0..=23");
    // Without a range or a constant among the operands there is none in the result.
    assert!(!TvByte::new(0, 0xf8).add(&TvByte::new(0, 0xf8), &Truth::False).value.is_ranged());
    assert!(!TvByte::constant(3).join(&TvByte::constant(5)).is_ranged());
    assert_eq!(index.without_range(), TvByte::new(0, 0xe0));
    let offset = TvByte::new(0, 0xc0).add(&TvByte::constant(0x45), &Truth::False);
    assert_eq!((offset.value.low(), offset.value.high(), offset.carries.bit(7)), (0x45, 0x84, Truth::False));
}

#[test]
fn sums_with_a_constant_have_exactly_the_range_of_what_they_stand_for() {
    for byte in sample_bytes() {
        for (k, carry) in (0..=255).flat_map(|k| [false, true].map(|carry| (k, carry))) {
            let (constant, truth) = (TvByte::constant(k), Truth::from(carry));
            let results: [(Sum<TvByte>, Addition); 3] = [
                (byte.add(&constant, &truth), |x, k, carry| x.add(k, carry)),
                (byte.subtract(&constant, &truth), |x, k, carry| x.subtract(k, carry)),
                (constant.subtract(&byte, &truth), |x, k, carry| k.subtract(x, carry)),
            ];
            for (result, exact) in results {
                let sums: Vec<Sum<u8>> = byte.concretisations().map(|x| exact(&x, &k, &carry)).collect();
                assert!(sums.iter().all(|sum| covers(&result, sum)), "{byte} and {k} with {carry}");
                let wraps = |sum: &Sum<u8>| sum.carries >> 7 & 1;
                if sums.iter().all(|sum| wraps(sum) == wraps(&sums[0])) {
                    let values = || sums.iter().map(|sum| sum.value);
                    let ends = (result.value.low(), result.value.high());
                    assert_eq!(Some(ends), values().min().zip(values().max()), "{byte} and {k} with {carry}");
                    assert!(!result.carries.bit(7).is_unknown(), "{byte} and {k} with {carry}");
                }
            }
        }
    }
}

/// A byte with provenance whose unknown bit `i` has the origin `base + i`.
fn traced(bits: TvByte, base: u32) -> ProvenanceByte {
    ProvenanceByte::new(bits, |index| Provenance::of(base + u32::from(index)))
}

#[track_caller]
fn check_traced(result: &ProvenanceByte, expected: TvByte) {
    assert_eq!(result.bits(), expected);
    for index in 0..8 {
        let unknown = expected.unknown_mask() >> index & 1 == 1;
        assert_eq!(!result.origins(index).as_slice().is_empty(), unknown, "bit {index} of {result:?}");
    }
}

#[test]
fn traced_bytes_know_what_three_valued_ones_do_and_why_not() {
    for a in sample_bytes() {
        for b in sample_bytes() {
            let (x, y) = (traced(a, 0), traced(b, 100));
            check_traced(&x.and(&y), a.and(&b));
            check_traced(&x.or(&y), a.or(&b));
            check_traced(&x.xor(&y), a.xor(&b));
            check_traced(&x.not(), a.not());
            check_traced(&x.swap_nibbles(), a.swap_nibbles());
            for carry in [Truth::False, Truth::Unknown, Truth::True] {
                let c = match carry.known() {
                    Some(value) => ProvenanceBit::constant(value),
                    None => ProvenanceBit::unknown(Provenance::of(300)),
                };
                check_traced(&x.shift_right(&c), a.shift_right(&carry));
                for (sum, plain) in [(x.add(&y, &c), a.add(&b, &carry)), (x.subtract(&y, &c), a.subtract(&b, &carry))] {
                    check_traced(&sum.value, plain.value);
                    check_traced(&sum.carries, plain.carries);
                    for (bit, truth) in
                        [(&sum.overflow, plain.overflow), (&sum.negative, plain.negative), (&sum.zero, plain.zero)]
                    {
                        assert_eq!(bit.truth(), truth);
                        assert_eq!(bit.origins().as_slice().is_empty(), !truth.is_unknown());
                    }
                }
            }
        }
    }
}

#[test]
fn origins_keep_the_latest_and_count_indirection() {
    let many = (0..100).fold(Provenance::default(), |all, id| all.union(&Provenance::of(id)));
    let kept: Vec<u32> = many.as_slice().iter().map(|origin| origin.id).collect();
    assert_eq!(kept, (68..100).collect::<Vec<u32>>());
    let raised = Provenance::of(7).indirect().union(&Provenance::of(7)).union(&Provenance::of(8));
    assert_eq!(raised.as_slice().iter().map(|o| (o.id, o.indirection)).collect::<Vec<_>>(), [(7, 1), (8, 0)]);
}

#[test]
fn a_traced_bit_depends_only_on_what_lies_below() {
    let x = traced(TvByte::new(0, 0b1111_1110), 0);
    let y = traced(TvByte::new(0b0000_0100, 0b0111_1111), 100);
    let sum = x.add(&y, &ProvenanceBit::constant(true));
    let ids = |index: u8| sum.value.origins(index).as_slice().iter().map(|o| o.id).collect::<Vec<_>>();
    assert_eq!(ids(1), [0]);
    assert_eq!(ids(2), [] as [u32; 0]);
    assert_eq!(ids(7), [0, 107]);
}
