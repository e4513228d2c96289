//! Altered certificates.

use avr_certificate::{Edges, Strategy, Verdict};
use three_valued::Truth;

use super::certificate::Certificate;
use super::system::{ATOMS, Abstract, STATE_BITS};
use crate::play::Foundation;
use avr_testkit::Random;

/// A certificate with something altered, and what.
pub(super) fn mutant(certificate: &Certificate, random: &mut Random) -> (&'static str, Certificate) {
    let mut mutant = certificate.clone();
    let state = random.below(certificate.states.len());
    let what = match random.below(20) {
        0 => "digest",
        1 | 2 => "drop a state",
        3 | 4 => "drop a hyper-edge",
        5 | 6 => "drop a member",
        7 => "replace a member",
        8 => "add a hyper-edge",
        9 | 10 => "label",
        11 | 12 => "choice",
        13 => "drop a choice",
        14..=16 => "bit",
        17 => "kind of state",
        18 => "advice",
        _ => "claim",
    };
    match what {
        "digest" => mutant.digest += 1,
        "drop a state" => mutant.drop_state(state as u32),
        "label" => {
            let others = [Truth::True, Truth::False, Truth::Unknown];
            mutant.labels[state][random.below(ATOMS)] = others[random.below(3)];
        }
        "choice" | "drop a choice" => mutant.change_strategy(what == "choice", random),
        "bit" => mutant.change_bit(state, random),
        "kind of state" => {
            let kinds = [Abstract::Start, Abstract::Hazard, Abstract::Anything, Abstract::Bits { known: 0, value: 0 }];
            mutant.states[state] = kinds[random.below(4)];
        }
        "advice" => {
            mutant.advice[state].split = random.byte();
            mutant.advice[state].cut = random.byte();
        }
        "claim" if random.once_in(2) => mutant.foundation = Foundation::Hardware,
        "claim" => {
            mutant.verdict = if mutant.verdict == Verdict::Holds { Verdict::Violated } else { Verdict::Holds };
        }
        _ => mutant.change_edges(what, state as u32, random),
    }
    (what, mutant)
}

impl Certificate {
    /// Leaves a state out, and what leads there.
    fn drop_state(&mut self, dropped: u32) {
        if self.states.len() == 1 {
            return;
        }
        let renumber = |state: u32| if state > dropped { state - 1 } else { state };
        let mut edges = Edges::new();
        for state in (0..self.states.len() as u32).filter(|state| *state != dropped) {
            for members in self.edges.of(state) {
                let kept: Vec<u32> =
                    members.iter().copied().filter(|member| *member != dropped).map(renumber).collect();
                if !kept.is_empty() {
                    edges.add(kept);
                }
            }
            edges.finish_state();
        }
        self.edges = edges;
        self.states.remove(dropped as usize);
        self.advice.remove(dropped as usize);
        self.labels.remove(dropped as usize);
        for (_, states) in &mut self.strategy.choices {
            states.retain(|(state, _)| *state != dropped);
            states.iter_mut().for_each(|(state, _)| *state = renumber(*state));
        }
    }

    /// Changes the hyper-edges of one state.
    fn change_edges(&mut self, what: &str, changed: u32, random: &mut Random) {
        let count = self.states.len();
        let mut edges = Edges::new();
        for state in 0..count as u32 {
            let mut own: Vec<Vec<u32>> = self.edges.of(state).map(<[u32]>::to_vec).collect();
            if state == changed {
                let edge = random.below(own.len().max(1));
                match what {
                    "add a hyper-edge" => {
                        own.push((0..=random.below(2)).map(|_| random.below(count as u32)).collect());
                    }
                    _ if own.is_empty() => {}
                    "drop a hyper-edge" => _ = own.remove(edge),
                    "drop a member" => {
                        let member = random.below(own[edge].len());
                        own[edge].remove(member);
                        own.retain(|members| !members.is_empty());
                    }
                    _ => {
                        let member = random.below(own[edge].len());
                        own[edge][member] = random.below(count as u32);
                    }
                }
            }
            own.into_iter().for_each(|members| edges.add(members));
            edges.finish_state();
        }
        self.edges = edges;
    }

    /// Changes a choice, or leaves it out.
    fn change_strategy(&mut self, change: bool, random: &mut Random) {
        let Strategy { choices } = &mut self.strategy;
        if choices.is_empty() {
            return;
        }
        let node = random.below(choices.len());
        let states = &mut choices[node].1;
        let index = random.below(states.len());
        match change {
            true => states[index].1 = if random.once_in(2) { states[index].1 ^ 1 } else { random.below(4) },
            false => _ = states.remove(index),
        }
        choices.retain(|(_, states)| !states.is_empty());
    }

    /// Makes an unknown bit known, or a known one unknown or other.
    fn change_bit(&mut self, state: usize, random: &mut Random) {
        let Abstract::Bits { known, value } = &mut self.states[state] else { return };
        let bit = 1 << random.below(STATE_BITS);
        if *known & bit == 0 {
            *known |= bit;
            *value |= if random.once_in(2) { bit } else { 0 };
        } else if random.once_in(2) {
            *value ^= bit;
        } else {
            *known &= !bit;
            *value &= !bit;
        }
    }
}
