//! Joins of the pass.

use avr_isa::DataAddress;
use rustc_hash::FxHashSet;
use three_valued::TvByte;

use crate::equalities::Silence;
use crate::equations::Differing;
use crate::map::State;
use crate::memory::Store;

/// The cells of which equalities are kept that one state says, where the other has the same known contents.
#[derive(Clone, Copy)]
pub(super) enum Kept<'a> {
    /// All cells.
    All,
    /// These cells.
    Of(&'a FxHashSet<DataAddress>),
}

/// The join of two states, and the cells that have known contents in each and none in the join.
pub(super) fn joined(
    (one, other): (&State, &State),
    (kept, differing): (Kept<'_>, Differing),
    silence: Silence,
    (store, lost): (&mut Store, &mut Vec<DataAddress>),
) -> State {
    let mut hull = |cell: DataAddress, one: TvByte, other: TvByte| {
        if one != other && one.known().is_some() && other.known().is_some() {
            lost.push(cell);
        }
        one.hull(other)
    };
    let is_kept = |cell: DataAddress| match kept {
        Kept::All => true,
        Kept::Of(cells) => cells.contains(&cell),
    };
    let equalities = one.common_equalities(other, silence, store, &is_kept);
    let memory = store.merge(&one.memory, &other.memory, &mut hull);
    State::of(memory, equalities).with_joined_numbers([one, other], differing, silence, store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equalities::{Equalities, Value};
    use crate::memory::BLOCK_PAGES;
    use avr_machine::PAGE_CELLS;

    #[test]
    fn equalities_of_known_contents_are_kept_of_some_cells() {
        let mut store = Store::default();
        let mut memory = |byte: TvByte| {
            let page = store.page_number([byte; PAGE_CELLS]);
            let block = store.block_number([page; BLOCK_PAGES]);
            crate::memory::Memory::new(vec![block])
        };
        let same = Equalities::new(vec![(DataAddress(7), Value::Of(DataAddress(4)))]);
        let said = State::of(memory(TvByte::UNKNOWN), same.clone());
        let known = State::of(memory(TvByte::ZERO), Equalities::default());
        let mut join = |kept| {
            joined((&said, &known), (kept, Differing::None), Silence::Nothing, (&mut store, &mut Vec::new())).equalities
        };
        let (none, one) = (FxHashSet::default(), FxHashSet::from_iter([DataAddress(4)]));
        assert_eq!(join(Kept::Of(&none)), Equalities::default());
        assert_eq!(join(Kept::Of(&one)), same);
        assert_eq!(join(Kept::All), same);
    }
}
