//! Deliberate faults of all crates, to measure what tests and oracles find: one at a time, switched at run time.
//!
//! They exist in builds with the feature `faults` only, which tests and oracles ask for; without it [`is_on`] is a constant. The environment variable
//! `AVR_TVAR_FAULT` puts one in for a whole process. `tests/faults/table.md` says what finds each.

/// Declares the faults with the names that the environment variable and the table have, and what is wrong.
macro_rules! faults {
    ($($fault:ident $name:literal $meaning:literal;)*) => {
        /// A deliberate fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Fault {
            $(#[doc = $meaning] $fault,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$fault,)*];

            /// The name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$fault => $name,)* }
            }

            /// The error in the verifier that the fault brings in, in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$fault => $meaning,)* }
            }
        }
    };
}

faults! {
    EntryForgotten "entry-forgotten" "Passing a handler in one step forgets what the entry does to flags.";
    LowByteUncounted "low-byte-uncounted" "A write of SPL alone is no change of the stack pointer that counts.";
    FramesKept "frames-kept" "Return addresses stay when SP is raised by writing it.";
    DataUnchecked "data-unchecked" "Writing SP does not check that the stack stays out of static data.";
    BusyStale "busy-stale" "A write to EECR takes a stored EEPE for the truth.";
    FlagStays "flag-stays" "Entering a handler does not clear the latched flag.";
    EntryKeepsI "entry-keeps-i" "Entering a handler does not clear I.";
    NoDelayAfterSei "no-delay-after-sei" "An interrupt may come at once after I was set.";
    NoDelayAfterReti "no-delay-after-reti" "An interrupt may come at once after RETI.";
    LowestPriorityFirst "lowest-priority-first" "Of several interrupts that are certain the one with the highest number comes.";
    HalfCarryInverted "half-carry-inverted" "H is inverted after sums and differences.";
    ZeroNotChained "zero-not-chained" "CPC and SBC set Z without regard to its old value.";
    SignWithoutOverflow "sign-without-overflow" "S is N, without V.";
    SkipOneWord "skip-one-word" "A skip passes one word of an instruction of two.";
    WordCarryLost "word-carry-lost" "ADIW and SBIW do not carry into the high byte.";
    JoinKeepsFirst "join-keeps-first" "The join of two bytes is the first one.";
    UnknownIsZero "unknown-is-zero" "A bit that is forgotten becomes 0.";
    RangeTooNarrow "range-too-narrow" "The range of a sum lacks its greatest value.";
    CoversBlindly "covers-blindly" "A memory is taken to cover every other one.";
    LastSuccessorIgnored "last-successor-ignored" "The solver does not look at the last successor of a state.";
    CasesAreChoices "cases-are-choices" "Cases of stored values are taken for choices of the environment.";
    NothingOwed "nothing-owed" "Interrupts that were left for later do not catch up.";
    HazardsUnseen "hazards-unseen" "States and interrupts are left out although a formula tells what comes before a hazard.";
    LeastIsGreatest "least-is-greatest" "The solver takes least fixed points for greatest ones.";
    StartUnrestricted "start-unrestricted" "The first start is any, whatever the property file says.";
    ResetUnrestricted "reset-unrestricted" "A later reset comes whatever state it leaves.";
    KeptCausesUnheeded "kept-causes-unheeded" "The causes that a reset keeps are not looked at where they are restricted.";
    WatchdogUnforced "watchdog-unforced" "The watchdog is off at a first start after its own reset.";
    EndedRunsGoOn "ended-runs-go-on" "Interrupts and resets come in an application of which nothing is known.";
    ApplicationReadErased "application-read-erased" "An application of which nothing is known reads as erased flash.";
    AutomatonStays "automaton-stays" "An automaton of the environment makes no moves.";
    AutomatonUnheeded "automaton-unheeded" "Inputs that an automaton drives have any value.";
    AutomatonUnsplit "automaton-unsplit" "It is not asked whether a pin is an input before an automaton drives it.";
    AutomatonFirstCase "automaton-first-case" "An automaton that hears an unknown value takes it for the first that it answers.";
    AutomatonNoChoice "automaton-no-choice" "Of several moves of an automaton only the first is made.";
    CallUsedKept "call-used-kept" "A function with a contract changes no register.";
    WrittenKept "written-kept" "A function with a contract changes none of the cells that the contract names.";
    FirstProduct "first-product" "A function with a contract returns only the first part of the words that it may return.";
    BodySilent "body-silent" "A function with a contract causes no event, whatever the contract allows.";
    BodyUnheard "body-unheard" "The proof of a body does not look at its events.";
    BodyInterrupted "body-interrupted" "Interrupts do not come while a function with a contract runs, wherever they may.";
    BodySeen "body-seen" "Atoms have the same truth inside a function with a contract as at its call.";
    StackKept "stack-kept" "Going to the stack of another task leaves the return addresses in use where they are.";
    HalfPointerWhole "half-pointer-whole" "A write of SPL is a whole change of SP, although that of SPH follows.";
    SavedRegisterKept "saved-register-kept" "POP on the stack of a task does not change the register.";
    OtherStackUnwritten "other-stack-unwritten" "A store into the stack of a task that waits with a return address there is forgotten.";
    TaskOverflowUnseen "task-overflow-unseen" "Pushes and pops of a task may leave its stack.";
    SavedReturnTrusted "saved-return-trusted" "A return on the stack of a task goes to what a call pushed there, whatever lies there now.";
    StartOfNextCell "start-of-next-cell" "What is said of a cell at the first start is taken for the next one.";
    AbsentEntered "absent-entered" "Entering an application that is absent is no hazard: runs end there.";
    LongReturnReversed "long-return-reversed" "The three bytes of a long return address are pushed and popped in the opposite order.";
    VectorsOfTwoWords "vectors-of-two-words" "Each vector has two words, on every device.";
    DeadIsFree "dead-is-free" "An input for which an automaton has no value has any.";
}

#[cfg(not(feature = "faults"))]
mod switch {
    use super::Fault;

    /// True if a fault is put in: never in this build.
    #[inline]
    #[must_use]
    pub const fn is_on(_: Fault) -> bool {
        false
    }
}

#[cfg(feature = "faults")]
mod switch {
    use super::Fault;
    use std::sync::atomic::{AtomicU8, Ordering};

    const NONE: u8 = u8::MAX;
    const UNREAD: u8 = u8::MAX - 1;

    static CURRENT: AtomicU8 = AtomicU8::new(UNREAD);

    /// True if a fault is put in.
    #[inline]
    #[must_use]
    pub fn is_on(fault: Fault) -> bool {
        let current = CURRENT.load(Ordering::Relaxed);
        if current == UNREAD { read() == fault as u8 } else { current == fault as u8 }
    }

    /// Puts a fault in for the whole process, or takes it out.
    pub fn put_in(fault: Option<Fault>) {
        CURRENT.store(fault.map_or(NONE, |fault| fault as u8), Ordering::Relaxed);
    }

    /// Takes the fault from the environment variable `AVR_TVAR_FAULT`.
    ///
    /// # Panics
    /// If it names no fault: a misspelt one must not pass for none.
    fn read() -> u8 {
        let name = std::env::var("AVR_TVAR_FAULT").ok();
        let named = |name: &String| Fault::ALL.iter().copied().find(|fault| fault.name() == name);
        let fault = name.as_ref().map(|name| named(name).unwrap_or_else(|| panic!("there is no fault {name}")));
        put_in(fault);
        fault.map_or(NONE, |fault| fault as u8)
    }
}

pub use switch::*;
