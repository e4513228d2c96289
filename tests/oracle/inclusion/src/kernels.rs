//! Random kernels: the main program and one task or two, each with a stack of its own. A function that a task calls, or the handler of an interrupt,
//! saves the registers of the one that runs and goes on with the next by writing SP.
//!
//! Some have the usual defects: a stack that is too small, a register that is not saved, a store into the stack of another task, a task that returns,
//! an interrupt between the halves of SP.

use fastrand::Rng;

use crate::boards::Board;
use crate::generated::built;
use crate::subjects::Subject;

/// The cells that tasks share.
const CELLS: u8 = 3;
/// The vector of INT0, which is the first interrupt of each board.
const EXTERNAL: u8 = 1;
/// The registers that the switch itself uses.
const SWITCH: [u8; 4] = [24, 25, 30, 31];
/// The registers that tasks keep values in.
const KEPT: [u8; 2] = [18, 19];

/// The event that has the next task run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    /// A call of the task.
    Call,
    /// The interrupt with this vector.
    Interrupt(u8),
}

/// A kernel in the making.
struct Builder {
    board: &'static Board,
    random: Rng,
    text: String,
    functions: String,
    labels: usize,
    switch: Switch,
    /// The sizes of the stacks of tasks.
    sizes: Vec<u8>,
    /// The registers that the switch saves.
    saved: Vec<u8>,
    saves_status: bool,
}

/// The kernel with a seed, built by avr-gcc.
///
/// # Panics
/// If avr-gcc does not build it.
#[must_use]
pub fn subject(seed: u64) -> Subject {
    let builder = Builder::new(seed);
    let tasks = 1..=builder.sizes.len();
    let stacks: Vec<String> = tasks.map(|task| format!("(symbol: \"stack_{task}\")")).collect();
    let name = format!("kernel-{seed}.elf");
    let device = builder.board.device();
    let image = built(&name, device, &builder.program());
    let text = format!("(stacks: [{}])", stacks.join(", "));
    Subject::with(&name, device, image, (&text, "".as_ref())).expect("stacks are compared")
}

/// The assembly of the kernel with a seed.
#[must_use]
pub fn source(seed: u64) -> String {
    Builder::new(seed).program()
}

