//! Sums, differences and products of bytes, bit by bit; the least significant bit is the first.

use super::bit::SymbolicBit;
use three_valued::{BitDomain, Signedness};

/// The bits of a product.
const PRODUCT_BITS: usize = 16;

type Bits<'g> = [SymbolicBit<'g>; 8];

/// A sum or difference: its bits, and the carry or borrow out of each.
pub(crate) struct BitSum<'g> {
    pub(crate) value: Bits<'g>,
    pub(crate) carries: Bits<'g>,
}

/// The sum of three bits as (sum, carry).
fn full_add<'g>(
    a: &SymbolicBit<'g>,
    b: &SymbolicBit<'g>,
    carry: &SymbolicBit<'g>,
) -> (SymbolicBit<'g>, SymbolicBit<'g>) {
    let differ = a.xor(b);
    (differ.xor(carry), a.and(b).or(&differ.and(carry)))
}

/// The difference of three bits as (difference, borrow).
pub(crate) fn full_subtract<'g>(
    a: &SymbolicBit<'g>,
    b: &SymbolicBit<'g>,
    borrow: &SymbolicBit<'g>,
) -> (SymbolicBit<'g>, SymbolicBit<'g>) {
    let differ = a.xor(b);
    (differ.xor(borrow), a.not().and(b).or(&differ.not().and(borrow)))
}

/// `a + b + carry`.
pub(crate) fn add<'g>(a: &Bits<'g>, b: &Bits<'g>, carry: &SymbolicBit<'g>) -> BitSum<'g> {
    chained(a, b, carry, full_add)
}

/// `a - b - borrow`.
pub(crate) fn subtract<'g>(a: &Bits<'g>, b: &Bits<'g>, borrow: &SymbolicBit<'g>) -> BitSum<'g> {
    chained(a, b, borrow, full_subtract)
}

fn chained<'g>(
    a: &Bits<'g>,
    b: &Bits<'g>,
    carry: &SymbolicBit<'g>,
    each: fn(&SymbolicBit<'g>, &SymbolicBit<'g>, &SymbolicBit<'g>) -> (SymbolicBit<'g>, SymbolicBit<'g>),
) -> BitSum<'g> {
    let mut sum = BitSum { value: [SymbolicBit::ZERO; 8], carries: [SymbolicBit::ZERO; 8] };
    let mut carry = *carry;
    for index in 0..8 {
        (sum.value[index], carry) = each(&a[index], &b[index], &carry);
        sum.carries[index] = carry;
    }
    sum
}

/// The product of two bytes.
pub(crate) fn multiply<'g>(
    a: &Bits<'g>,
    sign: Signedness,
    b: &Bits<'g>,
    other_sign: Signedness,
) -> [SymbolicBit<'g>; PRODUCT_BITS] {
    let (a, b) = (extended(a, sign), extended(b, other_sign));
    let mut product = [SymbolicBit::ZERO; PRODUCT_BITS];
    for (shift, factor) in b.iter().enumerate() {
        let mut carry = SymbolicBit::ZERO;
        for place in shift..PRODUCT_BITS {
            let addend = a[place - shift].and(factor);
            (product[place], carry) = full_add(&product[place], &addend, &carry);
        }
    }
    product
}

/// A byte as a number of 16 bits.
fn extended<'g>(byte: &Bits<'g>, sign: Signedness) -> [SymbolicBit<'g>; PRODUCT_BITS] {
    let above = match sign {
        Signedness::Unsigned => SymbolicBit::ZERO,
        Signedness::Signed => byte[7],
    };
    std::array::from_fn(|index| byte.get(index).copied().unwrap_or(above))
}
