//! Nodes: the states of one firmware as far as wires and properties tell them apart, and its steps.
//!
//! A step that concerns nobody else is *local*: it reads nothing that a wire supplies, changes nothing that a wire carries, changes no
//! atom, and has one outcome. It commutes with all steps of other nodes, so it is taken at once, together with the step before it:
//! branching bisimulation does not see it (Groote & van de Pol, 2000). Loops of local steps stay as steps.

use std::rc::Rc;
use std::sync::Arc;

use avr_image::Image;
use avr_isa::DataAddress;
use avr_machine::{Machine, Stop};
use avr_model::context::Context;
use avr_model::state::deferral::Deferral;
use avr_model::state::{AbstractState, Running};
use avr_properties::{Atom, Event as WatchedEvent, EventRecorder, Occurred, occurrences_cover};
use rustc_hash::{FxHashMap, FxHashSet};
use three_valued::{Truth, TvByte};
use tvar::{BitMasks, StepPrecision};

use crate::environment::{Accesses, Chooser, Supply, Surroundings, UartInterrupts};
use crate::faults::{Fault, is_on};
use crate::wire::{End, PinState, Uart, UartState, bit};

/// The most local steps that are taken at once.
const MAX_CHAIN: usize = 200_000;
/// The most outcomes of one step that are distinguished.
const MAX_OUTCOMES: usize = 4096;

/// The interrupts that pins request by changes that wires would have to tell, by the beginnings of their names.
const OF_PINS: &[&str] = &["INT", "PCINT", "ANALOG", "ANA", "TIMER1_CAPT", "TIMER3_CAPT", "SPI", "TWI", "USI"];

/// The part of a node that does not change: its machine, and its ends of wires.
#[derive(Debug)]
pub(crate) struct Parts<'m> {
    pub(crate) name: &'m str,
    pub(crate) machine: &'m Machine,
    pub(crate) image: &'m Image,
    /// The numbers of the atoms that the property speaks of.
    pub(crate) numbers: &'m [usize],
    /// These atoms.
    pub(crate) atoms: &'m [Atom],
    /// The ends of wires of pins, in the order of wires.
    pub(crate) ends: Vec<End>,
    /// The UART, if a line begins or ends at it.
    pub(crate) uart: Option<Uart>,
}

/// A state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeState {
    /// A state of its machine.
    At(AbstractState),
    /// The end of a path that is not followed, with the reason.
    Ended(String),
}

/// The part of a state of a node that others see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Face {
    /// The pins at the ends of wires, in the order of [`Parts::ends`].
    pub(crate) pins: Vec<PinState>,
    pub(crate) uart: Option<UartState>,
}

/// The effect of a step of a node on lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// True if it read a character.
    pub(crate) read: bool,
    /// The character that it wrote.
    pub(crate) written: Option<TvByte>,
    /// It cleared the flag that tells that everything is sent.
    pub(crate) cleared: Truth,
}

impl Effect {
    /// No effect.
    pub(crate) const NONE: Self = Self { read: false, written: None, cleared: Truth::False };

    /// The effect of a step with these accesses.
    pub(crate) fn of(accesses: &Accesses) -> Self {
        Self { read: accesses.read, written: accesses.written, cleared: accesses.cleared }
    }
}

/// A state that a step leads to, with what the step did to lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The number of the state.
    pub(crate) state: u32,
    pub(crate) effect: Effect,
}

/// The hyper-edges of a state.
pub(crate) type Edges = Rc<Vec<Vec<Target>>>;

/// The distinctions that the steps of nodes make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distinctions {
    /// Inputs that no wire supplies are distinguished by their values wherever they are read.
    pub(crate) splits: bool,
    /// Nobody chooses what the hardware would determine.
    pub(crate) is_strict: bool,
    /// Local steps are taken one by one.
    pub(crate) single_steps: bool,
    /// A step is local only if all labels are known before it.
    pub(crate) tells_unknown: bool,
    /// Characters on lines are followed with their values. They are all unknown otherwise.
    pub(crate) follows_values: bool,
    /// States of lines tell whether the flag is set that tells that everything is sent (`TXC0`). Nothing is known of it otherwise.
    pub(crate) follows_sent: bool,
}

