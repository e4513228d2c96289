//! Data memory and program memory, through addresses that may be only partly known.

use super::Step;
use crate::environment::{Demand, Environment, Event, Question};
use crate::hazard::{HazardKind, Limit, Stop};
use avr_isa::{DataAddress, FlashWordAddress, Instruction, LpmMode, Pointer, PointerMode, Register};
use std::ops::Range;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// The most I/O registers that an unknown address may hit before the engine gives up on telling them apart.
const MAX_IO_CANDIDATES: usize = 16;

/// The most cells among which a store may hit any, where the address is known to be in a range, whatever the environment says.
const MOST_IN_RANGE: usize = 256;

/// The same where the bits of the address alone tell that the cells are in a row.
const MOST_IN_A_ROW: usize = 64;

/// The addresses that a partly known 16-bit address may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    low: TvByte,
    high: TvByte,
}

impl Candidates {
    pub(crate) fn of(low: TvByte, high: TvByte) -> Self {
        Self { low, high }
    }

    /// The only candidate, if there is just one.
    pub(crate) fn single(self) -> Option<u16> {
        Some(u16::from_le_bytes([self.low.known()?, self.high.known()?]))
    }

    /// The number of candidates.
    pub(crate) fn count(self) -> usize {
        self.low.count() * self.high.count()
    }

    /// True if a range says more of the address than its bits do.
    pub(crate) fn is_ranged(self) -> bool {
        self.low.is_ranged() || self.high.is_ranged()
    }

    /// True if there is no address between them that is none of them.
    fn are_in_a_row(self) -> bool {
        let unknown = u16::from_le_bytes([self.low.unknown_mask(), self.high.unknown_mask()]);
        unknown & unknown.wrapping_add(1) == 0
    }

    /// The candidates in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = u16> {
        self.high.concretisations().flat_map(move |high| self.with_high(high))
    }

    /// Those with this higher byte, in ascending order.
    fn with_high(self, high: u8) -> impl Iterator<Item = u16> {
        self.low.concretisations().map(move |low| u16::from_le_bytes([low, high]))
    }
}

/// True if all addresses with this higher byte are in none of these areas, and all up to the end of the memory or all behind it.
fn are_alike(high: u8, areas: [&Range<DataAddress>; 2], end: DataAddress) -> bool {
    let [first, last] = [0, u8::MAX].map(|low| DataAddress(u16::from_le_bytes([low, high])));
    let is_apart = |area: &Range<DataAddress>| last < area.start || area.end <= first;
    areas.into_iter().all(is_apart) && (last <= end || end < first)
}

/// The target of an access through an unknown address in one case.
enum Target {
    /// One certain address.
    Single(DataAddress),
    /// Some cell without side effects among the candidates.
    Plain,
    /// An address outside the data memory.
    Outside(DataAddress),
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The 16-bit addresses that two cells may hold.
    pub(crate) fn candidates(&self, low: DataAddress, high: DataAddress) -> Candidates {
        Candidates::of(self.state.data.get(low).bits(), self.state.data.get(high).bits())
    }

    /// Reads a data address as the program does.
    pub(super) fn read_data(&mut self, address: DataAddress) -> Result<V, Stop> {
        if self.machine.is_io(address) {
            return self.read_io(address, 0xff, Demand::Stored);
        }
        if address > self.machine.data_end {
            self.hazard(HazardKind::OutsideMemory, Some(address.0.into()))?;
            return Ok(self.undefined(address, Demand::Stored));
        }
        let value = self.state.data.get(address).clone();
        self.environment.event(Event::Read(address, &value));
        Ok(value)
    }

    /// Writes a data address as the program does.
    pub(super) fn write_data(&mut self, address: DataAddress, value: V) -> Result<(), Stop> {
        if self.machine.is_io(address) {
            return self.write_io(address, value);
        }
        if address > self.machine.data_end {
            return self.hazard(HazardKind::OutsideMemory, Some(address.0.into()));
        }
        self.environment.event(Event::Write(address, &value));
        if is_on(Fault::OtherStackUnwritten) && self.is_on_waiting_stack(address) {
            return Ok(());
        }
        self.state.data.set(address, value);
        Ok(())
    }

    /// True if a data address is one of the stack of a task that waits with a return address there.
    fn is_on_waiting_stack(&self, address: DataAddress) -> bool {
        let waits = |number| number != self.state.control.stack;
        self.state
            .calls
            .all()
            .iter()
            .map(|frame| frame.stack)
            .filter(|number| waits(*number))
            .any(|number| self.machine.stack_area(number).is_some_and(|area| area.contains(address)))
    }

