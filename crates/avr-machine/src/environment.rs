//! The interface of the environment that a machine asks while it takes a step.

use crate::comparison::Comparison;
use crate::copies::Copies;
use crate::data_space::DataSpace;
use crate::device::ResetCause;
use crate::hazard::{Limit, Stop};
use crate::machine::Machine;
use crate::state::MachineState;
use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use three_valued::{ByteDomain, Truth, TvByte};

/// The source of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The content of a cell before the program starts, by data address.
    Initial(DataAddress),
    /// The bits that hardware supplies when the register at this data address is read or set by hardware.
    Register(DataAddress),
}

/// The use of an input in the step. If the step itself depends on it, leaving it open would only move the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The value is only stored.
    Stored,
    /// The value decides where execution goes in this very step.
    Decides,
}

/// Something that happens during a step and that properties can speak of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a, V> {
    /// The program read the register or memory cell at this data address; the value read.
    Read(DataAddress, &'a V),
    /// The program wrote the register or memory cell at this data address; the value written. SBI and CBI write one bit: the stored bits
    /// beside it have their old values, and flags and strobes are 0.
    Write(DataAddress, &'a V),
    /// The program may have read this cell, through an address that is not known; the value read if it did.
    PerhapsRead(DataAddress, &'a V),
    /// The program may have written this cell, through an address that is not known; the value written if it did.
    PerhapsWrite(DataAddress, &'a V),
    /// A call to this flash word address.
    Call(FlashWordAddress),
    /// A return to this flash word address, and what its frame carried ([`Frame::left`](crate::Frame::left)).
    Return(FlashWordAddress, u64),
    /// The entry into the handler of the interrupt with this number.
    Interrupt(u8),
    /// WDR restarted the watchdog's time.
    WatchdogRestart,
}

/// The player who determines an input or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeterminedBy {
    /// The environment: it can do so at any time (pins, received bytes, conversions, external requests).
    Environment,
    /// The environment, if enough clock cycles have passed since it last did (a received byte): see
    /// [`Freedom::RealEvery`](crate::device::Freedom::RealEvery). Who does not count cycles takes it for the hardware.
    EnvironmentInTime,
    /// The hardware, in a way that the model leaves open (timer phase, the end of a transmission) and the simulation of the
    /// peripherals knows.
    Hardware,
    /// Not known: the data sheet does not say, its versions differ, or the simulation is known to be
    /// inexact there.
    Undefined,
}

/// The event that a step is spent on, where the environment has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Happening {
    /// The instruction at PC is executed; in sleep, another moment passes.
    Continue,
    /// The handler of the interrupt with this number is entered.
    Interrupt(u8),
    /// The processor wakes, and no handler is entered.
    Wake,
    /// A reset of this cause.
    Reset(ResetCause),
}

/// The events that are possible in a step: at least one. They are numbered as [`Self::iter`] gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Possibilities {
    continues: bool,
    interrupts: u128,
    /// Those of the interrupts that the hardware determines.
    abstracted: u128,
    /// Those that the environment determines if enough time has passed.
    in_time: u128,
    /// Those of which the data sheet does not say if they come.
    undefined: u128,
    /// Those of which it may be that they never come.
    doubtful: u128,
    /// Who determines whether the processor wakes and enters no handler, if it can.
    wakes: Option<DeterminedBy>,
    resets: u8,
}

impl Possibilities {
    /// Going on is possible.
    pub(crate) fn allow_continuing(&mut self) {
        self.continues = true;
    }

    /// The interrupt with this number, below 128, is possible.
    pub(crate) fn add_interrupt(&mut self, number: u8, by: DeterminedBy) {
        self.interrupts |= 1 << number;
        match by {
            DeterminedBy::Environment => {}
            DeterminedBy::EnvironmentInTime => self.in_time |= 1 << number,
            DeterminedBy::Hardware => self.abstracted |= 1 << number,
            DeterminedBy::Undefined => self.undefined |= 1 << number,
        }
    }

    /// Waking without an interrupt is possible.
    pub(crate) fn allow_waking(&mut self, by: DeterminedBy) {
        self.wakes = Some(by);
    }

    /// Takes note that the interrupt with this number may be one that never comes.
    pub(crate) fn doubt_interrupt(&mut self, number: u8) {
        self.doubtful |= 1 << number;
    }

    /// True if it may be that nothing of it ever happens, apart from going on.
    pub(crate) fn are_all_doubtful(&self) -> bool {
        self.interrupts & !self.doubtful == 0 && self.resets == 0 && self.wakes.is_none()
    }

