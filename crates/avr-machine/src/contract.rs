//! Contracts of functions: what a call may do, in place of the body of the function.

use crate::automaton::ByteSet;
use crate::machine::Machine;
use avr_isa::{DataAddress, FlashWordAddress};
use std::ops::Range;

/// A contract of a function that is entered without interrupts, and during which none comes.
///
/// Registers that the calling convention of avr-gcc leaves to a function (r0, r18 to r27, r30, r31, T and the flags) may change in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The name of the function, for messages.
    pub name: String,
    /// The flash word address at which the function is entered.
    pub entry: FlashWordAddress,
    /// The data addresses of other cells that may change while the function runs, rising.
    pub writes: Vec<DataAddress>,
    /// The most bytes that the function takes on the stack, below its return address.
    pub stack: u16,
    /// The contents that cells may have at the return; each cell once.
    pub returns: Vec<Returned>,
    /// The events that may come while the function runs; any where it is not said.
    pub events: Option<BodyEvents>,
}

/// The accesses to I/O registers and the calls that a function may make, in any order and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyEvents {
    /// The I/O registers (data addresses) that it may read.
    pub reads: Vec<Range<DataAddress>>,
    /// The I/O registers (data addresses) that it may write.
    pub writes: Vec<Range<DataAddress>>,
    /// The entries (flash word addresses) of functions to which it never comes, rising. Of others nothing is said.
    pub not_called: Vec<FlashWordAddress>,
}

impl BodyEvents {
    /// True if the function may read one of these cells; always outside of I/O registers.
    #[must_use]
    pub fn may_read(&self, cells: &Range<DataAddress>, sram_start: DataAddress) -> bool {
        may_access(&self.reads, cells, sram_start)
    }

    /// True if the function may write one of these cells; always outside of I/O registers.
    #[must_use]
    pub fn may_write(&self, cells: &Range<DataAddress>, sram_start: DataAddress) -> bool {
        may_access(&self.writes, cells, sram_start)
    }

    /// True if the function never comes to the entry of another one.
    #[must_use]
    pub fn excludes_call(&self, entry: FlashWordAddress) -> bool {
        self.not_called.binary_search(&entry).is_ok()
    }
}

fn may_access(allowed: &[Range<DataAddress>], cells: &Range<DataAddress>, sram_start: DataAddress) -> bool {
    let are_registers = cells.start >= DataAddress::IO && cells.end <= sram_start;
    let overlaps = |one: &Range<DataAddress>| one.start < cells.end && cells.start < one.end;
    !are_registers || allowed.iter().any(overlaps)
}

/// The contents that some cells may have together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The data addresses of the cells, falling: the most significant byte of a word comes first.
    pub cells: Vec<DataAddress>,
    /// The contents as disjoint products: each has a set for each of the cells, in their order. There is at least one product, and no set
    /// is empty.
    pub products: Vec<Vec<ByteSet>>,
}

impl Returned {
    /// True if the cells may have these contents together.
    #[must_use]
    pub fn contains(&self, content: impl Fn(DataAddress) -> u8) -> bool {
        let is_in = |product: &Vec<ByteSet>| {
            self.cells.iter().zip(product).all(|(cell, values)| values.contains(content(*cell)))
        };
        self.products.iter().any(is_in)
    }
}

impl Contract {
    /// The registers that every function may change, by number.
    pub const CALL_USED: [u8; 13] = [0, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31];

    /// The contents at the return of a cell with those of the cells that the contract joins with it, where it says something of them.
    #[must_use]
    pub fn returned(&self, cell: DataAddress) -> Option<&Returned> {
        self.returns.iter().find(|returned| returned.cells.contains(&cell))
    }

    /// The data addresses of the cells that may have another content at the return than at the entry, apart from SREG and the stack.
    pub fn changed(&self) -> impl Iterator<Item = DataAddress> + '_ {
        let registers = Self::CALL_USED.into_iter().map(|number| DataAddress(number.into()));
        registers.chain(self.writes.iter().copied())
    }
}

impl Machine {
    /// The same machine, which follows contracts in place of bodies where its environment wants that
    /// ([`Environment::replaces_bodies`](crate::Environment::replaces_bodies)).
    #[must_use]
    pub fn with_contracts(mut self, contracts: Vec<Contract>) -> Self {
        self.contracts = contracts;
        self
    }

    /// The contracts.
    #[must_use]
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// The contract of the function that is entered at a flash word address.
    #[must_use]
    pub fn contract_at(&self, entry: FlashWordAddress) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.entry == entry)
    }
}
