//! Random programs with few states: what is proved of them, against an enumeration of all states.

use super::explorer::{Awaited, Coarse, Fair, Goal, On, Possible, Source, Space};
use super::generator::{GO, Generated, LEFT, PORTB, TICKS, program};
use crate::faults::{Fault, with_fault};
use crate::{
    Accepted, Claims, Eventuality, FairInterrupt, Fairness, Limits, LoopClaim, Possibility, Proof, Ranks, Rejection,
    Stuck, Target, Trigger, always_comes, check, check_ranks, holds_everywhere, recovers,
};
use avr_invariant::{Analysis, Options as MapOptions, analyse};
use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::device::Promised;
use avr_machine::{Machine, Options, Program};
use avr_symbolic::ExecutionLimits;
use avr_testkit::Random;
use avr_testkit::image::Code;

/// The most states of a program.
const STATES: usize = 20_000;

pub(super) fn machine(code: &Code) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

pub(super) fn limits() -> Limits {
    let execution = ExecutionLimits { steps: 2_000, paths: 100, ..ExecutionLimits::default() };
    Limits { steps: 20_000, queries: 500, execution, ..Limits::default() }
}

pub(super) fn goal(random: &mut Random) -> Goal {
    match random.below(8) {
        0 => Goal::Cell(random.pick(&[LEFT, TICKS, GO]), random.below(3)),
        number => Goal::Bit(DataAddress(u16::from(PORTB) + 0x20), number / 7, random.once_in(2)),
    }
}

/// A program whose states are known.
pub(super) struct Known {
    machine: Machine,
    pub(super) analysis: Analysis,
    space: Space,
}

/// The reason why the states of a program are not known.
#[derive(Debug)]
pub(super) enum Passed {
    /// There is no closed map, or it has marks.
    Open,
    /// There are too many states.
    Large,
}

impl Known {
    pub(super) fn of(generated: &Generated) -> Result<Self, Passed> {
        let machine = machine(&generated.code);
        let analysis = analyse(&machine, &MapOptions::default());
        if !analysis.outcome.as_ref().is_ok_and(|claims| claims.has_no_hazard()) {
            return Err(Passed::Open);
        }
        let space = Space::explore(&machine, generated, STATES).ok_or(Passed::Large)?;
        Ok(Self { machine, analysis, space })
    }

    /// A state from which no run comes to the target, if there is one; in words.
    pub(super) fn stuck(&mut self, goal: Goal) -> Option<String> {
        self.refutes(&everywhere(goal))
    }

    /// A state from which something is not possible that is said to be, if there is one; in words.
    pub(super) fn refutes(&mut self, possible: &Possible) -> Option<String> {
        self.space.refutes(possible)
    }

    pub(super) fn are_all(&mut self, goal: Goal) -> bool {
        self.space.are_all(goal)
    }

    pub(super) fn is_everywhere(&self, goal: Goal, limits: &Limits) -> bool {
        holds_everywhere(&self.machine, (&self.analysis.map, &self.analysis.moves), &goal, (limits, &|| false)).is_ok()
    }

    /// A state from which something is awaited in vain, if there is one; in words.
    pub(super) fn waits_in_vain(&mut self, awaited: &Awaited) -> Option<String> {
        self.space.waits_in_vain(&self.machine, awaited)
    }

    pub(super) fn always_comes(&self, awaited: &Awaited, limits: &Limits) -> Result<Ranks, Stuck> {
        let map = (&self.analysis.map, &self.analysis.moves);
        as_eventuality(&self.machine, awaited, |eventuality| {
            always_comes(&self.machine, map, eventuality, (limits, &|| false)).map(|proof| proof.ranks)
        })
    }

    pub(super) fn check_ranks(&self, awaited: &Awaited, ranks: &Ranks, limits: &Limits) -> Result<Accepted, Rejection> {
        as_eventuality(&self.machine, awaited, |eventuality| self.check_of(eventuality, ranks, limits))
    }

    pub(super) fn check_of(
        &self,
        eventuality: &Eventuality<'_>,
        ranks: &Ranks,
        limits: &Limits,
    ) -> Result<Accepted, Rejection> {
        let map = (&self.analysis.map, &self.analysis.moves);
        check_ranks(&self.machine, map, eventuality, ranks, (limits, &|| false))
    }

    pub(super) fn is_proved(&self, goal: Goal, limits: &Limits) -> bool {
        self.proof(goal, limits).is_ok()
    }

    pub(super) fn proof(&self, goal: Goal, limits: &Limits) -> Result<Proof, Stuck> {
        self.possibility_proof(&everywhere(goal), limits)
    }

    pub(super) fn possibility_proof(&self, possible: &Possible, limits: &Limits) -> Result<Proof, Stuck> {
        let map = (&self.analysis.map, &self.analysis.moves);
        recovers(&self.machine, map, &possible.possibility(), (limits, &|| false))
    }

    /// The same with targets of which less is known.
    pub(super) fn coarse_proof(&self, possible: &Possible, limits: &Limits) -> Result<Proof, Stuck> {
        let map = (&self.analysis.map, &self.analysis.moves);
        let Possible { trigger, holds, until } = possible;
        let (holds, until) = (holds.as_ref().map(Coarse), Coarse(until));
        let holds = holds.as_ref().map(|holds| holds as &dyn Target);
        let goal = match trigger {
            On::When(goal) => Some(Coarse(goal)),
            _ => None,
        };
        let trigger = match (&goal, trigger) {
            (Some(goal), _) => Trigger::When(goal),
            (None, On::Start) => Trigger::Start,
            _ => Trigger::Everywhere,
        };
        recovers(&self.machine, map, &Possibility { trigger, holds, until: &until }, (limits, &|| false))
    }

