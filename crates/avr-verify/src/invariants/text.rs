//! What follows from a map, and the reasons why nothing does, in words.

use avr_image::Image;
use avr_invariant::{Gap, Mark, Reason, Thread};
use avr_isa::{DataAddress, Register};
use avr_machine::Machine;
use avr_machine::device::{BitKind, Promised};
use avr_progress::{LoopClaim, Proof, RankClaim, Ranks, Stuck, WaitsFor};
use avr_symbolic::{Interrupts, Rounds, Term};

use crate::diagnosis::unknown_reason::place_at;

/// A hazard that is not excluded.
pub(super) fn mark(machine: &Machine, image: &Image, mark: &Mark) -> String {
    let Mark { thread, address, hazard } = mark;
    format!("{hazard} {}{} is not excluded", place_at(image, address.0), in_handler(machine, *thread))
}

/// The alarm that a gap is.
pub(super) fn alarm(machine: &Machine, image: &Image, gap: &Gap) -> String {
    let reason = match &gap.reason {
        Reason::Limit(limit) => limit.to_string(),
        reason => reason.to_string(),
    };
    match gap.at {
        None => reason,
        Some((thread, address)) => format!("{reason} {}{}", place_at(image, address.0), in_handler(machine, thread)),
    }
}

/// The reason why a map is open.
pub(super) fn gap(machine: &Machine, image: &Image, gap: &Gap) -> String {
    match gap.at {
        None => gap.reason.to_string(),
        Some((thread, address)) => {
            format!("{} {}{}", gap.reason, place_at(image, address.0), in_handler(machine, thread))
        }
    }
}

/// The reason why claims prove nothing.
pub(crate) fn stuck(image: &Image, stuck: &Stuck) -> String {
    match stuck {
        Stuck::Loop(at) => format!("no way out of the loop {} was found", place_at(image, at.0)),
        Stuck::Obstacle(_) | Stuck::Rejected(_) | Stuck::Between | Stuck::Limit => stuck.to_string(),
    }
}

/// The claims of a proof: those of loops that do not lead on by themselves.
pub(crate) fn claims(machine: &Machine, image: &Image, proof: &Proof) -> Vec<String> {
    let says_something = |claim: &&LoopClaim| {
        let chooses = |rounds: &Rounds| {
            rounds.strategy.interrupts != Interrupts::Order(Vec::new())
                || !rounds.strategy.held.is_empty()
                || !rounds.strategy.sequences.is_empty()
        };
        !claim.rank.is_empty() || claim.rounds.iter().any(chooses)
    };
    proof.claims.loops.iter().filter(says_something).map(|claim| loop_claim(machine, image, claim)).collect()
}

/// A claim about a loop.
pub(super) fn loop_claim(machine: &Machine, image: &Image, claim: &LoopClaim) -> String {
    let names = Names { machine, image };
    let place = place_at(image, claim.head.at().0);
    let rounds: Vec<String> = claim.rounds.iter().map(|rounds| names.rounds(rounds)).collect();
    let rounds = rounds.join(" or ");
    let rank: Vec<String> = claim.rank.iter().map(|term| format!("`{}`", names.term(term))).collect();
    let bits = claim.rank.iter().map(|term| Some(8 * term.width()?)).sum::<Option<usize>>();
    let most = bits.map_or_else(String::new, |bits| format!("less than 2^{bits} times "));
    match rank.as_slice() {
        [] => format!("the loop {place} is left: {rounds}"),
        [one] => format!("the loop {place} is left: {one} falls {most}until then: {rounds}"),
        all => {
            let all = all.join(", ");
            format!("the loop {place} is left: of {all} the first that changes falls {most}until then: {rounds}")
        }
    }
}

/// The fairness that would make a property true.
pub(crate) fn fairness(machine: &Machine, numbers: &[u8]) -> String {
    let conditions = numbers.iter().map(|number| format!("\"G F interrupt({})\"", interrupt(machine, *number)));
    let conditions: Vec<String> = conditions.collect();
    format!("it holds with `under: [{}]`", conditions.join(", "))
}

/// The promises of the data sheet that ranks wait for.
pub(crate) fn promises(machine: &Machine, events: impl IntoIterator<Item = WaitsFor>) -> Vec<String> {
    let of_event = |event| match event {
        WaitsFor::Promised(number) => {
            let section = machine.device.promises[usize::from(number)].section;
            Some(format!("{} (data sheet, section \"{section}\")", promised(machine, number)))
        }
        WaitsFor::Interrupt(_) => None,
    };
    events.into_iter().filter_map(of_event).collect()
}

/// An event that the data sheet promises.
fn promised(machine: &Machine, number: u8) -> String {
    match machine.device.promises[usize::from(number)].event {
        Promised::Interrupt(number) => format!("{} comes", interrupt(machine, number)),
        Promised::Change(bit) => {
            let name = machine.device.bit_name(bit);
            let is_flag = machine.device.bit_at(bit).is_some_and(|bit| matches!(bit.kind, BitKind::Flag(_)));
            format!("{name} becomes {}", u8::from(is_flag))
        }
    }
}

