//! Deliberate faults of the composition, for tests that must find them.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Characters get lost on the way.
    CharacterDropped,
    /// Receivers keep any number of characters.
    NothingLost,
    /// The last node waits as long as the first one can go on.
    InterleavingLeftOut,
    /// States in which nothing can happen any more count as those in which something can.
    DeadlockIgnored,
    /// A step that drives a wire counts as one that concerns nobody else.
    WriteIsLocal,
    /// A floating wire is low.
    FloatingIsLow,
    /// Runs in which a node never goes on count.
    UnfairCounts,
    /// The end of a run repeats although nodes stand still in it.
    RepetitionIsUnfair,
    /// The end of a run repeats although nodes are elsewhere after it.
    RepetitionNotClosed,
    /// An event that a specification does not answer is passed over.
    UnansweredPassed,
    /// A specification answers with knowledge of the whole run where it may not.
    SimulationOfSets,
    /// The data of a specification are not asked for where a simulation is sought.
    DataUnasked,
    /// Two events of one kind, one right after the other, count as one.
    EventsMerged,
    /// A choice that the hardware determines counts as one of the world around the system.
    HardwareIsWorld,
    /// The cases of what is stored count as choices.
    CasesAreChoices,
    /// An interrupt that a line requests waits for any number of instructions in runs.
    RequestsWait,
    /// The flag that tells that everything is sent is 1 just while nothing is on the line.
    SentIsIdle,
    /// That flag rises in the moment in which the other end has the character.
    SentAtOnce,
    /// That flag does not rise at the end of a frame that began to end while it was 1.
    RisesFromLowOnly,
    /// Characters come and go in every sleep mode, and without a clock.
    SleepIgnored,
    /// The registers of a UART without a clock read as the line says.
    StoppedIsRead,
    /// The pin of a receiver on a line counts as one of the world around the system.
    LinePinIsWorld,
    /// The level that a node reads at the beginning of a wire is free.
    BeginningIsFree,
    /// No formula tells moments without events.
    MomentsUntold,
    /// Formulas that count steps are asked of states between which others are left out.
    StepsUncounted,
    /// States do not tell who did the last step.
    MoverForgotten,
    /// Rounds in which each node has its turn never end.
    RoundsNeverEnd,
    /// A round ends when the last one of all nodes and lines has its turn.
    RoundsOfTheLast,
    /// A character of which nothing is known is 0.
    UnknownIsZero,
    /// Steps that concern nobody else are taken at once behind an event, too.
    EventsOverAtOnce,
    /// A label that is not known before and behind a step is the same.
    UnknownStays,
    /// The past of a formula about runs from each state begins where the system does.
    PastGoesOn,
}

#[cfg(any(test, feature = "faults"))]
std::thread_local! {
    static FAULT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// True if this thread has a fault.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn is_on(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

/// True if this thread has a fault: never.
#[cfg(not(any(test, feature = "faults")))]
pub(crate) fn is_on(_: Fault) -> bool {
    false
}

/// Does something with a fault, and takes it out again.
#[cfg(any(test, feature = "faults"))]
pub fn with_fault<T>(fault: Fault, work: impl FnOnce() -> T) -> T {
    struct TakenOut;
    impl Drop for TakenOut {
        fn drop(&mut self) {
            FAULT.set(None);
        }
    }
    FAULT.set(Some(fault));
    let _taken_out = TakenOut;
    work()
}
