//! Random programs in which the awkward states are common: flags that are known before interrupts are let in, frames by SPL alone, dropped return
//! addresses, chains of comparisons, timed windows, handlers that let others in and share cells.

use std::path::Path;
use std::process::{Command, Stdio};

use avr_image::Image;
use avr_machine::device::Device;
use fastrand::Rng;

use crate::boards::{Board, Interrupt};
use crate::subjects::{self, Subject, root};

/// The number of cells that the main program shares with handlers.
const CELLS: u16 = 3;
const CONDITIONS: [&str; 10] = ["breq", "brne", "brlt", "brge", "brcs", "brcc", "brmi", "brpl", "brvs", "brhs"];

/// A program in the making.
struct Builder {
    board: &'static Board,
    random: Rng,
    text: String,
    functions: String,
    labels: usize,
    interrupts: Vec<&'static Interrupt>,
    in_handler: bool,
}

/// The assembly of the program with a seed.
#[must_use]
pub fn source(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let board = Board::of_program(seed);
    let mut all: Vec<&Interrupt> = board.interrupts.iter().collect();
    random.shuffle(&mut all);
    all.truncate(random.usize(0..4));
    let mut builder = Builder {
        board,
        random,
        text: String::new(),
        functions: String::new(),
        labels: 0,
        interrupts: all,
        in_handler: false,
    };
    builder.main();
    for index in 0..builder.interrupts.len() {
        builder.handler(index);
    }
    format!("#include \"common.inc\"\n{}{}{}", board.vectors(), builder.text, builder.functions)
}

/// The program with a seed, built by avr-gcc.
///
/// # Panics
/// If avr-gcc does not build it.
#[must_use]
pub fn subject(seed: u64) -> Subject {
    let name = format!("generated-{seed}.elf");
    let device = Board::of_program(seed).device();
    let image = built(&name, device, &source(seed));
    Subject::plain(&name, device, image)
}

/// INT0 is let in, and PCINT0 is not, which has a handler as well: an entry through the wrong vector goes on somewhere else.
const OTHER_HANDLER: &str = "
start:  ldi r16, 1 << INT0
        out GIMSK, r16
        sei
main:   rjmp main
vector_1: cbi PORTB, 0
        reti
vector_2: sbi PORTB, 0
        reti
        .global vector_1
        .global vector_2
";

/// A program for the ATtiny85 with two handlers, one of which is never entered.
#[must_use]
pub fn other_handler() -> Subject {
    let board = Board::named("attiny85");
    let text = format!("#include \"common.inc\"\n{}{OTHER_HANDLER}", board.vectors());
    Subject::plain("other-handler.elf", board.device(), built("other-handler.elf", board.device(), &text))
}

/// The option for code above what a program counter of 16 bits reaches.
const FAR: &str = "-Wl,--section-start=.far=0x20000";

/// The image of a program in assembly, built by avr-gcc.
pub(crate) fn built(name: &str, device: &Device, source: &str) -> Image {
    let folder = tempfile::tempdir().expect("there is room");
    let (text, path) = (folder.path().join("program.S"), folder.path().join(name));
    std::fs::write(&text, source).expect("there is room");
    build(&text, device, &path);
    subjects::load(&path, device, 0)
}

fn build(text: &Path, device: &Device, path: &Path) {
    let mut command = Command::new("avr-gcc");
    let part = format!("-mmcu={}", device.name);
    command.args([&part, "-nostartfiles", FAR, "-I"]).arg(root().join("tests/regressions/sources"));
    command.arg("-o").arg(path).arg(text).stdout(Stdio::null());
    assert!(command.status().expect("avr-gcc is there").success(), "avr-gcc refuses {}", text.display());
}

impl Builder {
    fn line(&mut self, line: &str) {
        let text = if self.in_handler { &mut self.functions } else { &mut self.text };
        text.push_str("        ");
        text.push_str(line);
        text.push('\n');
    }

    fn label(&mut self, label: &str) {
        let text = if self.in_handler { &mut self.functions } else { &mut self.text };
        text.push_str(&format!("{label}:\n"));
    }