/// The claims of a proof that something comes: those of loops that do not lead on by themselves.
pub(crate) fn rank_claims(machine: &Machine, image: &Image, ranks: &Ranks) -> Vec<String> {
    let says_something = |claim: &&RankClaim| !claim.rank.is_empty() || claim.waits_for.is_some();
    ranks.claims.iter().filter(says_something).map(|claim| rank_claim(machine, image, claim)).collect()
}

fn rank_claim(machine: &Machine, image: &Image, claim: &RankClaim) -> String {
    let names = Names { machine, image };
    let place = place_at(image, claim.head.at().0);
    let rank: Vec<String> = claim.rank.iter().map(|term| format!("`{}`", names.term(term))).collect();
    let waits = claim.waits_for.map(|event| match event {
        WaitsFor::Interrupt(number) => format!("until {} comes", interrupt(machine, number)),
        WaitsFor::Promised(number) => format!("until {}, which the data sheet promises", promised(machine, number)),
    });
    match (rank.as_slice(), waits) {
        ([], None) => format!("the loop {place} ends"),
        ([], Some(waits)) => format!("the loop {place} ends: it goes on no longer than {waits}"),
        ([one], None) => format!("the loop {place} ends: {one} falls in each round"),
        ([one], Some(waits)) => format!("the loop {place} ends: {one} falls, or stays {waits}"),
        (all, waits) => {
            let waits = waits.map_or_else(String::new, |waits| format!(", or all stay {waits}"));
            format!("the loop {place} ends: of {} the first that changes falls in each round{waits}", all.join(", "))
        }
    }
}

/// The names of a firmware.
struct Names<'a> {
    machine: &'a Machine,
    image: &'a Image,
}

impl Names<'_> {
    fn cell(&self, cell: DataAddress) -> String {
        if let Some(register) = Register::at(cell) {
            return register.to_string();
        }
        if let Some(register) = self.machine.device.register_at(cell) {
            return register.name.to_owned();
        }
        match self.image.symbols.object_at(cell) {
            Some(located) if located.offset == 0 => located.symbol.display_name().to_owned(),
            Some(located) => format!("{}+{:#x}", located.symbol.display_name(), located.offset),
            None => format!("mem[{cell:#06x}]"),
        }
    }

    /// A word, by its lowest byte; registers by all of theirs, the highest first.
    fn word(&self, cells: &[DataAddress]) -> String {
        match cells {
            [first, .., last] if Register::at(*first).is_some() => {
                format!("{}:{}", self.cell(*last), self.cell(*first))
            }
            [first, ..] => self.cell(*first),
            [] => "0".to_owned(),
        }
    }

    fn term(&self, term: &Term) -> String {
        match term {
            Term::Cells(cells) => self.word(cells),
            Term::Constant(value, _) => value.to_string(),
            Term::Difference(one, other) => match &**other {
                Term::Difference(..) => format!("{} - ({})", self.term(one), self.term(other)),
                _ => format!("{} - {}", self.term(one), self.term(other)),
            },
        }
    }

    fn rounds(&self, rounds: &Rounds) -> String {
        let held: Vec<String> = rounds
            .strategy
            .held
            .iter()
            .map(|(register, level)| format!("{} = {:#04x}", self.cell(*register), level.value()))
            .collect();
        let sequences = rounds.strategy.sequences.iter().map(|(register, levels)| {
            let levels: Vec<String> = levels.iter().map(|level| format!("{level:#04x}")).collect();
            format!("{} = {}", self.cell(*register), levels.join(", then "))
        });
        let held: Vec<String> = held.into_iter().chain(sequences).collect();
        let happens = match &rounds.strategy.interrupts {
            Interrupts::Any => "whatever happens".to_owned(),
            Interrupts::Order(numbers) if numbers.is_empty() => "no interrupt comes".to_owned(),
            Interrupts::Order(numbers) => {
                let names: Vec<String> = numbers.iter().map(|number| interrupt(self.machine, *number)).collect();
                format!("{} comes", names.join(" and then "))
            }
        };
        let with = if held.is_empty() { String::new() } else { format!(", with {}", held.join(" and ")) };
        let count = if rounds.count > 1 { format!(", in {} rounds", rounds.count) } else { String::new() };
        format!("if {happens}{with}{count}")
    }
}

fn interrupt(machine: &Machine, number: u8) -> String {
    let named = machine.device.interrupts.iter().find(|one| one.number == number);
    named.map_or_else(|| number.to_string(), |one| one.name.to_owned())
}

/// The handler of a thread, by the name of its interrupt.
fn in_handler(machine: &Machine, thread: Thread) -> String {
    match thread {
        Thread::Main => String::new(),
        Thread::Handler { interrupt: number, .. } => format!(" in the handler of {}", interrupt(machine, number)),
    }
}