    /// The player who determines if something happens. Going on counts as a choice of the environment.
    #[must_use]
    pub fn determined_by(&self, happening: Happening) -> DeterminedBy {
        match happening {
            Happening::Interrupt(number) if self.abstracted >> number & 1 == 1 => DeterminedBy::Hardware,
            Happening::Interrupt(number) if self.in_time >> number & 1 == 1 => DeterminedBy::EnvironmentInTime,
            Happening::Interrupt(number) if self.undefined >> number & 1 == 1 => DeterminedBy::Undefined,
            Happening::Wake => self.wakes.unwrap_or(DeterminedBy::Undefined),
            Happening::Reset(ResetCause::Watchdog) => DeterminedBy::Hardware,
            Happening::Interrupt(_) | Happening::Reset(_) | Happening::Continue => DeterminedBy::Environment,
        }
    }

    /// No interrupt is possible.
    pub(crate) fn remove_interrupts(&mut self) {
        self.interrupts = 0;
        self.abstracted = 0;
        self.in_time = 0;
        self.undefined = 0;
    }

    /// True if an interrupt is possible, and no reset.
    pub(crate) fn are_only_interrupts(&self) -> bool {
        self.interrupts != 0 && self.resets == 0 && self.wakes.is_none()
    }

    /// A reset is possible.
    pub(crate) fn add_reset(&mut self, cause: ResetCause) {
        self.resets |= 1 << cause as u8;
    }

    /// True if there is nothing but going on.
    pub(crate) fn is_quiet(&self) -> bool {
        self.interrupts == 0 && self.resets == 0 && self.wakes.is_none()
    }

    /// The number of events.
    #[must_use]
    pub fn count(&self) -> usize {
        let single = u32::from(self.continues) + u32::from(self.wakes.is_some());
        (single + self.interrupts.count_ones() + self.resets.count_ones()) as usize
    }

    /// All of them: going on, the interrupts by rising number, waking without one, the resets.
    pub fn iter(&self) -> impl Iterator<Item = Happening> + use<> {
        const CAUSES: [ResetCause; 4] =
            [ResetCause::PowerOn, ResetCause::External, ResetCause::BrownOut, ResetCause::Watchdog];
        let Self { interrupts, resets, wakes, .. } = *self;
        let mut rest = interrupts;
        let interrupts = std::iter::from_fn(move || {
            let number = rest.trailing_zeros() as u8;
            (rest != 0).then(|| {
                rest &= rest - 1;
                Happening::Interrupt(number)
            })
        });
        let resets = CAUSES.into_iter().filter(move |cause| resets >> *cause as u8 & 1 == 1).map(Happening::Reset);
        let wake = wakes.map(|_| Happening::Wake);
        self.continues.then_some(Happening::Continue).into_iter().chain(interrupts).chain(wake).chain(resets)
    }
}

/// The subject of a question about the stored state.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a, V: ByteDomain> {
    /// A bit.
    Bit(&'a V::Bit),
    /// Whole bytes, such as an address.
    Bytes(&'a [&'a V]),
}

/// The world around the machine during one step: it supplies inputs and decides questions that the machine leaves open.
///
/// There are two kinds of open questions and they must never be confused (they have different quantifiers). An *input*
/// and a *choice* are made by the environment in this very step. A *case* is about what is already stored in the state:
/// no player chooses it, it merely is not known.
pub trait Environment<V: ByteDomain> {
    /// The value of the input bits in `mask`, which `by` determines; the other bits of the result are 0.
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> V;

    /// The value of the input bits in `mask`, which is in one of these disjoint parts, with the number of the part. The other bits of
    /// the result are 0, and those of the parts as well.
    ///
    /// # Errors
    /// If the value is in none of them, or if it is not told in which.
    fn input_among(
        &mut self,
        source: Input,
        mask: u8,
        parts: &[TvByte],
        _demand: Demand,
        by: DeterminedBy,
    ) -> Result<(usize, V), Stop> {
        let value = self.input(source, mask, Demand::Decides, by);
        // SOUND: a sink says nothing of what comes after it.
        let known = value.known().ok_or(Stop::Limit(Limit::TooManyCases))?;
        let part = parts.iter().position(|part| part.contains(known)).ok_or(Stop::Infeasible)?;
        Ok((part, value))
    }

    /// True if the bits of a register that one player determines are to be asked for at once, not one group after the other.
    fn asks_at_once(&self, _register: DataAddress) -> bool {
        false
    }

    /// Picks one of `count` things that the environment may do in this step.
    fn choose(&mut self, count: usize) -> usize;