    /// LD, LDD.
    pub(super) fn load_indirect(&mut self, rd: Register, pointer: Pointer, mode: PointerMode) -> Result<(), Stop> {
        self.check_pointer_use(rd, pointer, mode)?;
        self.decide_pointer(pointer);
        let address = self.point(pointer, mode);
        let value = match self.target(&address, moved_registers(pointer, mode))? {
            Target::Single(address) => self.read_data(address)?,
            Target::Outside(address) => self.read_data(address)?,
            Target::Plain => self.read_plain(&address),
        };
        self.set_register(rd, value);
        Ok(())
    }

    /// ST, STD.
    pub(super) fn store_indirect(&mut self, pointer: Pointer, mode: PointerMode, rr: Register) -> Result<(), Stop> {
        self.check_pointer_use(rr, pointer, mode)?;
        self.decide_pointer(pointer);
        let value = self.register(rr).clone();
        let address = self.point(pointer, mode);
        let candidates = Candidates::of(address.0.bits(), address.1.bits());
        // A range that is known is meant to be one, and a table may lie where the bits tell that.
        let most = if candidates.is_ranged() { MOST_IN_RANGE } else { MOST_IN_A_ROW };
        let is_bounded = candidates.count() <= most && (candidates.is_ranged() || candidates.are_in_a_row());
        if candidates.count() > self.environment.most_targets() && !is_bounded {
            self.environment.stuck(&[&address.0, &address.1]);
            return Err(Stop::Limit(Limit::UnknownPointer));
        }
        match self.target(&address, moved_registers(pointer, mode))? {
            Target::Single(address) | Target::Outside(address) => self.write_data(address, value),
            Target::Plain => {
                self.write_plain(&address, &value);
                Ok(())
            }
        }
    }

    /// `ld Rd, X+` and the like with Rd in the pointer pair have no defined result.
    fn check_pointer_use(&self, register: Register, pointer: Pointer, mode: PointerMode) -> Result<(), Stop> {
        if moved_registers(pointer, mode).contains(&register.address()) {
            return Err(self.undefined_pointer_use());
        }
        Ok(())
    }

    /// The hazard at the instruction, which has one word.
    fn undefined_pointer_use(&self) -> Stop {
        let address = self.state.control.pc.wrapping_sub(1).masked(self.machine.pc_mask);
        Stop::hazard(HazardKind::UndefinedPointerUse, address.byte().0)
    }

    /// The address of an access as (low, high), after moving the pointer as the mode says.
    fn point(&mut self, pointer: Pointer, mode: PointerMode) -> (V, V) {
        let before = (self.register(pointer.low()).clone(), self.register(pointer.high()).clone());
        match mode {
            PointerMode::Displacement(0) => before,
            PointerMode::Displacement(q) => add_word(&before, q.into()),
            PointerMode::PostIncrement => {
                self.set_pointer(pointer, add_word(&before, 1));
                before
            }
            PointerMode::PreDecrement => {
                let after = add_word(&before, u16::MAX);
                self.set_pointer(pointer, after.clone());
                after
            }
        }
    }

    fn set_pointer(&mut self, pointer: Pointer, (low, high): (V, V)) {
        self.set_register(pointer.low(), low);
        self.set_register(pointer.high(), high);
    }

    /// Decides the target of an access. The manual does not define accesses to the pointer's own registers that move
    /// meanwhile, and simulators disagree. So they are undefined, like naming these registers.
    fn target(&mut self, address: &(V, V), moved: Range<DataAddress>) -> Result<Target, Stop> {
        match self.cut_target_address(address, &moved)? {
            Target::Single(cell) if moved.contains(&cell) => Err(self.undefined_pointer_use()),
            target => Ok(target),
        }
    }