/// A node while its states are being found.
#[derive(Debug)]
pub(crate) struct Node<'m> {
    pub(crate) parts: Parts<'m>,
    interrupts: UartInterrupts,
    distinctions: Distinctions,
    context: Context<'m>,
    precision: StepPrecision,
    numbers: FxHashMap<NodeState, u32>,
    states: Vec<NodeState>,
    faces: Vec<Face>,
    labels: Vec<Vec<Truth>>,
    edges: FxHashMap<(u32, Supply), Edges>,
    /// The next state of a state whose step is local; none of another.
    local: FxHashMap<u32, Option<u32>>,
    /// The state that stands for another one once somebody else did a step.
    quiet: FxHashMap<u32, u32>,
    /// The steps that were taken.
    pub(crate) steps: u64,
    /// True if a step had outcomes among which the hardware would determine one.
    pub(crate) rests_on_model: bool,
}

/// The outcome of one script.
struct Outcome {
    is_case: bool,
    is_choice: bool,
    target: Target,
}

impl<'m> Node<'m> {
    pub(crate) fn new(parts: Parts<'m>, distinctions: Distinctions) -> Self {
        // A device with several numbers them.
        let named = |prefix: &str, what: &str| parts.machine.device.interrupt(&format!("{prefix}_{what}"));
        let number = |what: &str| named("USART", what).or(named("USART0", what)).map(|interrupt| interrupt.number);
        let interrupts = UartInterrupts { received: number("RX"), empty: number("UDRE"), sent: number("TX") };
        Self {
            interrupts,
            distinctions,
            context: Context::new(parts.machine, parts.atoms),
            precision: StepPrecision {
                decays: false,
                exceptions: BitMasks::default(),
                forgets_dead: true,
                pinned: BitMasks::default(),
            },
            numbers: FxHashMap::default(),
            states: Vec::new(),
            faces: Vec::new(),
            labels: Vec::new(),
            edges: FxHashMap::default(),
            local: FxHashMap::default(),
            quiet: FxHashMap::default(),
            steps: 0,
            rests_on_model: false,
            parts,
        }
    }

