//! Contracts of functions: what a call may do, in place of the body of the function.

use crate::automaton::ByteSet;
use crate::machine::Machine;
use avr_isa::{DataAddress, FlashWordAddress};

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
    /// The values that cells may have at the return, by the data address; each cell once, and no set is empty.
    pub returns: Vec<(DataAddress, ByteSet)>,
}

impl Contract {
    /// The registers that every function may change, by number.
    pub const CALL_USED: [u8; 13] = [0, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31];

    /// The values that a cell may have at the return, where the contract says so.
    #[must_use]
    pub fn returned(&self, cell: DataAddress) -> Option<&ByteSet> {
        self.returns.iter().find(|(address, _)| *address == cell).map(|(_, values)| values)
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
