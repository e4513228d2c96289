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
