//! Every opcode from many random states: registers, SREG, SP, PC, memory and clock cycles.

use crate::exceptions::{EXCEPTIONS, Step};
use crate::executor::Executor;
use crate::stepper::Stepper;
use crate::tally::Tally;
use crate::wire::{CORE, DATA_CELLS, FLASH_WORDS, Flash, Outcome, Start};
use avr_isa::{FeatureSet, Instruction, Pointer, PointerMode, decode};
use avr_machine::device::Device;
use avr_testkit::Random;
use std::io;
use std::ops::Range;

/// Data addresses of the SRAM.
const SRAM: Range<u32> = 0x100..0x900;
/// Data addresses of PINB, PINC and PIND.
pub const PINS: [u16; 3] = [0x23, 0x26, 0x29];

/// I/O registers that are memory, or can be taken for it.
#[derive(Debug)]
pub struct Io {
    /// Addresses that may be read: those that may be written and the pins.
    readable: Vec<u16>,
    /// Addresses of registers all of whose bits only store what is written to them.
    writable: Vec<u16>,
}

impl Io {
    /// The I/O registers of the device that only store, without what some other register has a say in.
    pub fn of(device: &Device) -> Self {
        let stores = |name: &&str| device.register(name).filter(|register| register.kinds.plain == 0xff);
        let names = ["GPIOR0", "GPIOR1", "GPIOR2", "DDRB", "PORTB", "DDRD", "PORTD", "SPL", "SPH", "SREG"];
        let writable: Vec<u16> = names.iter().filter_map(stores).map(|register| register.address.0).collect();
        Self { readable: writable.iter().copied().chain(PINS).collect(), writable }
    }

    fn may_read(&self, io: u8) -> bool {
        self.readable.contains(&(u16::from(io) + 0x20))
    }

    fn may_write(&self, io: u8) -> bool {
        self.writable.contains(&(u16::from(io) + 0x20))
    }

    /// A data address for a load or a store.
    fn address(&self, write: bool, random: &mut Random) -> u16 {
        let io = if write { &self.writable } else { &self.readable };
        match random.within(0..10) {
            0 => random.pick(io),
            1 => random.within(0..0x20) as u16,
            2 => random.pick(&[0x100, 0x101, 0x8fe, 0x8ff]),
            _ => random.within(SRAM) as u16,
        }
    }

    /// The reason why an instruction cannot be compared, if it cannot.
    fn reason_to_leave_out(&self, instruction: Instruction) -> Option<&'static str> {
        use Instruction as I;
        match instruction {
            _ if instruction.has_undefined_result() => {
                Some("opcodes whose result the manual calls undefined (LD, ST, LPM)")
            }
            I::Spm => Some("opcode SPM: a command to a peripheral"),
            I::In { io, .. } | I::Sbic { io, .. } | I::Sbis { io, .. } if !self.may_read(io) => {
                Some("opcodes IN, SBIC, SBIS on registers of peripherals")
            }
            I::Out { io, .. } | I::Sbi { io, .. } | I::Cbi { io, .. } if !self.may_write(io) => {
                Some("opcodes OUT, SBI, CBI on registers of peripherals")
            }
            _ => None,
        }
    }
}

/// A flash full of instructions that are each stepped from random states.
struct Image {
    flash: Box<Flash>,
    memory: [u8; DATA_CELLS],
    places: Vec<(u16, Instruction)>,
}

/// The features of the ATmega328P.
pub fn features() -> FeatureSet {
    FeatureSet::architecture("avr5").unwrap_or_default()
}

/// All first words that decode, with why they are left out.
pub fn opcodes(io: &Io) -> Vec<(u16, Option<&'static str>)> {
    let instruction = |word: u16| Some((word, decode(word, Some(0), features()).ok()?));
    let judged = |(word, instruction)| (word, io.reason_to_leave_out(instruction));
    (0..=u16::MAX).filter_map(instruction).map(judged).collect()
}

/// Every opcode once, in random order, each followed by the next one: skips pass over anything.
fn images(words: &mut [u16], io: &Io, random: &mut Random) -> Vec<Image> {
    random.shuffle(words);
    let mut images = Vec::new();
    let mut rest = words.iter().copied().peekable();
    while rest.peek().is_some() {
        let mut image = Image { flash: Box::new([0; FLASH_WORDS]), memory: memory(io, random), places: Vec::new() };
        // The last words stay NOPs and skips are kept off them: libsimavr has no flash to look at behind.
        while image.places.last().is_none_or(|(place, _)| usize::from(*place) < FLASH_WORDS - 4) {
            let Some(word) = rest.next() else { break };
            image.add(word, io, random);
        }
        image.add_edge(random);
        images.push(image);
    }
    images
}

