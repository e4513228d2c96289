//! Joins of the pass.

use avr_isa::DataAddress;
use three_valued::TvByte;

use crate::equalities::Silence;
use crate::map::State;
use crate::memory::Store;

/// The equalities that a join keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Those that both states say.
    Said,
    /// Those too that one says, where the other has the same known contents.
    Known,
}

/// The join of two states, and the cells that have known contents in each and none in the join.
pub(super) fn joined(
    (one, other): (&State, &State),
    kept: Kept,
    silence: Silence,
    (store, lost): (&mut Store, &mut Vec<DataAddress>),
) -> State {
    let mut hull = |cell: DataAddress, one: TvByte, other: TvByte| {
        if one != other && one.known().is_some() && other.known().is_some() {
            lost.push(cell);
        }
        one.hull(other)
    };
    let equalities = match kept {
        Kept::Said => one.equalities.join(&other.equalities, silence, [&|_, _| false, &|_, _| false]),
        Kept::Known => one.common_equalities(other, silence, store),
    };
    State { memory: store.merge(&one.memory, &other.memory, &mut hull), equalities }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equalities::{Equalities, Value};
    use crate::memory::BLOCK_PAGES;
    use avr_machine::PAGE_CELLS;

    #[test]
    fn joins_of_the_first_attempt_keep_only_equalities_that_both_states_say() {
        let mut store = Store::default();
        let mut memory = |byte: TvByte| {
            let page = store.page_number([byte; PAGE_CELLS]);
            let block = store.block_number([page; BLOCK_PAGES]);
            crate::memory::Memory::new(vec![block])
        };
        let same = Equalities::new(vec![(DataAddress(7), Value::Of(DataAddress(4)))]);
        let said = State { memory: memory(TvByte::UNKNOWN), equalities: same.clone() };
        let known = State { memory: memory(TvByte::ZERO), equalities: Equalities::default() };
        let mut join = |kept| joined((&said, &known), kept, Silence::Nothing, (&mut store, &mut Vec::new())).equalities;
        assert_eq!(join(Kept::Said), Equalities::default());
        assert_eq!(join(Kept::Known), same);
    }
}