    /// The kind of cell that an address hits: certain addresses, else the cases that must be distinguished.
    fn cut_target_address(&mut self, address: &(V, V), moved: &Range<DataAddress>) -> Result<Target, Stop> {
        let candidates = Candidates::of(address.0.bits(), address.1.bits());
        if let Some(address) = candidates.single().map(DataAddress) {
            return Ok(Target::Single(address));
        }
        let mut cases = Vec::new();
        let (mut plain, mut outside) = (false, None);
        for high in candidates.high.concretisations() {
            let most = if are_alike(high, [&self.machine.io, moved], self.machine.data_end) { 1 } else { usize::MAX };
            for candidate in candidates.with_high(high).map(DataAddress).take(most) {
                if self.machine.is_io(candidate) || moved.contains(&candidate) {
                    cases.push(Target::Single(candidate));
                } else if candidate > self.machine.data_end {
                    outside = outside.or(Some(candidate));
                } else {
                    plain = true;
                }
                if cases.len() > MAX_IO_CANDIDATES {
                    self.environment.stuck(&[&address.0, &address.1]);
                    return Err(Stop::Limit(Limit::UnknownPointer));
                }
            }
        }
        cases.extend(plain.then_some(Target::Plain));
        cases.extend(outside.map(Target::Outside));
        let about = [&address.0, &address.1];
        let chosen = if cases.len() == 1 { 0 } else { self.environment.case(cases.len(), Question::Bytes(&about)) };
        Ok(cases.swap_remove(chosen))
    }

    /// The candidates of an address that are cells without side effects.
    fn plain_cells(&self, address: &(V, V)) -> impl Iterator<Item = DataAddress> + use<V, E> {
        let (end, io) = (self.machine.data_end, self.machine.io.clone());
        let candidates = Candidates::of(address.0.bits(), address.1.bits()).iter().map(DataAddress);
        candidates.take_while(move |cell| *cell <= end).filter(move |cell| !io.contains(cell))
    }

    /// The join of all cells that the address may hit.
    fn read_plain(&mut self, address: &(V, V)) -> V {
        let mut all: Option<V> = None;
        for cell in self.plain_cells(address) {
            let value = self.state.data.get(cell);
            self.environment.event(Event::PerhapsRead(cell, value));
            all = Some(all.map_or_else(|| value.clone(), |all| all.join(value)));
        }
        all.unwrap_or_else(|| V::constant(0)).indexed_by(&[&address.0, &address.1])
    }

    /// Each cell that the address may hit holds its old content or the new one.
    fn write_plain(&mut self, address: &(V, V), value: &V) {
        for cell in self.plain_cells(address) {
            self.environment.event(Event::PerhapsWrite(cell, value));
            let joined = self.state.data.get(cell).join(value).indexed_by(&[&address.0, &address.1]);
            self.state.data.set(cell, joined);
        }
    }

    /// LPM: reads a byte of flash; erased flash reads 0xff.
    pub(super) fn load_program(&mut self, rd: Register, mode: LpmMode) -> Result<(), Stop> {
        self.load_flash(rd, mode, None)
    }

    /// ELPM: the same with RAMPZ as the bits above Z.
    pub(super) fn load_program_extended(&mut self, rd: Register, mode: LpmMode) -> Result<(), Stop> {
        let page = self.extension(Instruction::Elpm { rd, mode })?;
        self.load_flash(rd, mode, page)
    }

    /// The bits above Z of an instruction where the device has a register for them; unknown ones are cut into their cases.
    fn extension(&mut self, instruction: Instruction) -> Result<Option<u8>, Stop> {
        let Some(address) = self.machine.extension_read(instruction) else { return Ok(None) };
        self.decide_bits(address, 0xff);
        self.known_byte(address).map(Some)
    }

    /// The load from the page of 64 KiB that a register selects, else from the first one.
    fn load_flash(&mut self, rd: Register, mode: LpmMode, page: Option<u8>) -> Result<(), Stop> {
        let base = u32::from(page.unwrap_or(0)) << 16;
        let pointer = Pointer::Z;
        if mode == LpmMode::PostIncrement {
            self.check_pointer_use(rd, pointer, PointerMode::PostIncrement)?;
        }
        self.decide_pointer(pointer);
        let address = (self.register(pointer.low()).clone(), self.register(pointer.high()).clone());
        let value = match self.redirected_load(&address) {
            Some(value) => value,
            None => self.flash_byte(&address, base),
        };
        self.set_register(rd, value);
        if mode == LpmMode::PostIncrement {
            let after = add_word(&address, 1);
            // SOUND: the increment goes on in the register that selects the page, from its first value on.
            if page.is_some() && after.0.is_zero().and(&after.1.is_zero()).truth() != three_valued::Truth::False {
                return Err(Stop::Limit(Limit::Unsupported("ELPM Z+ across a 64 KiB boundary")));
            }
            self.set_pointer(pointer, after);
        }
        Ok(())
    }

