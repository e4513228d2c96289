//! A machine: a device with a program in its flash, and what the user said about hazards.

use crate::automaton::EnvironmentAutomaton;
use crate::conditions::{Application, Starts};
use crate::contract::Contract;
use crate::data_space::PAGE_CELLS;
use crate::device::{
    Access, Bit, BitKind, BitRef, ClearedBy, Condition, Device, Freedom, FuseBytes, FuseReset, InputWrite, Interrupt,
    InterruptPolicy, KnownBits, Register, ResetCause, Window,
};
use crate::hazard::HazardKind;
use crate::operations::Operations;
use crate::program::Program;
use crate::stack_pointer::StackPointer;
use crate::stacks::StackArea;
use crate::state::{Control, MachineState};
use avr_isa::{DataAddress, EepromAddress, FlashWordAddress, Instruction};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use three_valued::TvByte;

/// Bits of one register that behave alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Data address of the register.
    pub address: DataAddress,
    /// The bits.
    pub mask: u8,
    /// One of them, for all.
    pub bit: &'static Bit,
}

/// Consecutive interrupts whose enable bits are in one register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterruptGroup {
    /// Data address of the register.
    pub address: DataAddress,
    /// The enable bits.
    pub mask: u8,
    /// The interrupts, by rising number.
    pub interrupts: &'static [Interrupt],
}

/// The setting of a machine: hazards, the start, assumptions and fuses.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Hazards that the property file allows.
    pub allowed: BTreeSet<HazardKind>,
    /// Hazards that the property file allows at some instructions only, by the flash word addresses of these.
    pub allowed_at: BTreeMap<HazardKind, BTreeSet<FlashWordAddress>>,
    /// Hazards that the device treats as a remark and the user wants to see as hazards.
    pub forbidden: BTreeSet<HazardKind>,
    /// Flash word address of the first instruction.
    pub start: FlashWordAddress,
    /// Flash word address of the first instruction of the main program, where the image tells: the start-up code ends
    /// there.
    pub main: Option<FlashWordAddress>,
    /// True if states know that they lie in the start-up code, because a property speaks of it.
    pub observes_startup: bool,
    /// Lowest data address that the stack may use without hitting static data, if symbols tell.
    pub static_data_end: Option<DataAddress>,
    /// The stacks of tasks, by rising address; their numbers begin with 1.
    pub stacks: Vec<StackArea>,
    /// Flash word address of the handler that unused vectors lead to, if symbols tell.
    pub default_handler: Option<FlashWordAddress>,
    /// Input bits that are assumed to be constant, by the data address of their register.
    pub assumed: BTreeMap<DataAddress, TvByte>,
    /// The automata that drive inputs, [`MAX_AUTOMATA`](crate::MAX_AUTOMATA) at most.
    pub automata: Vec<EnvironmentAutomaton>,
    /// Numbers of the interrupts that are assumed never to come.
    pub never: BTreeSet<u8>,
    /// Resets that may come at any moment.
    pub resets: Vec<ResetCause>,
    /// The fuses, if they differ from the factory values.
    pub fuses: Option<FuseBytes>,
    /// The content of the EEPROM as far as it is known.
    pub eeprom: BTreeMap<EepromAddress, u8>,
    /// The states that the first start and later resets are restricted to.
    pub starts: Starts,
    /// The content of the application section, where the image does not say it.
    pub application: Application,
}

/// A flag that the environment sets no more often than every so many clock cycles ([`Freedom::RealEvery`]).
#[derive(Clone, Copy, Debug)]
pub struct SpacedFlag {
    /// The flag.
    pub bit: BitRef,
    /// The fewest clock cycles between two times that it is set, and from when it can be set to when it is.
    pub cycles: u16,
    raised_while: &'static Condition,
    real_while: &'static Condition,
    clocked_while: &'static Condition,
}