    /// The number of states that were found.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn state(&self, number: u32) -> &NodeState {
        &self.states[number as usize]
    }

    pub(crate) fn face(&self, number: u32) -> &Face {
        &self.faces[number as usize]
    }

    /// The truth of an atom of this number in a state.
    pub(crate) fn label(&self, number: u32, atom: usize) -> Truth {
        let place = self.parts.numbers.iter().position(|known| *known == atom);
        place.map_or(Truth::Unknown, |place| self.labels[number as usize][place])
    }

    /// The value of a cell in a state.
    pub(crate) fn cell(&self, number: u32, address: DataAddress) -> TvByte {
        match self.state(number) {
            NodeState::At(AbstractState::Running(running)) => self.context.store.cell(running.memory, address),
            _ => TvByte::UNKNOWN,
        }
    }

    /// The events that atoms speak of.
    pub(crate) fn watched(&self) -> Arc<[WatchedEvent]> {
        Arc::clone(&self.context.watched)
    }

    /// True if the step into a state may have shown just these events.
    pub(crate) fn has_done(&self, number: u32, occurrences: &[Occurred]) -> bool {
        match self.state(number) {
            NodeState::At(AbstractState::Running(running)) => {
                occurrences_cover(self.context.store.occurrences.get(running.did.0), occurrences)
            }
            _ => false,
        }
    }

    /// True if the step into a state showed an event, or may have.
    pub(crate) fn may_have_done_something(&self, number: u32) -> bool {
        match self.state(number) {
            NodeState::At(AbstractState::Running(running)) => {
                !self.context.store.occurrences.get(running.did.0).is_empty()
            }
            _ => true,
        }
    }

    /// The state of a node once somebody else did a step: the events of the last step of the node are past. What is local is taken at once
    /// then.
    pub(crate) fn quiet(&mut self, number: u32) -> u32 {
        let NodeState::At(AbstractState::Running(running)) = *self.state(number) else { return number };
        if !self.may_have_done_something(number) {
            return number;
        }
        if let Some(known) = self.quiet.get(&number) {
            return *known;
        }
        let did = self.context.store.intern_occurrences(Box::default());
        let past = self.number(NodeState::At(AbstractState::Running(Running { did, ..running })));
        let quiet = self.followed(past);
        self.quiet.insert(number, quiet);
        quiet
    }

    /// The call frames of a running state.
    pub(crate) fn frames(&self, number: u32) -> Vec<avr_machine::Frame> {
        match self.state(number) {
            NodeState::At(AbstractState::Running(running)) => self.context.store.frames(running.calls).collect(),
            _ => Vec::new(),
        }
    }

    /// The number of the state in which a path ends for a reason.
    pub(crate) fn ended(&mut self, reason: String) -> u32 {
        self.number(NodeState::Ended(reason))
    }

    /// The state after power came on.
    pub(crate) fn initial(&mut self) -> u32 {
        let supply = Supply::default();
        let recorder = EventRecorder::new(&[], avr_isa::FlashByteAddress(0));
        let mut surroundings = Surroundings::new(&supply, (None, self.interrupts), false, recorder);
        self.context.power_on(&mut surroundings);
        let state = self.context.arrived(Box::default(), Deferral::default());
        let state = self.context.decay(state, &self.precision);
        let first = self.number(NodeState::At(state));
        self.followed(first)
    }

    fn number(&mut self, state: NodeState) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.states.len() as u32;
        let (face, labels) = match &state {
            NodeState::At(at @ AbstractState::Running(running)) => {
                let read = |address: DataAddress| self.context.store.cell(running.memory, address);
                (face(&self.parts, &read), self.context.labels(at))
            }
            _ => (Face::default(), vec![Truth::Unknown; self.parts.atoms.len()]),
        };
        self.faces.push(face);
        self.labels.push(labels);
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    /// The hyper-edges of a state under what the wires supply; none in a sink.
    pub(crate) fn edges(&mut self, state: u32, supply: &Supply) -> Edges {
        let key = (state, supply.clone());
        if let Some(edges) = self.edges.get(&key) {
            return Rc::clone(edges);
        }
        let (outcomes, _) = self.outcomes(state, supply);
        let mut edges: Vec<Vec<Target>> = Vec::new();
        let splits_cases = outcomes.iter().any(|outcome| outcome.is_case) && !is_on(Fault::CasesAreChoices);
        // SOUND: where nobody chooses among some outcomes, all are members of one hyper-edge, which whatever is chosen leads into.
        for outcome in outcomes {
            let state = self.followed(outcome.target.state);
            let target = Target { state, ..outcome.target };
            let is_known = edges.iter().any(|edge| edge.contains(&target));
            match edges.last_mut() {
                _ if is_known => {}
                Some(last) if splits_cases => last.push(target),
                _ => edges.push(vec![target]),
            }
        }
        let edges = Rc::new(edges);
        self.edges.insert(key, Rc::clone(&edges));
        edges
    }

    /// The states that the next step of a state leads to and that local steps follow until the wanted one.
    pub(crate) fn raw_targets(&mut self, state: u32, supply: &Supply, wanted: u32) -> Vec<u32> {
        let (outcomes, _) = self.outcomes(state, supply);
        let all = outcomes.into_iter().map(|outcome| outcome.target.state);
        all.filter(|raw| self.followed(*raw) == wanted).collect()
    }

    /// The UART and its interrupts.
    pub(crate) fn uart(&self) -> (Option<Uart>, UartInterrupts) {
        (self.parts.uart, self.interrupts)
    }

    /// All outcomes of the next step of a state, without what is local after it; and true if it looked at what wires supply.
    fn outcomes(&mut self, state: u32, supply: &Supply) -> (Vec<Outcome>, bool) {
        let NodeState::At(AbstractState::Running(running)) = *self.state(state) else { return (Vec::new(), true) };
        if let Some(reason) = self.refused(state) {
            return (vec![self.end(reason)], true);
        }
        let watched = self.watched();
        let recorder = EventRecorder::new(&watched, running.control.pc.byte());
        let (uart, interrupts) = (self.parts.uart, self.interrupts);
        let mut surroundings = Surroundings::new(supply, (uart, interrupts), self.distinctions.splits, recorder);
        let (mut outcomes, mut looked) = (Vec::new(), false);
        loop {
            surroundings.begin();
            self.context.working.load(&self.context.store, &running);
            self.steps += 1;
            let depth = self.context.working.state.calls.all().len();
            let stepped = self.parts.machine.step(&mut self.context.working.state, &mut surroundings);
            let after = &self.context.working.state;
            self.context.working.entered = (after.calls.all().len() > depth).then_some(after.control.pc);
            looked |= surroundings.accesses.looked;
            let next = match stepped {
                Ok(_) => {
                    let occurrences = surroundings.recorder.occurrences();
                    let next = self.context.arrived(occurrences, Deferral::default());
                    Some(NodeState::At(self.context.decay(next, &self.precision)))
                }
                Err(Stop::Hazard(hazard)) => {
                    let text = hazard.kind.name();
                    Some(NodeState::Ended(format!("the hazard {text} {}", self.place(running.control.pc.byte().0))))
                }
                Err(Stop::Limit(limit)) => {
                    Some(NodeState::Ended(format!("{limit} {}", self.place(running.control.pc.byte().0))))
                }
                Err(Stop::Infeasible) => None,
            };
            if let Some(next) = next {
                let (next, accesses) = (self.number(next), surroundings.accesses.clone());
                let target = self.target(state, next, &accesses);
                let has = |chooser| surroundings.script.iter().any(|answer| answer.chooser == chooser);
                let of_hardware = has(Chooser::Hardware);
                let is_case = has(Chooser::State) || of_hardware && self.distinctions.is_strict;
                outcomes.push(Outcome { is_case, is_choice: of_hardware || has(Chooser::World), target });
                self.rests_on_model |= surroundings.rests_on_model();
            }
            if outcomes.len() > MAX_OUTCOMES {
                let reason = format!("a step with too many outcomes {}", self.place(running.control.pc.byte().0));
                return (vec![self.end(reason)], true);
            }
            if !surroundings.advance() {
                return (outcomes, looked);
            }
        }
    }

    /// A step that ends in a state that is not followed.
    fn end(&mut self, reason: String) -> Outcome {
        let target = Target { state: self.ended(reason), effect: Effect::NONE };
        Outcome { is_case: false, is_choice: false, target }
    }

    /// The target of a step that went to a state; the end of the path if wires cannot follow what it did.
    fn target(&mut self, from: u32, next: u32, accesses: &Accesses) -> Target {
        let receives = self.face(next).uart.map_or(Truth::False, |uart| uart.receives);
        let sends = self.face(from).uart.map_or(Truth::True, |uart| uart.sends);
        let reason = if accesses.is_reset && self.parts.uart.is_some() {
            Some("a reset of a node with a serial line")
        } else if self.stops_line(next) {
            Some("sleep in a mode other than idle, which stops the serial line,")
        } else if self.stops_clock(from, next) {
            Some("a transmitter that is on and loses its clock")
        } else if receives == Truth::Unknown {
            Some("a receiver that may be off, or whose characters may not have eight bits,")
        } else if accesses.is_unclear {
            Some("an access through a pointer that may be to UDR0")
        } else if accesses.written.is_some() && sends != Truth::True {
            Some("a write to UDR0 while the transmitter may be off, or characters may not have eight bits")
        } else {
            None
        };
        match reason {
            Some(reason) => {
                let place = self.place_of(from);
                Target { state: self.ended(format!("{reason} {place}")), effect: Effect::NONE }
            }
            None => Target { state: next, effect: Effect::of(accesses) },
        }
    }

    /// True if a state sleeps in a mode in which the UART has no clock, and a line begins or ends at it.
    ///
    /// All modes but idle stop the clock of the peripherals (data sheet, "Active Clock Domains and Wake-up Sources in the Different Sleep
    /// Modes"): nothing is sent meanwhile, and frames that were on their way, or come, are lost or broken.
    fn stops_line(&self, state: u32) -> bool {
        let NodeState::At(AbstractState::Running(running)) = self.state(state) else { return false };
        if !running.control.sleeping || self.parts.uart.is_none() || is_on(Fault::SleepIgnored) {
            return false;
        }
        let Some(sleep) = &self.parts.machine.device.sleep else { return true };
        let mode = self.cell(state, sleep.mode_address);
        let is_known = mode.unknown_mask() & sleep.mode_mask == 0;
        let is_idle = |value: u8| sleep.modes.iter().any(|it| it.name == "idle" && it.value == value);
        !(is_known && is_idle(mode.value() & sleep.mode_mask))
    }

    /// The end of a path that comes to a state, from another one, while a frame of the node is on its way, or one comes to it, if the frame may
    /// be broken: there is no clock any more, or the settings are others (data sheet, "USART Initialization": no transmission may be ongoing then).
    pub(crate) fn broken_frame(&mut self, from: u32, next: u32) -> Option<u32> {
        let is_end = matches!(self.state(next), NodeState::Ended(_)) || is_on(Fault::SleepIgnored);
        let [before, after] = [from, next].map(|state| self.face(state).uart);
        let is_kept = after.is_none_or(|uart| uart.keeps_frames == Truth::True)
            && before.map(|uart| uart.settings) == after.map(|uart| uart.settings);
        if is_end || is_kept {
            return None;
        }
        let place = self.place_of(from);
        Some(self.ended(format!("a change of the clock or of the settings of a UART during a frame {place}")))
    }

    /// True if a step takes the clock away from a UART whose transmitter may be on. It is to be initialised anew when the clock is back (data
    /// sheet, "PRR", `PRUSART0`).
    fn stops_clock(&self, from: u32, next: u32) -> bool {
        let Some(uart) = self.parts.uart.filter(|_| !is_on(Fault::SleepIgnored)) else { return false };
        let is_clocked = |state| self.face(state).uart.map_or(Truth::True, |uart| uart.is_clocked);
        let control = self.cell(next, uart.control);
        let may_send = (control.value() | control.unknown_mask()) & Uart::SENDS != 0;
        is_clocked(from) == Truth::True && is_clocked(next) != Truth::True && may_send
    }

    /// The reason why wires cannot follow a state: interrupts of pins that may be enabled.
    fn refused(&self, state: u32) -> Option<String> {
        let is_wired = !self.parts.ends.is_empty();
        let of_pins = |name: &str| OF_PINS.iter().any(|beginning| name.starts_with(beginning));
        // The pin of a receiver on a line has the levels of frames.
        let is_of_line = |name: &str| name.starts_with("PCINT") && self.masks_receiver(state);
        let mut all = self.parts.machine.device.interrupts.iter();
        let enabled = all.find(|it| {
            let is_of_wire = is_wired && of_pins(it.name) || is_of_line(it.name);
            is_of_wire && bit(&|address| self.cell(state, address), it.enable) != Truth::False
        })?;
        Some(format!("the interrupt {} is enabled, and wires request none yet, {}", enabled.name, self.place_of(state)))
    }

    /// True if changes of the pin of a receiver on a line may be told of.
    fn masks_receiver(&self, state: u32) -> bool {
        let device = self.parts.machine.device;
        let mask = self.parts.uart.and_then(|uart| uart.change_mask(device));
        mask.is_some_and(|mask| bit(&|address| self.cell(state, address), mask) != Truth::False)
    }

    pub(crate) fn place_of(&self, state: u32) -> String {
        match self.state(state) {
            NodeState::At(AbstractState::Running(running)) => self.place(running.control.pc.byte().0),
            _ => String::new(),
        }
    }

    /// A flash byte address for people.
    pub(crate) fn place(&self, address: u32) -> String {
        match self.parts.image.symbols.function_at(avr_isa::FlashByteAddress(address)) {
            Some(function) => format!("at {address:#06x} (in {})", function.symbol.display_name()),
            None => format!("at {address:#06x}"),
        }
    }

    /// The state behind all local steps from a state.
    fn followed(&mut self, first: u32) -> u32 {
        let (mut state, mut seen) = (first, FxHashSet::default());
        for _ in 0..MAX_CHAIN {
            let Some(next) = self.local_step(state) else { return state };
            if !seen.insert(state) {
                // A loop of local steps: its first state in the order of numbers stands for it.
                return self.smallest_of_loop(state);
            }
            state = next;
        }
        state
    }

    fn smallest_of_loop(&mut self, start: u32) -> u32 {
        let (mut smallest, mut state) = (start, start);
        while let Some(next) = self.local_step(state).filter(|next| *next != start) {
            smallest = smallest.min(next);
            state = next;
        }
        smallest
    }

    /// The next state of a state whose step is local.
    pub(crate) fn local_step(&mut self, state: u32) -> Option<u32> {
        if let Some(known) = self.local.get(&state) {
            return *known;
        }
        let next = self.found_local_step(state);
        self.local.insert(state, next);
        next
    }

    fn found_local_step(&mut self, state: u32) -> Option<u32> {
        if self.distinctions.single_steps {
            return None;
        }
        // A local step does not look at what wires supply, so that may be anything.
        let supply = self.any_supply();
        let (outcomes, looked) = self.outcomes(state, &supply);
        let [only] = outcomes.as_slice() else { return None };
        let next = only.target.state;
        let is_quiet = only.target.effect == Effect::NONE;
        let is_end = matches!(self.state(next), NodeState::Ended(_));
        let is_seen = self.face(state) != self.face(next) && !is_on(Fault::WriteIsLocal);
        let labels = &self.labels[state as usize];
        // SOUND: a label that is not known before and behind a step may be another one behind it, and an automaton tells one value from two.
        let may_differ = self.distinctions.tells_unknown && labels.contains(&Truth::Unknown);
        let is_told = *labels != self.labels[next as usize] || may_differ && !is_on(Fault::UnknownStays);
        let is_one = !only.is_case && !only.is_choice;
        // Specifications count events, also where one follows another of its kind.
        let is_event = self.may_have_done_something(next) && !is_on(Fault::EventsMerged);
        (is_quiet && !is_event && is_one && !is_end && !looked && !is_seen && !is_told).then_some(next)
    }

    /// Wires of which nothing is known.
    fn any_supply(&self) -> Supply {
        use crate::environment::{Pins, Received, Sending};
        let mut pins: Vec<Pins> = Vec::new();
        for end in &self.parts.ends {
            let (address, mask) = (end.pin.address, end.pin.mask());
            match pins.iter_mut().find(|pins| pins.address == address) {
                Some(known) => known.wired |= mask,
                None => pins.push(Pins { address, wired: mask, level: TvByte::UNKNOWN, floating: 0 }),
            }
        }
        for known in &mut pins {
            known.level = TvByte::new(0, !known.wired);
        }
        let received = Received { first: Some(TvByte::UNKNOWN), overrun: true };
        let sending = Sending { is_empty: true, is_sent: Truth::Unknown };
        let has_uart = self.parts.uart.is_some();
        Supply { pins, received: has_uart.then_some(received), sending: has_uart.then_some(sending) }
    }
}