impl Image {
    /// An instruction at the end of the flash, after which PC starts again at 0.
    fn add_edge(&mut self, random: &mut Random) {
        use Instruction as I;
        let (rd, target) = (Pointer::X.low(), random.within(0..FLASH_WORDS as u32));
        let offset = random.byte() as i8 >> 1;
        let edges = [
            I::Rcall { offset: offset.into() },
            I::Icall,
            I::Call { target },
            I::Rjmp { offset: offset.into() },
            I::Brbs { flag: 0, offset },
            I::Add { rd, rr: rd },
        ];
        let instruction = random.pick(&edges);
        let code = instruction.encode().expect("the instructions of this list have machine codes");
        let place = FLASH_WORDS - usize::from(instruction.words());
        self.flash[place] = code.first;
        if let Some(second) = code.second {
            self.flash[place + 1] = second;
        }
        self.places.push((place as u16, instruction));
    }

    fn add(&mut self, first: u16, io: &Io, random: &mut Random) {
        let place = self.places.last().map_or(0, |(place, last)| place + u16::from(last.words()));
        let second = match decode(first, Some(0), features()) {
            Ok(Instruction::Lds { .. }) => io.address(false, random),
            Ok(Instruction::Sts { .. }) => io.address(true, random),
            _ => random.bits() as u16,
        };
        let Ok(instruction) = decode(first, Some(second), features()) else { return };
        self.flash[usize::from(place)] = first;
        if instruction.words() == 2 {
            self.flash[usize::from(place) + 1] = second;
        }
        self.places.push((place, instruction));
    }
}

/// A random state in which the instruction is defined and stays in the memory.
fn start(place: u16, instruction: Instruction, io: &Io, random: &mut Random) -> Start {
    use Instruction as I;
    let stack = if random.once_in(8) { 0x06..0x18 } else { 0x104..0x8fc };
    let mut start = Start {
        registers: std::array::from_fn(|_| operand(random)),
        status: random.byte(),
        stack_pointer: random.within(stack) as u16,
        pc: place,
    };
    match instruction {
        I::Ld { pointer, mode, .. } => aim(&mut start, pointer, mode, false, io, random),
        I::St { pointer, mode, .. } => aim(&mut start, pointer, mode, true, io, random),
        I::Lpm { .. } => start.registers[31] &= 0x7f,
        _ => {}
    }
    start
}

/// Sets the pointer to where an access can be compared.
fn aim(start: &mut Start, pointer: Pointer, mode: PointerMode, write: bool, io: &Io, random: &mut Random) {
    let low = pointer.low().index();
    let moves = !matches!(mode, PointerMode::Displacement(_));
    let own = |address: u16| moves && (address == u16::from(low) || address == u16::from(low) + 1);
    let mut address = io.address(write, random);
    while own(address) {
        address = io.address(write, random);
    }
    let value = match mode {
        PointerMode::Displacement(q) => address.wrapping_sub(q.into()),
        PointerMode::PostIncrement => address,
        PointerMode::PreDecrement => address.wrapping_add(1),
    };
    start.set_pair(low, value);
}

/// A byte that is more often than others one at which arithmetic turns.
pub fn operand(random: &mut Random) -> u8 {
    if random.once_in(4) { random.pick(&[0, 1, 0x0f, 0x10, 0x7f, 0x80, 0xfe, 0xff]) } else { random.byte() }
}

/// Random content: registers are set for each step, I/O registers that do more than store are 0.
pub fn memory(io: &Io, random: &mut Random) -> [u8; DATA_CELLS] {
    let mut memory = [0; DATA_CELLS];
    for address in SRAM.map(|address| address as u16).chain(io.readable.iter().copied()) {
        if !CORE.contains(&address) {
            memory[usize::from(address)] = random.byte();
        }
    }
    // Bit 7 of port C does not exist and reads 0.
    memory[usize::from(PINS[1])] &= 0x7f;
    memory
}

/// The amount of comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// The number of times that each opcode stands in a new place between new neighbours.
    pub rounds: u32,
    /// Random states for each.
    pub states: u32,
}

/// Compares every opcode.
///
/// # Errors
/// If the stepper fails.
pub fn compare(
    (stepper, executor): (&mut Stepper, &mut Executor),
    amount: Amount,
    random: &mut Random,
    tally: &mut Tally,
) -> io::Result<()> {
    let io = Io::of(executor.device());
    let all = opcodes(&io);
    all.iter().filter_map(|(_, reason)| *reason).for_each(|reason| tally.leave_out(reason));
    let mut words: Vec<u16> = all.iter().filter(|(_, reason)| reason.is_none()).map(|(word, _)| *word).collect();
    for _ in 0..amount.rounds {
        for image in images(&mut words, &io, random) {
            stepper.load(&image.flash)?;
            stepper.set_memory(&image.memory)?;
            executor.load(&image.flash);
            executor.set_memory(&image.memory);
            compare_image((stepper, executor), &image, amount.states, &io, random, tally)?;
        }
    }
    Ok(())
}

