//! Alarms: what a map of invariants cannot follow, and the hazards that it does not exclude, each with what it depends on.

mod lines;
mod places;
mod slice;

use super::text;
use avr_image::Image;
use avr_invariant::{Claims, Gap, Map, Reason, Thread};
use avr_isa::{Addressing, ControlFlow, DataAddress, FlashByteAddress, MemoryAccess, Pointer, Register};
use avr_machine::{Hazard, Limit, Machine};
use avr_witness::Distances;
use places::{PlaceGraph, PlaceId};
use slice::Slice;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use lines::Trial;

/// The most alarms that are named.
const MOST_ALARMS: usize = 5;
/// The most dependences of an alarm that are named.
const MOST_DEPENDENCES: usize = 6;
/// The most of a kind that are named where there are others.
const MOST_OF_KIND: usize = 2;

/// An alarm of a map of invariants, with what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// The event with its place, as a sentence without a full stop.
    pub text: String,
    /// The kind of event.
    pub kind: AlarmKind,
    /// The flash byte address of the instruction, where there is one.
    pub pc: Option<u32>,
    /// The interrupt in whose handler it is, by its number.
    pub interrupt: Option<u8>,
    /// The registers or cells that the event depends on.
    pub operands: Vec<DataAddress>,
    /// The least and the greatest value of a pointer, where the event depends on one.
    pub range: Option<(u16, u16)>,
    /// The dependences of what is unknown in them, the nearest first.
    pub dependences: Vec<Dependence>,
    /// The number of others.
    pub more_dependences: usize,
    /// The remedy, where the kind does not tell it.
    pub help: Option<&'static str>,
    /// The line of a property file without which the alarm would be there, if one was found.
    pub line: Option<AlarmLine>,
}

/// The kind of event of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmKind {
    /// A hazard is not excluded.
    Hazard(Hazard),
    /// The machine cannot follow a step.
    Limit(Limit),
    /// Something else keeps the map open.
    Other,
}

/// A dependence of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The kind.
    pub kind: DependenceKind,
    /// The data address of the register or cell.
    pub cell: DataAddress,
    /// The number of other cells that are loaded there, or may be hit.
    pub more_cells: usize,
    /// The bits that matter.
    pub mask: u8,
    /// The flash byte address of the instruction.
    pub pc: Option<u32>,
    /// The flash byte address of the head of the loop that changes it.
    pub in_loop: Option<u32>,
}

/// The kind of a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependenceKind {
    /// An I/O register that is read.
    Input,
    /// The initial content of a cell.
    Initial,
    /// A variable that is loaded.
    Variable,
    /// A store through a pointer that may hit the cell.
    Stored,
    /// A register that is changed by its own value, over and over.
    Changed,
    /// A constant, one of several that come together.
    Constant,
    /// A value that is loaded from where the slice cannot follow.
    Unfollowed,
}

/// A line of a property file that removes an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmLine {
    /// The line.
    pub text: String,
    /// True if nothing else stays open with it.
    pub closes: bool,
}

impl DependenceKind {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Initial => "initial",
            Self::Variable => "variable",
            Self::Stored => "stored",
            Self::Changed => "changed",
            Self::Constant => "constant",
            Self::Unfollowed => "unfollowed",
        }
    }
}

impl AlarmKind {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hazard(_) => "hazard",
            Self::Limit(_) => "limit",
            Self::Other => "other",
        }
    }
}

/// The alarms of a map, with the distances of its places from them.
#[derive(Debug)]
pub struct Alarms {
    pub(crate) list: Vec<Alarm>,
    /// The distances from alarms that a run may come to.
    pub(crate) distances: Option<Arc<Distances>>,
}

impl Alarms {
    /// The alarms of a map, which is open or has marks.
    pub(super) fn new((machine, image): (&Machine, &Image), map: &Map, outcome: &Result<Claims, Gap>) -> Self {
        let events: Vec<Event> = match outcome {
            Ok(claims) => {
                let marks = claims.marks.iter();
                let event = |mark: &avr_invariant::Mark| Event {
                    at: Some((mark.thread, mark.address)),
                    kind: AlarmKind::Hazard(mark.hazard),
                    text: text::mark(machine, image, mark),
                    help: None,
                };
                marks.map(event).collect()
            }
            Err(Gap { reason: Reason::Cancelled, .. }) => Vec::new(),
            Err(gap) => vec![Event {
                at: gap.at,
                kind: kind(&gap.reason),
                text: text::alarm(machine, image, gap),
                help: help(&gap.reason),
            }],
        };
        let is_placed = |event: &Event| event.at.is_some() && event.kind != AlarmKind::Other;
        let graph = events.iter().any(is_placed).then(|| PlaceGraph::new(machine, map));
        let mut targets = BTreeSet::new();
        let mut list = Vec::new();
        for event in events.into_iter().take(MOST_ALARMS) {
            let graph = graph.as_ref().filter(|_| is_placed(&event));
            let places = match (graph, event.at) {
                (Some(graph), Some((thread, address))) => graph.at(thread, address.word()),
                _ => Vec::new(),
            };
            targets.extend(places.iter().copied());
            list.push(event.alarm(graph, &places));
        }
        let distances = graph.filter(|_| !targets.is_empty()).map(|graph| Arc::new(graph.distances(&targets)));
        Self { list, distances }
    }
}

