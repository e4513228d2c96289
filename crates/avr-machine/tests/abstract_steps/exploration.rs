//! All results of an abstract step, one for each way of settling its questions.

use avr_isa::{DataAddress, FlashWordAddress, Register};
use avr_machine::{
    Demand, DeterminedBy, Environment, Happening, Input, Machine, MachineState, Possibilities, Question, Stop,
};
use three_valued::{ByteDomain, Provenance, ProvenanceByte, TvByte};

/// The outcome of a step: the state and its clock cycles, or the reason why there is none.
pub type Outcome<V> = Result<(MachineState<V>, u32), Stop>;

/// The domains with a byte of which nothing is known.
pub trait Unknown: ByteDomain {
    /// The byte whose bits in `mask` are unknown and whose others are 0.
    fn unknown(mask: u8) -> Self;
}

impl Unknown for TvByte {
    fn unknown(mask: u8) -> Self {
        Self::new(0, !mask)
    }
}

impl Unknown for ProvenanceByte {
    fn unknown(mask: u8) -> Self {
        Self::new(TvByte::new(0, !mask), |_| Provenance::of(1))
    }
}

/// One result, with what happened where the environment had a choice and the answers that led there.
#[derive(Debug)]
pub struct Path<V> {
    /// The choice of the environment.
    pub happening: Option<Happening>,
    /// The answers.
    pub script: Vec<usize>,
    /// The result.
    pub outcome: Outcome<V>,
}

/// The amount that comparisons teach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    Nothing,
    Equalities,
    Inequalities,
}

/// The manner in which an environment lets steps be taken.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The amount that comparisons teach.
    pub learns: Learning,
    /// True if requests for interrupts are settled only where one is chosen.
    pub settles_late: bool,
}

impl Manner {
    /// Nothing is learned, and all requests are settled.
    pub const PLAIN: Self = Self { learns: Learning::Nothing, settles_late: false };
}

/// Gives the answers of a script, then first ones, and notes how many there were to each question.
struct Scripted {
    script: Vec<usize>,
    counts: Vec<usize>,
    happening: Option<Happening>,
    manner: Manner,
}

impl Scripted {
    fn answer(&mut self, count: usize) -> usize {
        assert!(count > 0, "a question without answers");
        let place = self.counts.len();
        self.counts.push(count);
        if place == self.script.len() {
            self.script.push(0);
        }
        self.script[place]
    }

    /// The script of the next path, if there is one.
    fn next(mut self) -> Option<Vec<usize>> {
        while let (Some(answer), Some(count)) = (self.script.pop(), self.counts.pop()) {
            if answer + 1 < count {
                self.script.push(answer + 1);
                return Some(self.script);
            }
        }
        None
    }
}

impl<V: Unknown> Environment<V> for Scripted {
    fn input(&mut self, _source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> V {
        V::unknown(mask)
    }

    fn learns(&self, _register: Register, _next: FlashWordAddress) -> bool {
        self.manner.learns != Learning::Nothing
    }

    fn learns_equalities(&self) -> bool {
        self.manner.learns != Learning::Nothing
    }

    fn learns_inequalities(&self) -> bool {
        self.manner.learns == Learning::Inequalities
    }

    fn learns_cell(&self, _address: DataAddress) -> bool {
        self.manner.learns != Learning::Nothing
    }

    fn settles_late(&self) -> bool {
        self.manner.settles_late
    }

    fn choose(&mut self, count: usize) -> usize {
        self.answer(count)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let chosen = self.answer(possibilities.count());
        self.happening = possibilities.iter().nth(chosen);
        chosen
    }

    fn case(&mut self, count: usize, _about: Question<'_, V>) -> usize {
        self.answer(count)
    }
}

/// A step with the answers of `script`, which must suffice.
pub fn follow<V: Unknown>(machine: &Machine, start: &MachineState<V>, script: &[usize], manner: Manner) -> Outcome<V> {
    let mut environment = Scripted { script: script.to_vec(), counts: Vec::new(), happening: None, manner };
    let outcome = step(machine, start, &mut environment);
    assert_eq!(environment.script, script, "the domains ask different questions");
    outcome
}

/// All paths of a step; none when there are more than `limit`.
pub fn explore<V: Unknown>(
    machine: &Machine,
    start: &MachineState<V>,
    limit: usize,
    manner: Manner,
) -> Option<Vec<Path<V>>> {
    let mut paths = Vec::new();
    let mut next = Some(Vec::new());
    while let Some(script) = next {
        if paths.len() == limit {
            return None;
        }
        let mut environment = Scripted { script, counts: Vec::new(), happening: None, manner };
        let outcome = step(machine, start, &mut environment);
        paths.push(Path { happening: environment.happening, script: environment.script.clone(), outcome });
        next = environment.next();
    }
    Some(paths)
}

/// The state after power-on of which nothing is known that the data sheet does not say.
pub fn power_on<V: Unknown>(machine: &Machine) -> MachineState<V> {
    machine.power_on(&mut Scripted { script: Vec::new(), counts: Vec::new(), happening: None, manner: Manner::PLAIN })
}

fn step<V: ByteDomain>(
    machine: &Machine,
    start: &MachineState<V>,
    environment: &mut impl Environment<V>,
) -> Outcome<V> {
    let mut state = start.clone();
    let cycles = machine.step(&mut state, environment)?;
    Ok((state, cycles))
}

/// A concrete world: random inputs, a random choice, no cases.
pub struct Concrete<'a> {
    /// The source of inputs and of the choice.
    pub random: &'a mut avr_testkit::Random,
    /// The choice that was made.
    pub happening: Option<Happening>,
}

impl Environment<u8> for Concrete<'_> {
    fn input(&mut self, _source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        self.random.byte() & mask
    }

    fn choose(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let chosen = self.random.below(possibilities.count());
        self.happening = possibilities.iter().nth(chosen);
        chosen
    }

    fn case(&mut self, count: usize, about: Question<'_, u8>) -> usize {
        panic!("a concrete machine asks which of {count} cases it is in: {about:?}")
    }
}

/// A concrete step.
pub fn run(
    machine: &Machine,
    start: &MachineState<u8>,
    random: &mut avr_testkit::Random,
) -> (Option<Happening>, Outcome<u8>) {
    let mut environment = Concrete { random, happening: None };
    let outcome = step(machine, start, &mut environment);
    (environment.happening, outcome)
}