fn compare_image(
    (stepper, executor): (&mut Stepper, &mut Executor),
    image: &Image,
    states: u32,
    io: &Io,
    random: &mut Random,
    tally: &mut Tally,
) -> io::Result<()> {
    for _ in 0..states {
        let starts: Vec<Start> = image.places.iter().map(|(place, one)| start(*place, *one, io, random)).collect();
        let outcomes = stepper.steps(&starts)?;
        for ((start, outcome), (_, instruction)) in starts.iter().zip(outcomes).zip(&image.places) {
            let step =
                Step { instruction: *instruction, flash: &image.flash, memory: &image.memory, start, pins: None };
            compare_step(executor, &step, outcome, tally);
        }
        tally.compared("every opcode from random states", starts.len() as u64);
    }
    Ok(())
}

/// Compares a step with what libsimavr made of it.
pub fn compare_step(executor: &mut Executor, step: &Step<'_>, mut theirs: Outcome, tally: &mut Tally) {
    for exception in &EXCEPTIONS {
        if (exception.repair)(step, &mut theirs) {
            tally.excepted(exception.name);
        }
    }
    let ours = executor.step(step.start);
    if ours != Ok(theirs) {
        tally.difference(|| {
            let next = step.flash[(usize::from(step.start.pc) + 1) % FLASH_WORDS];
            let before = format!("{:?} then {next:#06x}, from {:x?}", step.instruction, step.start);
            format!("{before}{}", ours.map_or_else(|why| format!("\n    {why}"), |ours| contrast(&ours, &theirs)))
        });
    }
}

/// The difference between two outcomes, ours first.
fn contrast(ours: &Outcome, theirs: &Outcome) -> String {
    let parts = |outcome: &Outcome| {
        let Outcome { registers, status, stack_pointer, pc, cycles, count, changes } = *outcome;
        let numbered = registers.iter().enumerate().map(|(index, value)| (format!("r{index}"), u32::from(*value)));
        let named = [("SREG", status.into()), ("SP", stack_pointer.into()), ("PC", pc), ("cycles", cycles)];
        let cells = changes.iter().take(count.into()).map(|(at, value)| (format!("[{at:#x}]"), u32::from(*value)));
        let named = named.into_iter().map(|(name, value)| (name.to_owned(), value));
        numbered.chain(named).chain(cells).collect::<Vec<_>>()
    };
    let (ours, theirs) = (parts(ours), parts(theirs));
    let only = |these: &[(String, u32)], those: &[(String, u32)]| {
        let different = these.iter().filter(|part| !those.contains(part));
        different.map(|(name, value)| format!(" {name}={value:#x}")).collect::<String>()
    };
    format!("\n    ours  {}\n    simavr{}", only(&ours, &theirs), only(&theirs, &ours))
}

/// Checks that the executor refuses what the manual calls undefined, which libsimavr gives some result for.
pub fn refuse_undefined(executor: &mut Executor, tally: &mut Tally) {
    let undefined = |word: &u16| decode(*word, None, features()).is_ok_and(Instruction::has_undefined_result);
    let words: Vec<u16> = (0..=u16::MAX).filter(undefined).collect();
    let mut flash = Box::new([0; FLASH_WORDS]);
    flash[..words.len()].copy_from_slice(&words);
    executor.load(&flash);
    for (pc, word) in words.iter().enumerate() {
        let start = Start { registers: [1; 32], status: 0, stack_pointer: 0x8ff, pc: pc as u16 };
        if executor.step(&start).is_ok() {
            tally.difference(|| format!("the executor gives {word:#06x} a result, which the manual calls undefined"));
        }
    }
    tally.compared("undefined results, refused by the executor (no simulator asked)", words.len() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::LpmMode;

    #[test]
    fn every_opcode_stands_in_an_image() {
        let io = Io::of(Device::named("atmega328p").expect("the device exists"));
        let mut words: Vec<u16> =
            opcodes(&io).into_iter().filter(|(_, reason)| reason.is_none()).map(|(word, _)| word).collect();
        let all = words.clone();
        let images = images(&mut words, &io, &mut Random::new(1));
        let word = |image: &Image, place: u16| image.flash[usize::from(place)];
        let mut placed: Vec<u16> =
            images.iter().flat_map(|image| image.places.iter().map(|(place, _)| word(image, *place))).collect();
        placed.sort_unstable();
        placed.dedup();
        assert!(all.iter().all(|word| placed.binary_search(word).is_ok()));
        assert!(all.len() > 59_000, "{} opcodes", all.len());
    }

    #[test]
    fn only_lpm_in_its_plain_forms_survives_the_filter_of_undefined_results() {
        let io = Io::of(Device::named("atmega328p").expect("the device exists"));
        let lpm = Instruction::Lpm { rd: Pointer::Z.low(), mode: LpmMode::PostIncrement };
        assert!(io.reason_to_leave_out(lpm).is_some());
        let lpm = Instruction::Lpm { rd: Pointer::Z.low(), mode: LpmMode::Plain };
        assert_eq!(io.reason_to_leave_out(lpm), None);
    }
}