impl Builder {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let board = Board::of_kernel(seed);
        let return_bytes = board.return_bytes();
        let switch = match random.u8(..4) {
            0 => Switch::Interrupt(EXTERNAL),
            1 => Switch::Interrupt(board.interrupts[board.timer].vector),
            _ => Switch::Call,
        };
        let is_call = switch == Switch::Call;
        let mut saved = KEPT.to_vec();
        if random.u8(..6) == 0 {
            saved.truncate(1);
        }
        if !is_call {
            saved.extend(SWITCH);
        }
        let saves_status = !is_call || random.bool();
        let context = return_bytes + saved.len() as u8 + u8::from(saves_status);
        // Two tasks make too many states if one is interrupted anywhere.
        let tasks = if is_call || random.u8(..4) == 0 { random.usize(1..3) } else { 1 };
        let sizes = (0..tasks).map(|_| {
            // A function, a byte that it pushes, and what is pushed by the switch.
            let needed = 2 * return_bytes + 1 + context;
            if random.u8(..5) == 0 { context + random.u8(..4) } else { needed + random.u8(..6) }
        });
        let sizes = sizes.collect();
        let (text, functions) = (String::new(), String::new());
        Self { board, random, text, functions, labels: 0, switch, sizes, saved, saves_status }
    }

    fn program(mut self) -> String {
        self.variables();
        self.start();
        for task in 0..=self.sizes.len() {
            self.task(task);
        }
        self.switch();
        format!("#include \"common.inc\"\n{}{}{}", self.board.vectors(), self.text, self.functions)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&format!("        {line}\n"));
    }

    fn lines(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.line(line));
    }

    fn new_label(&mut self, what: &str) -> String {
        self.labels += 1;
        format!("{what}_{}", self.labels)
    }

    fn cell(&mut self) -> String {
        format!("cells + {}", self.random.u8(..CELLS))
    }

    fn variables(&mut self) {
        self.line(".section .bss");
        let saved = 2 * (1 + self.sizes.len());
        self.lines(&[&format!("cells: .skip {CELLS}"), &format!("saved: .skip {saved}"), "running: .skip 1"]);
        for (task, size) in (1..).zip(self.sizes.clone()) {
            self.line(&format!(".type stack_{task}, @object"));
            self.line(&format!(".size stack_{task}, {size}"));
            self.line(&format!("stack_{task}: .skip {size}"));
            // Without a gap a full stack is not told from the empty one below it.
            self.line(".skip 1");
        }
        self.line(".text");
    }

    fn start(&mut self) {
        self.text.push_str("start:\n");
        self.lines(&["clr r1", "sts running, r1", "ldi r18, 1", "ldi r19, 2", "ldi r20, 3"]);
        for cell in 0..CELLS {
            self.line(&format!("sts cells + {cell}, r1"));
        }
        for (task, size) in (1..).zip(self.sizes.clone()) {
            self.create(task, size);
        }
        match self.switch {
            Switch::Call => {
                if self.random.bool() {
                    self.let_in(0);
                    self.handler();
                }
            }
            Switch::Interrupt(EXTERNAL) => self.let_in(0),
            Switch::Interrupt(_) => self.let_in(self.board.timer),
        }
    }

    /// Lets one interrupt of the board in.
    fn let_in(&mut self, index: usize) {
        if index == 0 {
            self.lines(&["ldi r16, 1", self.board.edges]);
        }
        self.lines(self.board.interrupts[index].enabled);
        self.line("sei");
    }

    /// Stores what the switch takes from the stack of a task when it goes there first.
    fn create(&mut self, task: usize, size: u8) {
        let stack = format!("stack_{task}");
        self.lines(&[
            &format!("ldi r24, lo8(gs(task_{task}))"),
            &format!("sts {stack} + {}, r24", size - 1),
            &format!("ldi r24, hi8(gs(task_{task}))"),
            &format!("sts {stack} + {}, r24", size - 2),
        ]);
        let context = self.saved.len() as u8 + u8::from(self.saves_status);
        if self.board.has_far_code() {
            self.line(&format!("sts {stack} + {}, r1", size - 3));
        }
        let end = size - self.board.return_bytes();
        for offset in end - context..end {
            self.line(&format!("sts {stack} + {offset}, r1"));
        }
        let pointer = i16::from(end - context) - 1;
        self.lines(&[
            &format!("ldi r24, lo8({stack} + {pointer})"),
            &format!("sts saved + {}, r24", 2 * task),
            &format!("ldi r24, hi8({stack} + {pointer})"),
            &format!("sts saved + {}, r24", 2 * task + 1),
        ]);
    }

    /// A handler that switches nothing, on whatever stack is in use.
    fn handler(&mut self) {
        let cell = self.cell();
        self.functions.push_str(&format!(
            "        .global vector_1\nvector_1:\n        push r24\n        in r24, SREG\n        push r24\n        lds r24, {cell}\n        \
             inc r24\n        andi r24, 1\n        sts {cell}, r24\n        pop r24\n        out SREG, r24\n        pop r24\n        reti\n"
        ));
    }

    /// A task; number 0 is the main program.
    fn task(&mut self, task: usize) {
        self.text.push_str(&format!("task_{task}:\n"));
        for _ in 0..self.random.usize(1..4) {
            self.piece(task);
        }
        if self.switch == Switch::Call {
            self.line("rcall switch");
        }
        if task > 0 && self.random.u8(..8) == 0 {
            return self.line("ret");
        }
        self.line(&format!("rjmp task_{task}"));
    }

    fn piece(&mut self, task: usize) {
        let cell = self.cell();
        match self.random.u8(..12) {
            0 | 1 => {
                self.lines(&[&format!("lds r18, {cell}"), "inc r18", "andi r18, 1", &format!("sts {cell}, r18")]);
            }
            2 => self.lines(&["in r18, PINB", "andi r18, 1", &format!("sts {cell}, r18")]),
            3 | 4 => self.call(),
            5 => {
                let over = self.new_label("over");
                self.lines(&[&format!("lds r19, {cell}"), "cpi r19, 1", &format!("brne {over}"), "sbi PORTB, 1"]);
                self.text.push_str(&format!("{over}:\n"));
            }
            // No switch saves it.
            6 => self.lines(&["inc r20", "andi r20, 3"]),
            7 => {
                let other = 1 + self.random.usize(..self.sizes.len());
                // The address to which the task returns lies on top, and what is saved below it.
                let offset = if self.random.u8(..4) == 0 { self.random.u8(..2) } else { self.random.u8(2..5) };
                if other != task {
                    let last = self.sizes[other - 1] - 1;
                    self.line(&format!("sts stack_{other} + {}, r18", last.saturating_sub(offset)));
                }
            }
            8 => {
                self.line("push r18");
                self.pause();
                self.line("pop r18");
            }
            9 => {
                let size = self.random.u8(1..4);
                self.lines(&["in r24, SPL", &format!("subi r24, {size}"), "out SPL, r24"]);
                self.pause();
                self.lines(&["in r24, SPL", &format!("subi r24, -{size}"), "out SPL, r24"]);
            }
            10 => self.lines(&["cli", "sbi PORTB, 0", "sei"]),
            _ => self.line("cbi PORTB, 1"),
        }
    }

    /// The others run in between, or nothing happens.
    fn pause(&mut self) {
        let is_switched = self.switch == Switch::Call && self.random.bool();
        self.line(if is_switched { "rcall switch" } else { "nop" });
    }

    /// A function in which the others may run.
    fn call(&mut self) {
        let (function, after) = (self.new_label("function"), self.new_label("after"));
        self.lines(&[&format!("rcall {function}"), &format!("rjmp {after}")]);
        self.text.push_str(&format!("{function}:\n"));
        self.line("push r19");
        self.pause();
        self.lines(&["pop r19", "ret"]);
        self.text.push_str(&format!("{after}:\n"));
    }

    fn switch(&mut self) {
        match self.switch {
            Switch::Call => self.text.push_str("switch:\n"),
            Switch::Interrupt(vector) => {
                self.text.push_str(&format!("        .global vector_{vector}\nvector_{vector}:\n"));
            }
        }
        let (saved, saves_status) = (self.saved.clone(), self.saves_status);
        saved.iter().for_each(|register| self.line(&format!("push r{register}")));
        if saves_status {
            self.lines(&["in r24, SREG", "push r24"]);
        }
        let is_guarded = self.switch == Switch::Call && self.random.u8(..4) > 0;
        if is_guarded {
            self.line("cli");
        }
        self.lines(&["in r24, SPL", "in r25, SPH"]);
        self.point_to_saved();
        self.lines(&["st Z, r24", "std Z+1, r25", "lds r30, running", "inc r30"]);
        let number = 1 + self.sizes.len();
        self.lines(&[&format!("cpi r30, {number}"), "brne 1f", "clr r30"]);
        self.text.push_str("1:\n");
        self.line("sts running, r30");
        self.point_to_saved();
        self.lines(&["ld r24, Z", "ldd r25, Z+1"]);
        self.set_pointer();
        if is_guarded && self.random.bool() {
            self.line("sei");
        }
        if saves_status {
            self.lines(&["pop r24", "out SREG, r24"]);
        }
        saved.iter().rev().for_each(|register| self.line(&format!("pop r{register}")));
        self.line(if self.switch == Switch::Call { "ret" } else { "reti" });
    }

    /// Z points to the saved stack pointer of the task that runs.
    fn point_to_saved(&mut self) {
        self.lines(&["lds r30, running", "lsl r30", "ldi r31, 0"]);
        self.lines(&["subi r30, lo8(-(saved))", "sbci r31, hi8(-(saved))"]);
    }

    /// Writes SP, in one of the usual ways.
    fn set_pointer(&mut self) {
        let all: [&[&str]; 6] = [
            &["out SPH, r25", "out SPL, r24"],
            &["out SPL, r24", "out SPH, r25"],
            &["out SPL, r24", "nop", "out SPH, r25"],
            &["sts SPH + 0x20, r25", "sts SPL + 0x20, r24"],
            &["ld r24, Z", "out SPL, r24", "ldd r24, Z+1", "out SPH, r24"],
            &["in r0, SREG", "cli", "out SPH, r25", "out SREG, r0", "out SPL, r24"],
        ];
        let lines = all[self.random.usize(..all.len())];
        self.lines(lines);
    }
}