    /// Picks one of the things that may happen in this step, by its number. For who does not care which is which,
    /// [`Self::choose`] picks.
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        self.choose(possibilities.count())
    }

    /// True if the environment is sure that the processor, unless it sleeps, goes on in this step: no request stands in
    /// the state for an enabled interrupt, and the environment would pick [`Happening::Continue`]. An environment that
    /// explores every possibility never is.
    fn is_quiet(&self) -> bool {
        false
    }

    /// True if an interrupt counts as possible while its enable bit or its flag is not known, and they are settled only where it is chosen: fewer
    /// cases than settling them first, of which those that go on tell less.
    fn settles_late(&self) -> bool {
        false
    }

    /// True if the environment defers interrupts that are possible before this instruction, and not certain.
    fn postpones(&mut self) -> bool {
        false
    }

    /// True if the environment defers even an interrupt that is certain before this instruction.
    fn defers(&mut self) -> bool {
        false
    }

    /// True if pending interrupts may come now although one more instruction is to run first.
    fn catches_up(&self) -> bool {
        false
    }

    /// True if pending interrupts that may come now do not, because the environment can keep them away. Asked only where
    /// none of them is certain.
    fn leaves_catching_up(&mut self, _possible: &Possibilities) -> bool {
        false
    }

    /// Picks one of `count` cases that the stored state may be in. Concrete states have only one.
    fn case(&mut self, count: usize, about: Question<'_, V>) -> usize;

    /// True if nothing may be lost of what the values of the domain say of each other. Then all questions about the stored
    /// state are about single bits, each step goes as that of a concrete state in the same case would, and nothing is taken
    /// for open that some case decides.
    fn is_exact(&self) -> bool {
        false
    }

    /// True if functions with contracts do what their contracts allow, in place of what their bodies do. An environment of concrete
    /// runs never wants that.
    fn replaces_bodies(&self) -> bool {
        false
    }

    /// Is asked before the instruction at PC is executed, once it is clear that nothing else happens in this step: here what
    /// is stored and unknown may be cut into cases.
    fn before_instruction(&mut self, _machine: &Machine, _state: &mut MachineState<V>) {}

    /// True if comparisons are to narrow this register, in cases, where the instruction at a flash word address comes
    /// next.
    fn learns(&self, _register: Register, _next: FlashWordAddress) -> bool {
        false
    }

    /// True if they are to do so where they ask for nothing but whether something is equal, too.
    fn learns_equalities(&self) -> bool {
        false
    }

    /// True if comparisons are to tell on which side of a constant a value is that is not equal to it.
    fn learns_inequalities(&self) -> bool {
        false
    }

    /// True if comparisons are to narrow this cell of the SRAM.
    fn learns_cell(&self, _address: DataAddress) -> bool {
        false
    }

    /// True if the environment keeps outcomes of comparisons, as predicates over what they compare.
    fn relates(&self) -> bool {
        false
    }

    /// The number of a comparison whose outcome is to be kept, from 1; 0 if it is not.
    fn relation(&mut self, _comparison: &Comparison) -> u8 {
        0
    }

    /// The flag after the comparison of this number, if predicates of the state tell it.
    fn outcome(&mut self, _number: u8, _flag: u8, _data: &DataSpace<V>) -> Truth {
        Truth::Unknown
    }

    /// Takes note in the state, which has such copies, that the comparison of this number gives a flag this value.
    fn decided(&mut self, _number: u8, _flag: u8, _value: bool, _copies: Copies, _data: &mut DataSpace<V>) {}

    /// The number of the comparison of a number with a constant that is subtracted from it, from 1; 0 if the environment knows nothing of
    /// such a difference.
    fn difference(&mut self, _comparison: &Comparison) -> u8 {
        0
    }

    /// Is told before an instruction that with it registers hold a number without the constant that it is compared with in the comparison
    /// of this number: those from `first` on.
    fn subtracts(&mut self, _number: u8, _first: Register, _data: &DataSpace<V>) {}

    /// Is told that a step is done, with the instruction that was executed, if it was one, and the copies that are known then.
    fn stepped(&mut self, _executed: Option<Instruction>, _copies: Copies, _data: &mut DataSpace<V>) {}

    /// True if results have ranges besides their bits.
    fn has_ranges(&self) -> bool {
        false
    }

    /// The most cells that a store through an unknown pointer may select, and the most targets that an indirect jump may
    /// have; with more of them the machine cannot go on.
    fn most_targets(&self) -> usize {
        usize::MAX
    }

    /// Is told what is not known well enough when the machine cannot go on for that reason.
    fn stuck(&mut self, _about: &[&V]) {}

    /// Is told that an instruction leads from one flash word address to another and is no call, and no return to what a
    /// call pushed. The answer is added to what the youngest frame carries ([`Frame::left`](crate::Frame::left)).
    fn moves(&mut self, _from: FlashWordAddress, _to: FlashWordAddress) -> u64 {
        0
    }

    /// Takes note of something that happens.
    fn event(&mut self, _event: Event<'_, V>) {}
}