impl SpacedFlag {
    /// True in a concrete state in which hardware can set the flag, and the environment decides when.
    #[must_use]
    pub fn can_be_set(&self, state: &MachineState<u8>) -> bool {
        let mut read = |address| KnownBits::exactly(*state.data.get(address));
        let mut holds = |condition: &Condition| condition.evaluate_refreshed(&mut read).is_true();
        holds(self.raised_while) && holds(self.real_while) && holds(self.clocked_while)
    }
}

/// A device with a program.
#[derive(Debug)]
pub struct Machine {
    /// The device.
    pub device: &'static Device,
    /// The decoded flash.
    pub program: Program,
    /// Data addresses of I/O registers.
    pub(crate) io: Range<DataAddress>,
    /// Data addresses of the SRAM.
    pub(crate) sram: Range<DataAddress>,
    /// RAMEND.
    pub(crate) data_end: DataAddress,
    /// Data address of SREG.
    pub(crate) status_address: DataAddress,
    /// Data address of SPL.
    pub(crate) stack_low: DataAddress,
    /// Data address of SPH, where there is one.
    pub(crate) stack_high: Option<DataAddress>,
    /// The bits that PC has.
    pub(crate) pc_mask: u32,
    /// Bytes of a return address.
    pub(crate) pc_bytes: usize,
    /// See [`Options::static_data_end`].
    pub(crate) static_data_end: Option<DataAddress>,
    /// First word address of the boot section; the end of the flash where there is none.
    pub(crate) boot_start: FlashWordAddress,
    /// The bit that moves the vector table, and where to (flash word address).
    pub(crate) vectors_moved_by: Option<(BitRef, FlashWordAddress)>,
    options: Options,
    groups: BTreeMap<DataAddress, Vec<Group>>,
    storage: Vec<bool>,
    dependents: BTreeMap<DataAddress, Vec<Group>>,
    zeroed_by: BTreeMap<DataAddress, Vec<Group>>,
    cleared_by: BTreeMap<DataAddress, Vec<(BitRef, &'static ClearedBy)>>,
    operations: Operations,
    windows: Vec<BitRef>,
    locked: Vec<&'static FuseReset>,
    /// The registers of pins, and those that make pins inputs.
    pins: [Vec<DataAddress>; 2],
    interrupt_groups: Vec<InterruptGroup>,
    held: Held,
    /// See [`Machine::contracts`].
    pub(crate) contracts: Vec<Contract>,
}

/// Bits that cannot change where pins are assumed to be constant.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The bits that make such pins inputs, by the data address of their register.
    directions: BTreeMap<DataAddress, u8>,
    /// Data addresses of the registers of peripherals with such a line.
    registers: BTreeSet<DataAddress>,
}

impl Machine {
    /// A machine with its program in flash.
    ///
    /// # Panics
    /// If the device table lacks SREG or SPL, which its own tests exclude.
    #[must_use]
    pub fn new(device: &'static Device, program: Program, options: Options) -> Self {
        let address = |name: &str| device.register(name).map(|register| register.address);
        let groups: BTreeMap<DataAddress, Vec<Group>> =
            device.registers.iter().map(|register| (register.address, grouped(register))).collect();
        let fuses = options.fuses.unwrap_or(device.default_fuses);
        let boot_start = device.boot_section(fuses).map_or(device.memory.flash_words(), |boot| boot.start_word);
        let boot_start = FlashWordAddress(boot_start);
        let operations = Operations::new(device, &groups);
        let starts = |register: &Register| !operations.started(register.address).is_empty();
        let switches =
            |register: &Register| device.unmodelled.iter().any(|one| one.when_set.address == register.address);
        let is_mere = |register: &&Register| {
            is_storage(register) && !register.is_hidden && !starts(register) && !switches(register)
        };
        let storage = device.registers.iter().filter(is_mere);
        let mut is_storage = vec![false; device.memory.sram_start.index()];
        storage.for_each(|register| is_storage[register.address.index()] = true);
        Self {
            io: DataAddress::IO..device.memory.sram_start,
            sram: device.memory.sram_start..device.memory.sram_end.wrapping_add(1),
            data_end: device.memory.sram_end,
            status_address: address("SREG").expect("every device has SREG"),
            stack_low: address("SPL").expect("every device has SPL"),
            stack_high: address("SPH"),
            pc_mask: device.memory.flash_words().next_power_of_two() - 1,
            pc_bytes: device.core.pc_bytes.into(),
            static_data_end: options.static_data_end,
            dependents: dependents(device, &groups),
            zeroed_by: zeroed_by(device, &groups),
            cleared_by: cleared_by(device),
            operations,
            windows: windows(&groups),
            locked: locked(device, fuses),
            pins: pins(device),
            interrupt_groups: interrupt_groups(device),
            held: held(device, &options),
            boot_start,
            vectors_moved_by: device.bit("MCUCR", "IVSEL").map(|bit| (bit, boot_start)),
            groups,
            storage: is_storage,
            program: match options.application {
                application if application.ends_runs() && boot_start.0 < device.memory.flash_words() => {
                    program.ending_below(boot_start)
                }
                _ => program,
            },
            contracts: Vec::new(),
            options,
            device,
        }
    }

