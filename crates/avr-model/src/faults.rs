//! Deliberate faults in the reductions, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// Declares the faults of one reduction.
macro_rules! faults {
    ($module:ident { $($(#[$meaning:meta])* $fault:ident,)* }) => {
        /// The faults of one reduction.
        pub mod $module {
            /// A deliberate fault.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum Fault {
                $($(#[$meaning])* $fault,)*
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
            pub fn is_on(fault: Fault) -> bool {
                CURRENT.get() == Some(fault)
            }

            /// True if a fault is put in: never in this build.
            #[cfg(not(any(test, feature = "faults")))]
            #[must_use]
            pub const fn is_on(_: Fault) -> bool {
                false
            }
        }
    };
}

faults! {
    partial_order {
        /// All handlers are taken to be transparent.
        AllTransparent,
        /// No instruction is taken to conflict with handlers.
        NoConflicts,
        /// Deferred interrupts that are pending do not come.
        NothingPending,
        /// Interrupts may come later although the stack is shallower then.
        ShallowerLater,
        /// Interrupts are taken to have had their chance where the stack was shallower.
        GrantedShallower,
        /// The read and write sets of handlers are not noted.
        NothingNoted,
        /// A cell below the stack pointer is taken to hold what was loaded from it.
        CopiesOfGarbage,
        /// That code goes on although an interrupt is certain is taken for something that the hardware does.
        DeferredIsSure,
        /// The visibility of properties is not looked at.
        NothingSeen,
        /// Interrupts are not looked at where they had their chance before, although it matters where they can come.
        GrantedBefore,
        /// Formulas with the atom `hazard` are taken for formulas that do not see the steps into hazards.
        HazardsUnseen,
    }
}

faults! {
    path_compression {
        /// Of a step with several outcomes one is followed.
        FirstOutcomeOnly,
        /// States with the deepest stack are skipped.
        DeepestLeftOut,
        /// A step with several outcomes is kept as the first of them.
        NotTakenBack,
        /// Of cases that are to be merged the first stands for all.
        FirstCaseOnly,
        /// Labels are not compared.
        LabelsUnseen,
        /// The state before a label changes is skipped although it matters what can be reached from it.
        LastLeftOut,
    }
}

faults! {
    predicates {
        /// The two outcomes of a stored comparison are hyper-edges of their own.
        SplitsApart,
        /// Predicates that are not needed are told as well.
        AllAreNeeded,
        /// No preconditions are proposed.
        NoneProposed,
        /// No paths are refuted.
        NoneRefuted,
        /// The run along a possible path is not taken.
        RunLeft,
    }
}

faults! {
    handler_summaries {
        /// The cells that handlers read are not compared.
        NothingCompared,
        /// Of the outcomes of a handler one is followed.
        FirstOutcomeOnly,
        /// Handlers that are not transparent are summarised.
        AllTransparent,
        /// Handlers that make the stack deeper than ever are summarised.
        DeepestPassed,
        /// Handlers with several ends are summarised although it matters which can be reached from where.
        ManyEnds,
        /// The labels that goals see are not compared.
        NothingSeen,
        /// The effects of the entry into a handler on flags and enable bits are not taken.
        EntryForgotten,
    }
}

faults! {
    repeated_steps {
        /// Nothing is used again. This is no fault, but what is right.
        NothingRepeated,
        /// Refinements are not looked at.
        ChangesUnseen,
        /// The assumptions of reductions are not looked at.
        AssumptionsUnseen,
        /// The notes are not taken again.
        NotesForgotten,
    }
}

#[cfg(any(test, feature = "faults"))]
std::thread_local! {
    static SUMMARIES_USED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The number of handler summaries that were used on this thread, and counts from 0 again.
#[cfg(any(test, feature = "faults"))]
pub fn take_summaries_used() -> usize {
    SUMMARIES_USED.take()
}

/// Counts a handler summary that is used.
pub(crate) fn count_used_summary() {
    #[cfg(any(test, feature = "faults"))]
    SUMMARIES_USED.set(SUMMARIES_USED.get() + 1);
}

/// Expansions that were used again, as they compare with new ones of the same states.
#[cfg(any(test, feature = "faults"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Those with the same hyper-edges, and with at least the notes.
    pub alike: u64,
    /// The others.
    pub different: u64,
}

#[cfg(any(test, feature = "faults"))]
std::thread_local! {
    static COMPARED: std::cell::Cell<Option<Compared>> = const { std::cell::Cell::new(None) };
}

/// Does something on this thread, where each expansion that is used again is made anew as well, and compared.
#[cfg(any(test, feature = "faults"))]
pub fn with_comparison<T>(work: impl FnOnce() -> T) -> (T, Compared) {
    COMPARED.set(Some(Compared::default()));
    let result = work();
    (result, COMPARED.take().unwrap_or_default())
}

/// True if expansions that are used again are compared.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn compares() -> bool {
    COMPARED.get().is_some()
}

/// Counts an expansion that was compared.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn count_compared(is_alike: bool) {
    let Compared { alike, different } = COMPARED.get().unwrap_or_default();
    COMPARED.set(Some(Compared { alike: alike + u64::from(is_alike), different: different + u64::from(!is_alike) }));
}
