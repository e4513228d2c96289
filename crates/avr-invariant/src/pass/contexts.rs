//! The pointers that are known at calls: what a function does with one is told apart from what it does with another one, also while it is kept on the stack.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHasher};

use avr_isa::FlashWordAddress;

/// The pointers that are known at a call: registers by half the number of the lower one, with both bytes.
pub(crate) type Known = Vec<(u16, u8, u8)>;

/// The number of the calls on the stack of a thread with the pointers that were known at each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Context(u32);

impl Context {
    /// That of a thread without a call.
    pub(crate) const NONE: Self = Self(0);
}

/// The most pointers, or groups of them, that are told apart at the calls of a function.
const MOST_OF_FUNCTION: usize = 256;

/// A call in a context.
type Call = (Context, FlashWordAddress, Known);

/// The contexts by their numbers less 1.
#[derive(Default)]
pub(crate) struct Contexts {
    all: IndexSet<Call, BuildHasherDefault<FxHasher>>,
    /// The number of them in each function.
    of_function: FxHashMap<FlashWordAddress, usize>,
}

impl Contexts {
    /// The context of a function that is called in another one.
    pub(crate) fn called(&mut self, caller: Context, function: FlashWordAddress, known: Known) -> Context {
        let mut call = (caller, function, known);
        if !self.all.contains(&call) {
            let count = self.of_function.entry(function).or_default();
            if *count >= MOST_OF_FUNCTION {
                call.2.clear();
            }
            *count += 1;
        }
        Context(self.all.insert_full(call).0 as u32 + 1)
    }

    /// The context behind so many returns.
    pub(crate) fn returned(&self, context: Context, returns: usize) -> Context {
        let caller = |one: &Context| self.all.get_index((one.0 as usize).checked_sub(1)?).map(|call| call.0);
        std::iter::successors(Some(context), caller).nth(returns).unwrap_or(Context::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_lead_back_and_too_many_pointers_are_not_told_apart() {
        let mut contexts = Contexts::default();
        let function = |number: u32| FlashWordAddress(0x100 * number);
        let outer = contexts.called(Context::NONE, function(1), vec![(8, 1, 1)]);
        let inner = contexts.called(outer, function(2), vec![(8, 2, 1)]);
        assert_eq!(contexts.called(outer, function(2), vec![(8, 2, 1)]), inner);
        assert_ne!(contexts.called(outer, function(2), vec![(8, 3, 1)]), inner);
        assert_ne!(contexts.called(Context::NONE, function(2), vec![(8, 2, 1)]), inner);
        assert_eq!(
            [0, 1, 2, 3].map(|returns| contexts.returned(inner, returns)),
            [inner, outer, Context::NONE, Context::NONE]
        );
        let all = |contexts: &mut Contexts, high: u8| -> Vec<Context> {
            let known = (0..=u8::MAX).map(|low| vec![(14, low, high)]);
            known.map(|known| contexts.called(outer, function(3), known)).collect()
        };
        let (first, more) = (all(&mut contexts, 1), all(&mut contexts, 2));
        assert!(first.windows(2).all(|two| two[0] != two[1]) && !first.contains(&more[0]));
        assert!(more.iter().all(|one| *one == more[0] && contexts.returned(*one, 1) == outer));
    }
}