    /// The options the machine was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The data addresses of the SRAM.
    #[must_use]
    pub fn sram(&self) -> Range<DataAddress> {
        self.sram.clone()
    }

    /// Data address of SREG.
    #[must_use]
    pub fn status_address(&self) -> DataAddress {
        self.status_address
    }

    /// The stack pointer.
    #[must_use]
    pub fn stack_pointer(&self) -> StackPointer {
        StackPointer { low: self.stack_low, high: self.stack_high }
    }

    /// RAMEND: the last data address.
    #[must_use]
    pub fn data_end(&self) -> DataAddress {
        self.data_end
    }

    /// The cells of a state: data memory, behind it two pages of what registers keep unseen, and the EEPROM.
    #[must_use]
    pub fn cells(&self) -> usize {
        let eeprom = usize::from(self.device.memory.eeprom_bytes);
        (eeprom_cells(self.device).index() + eeprom).next_multiple_of(PAGE_CELLS)
    }

    /// The addresses of the cells of a state.
    pub fn addresses(&self) -> impl DoubleEndedIterator<Item = DataAddress> + Clone + use<> {
        DataAddress(0).until(DataAddress::of_index(self.cells()))
    }

    /// The cell of a byte that 16-bit registers share.
    pub(crate) fn temp_cell(&self, index: u8) -> DataAddress {
        shared_cells(self.device).wrapping_add(index.into())
    }

    /// The cell of a byte of the EEPROM.
    #[must_use]
    pub fn eeprom_cell(&self, address: EepromAddress) -> DataAddress {
        eeprom_cell(self.device, address)
    }

    /// A flag in SREG.
    pub(crate) fn status_bit(&self, flag: u8) -> BitRef {
        BitRef { address: self.status_address, bit: flag }
    }

