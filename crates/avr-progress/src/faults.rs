//! Deliberate faults, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Handlers may return to where the next interrupt comes at once.
    NoDelayPassed,
    /// Handlers may have loops.
    HandlerLoopsPassed,
    /// The last head is left out.
    HeadLeftOut,
    /// Steps to the instruction behind are no ways.
    BehindForgotten,
    /// Of the entries at a head the first one stands for all.
    FirstEntryOnly,
    /// A head is where its program counter is, whatever is to be returned to.
    FramesForgotten,
    /// A state on the way that may be one of the target counts as one.
    PossibleReached,
    /// A state on the way that is none of the target counts as one.
    KeptInverted,
    /// Bits that are not known at a head are 0.
    UnknownIsZero,
    /// A rank need not fall.
    RankStays,
    /// A head is solved without a query.
    HeadPassed,
    /// A query without an answer counts as one that nothing satisfies.
    UnansweredPassed,
    /// Paths that end elsewhere than at a head end well.
    ElsewherePassed,
    /// The states before the first head are left out.
    StartForgotten,
    /// Of paths that are not followed further nothing is asked.
    CannotPassed,
    /// Heads without a claim are passed by the check.
    ClaimForgotten,
    /// For the check each head that has a claim comes before the others.
    GroupForgotten,
    /// No interrupt comes on paths on which something is awaited.
    InterruptsForgotten,
    /// Nothing is awaited from states between heads.
    TriggerForgotten,
    /// Nothing is demanded of the states on the way.
    HoldsForgotten,
    /// Of the states on the way those at heads are looked at.
    HoldsAtHeadsOnly,
    /// States in handlers are not looked at.
    HoldsInHandlersForgotten,
    /// The first state is not looked at.
    HoldsAtFirstForgotten,
    /// The state at the head at which a way ends is not looked at.
    HoldsAtLastForgotten,
    /// A claim about some states of a head serves all of them.
    RegionForgotten,
    /// A state that may be one of the trigger leads on like one that is.
    PossibleTriggerPassed,
    /// Of the states from which something is to be possible those between heads are left out.
    BetweenForgotten,
    /// Of the states from which something is to be possible those at heads are left out.
    TriggerAtHeadsForgotten,
    /// Paths from power-on to the first heads are left out.
    PowerOnForgotten,
    /// Heads at which something is awaited are left out.
    AwaitedForgotten,
    /// A fair interrupt that came counts as one that stayed away.
    FiringForgotten,
    /// A fair interrupt need not be enabled.
    EnabledForgotten,
    /// A fair interrupt need not be let in.
    LetInForgotten,
    /// Paths from heads at which nothing is awaited are left out.
    IdleForgotten,
    /// The condition of a promise is left out.
    LastsForgotten,
    /// The registers of a promise may be written.
    TouchedForgotten,
    /// An interrupt is let in also where one more instruction runs before it.
    DelayForgotten,
    /// An instruction that reads a bit shows that another one of the register has not changed.
    OtherBitsRead,
    /// Loops of a group may wait for different interrupts.
    WaitsForgotten,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::NoDelayPassed,
        Self::HandlerLoopsPassed,
        Self::HeadLeftOut,
        Self::BehindForgotten,
        Self::FirstEntryOnly,
        Self::FramesForgotten,
        Self::PossibleReached,
        Self::KeptInverted,
        Self::UnknownIsZero,
        Self::RankStays,
        Self::HeadPassed,
        Self::UnansweredPassed,
        Self::ElsewherePassed,
        Self::StartForgotten,
        Self::CannotPassed,
        Self::ClaimForgotten,
        Self::GroupForgotten,
        Self::InterruptsForgotten,
        Self::TriggerForgotten,
        Self::HoldsForgotten,
        Self::HoldsAtHeadsOnly,
        Self::HoldsInHandlersForgotten,
        Self::HoldsAtFirstForgotten,
        Self::HoldsAtLastForgotten,
        Self::RegionForgotten,
        Self::PossibleTriggerPassed,
        Self::BetweenForgotten,
        Self::TriggerAtHeadsForgotten,
        Self::PowerOnForgotten,
        Self::AwaitedForgotten,
        Self::FiringForgotten,
        Self::EnabledForgotten,
        Self::LetInForgotten,
        Self::IdleForgotten,
        Self::LastsForgotten,
        Self::TouchedForgotten,
        Self::DelayForgotten,
        Self::OtherBitsRead,
        Self::WaitsForgotten,
    ];
}

#[cfg(any(test, feature = "faults"))]
std::thread_local! {
    static CURRENT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Does something on this thread with a fault, which is taken out again whatever comes of it.
#[cfg(any(test, feature = "faults"))]
pub fn with_fault<T>(fault: Fault, work: impl FnOnce() -> T) -> T {
    struct TakenOut;
    impl Drop for TakenOut {
        fn drop(&mut self) {
            CURRENT.set(None);
        }
    }
    CURRENT.set(Some(fault));
    let _taken_out = TakenOut;
    work()
}

/// True if a fault is put in.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn is_on(fault: Fault) -> bool {
    CURRENT.get() == Some(fault)
}

/// True if a fault is put in: never in this build.
#[cfg(not(any(test, feature = "faults")))]
pub(crate) const fn is_on(_: Fault) -> bool {
    false
}
