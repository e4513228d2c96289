//! The parametric automata of Onderka & Ratschan (section 5 of the version with proofs). They have an input of `w` bits
//! of which the running maximum is kept, and a stored input of `u` bits that is not used. A counter of `c` bits
//! runs freely. An input bit resets the maximum, if the automaton can be reset. The property is recovery:
//! `AG EF maximum == 0`.

use crate::function::{Builder, Function, Gate};
use crate::toy::{Locations, Start, Toy};
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};

#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    pub w: usize,
    pub u: usize,
    pub c: usize,
    pub resettable: bool,
}

impl Parameters {
    /// Stored are the maximum, the unused input and the counter; inputs are the number, the unused one and the reset.
    pub fn automaton(self) -> Toy {
        let Self { w, u, c, resettable } = self;
        let width = w + u + c;
        let mut builder = Builder::default();
        let (maximum, counter) = (builder.leaves(0, w), builder.leaves(w + u, c));
        let (number, unused) = (builder.leaves(width, w), builder.leaves(width + w, u));
        let asked = builder.gate(Gate::Leaf(width + w + u));
        let (zero, can) = (builder.gate(Gate::Constant(false)), builder.gate(Gate::Constant(resettable)));
        let reset = builder.gate(Gate::And(asked, can));
        let is_larger = builder.less(&maximum, &number);
        let larger = builder.select(is_larger, &number, &maximum);
        let next = builder.select(reset, &vec![zero; w], &larger);
        let outputs = [next, unused, builder.increment(&counter)].concat();
        Toy {
            width: width as u32,
            inputs: (w + u + 1) as u32,
            step: builder.finish(outputs),
            atoms: is_zero(w),
            hazard: None,
            start: Start::State(0),
            locations: Locations::Bits(0),
            abstracted: 0,
            offers_cases: false,
            glances: false,
            mutation: None,
        }
    }
}

fn is_zero(w: usize) -> Function {
    let mut builder = Builder::default();
    let bits = builder.leaves(0, w);
    let zeros: Vec<usize> = bits.iter().map(|bit| builder.gate(Gate::Not(*bit))).collect();
    let all = builder.all(&zeros);
    builder.finish(vec![all])
}

/// True if the maximum can always become 0 again.
pub fn recovery() -> Formula<AtomId> {
    let path = |quantifier, operator, p| Formula::Path(quantifier, operator, Box::new(p));
    let reachable = path(PathQuantifier::Exists, PathOperator::Eventually, Formula::Atom(AtomId(0)));
    path(PathQuantifier::All, PathOperator::Always, reachable)
}