/// The part of a state with these cells that others see.
pub(crate) fn face(parts: &Parts<'_>, read: &dyn Fn(DataAddress) -> TvByte) -> Face {
    let pins = parts.ends.iter().map(|end| end.state(parts.machine.device, read)).collect();
    let uart = parts.uart.map(|uart| {
        let bits = |address: DataAddress, mask: u8, value: u8| {
            let byte = read(address);
            match (byte.known_mask() & (byte.value() ^ value) & mask != 0, byte.unknown_mask() & mask) {
                (true, _) => Truth::False,
                (false, 0) => Truth::True,
                (false, _) => Truth::Unknown,
            }
        };
        // Asynchronous characters of eight bits, and no filter of addresses.
        let is_plain = bits(uart.format, 0xc6, 0x06) & bits(uart.control, 0x04, 0) & bits(uart.status, 0x01, 0);
        let is_clocked = !uart.stopped.map_or(Truth::False, |stopped| bit(read, stopped));
        let is_plain = is_plain & is_clocked;
        let speed = read(uart.status);
        let speed = TvByte::new(speed.value() & Uart::DOUBLE_SPEED, speed.known_mask() | !Uart::DOUBLE_SPEED);
        let settings = [read(uart.format), read(uart.rate[0]), read(uart.rate[1]), speed];
        // RXEN0 and TXEN0.
        let receives = match bits(uart.control, 0x10, 0x10) {
            Truth::True if is_plain != Truth::True => Truth::Unknown,
            receives => receives,
        };
        let sends = bits(uart.control, Uart::SENDS, Uart::SENDS) & is_plain;
        UartState { receives, sends, keeps_frames: is_plain, is_clocked, settings }
    });
    Face { pins, uart }
}