/// The kind of alarm that a gap is.
fn kind(reason: &Reason) -> AlarmKind {
    match reason {
        Reason::Limit(limit) => AlarmKind::Limit(*limit),
        Reason::EndedPath(_)
        | Reason::Nested(..)
        | Reason::TornPointer
        | Reason::ReturnAddress
        | Reason::LeftFrame
        | Reason::NullCall
        | Reason::PlainReturn
        | Reason::TooManyOutcomes
        | Reason::StartupEndsAtZero
        | Reason::NotCovered(_)
        | Reason::Misfit(_)
        | Reason::TooManyCalls(_)
        | Reason::TooManySteps(_)
        | Reason::Cancelled
        | Reason::TooManyStates(_) => AlarmKind::Other,
    }
}

/// The remedy against a gap, where the kind of its alarm does not tell it.
fn help(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::Nested(..) => Some("to leave interrupts off in the handler, without `sei`"),
        Reason::TornPointer => Some("to write both halves of SP with interrupts off, or to have a frame of fixed size"),
        Reason::ReturnAddress => Some("to check the index of what the handler stores on its stack"),
        Reason::NullCall => Some("to set the pointer before the interrupt is enabled, or to test it before the call"),
        Reason::LeftFrame | Reason::PlainReturn => Some("to leave the handler by `reti`"),
        Reason::TooManyCalls(_) => Some("to bound the recursion by a constant, or to replace it by a loop"),
        Reason::EndedPath(_) => Some("to repair what leads to the hazard instead of allowing it"),
        Reason::Limit(_)
        | Reason::TooManyOutcomes
        | Reason::StartupEndsAtZero
        | Reason::NotCovered(_)
        | Reason::Misfit(_)
        | Reason::TooManySteps(_)
        | Reason::Cancelled
        | Reason::TooManyStates(_) => None,
    }
}

/// An event that an alarm is about.
struct Event {
    at: Option<(Thread, FlashByteAddress)>,
    kind: AlarmKind,
    text: String,
    help: Option<&'static str>,
}

impl Event {
    /// The alarm at some places.
    fn alarm(self, graph: Option<&PlaceGraph<'_>>, places: &[PlaceId]) -> Alarm {
        let interrupt = match self.at {
            Some((Thread::Handler { interrupt, .. }, _)) => Some(interrupt),
            Some((Thread::Main, _)) | None => None,
        };
        let mut alarm = Alarm {
            text: self.text,
            kind: self.kind,
            pc: self.at.map(|(_, address)| address.0),
            interrupt,
            operands: Vec::new(),
            range: None,
            dependences: Vec::new(),
            more_dependences: 0,
            help: self.help,
            line: None,
        };
        let (Some(graph), [first, ..]) = (graph, places) else { return alarm };
        let pointer = pointer(graph, *first);
        let operands = match pointer {
            Some(pointer) => BTreeSet::from([pointer.low().address(), pointer.low().next().address()]),
            None => operands(graph, *first),
        };
        let ranges = places.iter().filter_map(|place| graph.range(*place, pointer?));
        alarm.range = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let all = Slice::of(graph, places, &operands);
        alarm.operands = operands.into_iter().collect();
        alarm.more_dependences = all.len().saturating_sub(MOST_DEPENDENCES);
        alarm.dependences = chosen(all);
        alarm
    }
}

/// The dependences that are named: the nearest of each kind, and then the nearest of all.
fn chosen(all: Vec<Dependence>) -> Vec<Dependence> {
    let of_kind = |one: &Dependence| all.iter().filter(|other| other.kind == one.kind).position(|other| other == one);
    let mut ranked: Vec<(bool, usize, Dependence)> = all
        .iter()
        .enumerate()
        .map(|(position, one)| (of_kind(one).is_none_or(|number| number >= MOST_OF_KIND), position, *one))
        .collect();
    ranked.sort_by_key(|(is_late, position, _)| (*is_late, *position));
    ranked.truncate(MOST_DEPENDENCES);
    ranked.sort_by_key(|(_, position, _)| *position);
    ranked.into_iter().map(|(.., one)| one).collect()
}

/// The pointer that the instruction of a place goes through.
fn pointer(graph: &PlaceGraph<'_>, place: PlaceId) -> Option<Pointer> {
    let instruction = graph.instruction(place)?;
    match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, .. })
        | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => Some(pointer),
        MemoryAccess::LoadFlash | MemoryAccess::StoreFlash => Some(Pointer::Z),
        _ => match graph.machine().program.control_flow(graph.pc(place))? {
            ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => Some(Pointer::Z),
            _ => None,
        },
    }
}

/// What the instruction of a place depends on, where it is no pointer.
fn operands(graph: &PlaceGraph<'_>, place: PlaceId) -> BTreeSet<DataAddress> {
    if graph.returns(place) {
        let bytes = u16::from(graph.machine().device.core.pc_bytes);
        let pointers = graph.stack_pointers(place).into_iter();
        return pointers.flat_map(|pointer| (1..=bytes).map(move |offset| pointer.wrapping_add(offset))).collect();
    }
    let read = graph.instruction(place).map(|instruction| instruction.registers_read());
    read.into_iter().flat_map(|read| read.iter().map(Register::address).collect::<Vec<_>>()).collect()
}
