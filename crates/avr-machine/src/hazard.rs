//! Hazards of the program under test, and limits of the model.
//!
//! These are results, not errors of this code: a [`Hazard`] is something that the inherent property forbids, a [`Limit`]
//! is something that the engine cannot follow. Nothing may be concluded from a limit.

use std::fmt;

/// Declares the hazards once: variant, name in reports and property files, explanation, behaviour when allowed.
macro_rules! hazards {
    ($($variant:ident $name:literal $meaning:literal $allowed:literal;)*) => {
        /// A kind of hazard. The names are part of the contract with users (reports, `allow:` in property files).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HazardKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl HazardKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in reports and property files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The meaning in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// The behaviour of the machine when the property file allows the hazard.
            #[must_use]
            pub fn when_allowed(self) -> &'static str {
                match self { $(Self::$variant => $allowed,)* }
            }
        }
    };
}

hazards! {
    ReservedOpcode "reserved-opcode" "an opcode that the device does not implement is executed"
        "no defined behaviour: the path ends, and properties speak of the others";
    OutsideImage "outside-image" "execution leaves the program image or enters erased flash"
        "no defined behaviour: the path ends, and properties speak of the others";
    AbsentApplication "absent-application" "execution enters the application section, and no application is there"
        "no defined behaviour: the path ends, and properties speak of the others";
    OutsideMemory "outside-memory" "a data access lies outside the data memory"
        "reads give an unknown byte, writes are lost";
    ReservedRegister "reserved-register" "a reserved or unimplemented I/O register is accessed"
        "reads give an unknown byte, writes are lost";
    ReservedBitWrite "reserved-bit-write" "a reserved bit is written 1"
        "the bit is not stored and reads 0";
    StackOutsideSram "stack-outside-sram" "the stack is accessed outside the SRAM"
        "the access goes to whatever the address holds";
    StackIntoData "stack-into-data" "the stack grows into static data or the start of the heap"
        "the access overwrites the data";
    ReturnToNonCall "return-to-non-call" "a return goes to an address that no call pushed there"
        "execution continues at the popped address when it is known";
    CallStackUnderflow "call-stack-underflow" "a return is executed with no call to return from"
        "execution continues at the popped address when it is known";
    UndefinedPointerUse "undefined-pointer-use" "a load or store uses the pointer register that it also modifies"
        "no defined behaviour: the path ends, and properties speak of the others";
    SelfProgramming "self-programming" "self-programming is started outside the boot section"
        "the instruction does nothing";
    InterruptsUnavailable "interrupts-unavailable" "a device without interrupts sets the I flag or executes RETI"
        "no defined behaviour: the path ends, and properties speak of the others";
    BadInterrupt "bad-interrupt" "an enabled interrupt has no handler of its own and enters the default handler"
        "the default handler is executed";
    SleepForEver "sleep-for-ever" "the processor sleeps and no enabled interrupt can wake it"
        "the processor stays asleep";
    WatchdogSequence "watchdog-sequence" "a protected bit is written outside its timed sequence"
        "the write leaves the protected bits as they are";
    DeadEnvironment "dead-environment" "a machine of the environment has no value for an input that is read"
        "no defined behaviour: the path ends, and properties speak of the others";
}

impl HazardKind {
    /// Hazards after which nothing defines how the machine goes on. Where the property file allows one, the paths that run into it end
    /// there, and properties speak of all other paths.
    #[must_use]
    pub fn ends_path(self) -> bool {
        matches!(
            self,
            Self::ReservedOpcode
                | Self::OutsideImage
                | Self::AbsentApplication
                | Self::UndefinedPointerUse
                | Self::InterruptsUnavailable
                | Self::DeadEnvironment
        )
    }

    /// True if it is done by the instruction at the program counter or, in sleep, by the processor there. An interrupt comes between
    /// instructions, and where is no part of what is wrong with it.
    #[must_use]
    pub fn has_place(self) -> bool {
        self != Self::BadInterrupt
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for HazardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A hazard with the data address or the return address (in bytes of flash) that it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hazard {
    /// The kind of hazard.
    pub kind: HazardKind,
    /// The address concerned: data memory, or flash bytes for the kinds that speak of execution; none when unknown.
    pub address: Option<u32>,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "{} ({}, at {address:#06x})", self.kind, self.kind.meaning()),
            None => write!(f, "{} ({})", self.kind, self.kind.meaning()),
        }
    }
}

/// The reason why the engine cannot follow a path further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// A store or load through a pointer that may hit more registers with side effects than are distinguished.
    UnknownPointer,
    /// An indirect jump or call whose target has too many candidates.
    UnknownTarget,
    /// The stack pointer has too many candidates.
    UnknownStackPointer,
    /// A step with more outcomes than are distinguished.
    TooManyCases,
    /// Something that the device model does not contain.
    Unsupported(&'static str),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPointer => f.write_str("a memory access through an unknown pointer"),
            Self::UnknownTarget => f.write_str("an indirect jump to an unknown address"),
            Self::UnknownStackPointer => f.write_str("an unknown stack pointer"),
            Self::TooManyCases => f.write_str("a step that depends on too many unknown bits"),
            Self::Unsupported(what) => write!(f, "not modelled: {what}"),
        }
    }
}

/// The reason why a step did not lead to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The program did something that the inherent property forbids, or that it allows and after which nothing is defined
    /// ([`Machine::ends_path`](crate::Machine::ends_path)).
    Hazard(Hazard),
    /// The engine cannot follow.
    Limit(Limit),
    /// The case that was chosen contradicts what is known: no concrete state takes it.
    Infeasible,
}

impl Stop {
    pub(crate) fn hazard(kind: HazardKind, address: impl Into<Option<u32>>) -> Self {
        Self::Hazard(Hazard { kind, address: address.into() })
    }
}