    pub(super) fn check(&self, goal: Goal, loops: &[LoopClaim], limits: &Limits) -> Result<Accepted, Rejection> {
        self.check_possibility(&everywhere(goal), &Claims { first: Vec::new(), loops: loops.to_vec() }, limits)
    }

    pub(super) fn check_possibility(
        &self,
        possible: &Possible,
        claims: &Claims,
        limits: &Limits,
    ) -> Result<Accepted, Rejection> {
        let map = (&self.analysis.map, &self.analysis.moves);
        check(&self.machine, map, &possible.possibility(), claims, (limits, &|| false))
    }
}

/// What is to be possible from all states.
fn everywhere(until: Goal) -> Possible {
    Possible { trigger: On::Everywhere, holds: None, until }
}

impl Possible {
    fn possibility(&self) -> Possibility<'_> {
        let trigger = match &self.trigger {
            On::Start => Trigger::Start,
            On::Everywhere => Trigger::Everywhere,
            On::When(goal) => Trigger::When(goal),
        };
        Possibility { trigger, holds: self.holds.as_ref().map(|holds| holds as &dyn Target), until: &self.until }
    }
}

/// Does something with what is awaited.
fn as_eventuality<T>(machine: &Machine, awaited: &Awaited, work: impl FnOnce(&Eventuality<'_>) -> T) -> T {
    let trigger = match &awaited.trigger {
        On::Start => Trigger::Start,
        On::Everywhere => Trigger::Everywhere,
        On::When(goal) => Trigger::When(goal),
    };
    let of_fair = |fair: Fair| match fair {
        Fair::Assumed(Source { number, enabled: (cell, bit) }) => {
            Fairness::Interrupt(FairInterrupt { number, enabled: (cell, 1 << bit) })
        }
        Fair::Promised(event) => promised(machine, event),
    };
    let fair: Vec<Fairness> = awaited.fair.map(of_fair).into_iter().collect();
    let holds = awaited.holds.as_ref().map(|holds| holds as &dyn Target);
    work(&Eventuality { trigger, holds, until: &awaited.until, fair: &fair })
}

/// The promise of an event.
pub(super) fn promised(machine: &Machine, event: Promised) -> Fairness {
    let number = machine.device.promises.iter().position(|promise| promise.event == event);
    let number = number.unwrap_or_else(|| panic!("{event:?} is not promised"));
    Fairness::Promised { number: number as u8, promise: &machine.device.promises[number] }
}

/// Two targets of which every state may be one.
fn of_all_states(seed: u64) -> [Goal; 2] {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut one = || {
        let port = (DataAddress(u16::from(PORTB) + 0x20), random.below(2));
        Goal::Apart(port, (random.pick(&[LEFT, TICKS, GO]), random.below(4)))
    };
    [one(), one()]
}

/// A random program with two targets.
pub(super) fn random_case(seed: u64) -> (Generated, [Goal; 2]) {
    let mut random = Random::new(seed);
    let generated = program(&mut random);
    (generated, [goal(&mut random), goal(&mut random)])
}

/// The numbers of what was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    programs: u64,
    open: u64,
    large: u64,
    goals: u64,
    /// Goals that are reached from everywhere.
    is_true: u64,
    proved: u64,
    states: usize,
}

/// Compares the proofs for a program with its states, and gives the wrong ones.
fn compare(generated: &Generated, goals: &[Goal], tally: &mut Tally) -> Vec<String> {
    tally.programs += 1;
    let mut known = match Known::of(generated) {
        Ok(known) => known,
        Err(Passed::Open) => {
            tally.open += 1;
            return Vec::new();
        }
        Err(Passed::Large) => {
            tally.large += 1;
            return Vec::new();
        }
    };
    tally.states += known.space.len();
    let mut wrong = Vec::new();
    for goal in goals {
        let (stuck, is_proved) = (known.stuck(*goal), known.is_proved(*goal, &limits()));
        tally.goals += 1;
        match stuck {
            Some(stuck) if is_proved => wrong.push(format!("{goal:?} is not reached from {stuck}")),
            Some(_) => {}
            None => {
                tally.is_true += 1;
                tally.proved += u64::from(is_proved);
            }
        }
    }
    wrong
}

#[test]
fn what_is_proved_is_true() {
    let mut tally = Tally::default();
    for seed in 0..avr_testkit::cases(45, 3_000) {
        let (generated, goals) = random_case(seed);
        let wrong = compare(&generated, &goals, &mut tally);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}, {:04x?}", generated.code.words);
    }
    let Tally { programs, open, large, goals, is_true, proved, .. } = tally;
    assert!((open + large) * 4 < programs, "{tally:?}");
    assert!((goals - is_true) * 4 >= goals, "{tally:?}");
    assert!(proved * 2 > is_true, "{tally:?}");
}

#[test]
fn what_holds_everywhere_is_true_of_each_state() {
    let (mut proved, mut is_false, mut shown) = (0, 0, false);
    let programs = avr_testkit::cases(45, 1_500);
    for seed in 0..programs {
        let (generated, _) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for goal in of_all_states(seed) {
            let is_true = known.are_all(goal);
            let is_proved = known.is_everywhere(goal, &limits());
            assert!(is_true || !is_proved, "seed {seed}: {goal:?}, {:04x?}", generated.code.words);
            (proved, is_false) = (proved + u64::from(is_proved), is_false + u64::from(!is_true));
            shown |= !is_true && !shown && with_fault(Fault::UnknownIsZero, || known.is_everywhere(goal, &limits()));
        }
    }
    assert!(proved * 8 > programs && is_false * 8 > programs, "{proved} proved, {is_false} false of {programs}");
    assert!(shown, "the fault is not shown");
}