    /// True if anything can come between two instructions at all.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        self.interrupts_exist() || !self.options.resets.is_empty()
    }

    /// True if an open window keeps interrupts away.
    #[must_use]
    pub fn windows_hold_interrupts(&self, control: &Control) -> bool {
        let holds = |bit: &BitRef| self.window(*bit).is_some_and(|window| window.holds_interrupts_off);
        control.windows.iter().zip(&self.windows).any(|(left, bit)| *left > 0 && holds(bit))
    }

    /// True if an address belongs to the I/O area.
    pub(crate) fn is_io(&self, address: DataAddress) -> bool {
        self.io.contains(&address)
    }

    /// True for the cell of an I/O register, and for those that no program reaches and that belong to registers.
    #[must_use]
    pub fn is_of_hardware(&self, cell: DataAddress) -> bool {
        self.is_io(cell) || (shared_cells(self.device)..eeprom_cells(self.device)).contains(&cell)
    }

    /// True for the data address of an I/O register that keeps what is written and does nothing else, other than SREG and SP.
    #[must_use]
    pub fn is_mere_storage(&self, address: DataAddress) -> bool {
        let is_own = address == self.status_address || self.stack_pointer().contains(address);
        let acts = self.makes_inputs(address) || self.is_pin(address) || self.is_held(address);
        self.is_io(address)
            && !is_own
            && !acts
            && self.device.register_at(address).is_some_and(|register| self.is_storage(register))
    }

    /// True if reading and writing a register is mere storage.
    pub(crate) fn is_storage(&self, register: &Register) -> bool {
        self.storage[register.address.index()]
    }

    /// The bits of a register by behaviour.
    pub(crate) fn groups(&self, register: &Register) -> &[Group] {
        self.groups.get(&register.address).map_or(&[], Vec::as_slice)
    }

    /// The bits that hardware changes under a condition on the register at `address`.
    pub(crate) fn dependents(&self, address: DataAddress) -> &[Group] {
        self.dependents.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The flags, operations and latched bits that are 0, or perhaps over, under a condition on the register at `address`.
    pub(crate) fn zeroed_by(&self, address: DataAddress) -> &[Group] {
        self.zeroed_by.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The flags that an access to the register at `address` clears.
    pub(crate) fn cleared_by_access(&self, address: DataAddress) -> &[(BitRef, &'static ClearedBy)] {
        self.cleared_by.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The operations that hardware performs by itself, with the bits that they change.
    pub(crate) fn operations(&self) -> &Operations {
        &self.operations
    }

    /// The number of a window among those of the device; also of a pulse that ends in a certain time.
    pub(crate) fn window_index(&self, bit: BitRef) -> usize {
        self.windows.iter().position(|window| *window == bit).unwrap_or_default()
    }

    /// The window that a bit opens, if it does.
    pub(crate) fn window(&self, bit: BitRef) -> Option<&'static Window> {
        match self.device.bit_at(bit).map(|bit| &bit.kind) {
            Some(BitKind::Window(window)) => Some(window),
            _ => None,
        }
    }

    /// The windows of the device, and the pulses that end in a certain time.
    pub(crate) fn windows(&self) -> &[BitRef] {
        &self.windows
    }

    /// The bits that a programmed fuse keeps at a value, whatever is written.
    pub(crate) fn locked(&self) -> &[&'static FuseReset] {
        &self.locked
    }

    /// True for the address of a register that reads pins.
    pub(crate) fn is_pin(&self, address: DataAddress) -> bool {
        self.pins[0].contains(&address)
    }

    /// True for the address of a register that makes pins inputs (`DDRB`), or switches inputs on (`DIDR0`).
    pub(crate) fn makes_inputs(&self, address: DataAddress) -> bool {
        self.pins[1].contains(&address)
    }

    /// The bits of a register that make pins inputs which are assumed to be constant: nothing comes from there.
    pub(crate) fn held_inputs(&self, address: DataAddress) -> u8 {
        self.held.directions.get(&address).copied().unwrap_or_default()
    }

    /// True for a register of a peripheral with a line that is assumed to be constant.
    pub(crate) fn is_held(&self, address: DataAddress) -> bool {
        self.held.registers.contains(&address)
    }

    /// The flags that the environment sets no more often than every so many clock cycles, in the order of their addresses.
    #[must_use]
    pub fn spaced_flags(&self) -> Vec<SpacedFlag> {
        let mut all = Vec::new();
        for register in &self.device.registers {
            for (bit, kind) in (0..).zip(register.bits.iter().map(|bit| &bit.kind)) {
                if let BitKind::Flag(flag) = kind
                    && let Freedom::RealEvery(cycles, real_while) = &flag.freedom
                {
                    let bit = BitRef { address: register.address, bit };
                    all.push(SpacedFlag {
                        bit,
                        cycles: *cycles,
                        raised_while: &flag.raised_while,
                        real_while,
                        clocked_while: &register.clocked_while,
                    });
                }
            }
        }
        all
    }

    /// The interrupts by rising number, in groups.
    pub(crate) fn interrupt_groups(&self) -> &[InterruptGroup] {
        &self.interrupt_groups
    }

    /// Data address of the register with the bits above Z that an instruction reads: RAMPZ of ELPM, EIND of EIJMP and EICALL; none where
    /// it reads none, or where the device lacks it.
    #[must_use]
    pub fn extension_read(&self, instruction: Instruction) -> Option<DataAddress> {
        let name = match instruction {
            Instruction::Elpm { .. } => "RAMPZ",
            Instruction::Eijmp | Instruction::Eicall => "EIND",
            _ => return None,
        };
        self.device.register(name).map(|register| register.address)
    }

    /// The bit that moves the vector table to the boot section, where there is one.
    #[must_use]
    pub fn vectors_moved_by(&self) -> Option<BitRef> {
        self.vectors_moved_by.map(|(bit, _)| bit)
    }

    /// True if the device has interrupts.
    pub(crate) fn interrupts_exist(&self) -> bool {
        self.device.policy.interrupts == InterruptPolicy::Modelled
    }

    /// True if a path that runs into a hazard in a state with this program counter ends there because the hazard is allowed and
    /// nothing is defined after it.
    #[must_use]
    pub fn ends_path(&self, kind: HazardKind, pc: FlashWordAddress) -> bool {
        kind.ends_path() && self.allows(kind, Some(pc))
    }

    /// True if [`ends_path`](Self::ends_path) says so of some hazard and program counter.
    #[must_use]
    pub fn may_end_paths(&self) -> bool {
        let Options { allowed, allowed_at, .. } = &self.options;
        allowed.iter().chain(allowed_at.keys()).any(|kind| kind.ends_path())
    }

    /// True if the user allows a hazard of the instruction at an address; none for what no instruction does.
    pub(crate) fn allows(&self, kind: HazardKind, instruction: Option<FlashWordAddress>) -> bool {
        let Options { allowed, allowed_at, .. } = &self.options;
        let is_there = |at: FlashWordAddress| allowed_at.get(&kind).is_some_and(|places| places.contains(&at));
        allowed.contains(&kind) || instruction.is_some_and(is_there)
    }

    /// Flash word address at which the start-up code ends, where states know that they lie in it.
    #[must_use]
    pub fn startup_end(&self) -> Option<FlashWordAddress> {
        self.options.main.filter(|_| self.options.observes_startup)
    }

    /// True if the user wants to see as a hazard what the device treats as a remark.
    pub(crate) fn forbids(&self, kind: HazardKind) -> bool {
        self.options.forbidden.contains(&kind)
    }
}

/// The first of the cells that registers share unseen.
pub(crate) fn shared_cells(device: &Device) -> DataAddress {
    device.memory.shared_start()
}

/// The first of the cells of the EEPROM.
pub(crate) fn eeprom_cells(device: &Device) -> DataAddress {
    device.memory.unreached_end()
}

/// The cell of a byte of the EEPROM.
pub(crate) fn eeprom_cell(device: &Device, address: EepromAddress) -> DataAddress {
    eeprom_cells(device).wrapping_add(address.0)
}

/// The bits of a register, alike ones together.
fn grouped(register: &'static Register) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, bit) in register.bits.iter().enumerate() {
        let alike = groups.iter_mut().find(|group| alike(group.bit, bit));
        match alike {
            Some(group) => group.mask |= 1 << index,
            None => groups.push(Group { address: register.address, mask: 1 << index, bit }),
        }
    }
    groups
}

/// True if two bits of a register behave alike. Windows and pulses are kept apart: each has a moment of its own.
fn alike(a: &Bit, b: &Bit) -> bool {
    let unnamed = |bit: &Bit| Bit { name: None, ..bit.clone() };
    let has_time = match &a.kind {
        BitKind::Window(_) => true,
        BitKind::Pulse(pulse) => pulse.within.is_some(),
        _ => false,
    };
    !has_time && unnamed(a) == unnamed(b)
}

/// True if reading and writing a register is mere storage.
fn is_storage(register: &Register) -> bool {
    register.access == Access::Direct
        && register.clocked_while == Condition::Always
        && register.bits.iter().all(Bit::is_storage)
}

/// For each register the groups of bits whose motion depends on it, by their own condition or by their clock.
fn dependents(
    device: &'static Device,
    groups: &BTreeMap<DataAddress, Vec<Group>>,
) -> BTreeMap<DataAddress, Vec<Group>> {
    let mut all: BTreeMap<DataAddress, Vec<Group>> = BTreeMap::new();
    for group in groups.values().flatten() {
        let condition = match &group.bit.kind {
            BitKind::Input(input) => &input.changes_while,
            BitKind::Flag(flag) => &flag.raised_while,
            BitKind::Pulse(pulse) => &pulse.raised_while,
            _ => continue,
        };
        let clocked = device.register_at(group.address).map(|register| &register.clocked_while);
        let mut addresses = BTreeSet::new();
        for condition in [Some(condition), clocked].into_iter().flatten() {
            condition.for_each_register(&mut |address, _| {
                addresses.insert(address);
            });
        }
        addresses.into_iter().for_each(|address| all.entry(address).or_default().push(*group));
    }
    all
}

/// For each register the flags, operations and latched bits that are 0, or perhaps over, under a condition on it. A result that is adjusted is
/// left out: the write moves it.
fn zeroed_by(device: &'static Device, groups: &BTreeMap<DataAddress, Vec<Group>>) -> BTreeMap<DataAddress, Vec<Group>> {
    let is_adjusted = |address| {
        let access = device.register_at(address).map(|register| register.access);
        matches!(access, Some(Access::LocksPair { .. } | Access::UnlocksPair { .. }))
    };
    let mut all: BTreeMap<DataAddress, Vec<Group>> = BTreeMap::new();
    for group in groups.values().flatten() {
        let conditions = match &group.bit.kind {
            BitKind::Flag(flag) => vec![&flag.zero_while],
            BitKind::Pulse(pulse) => vec![&pulse.zero_while, &pulse.lost_while],
            BitKind::Input(input) if input.latched_by.is_some() && !is_adjusted(group.address) => {
                vec![&input.zero_while]
            }
            _ => continue,
        };
        let mut addresses = BTreeSet::new();
        for condition in conditions {
            condition.for_each_register(&mut |address, _| {
                addresses.insert(address);
            });
        }
        addresses.into_iter().for_each(|address| all.entry(address).or_default().push(*group));
    }
    all
}

/// For each register the flags that an access to it clears, or lets the next one clear.
fn cleared_by(device: &'static Device) -> BTreeMap<DataAddress, Vec<(BitRef, &'static ClearedBy)>> {
    let mut all: BTreeMap<DataAddress, Vec<(BitRef, &'static ClearedBy)>> = BTreeMap::new();
    for register in &device.registers {
        for (bit, number) in register.bits.iter().zip(0..) {
            let BitKind::Flag(flag) = &bit.kind else { continue };
            for way in &flag.cleared_by {
                let accessed = match way {
                    ClearedBy::Read(at) | ClearedBy::Write(at) => vec![*at],
                    ClearedBy::ReadThenAccess { first, then, .. } => vec![*first, *then],
                    ClearedBy::WriteOne | ClearedBy::WriteZero | ClearedBy::InterruptEntry => continue,
                };
                let place = BitRef { address: register.address, bit: number };
                accessed.into_iter().for_each(|at| all.entry(at).or_default().push((place, way)));
            }
        }
    }
    all
}

fn windows(groups: &BTreeMap<DataAddress, Vec<Group>>) -> Vec<BitRef> {
    let window = |group: &&Group| match &group.bit.kind {
        BitKind::Window(_) => true,
        BitKind::Pulse(pulse) => pulse.within.is_some(),
        _ => false,
    };
    let all = groups.values().flatten().filter(window);
    all.map(|group| BitRef { address: group.address, bit: group.mask.trailing_zeros() as u8 }).collect()
}

/// The bits that programmed fuses keep at a value.
fn locked(device: &'static Device, fuses: FuseBytes) -> Vec<&'static FuseReset> {
    let programmed = |name: &str| device.fuse(name).is_some_and(|fuse| fuse.is_programmed(fuses));
    device.fuse_resets.iter().filter(|rule| rule.locked_when_programmed && programmed(rule.fuse)).collect()
}

/// The registers of pins, and those that say whether the environment determines pins.
fn pins(device: &Device) -> [Vec<DataAddress>; 2] {
    let (mut pins, mut controls) = (Vec::new(), Vec::new());
    for register in &device.registers {
        for bit in &register.bits {
            let BitKind::Input(input) = &bit.kind else { continue };
            if let (InputWrite::Toggles(_), Freedom::RealWhile(condition) | Freedom::RealOrUndefined(condition)) =
                (input.on_write, &input.freedom)
            {
                pins.push(register.address);
                condition.for_each_register(&mut |address, _| controls.push(address));
            }
        }
    }
    [pins, controls].map(|mut addresses| {
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    })
}

/// The bits that pins which are assumed, or driven by automata, keep from changing freely.
fn held(device: &Device, options: &Options) -> Held {
    let mut held = Held::default();
    let constant = |address: DataAddress| {
        let assumed = options.assumed.get(&address).map_or(0, |bits| bits.known_mask());
        let driven = options.automata.iter().filter_map(|automaton| automaton.drives.get(&address));
        driven.fold(assumed, |all, bits| all | bits)
    };
    for register in &device.registers {
        let direction = register.name.strip_prefix("PIN").and_then(|port| device.register(&format!("DDR{port}")));
        if let Some(direction) = direction.filter(|_| constant(register.address) != 0) {
            held.directions.insert(direction.address, constant(register.address));
        }
    }
    for peripheral in &device.peripherals {
        if peripheral.lines.iter().any(|line| constant(line.address) & line.mask() != 0) {
            let own = device.registers.iter().filter(|register| register.peripheral == peripheral.name);
            held.registers.extend(own.map(|register| register.address));
        }
    }
    held
}

fn interrupt_groups(device: &'static Device) -> Vec<InterruptGroup> {
    let groups = device.interrupts.chunk_by(|a, b| a.enable.address == b.enable.address);
    let group = |interrupts: &'static [Interrupt]| InterruptGroup {
        address: interrupts[0].enable.address,
        mask: interrupts.iter().fold(0, |mask, interrupt| mask | interrupt.enable.mask()),
        interrupts,
    };
    groups.map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{BitRef, Condition, SetByWrite};

    /// The masks of the groups of a register that is plain storage but for one bit.
    #[track_caller]
    fn check(change: fn(&mut Bit), expected: &[u8]) {
        let device = Device::named("atmega328p").expect("a built-in device");
        let mut register = device.register("GPIOR0").expect("a register").clone();
        change(&mut register.bits[5]);
        let masks: Vec<u8> = grouped(Box::leak(Box::new(register))).iter().map(|group| group.mask).collect();
        assert_eq!(masks, expected);
    }

    #[test]
    fn bits_with_other_rules_are_in_other_groups() {
        check(|_| {}, &[0xff]);
        check(|bit| bit.kind = BitKind::Strobe, &[0xdf, 0x20]);
        check(|bit| bit.writable_while = Condition::Never, &[0xdf, 0x20]);
        check(|bit| bit.perhaps_writable_while = Condition::Always, &[0xdf, 0x20]);
        check(|bit| bit.refusal = Some(BitRef { address: DataAddress(0x3e), bit: 0 }), &[0xdf, 0x20]);
        let set = |bit: &mut Bit| {
            bit.set_by_write = Some(SetByWrite {
                register: DataAddress(0x4a),
                condition: Condition::Always,
                ones: 0,
                collision: None,
            });
        };
        check(set, &[0xdf, 0x20]);
        check(|bit| bit.forced_one_while = Condition::Always, &[0xdf, 0x20]);
    }
}
