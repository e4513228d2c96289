//! Runs in libsimavr, state by state.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use avr_machine::device::Device;
use tempfile::NamedTempFile;

use crate::subjects::Subject;

/// The bytes of a state before its data memory: see `struct head` in `runner.c`.
const HEAD_BYTES: usize = 16;

/// The exit codes of the runner: see `runner.c`.
const DONE: i32 = 0;
const GAVE_UP: i32 = 1;

/// The number in place of the instruction where none led to a state: see `runner.c`.
const ENTRY: u16 = 0xffff;
const RESET: u16 = 0xfffe;

/// The program counter of an answer where libsimavr gave up: see `runner.c`.
const GIVEN_UP: u32 = u32::MAX;

/// A step that leads to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// An instruction, by its first word.
    Instruction(u16),
    /// The entry into a handler.
    Entry,
    /// A reset by the watchdog.
    Reset,
}

/// A state of libsimavr.
#[derive(Clone)]
pub struct State {
    /// The next instruction, as a flash byte address.
    pub pc: u32,
    /// The step that led here.
    pub led: Led,
    /// True if the processor sleeps.
    pub sleeping: bool,
    /// The number of handlers that are active.
    pub handlers: usize,
    /// The data memory.
    pub data: Vec<u8>,
    /// The content of the EEPROM.
    pub eeprom: Vec<u8>,
}

impl State {
    fn read(bytes: &[u8], device: &Device) -> Self {
        let (data, eeprom) = bytes[HEAD_BYTES..].split_at(data_bytes(device));
        let led = match u16::from_le_bytes([bytes[4], bytes[5]]) {
            ENTRY => Led::Entry,
            RESET => Led::Reset,
            opcode => Led::Instruction(opcode),
        };
        Self {
            pc: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            led,
            sleeping: bytes[6] != 0,
            handlers: bytes[7].into(),
            data: data.to_vec(),
            eeprom: eeprom.to_vec(),
        }
    }

    /// The stack pointer.
    #[must_use]
    pub fn stack_pointer(&self) -> u16 {
        u16::from_le_bytes([self.data[0x5d], self.data[0x5e]])
    }
}

/// The number of data addresses up to the end of SRAM.
pub(crate) fn data_bytes(device: &Device) -> usize {
    device.memory.sram_end.index() + 1
}

/// A state that is still to be read.
fn no_state(device: &Device) -> Vec<u8> {
    vec![0; HEAD_BYTES + data_bytes(device) + usize::from(device.memory.eeprom_bytes)]
}

/// The seed and the length of a run.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The seed of everything that is random.
    pub seed: u64,
    /// The mean number of instructions between two events from outside; 0 if there are none.
    pub every: u32,
    /// The number of instructions that are executed.
    pub steps: u32,
}

/// Calls `look` with every state of a run, until it is told to stop.
///
/// # Panics
/// If the runner does not start or is killed, or files cannot be written.
pub fn run(runner: &Path, subject: &Subject, manner: Manner, mut look: impl FnMut(&State) -> bool) {
    let Manner { seed, every, steps } = manner;
    let arguments = ["--seed", &seed.to_string(), "--every", &every.to_string(), "--steps", &steps.to_string()];
    let flash = written_flash(subject, seed);
    let mut command = Command::new(runner);
    command
        .arg(subject.device.name)
        .arg(flash.path())
        .args(arguments)
        .args(subject.world.arguments())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the runner starts");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut bytes = no_state(subject.device);
    let mut is_stopped = false;
    while !is_stopped && output.read_exact(&mut bytes).is_ok() {
        is_stopped = !look(&State::read(&bytes, subject.device));
    }
    drop(output);
    let status = child.wait().expect("the runner ends");
    let is_over = matches!(status.code(), Some(DONE | GAVE_UP));
    assert!(is_stopped || is_over, "the runner does not end by itself in {} ({manner:?}): {status}", subject.name);
}

/// A file with the flash of a subject. It is removed also where the verifier ends at an assertion.
fn written_flash(subject: &Subject, seed: u64) -> NamedTempFile {
    let file = NamedTempFile::new().expect("there is room");
    std::fs::write(&file, subject.world.flash(&subject.image, seed)).expect("there is room");
    file
}

/// What happens in a state that is set in libsimavr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// An instruction is executed.
    Instruction,
    /// The handler of this interrupt is entered.
    Interrupt(u8),
}

/// A state that is set in libsimavr, and what happens in it.
pub struct Request<'a> {
    /// The state.
    pub state: &'a State,
    /// The interrupt whose handler is active.
    pub handler: Option<u8>,
    /// What happens.
    pub happens: Happens,
}

impl Request<'_> {
    /// See `struct request` in `runner.c`.
    fn write(&self, output: &mut impl Write) -> std::io::Result<()> {
        let interrupt = match self.happens {
            Happens::Instruction => 0,
            Happens::Interrupt(number) => number,
        };
        output.write_all(&self.state.pc.to_le_bytes())?;
        output.write_all(&[interrupt, self.handler.unwrap_or(0), self.state.sleeping.into(), 0])?;
        output.write_all(&self.state.data)?;
        output.write_all(&self.state.eeprom)
    }
}

/// The states behind single steps. None where libsimavr gives up.
///
/// # Panics
/// If the runner does not start, or ends before it has answered everything.
#[must_use]
pub fn steps(runner: &Path, subject: &Subject, seed: u64, requests: &[Request<'_>]) -> Vec<Option<State>> {
    let flash = written_flash(subject, seed);
    let mut command = Command::new(runner);
    command
        .arg(subject.device.name)
        .arg(flash.path())
        .args(["--requests", "--seed", &seed.to_string()])
        .args(subject.world.arguments());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the runner starts");
    let mut input = BufWriter::new(child.stdin.take().expect("it is piped"));
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || requests.iter().try_for_each(|request| request.write(&mut input)));
        let answer = |_: &Request<'_>| {
            let mut bytes = no_state(subject.device);
            output.read_exact(&mut bytes).expect("each request is answered");
            let state = State::read(&bytes, subject.device);
            (state.pc != GIVEN_UP).then_some(state)
        };
        requests.iter().map(answer).collect()
    });
    let status = child.wait().expect("the runner ends");
    assert_eq!(status.code(), Some(DONE), "the runner has answered everything");
    answers
}
