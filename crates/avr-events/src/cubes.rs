//! Sets of values as cubes: some bits are fixed, the others are any.

/// The values whose bits under a mask are these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The bits that are fixed.
    pub mask: u8,
    /// Their values.
    pub value: u8,
}

impl Cube {
    /// The text of the comparison of an event.
    pub(crate) fn comparison(self, event: &str) -> String {
        match self.mask {
            0 => event.to_owned(),
            0xff => format!("{event} == {:#04x}", self.value),
            mask => format!("{event} & {mask:#04x} == {:#04x}", self.value),
        }
    }

    /// The values of the cube that have no bits beside these.
    pub(crate) fn values(self, bits: u8) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |value| value & !bits == 0 && value & self.mask == self.value)
    }
}

/// Cubes that have just these values, which have no bits beside `bits`.
pub(crate) fn cover(values: &[u8], bits: u8) -> Vec<Cube> {
    let mut cubes = Vec::new();
    split(values, bits, Cube { mask: 0, value: 0 }, &mut cubes);
    cubes
}

/// Adds cubes that have just these values: bits beside `free` are those of the cube.
fn split(values: &[u8], free: u8, cube: Cube, cubes: &mut Vec<Cube>) {
    if values.is_empty() {
        return;
    }
    if values.len() == 1 << free.count_ones() {
        cubes.push(cube);
        return;
    }
    let halves = |bit: u8| -> (Vec<u8>, Vec<u8>) { values.iter().partition(|value| **value & bit == 0) };
    let free_bits = (0..8).map(|bit| 1 << bit).filter(|bit| free & bit != 0);
    let cost = |bit: u8| {
        let (low, high) = halves(bit);
        let full = 1 << (free.count_ones() - 1);
        let is_plain = |half: &Vec<u8>| half.is_empty() || half.len() == full;
        if is_plain(&low) || is_plain(&high) { 0 } else { low.len().abs_diff(high.len()) + 1 }
    };
    let bit = free_bits.min_by_key(|bit| (cost(*bit), u8::MAX - bit)).expect("a cube without free bits has one value");
    let (low, high) = halves(bit);
    let fixed = |value: u8| Cube { mask: cube.mask | bit, value: cube.value | value };
    let same = low.len() == high.len() && low.iter().zip(&high).all(|(low, high)| low | bit == *high);
    if same {
        // The bit does not matter: the values are those of the half without it, for both of its values.
        let mut inner = Vec::new();
        split(&low, free & !bit, cube, &mut inner);
        cubes.extend(inner);
        return;
    }
    split(&low, free & !bit, fixed(0), cubes);
    split(&high, free & !bit, fixed(bit), cubes);
}

#[cfg(test)]
mod tests {
    use super::cover;

    #[test]
    fn cubes_have_just_the_values() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            let bits = random.u8(..);
            let of_bits: Vec<u8> = (0..=u8::MAX).filter(|value| value & !bits == 0).collect();
            let share = random.u8(..);
            let values: Vec<u8> = of_bits.iter().copied().filter(|_| random.u8(..) <= share).collect();
            let cubes = cover(&values, bits);
            let mut covered: Vec<u8> = cubes.iter().flat_map(|cube| cube.values(bits)).collect();
            covered.sort_unstable();
            assert_eq!(covered, values, "{cubes:?}");
        }
        assert_eq!(cover(&(0..=u8::MAX).collect::<Vec<_>>(), 0xff).len(), 1);
        assert_eq!(cover(&[1, 3, 5, 7], 0x07).len(), 1);
    }
}