    fn new_label(&mut self, what: &str) -> String {
        self.labels += 1;
        format!("{what}_{}", self.labels)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.usize(0..all.len())]
    }

    /// The cells that the main program shares with handlers: the first ones of SRAM.
    fn cells(&self) -> impl Iterator<Item = u16> + use<> {
        let first = self.board.device().memory.sram_start.0;
        first..first + CELLS
    }

    fn cell(&mut self) -> u16 {
        let all: Vec<u16> = self.cells().collect();
        self.one_of(&all)
    }

    /// A register that the code at hand may change, from r16 on.
    fn register(&mut self) -> String {
        let all: &[u8] = if self.in_handler { &[24] } else { &[18, 19, 20, 21] };
        format!("r{}", self.one_of(all))
    }

    fn main(&mut self) {
        self.label("start");
        self.line("clr r1");
        for register in 18..22 {
            let value = self.random.u8(0..4);
            self.line(&format!("ldi r{register}, {value}"));
        }
        for cell in self.cells() {
            self.line(&format!("sts {cell}, r1"));
        }
        let edges = self.random.u8(0..16);
        self.line(&format!("ldi r16, {edges}"));
        self.line(self.board.edges);
        for interrupt in self.interrupts.clone() {
            interrupt.enabled.iter().for_each(|line| self.line(line));
        }
        if self.random.bool() {
            self.wait_for_flag();
        }
        (0..self.random.usize(0..3)).for_each(|_| self.piece());
        self.line("sei");
        (0..self.random.usize(0..3)).for_each(|_| self.line("nop"));
        if self.random.bool() {
            self.flag();
        }
        self.label("main");
        (0..self.random.usize(1..6)).for_each(|_| self.piece());
        // Too far for a branch, but a jump goes anywhere.
        self.line(if self.board.has_long_jumps() { "jmp main" } else { "rjmp main" });
    }

    /// A handler; a careless one gives nothing back.
    fn handler(&mut self, index: usize) {
        self.in_handler = true;
        let Interrupt { vector, load, switch, .. } = *self.interrupts[index];
        self.functions.push_str(&format!("        .global vector_{vector}\nvector_{vector}:\n"));
        let saves = load.is_some() || self.random.u8(0..5) > 0;
        if saves {
            ["push r24", "in r24, SREG", "push r24"].iter().for_each(|line| self.line(line));
        }
        if let Some(load) = load {
            self.line(load);
        }
        if let Some(("EECR", bit)) = switch {
            self.line(&format!("cbi EECR, {bit}"));
        }
        for _ in 0..self.random.usize(0..3) {
            self.piece_of_handler(saves);
        }
        if saves {
            ["pop r24", "out SREG, r24", "pop r24"].iter().for_each(|line| self.line(line));
        }
        self.line("reti");
        self.in_handler = false;
    }

    fn piece_of_handler(&mut self, saves: bool) {
        match self.random.u8(0..6) {
            0 if saves => {
                let cell = self.cell();
                [&format!("lds r24, {cell}"), "inc r24", "andi r24, 3", &format!("sts {cell}, r24")]
                    .iter()
                    .for_each(|line| self.line(line));
            }
            // Others may come from here on, one level deep.
            1 => {
                let switches: Vec<_> = self.interrupts.iter().filter_map(|interrupt| interrupt.switch).collect();
                if let Some((register, bit)) = switches.first().copied() {
                    let line = self.one_of(&["sbi", "cbi"]);
                    self.line(&format!("{line} {register}, {bit}"));
                }
            }
            2 if self.interrupts.iter().all(|interrupt| interrupt.switch.is_some()) => {
                for interrupt in self.interrupts.clone() {
                    let (register, bit) = interrupt.switch.expect("all have one");
                    self.line(&format!("cbi {register}, {bit}"));
                }
                ["sei", "nop", "cli"].iter().for_each(|line| self.line(line));
            }
            3 => self.flag(),
            4 if saves => self.piece(),
            _ => {
                let storage = format!("sbi {}, 1", self.board.storage);
                let line = self.one_of(&["sbi PORTB, 0", "cbi PORTB, 0", &storage]).to_owned();
                self.line(&line);
            }
        }
    }

    /// A wait for a flag, so that it is known to be 1.
    fn wait_for_flag(&mut self) {
        let flags: Vec<_> = self.interrupts.iter().filter_map(|interrupt| interrupt.flag).collect();
        if let Some((register, bit)) = flags.first() {
            let label = self.new_label("wait");
            self.label(&label);
            self.line(&format!("sbis {register}, {bit}"));
            self.line(&format!("rjmp {label}"));
        }
    }

    /// A flag is cleared by SBI or OUT, or tested.
    fn flag(&mut self) {
        let flags: Vec<_> = self.interrupts.iter().filter_map(|interrupt| interrupt.flag).collect();
        if flags.is_empty() {
            return self.line("nop");
        }
        let (register, bit) = self.one_of(&flags);
        match self.random.u8(0..4) {
            0 => self.line(&format!("sbi {register}, {bit}")),
            1 if !self.in_handler => {
                self.line(&format!("ldi r16, 1 << {bit}"));
                self.line(&format!("out {register}, r16"));
            }
            _ => {
                let skip = self.one_of(&["sbic", "sbis"]);
                self.line(&format!("{skip} {register}, {bit}"));
                self.single();
            }
        }
    }

    /// One instruction of one word that no other depends on.
    fn single(&mut self) {
        let register = self.register();
        let careful = if self.in_handler { 4 } else { 6 };
        let line = match self.random.u8(0..careful) {
            0 => "nop".to_owned(),
            1 => "sbi PORTB, 2".to_owned(),
            2 => "cbi PORTB, 2".to_owned(),
            3 => format!("sbi {}, 0", self.board.storage),
            4 => format!("ldi {register}, {}", self.random.u8(..)),
            _ => format!("inc {register}"),
        };
        self.line(&line);
    }

    fn branch_over(&mut self) {
        let (condition, label) = (self.one_of(&CONDITIONS), self.new_label("after"));
        self.line(&format!("{condition} {label}"));
        self.single();
        self.label(&label);
    }

    fn piece(&mut self) {
        match self.random.u8(0..20) {
            0 => self.comparison(),
            1 => self.difference(),
            2 | 3 => self.frame(),
            4 | 5 => self.dropped_return(),
            6 | 7 => self.eeprom(),
            8 => self.shared_cell(),
            9 | 10 => self.flag(),
            11 => self.words(),
            12 => self.skip(),
            13 => self.pin(),
            14 => self.call(),
            15 if !self.in_handler => self.critical_section(),
            16 if !self.in_handler => self.wait_for_flag(),
            17 if !self.in_handler && !self.interrupts.is_empty() => {
                let [load, store] = self.board.sleep;
                [load, store, "sleep"].iter().for_each(|line| self.line(line));
            }
            18 => self.put_back(),
            _ => self.single(),
        }
    }

    /// A comparison of two bytes or more.
    fn comparison(&mut self) {
        let all: Vec<String> = (0..4).map(|_| self.register()).collect();
        self.line(&format!("cp {}, {}", all[0], all[1]));
        let second = self.one_of(&["cpc", "cpc", "cp"]);
        self.line(&format!("{second} {}, {}", all[2], all[3]));
        self.branch_over();
    }

    fn difference(&mut self) {
        let all: Vec<String> = (0..4).map(|_| self.register()).collect();
        let first = self.one_of(&["sub", "add"]);
        let second = self.one_of(&["sbc", "adc"]);
        self.line(&format!("{first} {}, {}", all[0], all[1]));
        self.line(&format!("{second} {}, {}", all[2], all[3]));
        self.branch_over();
        if self.random.bool() {
            let (low, high) = (self.random.u8(..), self.random.u8(..));
            self.line(&format!("subi {}, {low}", all[0]));
            self.line(&format!("sbci {}, {high}", all[2]));
            self.branch_over();
        }
    }

    /// A frame that is made by SPL alone, or by both bytes in one of the orders.
    fn frame(&mut self) {
        let register = self.register();
        let size = self.random.u8(1..24);
        let whole = self.random.u8(0..3);
        let high = |builder: &mut Self| {
            if builder.in_handler || !builder.board.has_high_bytes {
                return;
            }
            builder.line("in r17, SPH");
            builder.line("out SPH, r17");
        };
        self.line(&format!("in {register}, SPL"));
        self.line(&format!("subi {register}, {size}"));
        if whole == 1 {
            high(self);
        }
        self.line(&format!("out SPL, {register}"));
        self.single_that_keeps(&register);
        self.line(&format!("in {register}, SPL"));
        self.line(&format!("subi {register}, -{size}"));
        if whole == 2 {
            high(self);
        }
        self.line(&format!("out SPL, {register}"));
    }

    fn single_that_keeps(&mut self, register: &str) {
        match self.random.u8(0..3) {
            0 => {
                self.line(&format!("push {register}"));
                self.line(&format!("pop {register}"));
            }
            1 => self.line("nop"),
            _ => self.line("sbi PORTB, 3"),
        }
    }

    /// A function drops its return address, by POP or by SPL, and returns to its caller's caller.
    fn dropped_return(&mut self) {
        let (outer, inner, after) = (self.new_label("outer"), self.new_label("inner"), self.new_label("after"));
        let register = self.register();
        self.line(&format!("rcall {outer}"));
        self.line(&format!("rjmp {after}"));
        self.label(&outer);
        self.line(&format!("rcall {inner}"));
        self.line("nop");
        let bytes = self.board.return_bytes();
        self.label(&inner);
        if self.random.bool() {
            (0..bytes).for_each(|_| self.line(&format!("pop {register}")));
        } else {
            self.line(&format!("in {register}, SPL"));
            self.line(&format!("subi {register}, -{bytes}"));
            self.line(&format!("out SPL, {register}"));
        }
        self.line("ret");
        self.label(&after);
    }

    /// A function takes its return address and gives it back.
    fn put_back(&mut self) {
        if self.in_handler {
            return self.line("nop");
        }
        let (function, after) = (self.new_label("function"), self.new_label("after"));
        self.line(&format!("rcall {function}"));
        self.line(&format!("rjmp {after}"));
        self.label(&function);
        let registers = ["r16", "r17", "r23"].into_iter().take(self.board.return_bytes().into());
        let (pops, pushes) = (registers.clone(), registers.rev());
        pops.for_each(|register| self.line(&format!("pop {register}")));
        self.line("nop");
        pushes.for_each(|register| self.line(&format!("push {register}")));
        self.line("ret");
        self.label(&after);
    }

    /// A byte is programmed, within the window or after it, or read.
    fn eeprom(&mut self) {
        if self.in_handler {
            return self.line("nop");
        }
        let (address, value) = (self.random.u8(0..2), self.random.u8(0..4));
        if self.random.u8(0..3) > 0 {
            let label = self.new_label("busy");
            self.label(&label);
            self.line("sbic EECR, EEPE");
            self.line(&format!("rjmp {label}"));
        }
        if self.board.has_high_bytes {
            self.line("out EEARH, r1");
        }
        self.line(&format!("ldi r16, {address}"));
        self.line("out EEARL, r16");
        if self.random.u8(0..4) == 0 {
            self.line("sbi EECR, EERE");
            let register = self.register();
            return self.line(&format!("in {register}, EEDR"));
        }
        self.line(&format!("ldi r22, {value}"));
        self.program_eeprom();
        if self.random.bool() {
            // 2,048 clock cycles are long enough for the end in runner.c, and nobody looks at EEPE meanwhile.
            let label = self.new_label("wait");
            ["ldi r16, 2", "out TCCR0B, r16", "out TCNT0, r1"].iter().for_each(|line| self.line(line));
            let (flags, is_near) = self.board.timer_flags;
            if is_near {
                self.line(&format!("sbi {flags}, TOV0"));
                self.label(&label);
                self.line(&format!("sbis {flags}, TOV0"));
            } else {
                ["ldi r16, 1 << TOV0", &format!("out {flags}, r16")].iter().for_each(|line| self.line(line));
                self.label(&label);
                [&format!("in r16, {flags}"), "sbrs r16, TOV0"].iter().for_each(|line| self.line(line));
            }
            self.line(&format!("rjmp {label}"));
            self.program_eeprom();
        }
    }

    /// Another byte than before, so that it is seen.
    fn program_eeprom(&mut self) {
        self.line("inc r22");
        self.line("out EEDR, r22");
        self.line("in r17, SREG");
        self.line("cli");
        self.line("sbi EECR, EEMPE");
        let late = self.one_of(&[0, 0, 0, 0, 1, 6]);
        (0..late).for_each(|_| self.line("nop"));
        self.line("sbi EECR, EEPE");
        self.line("out SREG, r17");
    }

    fn shared_cell(&mut self) {
        let (register, cell) = (self.register(), self.cell());
        self.line(&format!("lds {register}, {cell}"));
        if self.random.bool() {
            let value = self.random.u8(0..3);
            self.line(&format!("cpi {register}, {value}"));
            self.branch_over();
        } else {
            self.line(&format!("andi {register}, 3"));
            self.line(&format!("sts {cell}, {register}"));
        }
    }

    /// Words, pointers and products.
    fn words(&mut self) {
        if self.in_handler {
            return self.line("nop");
        }
        let by = self.random.u8(0..64);
        let (high, base, mask) = self.board.words;
        let low = base + (by & mask);
        let lines: &[&str] = match self.random.u8(0..4) {
            0 => &["movw r26, r18", "adiw r26, BY", "mov r18, r26"],
            1 => &["movw r26, r20", "sbiw r26, BY", "mov r21, r27"],
            2 => &["ldi r26, LOW", "ldi r27, HIGH", "st X+, r18", "ld r19, -X"],
            _ if !self.board.has_products => &["mov r0, r18", "add r19, r0"],
            _ => &["mul r18, r20", "mov r19, r0", "clr r1"],
        };
        for line in lines {
            let numbers = [("BY", by), ("LOW", low), ("HIGH", high)];
            let line =
                numbers.iter().fold(line.to_string(), |line, (name, number)| line.replace(name, &number.to_string()));
            self.line(&line);
        }
        self.branch_over();
    }

    /// A skip of one word or two.
    fn skip(&mut self) {
        let (register, bit) = (self.register(), self.random.u8(0..3));
        let skip = self.one_of(&["sbrc", "sbrs"]);
        self.line(&format!("{skip} {register}, {bit}"));
        if self.random.bool() {
            let cell = self.cell();
            self.line(&format!("sts {cell}, r1"));
        } else {
            self.single();
        }
    }

    fn pin(&mut self) {
        let (register, mask) = (self.register(), self.one_of(&[1, 3]));
        self.line(&format!("in {register}, PINB"));
        self.line(&format!("andi {register}, {mask}"));
        self.branch_over();
    }

    fn call(&mut self) {
        let (function, after) = (self.new_label("function"), self.new_label("after"));
        let call = self.one_of(&["rcall", "call"]);
        if self.board.has_far_code() && self.random.bool() {
            return self.far_call(&function, &after);
        }
        self.line(&format!("{} {function}", if self.board.has_long_jumps() { call } else { "rcall" }));
        self.line(&format!("rjmp {after}"));
        self.label(&function);
        self.frame();
        self.line("ret");
        self.label(&after);
    }

    /// A function where return addresses have a third byte that is not 0, and calls another there. It is called by CALL, or through EIND and Z.
    fn far_call(&mut self, function: &str, after: &str) {
        let inner = self.new_label("inner");
        if self.in_handler || self.random.bool() {
            self.line(&format!("call {function}"));
        } else {
            ["ldi r16, 1", "out EIND, r16"].iter().for_each(|line| self.line(line));
            [&format!("ldi r30, pm_lo8({function})"), &format!("ldi r31, pm_hi8({function})"), "eicall"]
                .iter()
                .for_each(|line| self.line(line));
        }
        self.line(&format!("rjmp {after}"));
        self.line(".section .far, \"ax\", @progbits");
        self.label(function);
        self.line(&format!("rcall {inner}"));
        if !self.in_handler && self.random.bool() {
            // The first bytes above the first 64 KiB of words.
            ["ldi r16, 2", "out RAMPZ, r16", "clr r30", "clr r31", "elpm r18, Z+"]
                .iter()
                .for_each(|line| self.line(line));
        }
        self.line("ret");
        self.label(&inner);
        self.frame();
        self.line("ret");
        self.line(".text");
        self.label(after);
    }

    fn critical_section(&mut self) {
        if self.random.bool() {
            ["in r17, SREG", "cli", "nop"].iter().for_each(|line| self.line(line));
            self.flag();
            self.line("out SREG, r17");
        } else {
            self.line("cli");
            self.flag();
            self.single();
            self.line("sei");
        }
    }
}