    /// The join of the bytes of flash that an address may mean.
    fn flash_byte(&mut self, address: &(V, V), base: u32) -> V {
        let candidates = Candidates::of(address.0.bits(), address.1.bits());
        let machine = self.machine;
        let is_open = |z: u16| {
            !is_on(Fault::ApplicationReadErased)
                && machine.has_ended(machine.program.wrapped(base + u32::from(z)).word())
        };
        // SOUND: one input stands for the bytes that may be read, joined with those that are known.
        let open = candidates.iter().any(is_open).then(|| self.undefined(machine.status_address, Demand::Stored));
        let byte = |z: u16| match &open {
            Some(open) if is_open(z) => open.clone(),
            _ => V::constant(machine.program.byte(base + u32::from(z))),
        };
        if let Some(address) = candidates.single() {
            return byte(address);
        }
        let joined = candidates.iter().map(byte).reduce(|all, byte| all.join(&byte));
        joined.unwrap_or_else(|| V::constant(0xff)).indexed_by(&[&address.0, &address.1])
    }

    /// The target of EIJMP or EICALL: EIND above Z.
    pub(super) fn extended_target(&mut self, instruction: Instruction) -> Result<FlashWordAddress, Stop> {
        let extension = self.extension(instruction)?;
        let target = self.indirect_target()?;
        Ok(FlashWordAddress(u32::from(extension.unwrap_or(0)) << 16 | target.0))
    }
}

/// The data addresses of the registers that an access through a pointer moves.
fn moved_registers(pointer: Pointer, mode: PointerMode) -> Range<DataAddress> {
    let low = pointer.low().address();
    match mode {
        PointerMode::Displacement(_) => low..low,
        PointerMode::PostIncrement | PointerMode::PreDecrement => low..low.wrapping_add(2),
    }
}

/// A 16-bit value plus a constant, as (low, high).
fn add_word<V: ByteDomain>(word: &(V, V), addend: u16) -> (V, V) {
    let [low, high] = addend.to_le_bytes();
    let low = word.0.add(&V::constant(low), &V::Bit::constant(false));
    let high = word.1.add(&V::constant(high), &low.carries.bit(7));
    (low.value, high.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_exactly_the_members_in_order() {
        let candidates = Candidates::of(TvByte::new(0x11, 0x3f), TvByte::new(0x01, 0xfe));
        let all: Vec<u16> = candidates.iter().collect();
        assert_eq!(all, [0x0011, 0x0051, 0x0091, 0x00d1, 0x0111, 0x0151, 0x0191, 0x01d1]);
        assert_eq!(candidates.count(), all.len());
        assert_eq!(candidates.single(), None);
        assert_eq!(Candidates::of(TvByte::UNKNOWN, TvByte::UNKNOWN).iter().count(), 65536);
    }

    #[test]
    fn addresses_of_a_page_are_alike_where_none_of_them_is_told_apart() {
        for (io_end, end) in [(0x100, 0x8ff), (0x60, 0x25f), (0x60, 0x9f), (0x200, 0x21ff), (0x120, 0x3ff)] {
            let io = DataAddress::IO..DataAddress(io_end);
            for moved in
                [0x1a..0x1c, 0x1e..0x20, 0xfe..0x102, 0x300..0x301].map(|at| DataAddress(at.start)..DataAddress(at.end))
            {
                let end = DataAddress(end);
                for high in 0..=u8::MAX {
                    let page = (0..=u8::MAX).map(|low| DataAddress(u16::from_le_bytes([low, high])));
                    let kinds: Vec<[bool; 3]> =
                        page.map(|cell| [io.contains(&cell), moved.contains(&cell), cell > end]).collect();
                    let expected = kinds.iter().all(|kind| *kind == kinds[0] && !kind[0] && !kind[1]);
                    assert_eq!(are_alike(high, [&io, &moved], end), expected, "{high:#04x} {io:?} {moved:?} {end:?}");
                }
            }
        }
    }

    #[test]
    fn candidates_are_in_a_row_where_only_lowest_bits_are_open() {
        let high = TvByte::constant(1);
        for known in 0..=255 {
            let candidates = Candidates::of(TvByte::new(0x95 & known, known), high);
            let all: Vec<u16> = candidates.iter().collect();
            let in_a_row = all.windows(2).all(|two| two[1] == two[0] + 1);
            assert_eq!(candidates.are_in_a_row(), in_a_row, "known bits {known:#x}");
        }
    }
}
