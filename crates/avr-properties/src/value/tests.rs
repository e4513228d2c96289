//! Every operation on all small values, against the integers that they stand for.

use three_valued::{Truth, TvByte};

use super::Value;

/// All unsigned words of three three-valued bits.
fn words() -> Vec<Value> {
    let masks = (0..8u8).flat_map(|known| (0..8u8).map(move |value| (known, value)));
    let canonical = masks.filter(|(known, value)| value & !known == 0);
    canonical.map(|(known, value)| Value::from_bytes([TvByte::new(value, known | 0xf8)].into_iter())).collect()
}

/// All words, the same signed, and all intervals from -4 to 4.
fn values() -> Vec<Value> {
    let signed = words().into_iter().map(|word| word.sign_extended(3));
    let bounds = (-4..=4).flat_map(|min| (min..=4).map(move |max| (min, max)));
    let intervals = bounds.map(|(min, max)| Value::constant(min).join(Value::constant(max)));
    words().into_iter().chain(signed).chain(intervals).collect()
}

fn integers(value: Value) -> Vec<i128> {
    (-600..600).filter(|integer| value.contains(*integer)).collect()
}

type Operation = (&'static str, fn(Value, Value) -> Value, fn(i128, i128) -> i128);

const OPERATIONS: [Operation; 5] = [
    ("+", Value::add, |a, b| a + b),
    ("-", Value::subtract, |a, b| a - b),
    ("&", Value::and, |a, b| a & b),
    ("|", Value::or, |a, b| a | b),
    ("^", Value::xor, |a, b| a ^ b),
];

const SHIFTS: [Operation; 2] = [("<<", Value::shift_left, |a, b| a << b), (">>", Value::shift_right, |a, b| a >> b)];

#[track_caller]
fn check_sound((name, operation, concrete): Operation, left: Value, right: Value) {
    let result = operation(left, right);
    for (a, b) in integers(left).into_iter().flat_map(|a| integers(right).into_iter().map(move |b| (a, b))) {
        assert!(result.contains(concrete(a, b)), "{a} {name} {b} of {left:?} and {right:?} is not in {result:?}");
    }
}

#[test]
fn binary_operations_are_sound() {
    let values = values();
    for left in &values {
        for right in &values {
            OPERATIONS.into_iter().for_each(|operation| check_sound(operation, *left, *right));
            if right.range().0 >= 0 {
                SHIFTS.into_iter().for_each(|operation| check_sound(operation, *left, *right));
            }
        }
    }
}

#[test]
fn binary_operations_on_words_are_optimal() {
    for (name, operation, concrete) in OPERATIONS.into_iter().chain([SHIFTS[1]]) {
        for left in words() {
            for right in words() {
                let pairs = integers(left).into_iter().flat_map(|a| integers(right).into_iter().map(move |b| (a, b)));
                let results = pairs.map(|(a, b)| Value::constant(concrete(a, b)));
                let best = results.reduce(Value::join);
                assert_eq!(Some(operation(left, right)), best, "{left:?} {name} {right:?}");
            }
        }
    }
}

#[test]
fn prefix_operations_are_sound() {
    for value in values() {
        for integer in integers(value) {
            assert!(value.negate().contains(-integer), "-{integer} of {value:?}");
            assert!(value.complement().contains(!integer), "~{integer} of {value:?}");
        }
    }
    for word in words() {
        for integer in integers(word) {
            let signed = if integer >= 4 { integer - 8 } else { integer };
            assert!(word.sign_extended(3).contains(signed), "signed {integer} of {word:?}");
        }
    }
}

#[test]
fn comparisons_are_sound_and_complete_on_words() {
    #[track_caller]
    fn check(found: Truth, left: Value, right: Value, concrete: impl Fn(i128, i128) -> bool, complete: bool) {
        let outcomes: Vec<bool> = integers(left)
            .into_iter()
            .flat_map(|a| integers(right).into_iter().map(move |b| (a, b)))
            .map(|(a, b)| concrete(a, b))
            .collect();
        let best = outcomes.iter().copied().map(Truth::from).reduce(Truth::join).unwrap_or_default();
        assert!(found == best || !complete && found.is_unknown(), "{left:?} {right:?}: {found}, not {best}");
    }
    let values = values();
    let of_words = words().len();
    for (i, left) in values.iter().enumerate() {
        for (j, right) in values.iter().enumerate() {
            let complete = i < of_words && j < of_words;
            check(left.equals(*right), *left, *right, |a, b| a == b, complete);
            check(left.less(*right), *left, *right, |a, b| a < b, complete);
        }
    }
}

#[test]
fn candidates_are_the_integers_of_the_value() {
    for value in values() {
        let found: Option<Vec<i128>> = value.candidates(600).map(Iterator::collect);
        assert_eq!(found, Some(integers(value)), "{value:?}");
    }
    let wide = Value::from_bytes([TvByte::UNKNOWN; 2].into_iter());
    assert!(wide.candidates(256).is_none());
}

#[test]
fn ranges_of_bytes_are_ranges_of_numbers() {
    let index = TvByte::UNKNOWN.within(3, 23).expect("there are such values");
    assert_eq!(Value::from_bytes([index].into_iter()).range(), (3, 23));
    let pair = Value::from_bytes([index, TvByte::constant(2)].into_iter());
    assert_eq!(pair.range(), (0x203, 0x217));
    let high = Value::from_bytes([TvByte::UNKNOWN, index].into_iter());
    assert_eq!(high.range(), (0x300, 0x17ff));
    assert!(index.concretisations().all(|low| pair.contains(0x200 + i128::from(low))));
}

#[test]
fn shifts_stay_right_at_the_limits() {
    let top = Value::constant(1 << 119);
    assert_eq!(top.shift_right(Value::constant(119)).known(), Some(1));
    assert_eq!(top.shift_right(Value::constant(1000)).known(), Some(0));
    assert_eq!(Value::constant(-1).shift_right(Value::constant(1000)).known(), Some(-1));
    assert_eq!(Value::constant(1).shift_left(Value::constant(119)).known(), Some(1 << 119));
    assert_eq!(Value::constant(-1).shift_left(Value::constant(119)).known(), Some(-(1 << 119)));
}
