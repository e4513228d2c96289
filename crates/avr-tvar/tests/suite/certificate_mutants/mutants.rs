//! Altered certificates.

use avr_certificate::{Basis, Certificate, Claim, Depth, Edges, Labels, Proof, Space, Stack, State, Upper, Verdict};
use avr_isa::DataAddress;
use three_valued::{Truth, TvByte};

use super::predicates;
use avr_testkit::Random;

/// A certificate with something altered, and what.
pub(super) fn mutant(certificate: &Certificate, random: &mut Random) -> (&'static str, Certificate) {
    let mut mutant = certificate.clone();
    if mutant.predicates.as_ref().is_some_and(|kept| !kept.compared.is_empty()) && random.once_in(2) {
        return (predicates::change(&mut mutant, random), mutant);
    }
    let number = random.below(mutant.spaces.len());
    let space = &mut mutant.spaces[number];
    let state = random.below(space.states.len()) as u32;
    let what = match random.below(26) {
        0 => "digest",
        1..=3 => "state",
        4..=6 => "hyper-edge",
        7..=9 => "member",
        10 => "other member",
        11..=12 => "label",
        13..=15 => "choice",
        16..=20 => "bit",
        21 => "control",
        22 => "advice",
        23 => "part",
        24 => "depth",
        _ => "claim",
    };
    match what {
        "digest" => mutant.header.sha256[random.below(32)] ^= 1 << random.below(8),
        "state" => drop_state(&mut mutant, number, state),
        "hyper-edge" | "member" | "other member" => change_edges(space, what, state, random),
        "label" => change_label(space, state, random),
        "choice" => change_choice(&mut mutant, random),
        "bit" => change_bit(&mut mutant, random),
        "control" => change_control(space, state, random),
        "advice" => {
            let advice = random.below(mutant.store.advice.len());
            let advice = &mut mutant.store.advice[advice];
            advice.inputs.clear();
            advice.cases.push((DataAddress(random.below(32)), random.byte()));
        }
        "part" => change_part(&mut mutant, random),
        "depth" => change_depth(&mut mutant, random),
        _ => change_claim(&mut mutant, random),
    }
    (what, mutant)
}

/// The space with other hyper-edges: `change` gets those of each state.
fn with_edges(space: &Space, mut change: impl FnMut(u32, Vec<Vec<u32>>) -> Vec<Vec<u32>>) -> Edges {
    let mut edges = Edges::new();
    for state in 0..space.states.len() as u32 {
        let own = space.edges.of(state).map(<[u32]>::to_vec).collect();
        change(state, own).into_iter().for_each(|members| edges.add(members));
        edges.finish_state();
    }
    edges
}

/// Leaves a state out: nothing leads there any more, and nothing is known there.
fn drop_state(certificate: &mut Certificate, number: usize, dropped: u32) {
    let space = &mut certificate.spaces[number];
    space.edges = with_edges(space, |state, own| {
        let kept = own.into_iter().map(|mut members| {
            members.retain(|member| *member != dropped);
            members
        });
        kept.filter(|members| !members.is_empty() && state != dropped).collect()
    });
}

fn change_edges(space: &mut Space, what: &str, changed: u32, random: &mut Random) {
    let count = space.states.len();
    space.edges = with_edges(space, |state, mut own| {
        if state != changed || own.is_empty() {
            return own;
        }
        let edge = random.below(own.len());
        let member = random.below(own[edge].len());
        match what {
            "hyper-edge" => _ = own.remove(edge),
            "member" => _ = own[edge].remove(member),
            _ => own[edge][member] = random.below(count as u32),
        }
        own.retain(|members| !members.is_empty());
        own
    });
}

fn change_label(space: &mut Space, changed: u32, random: &mut Random) {
    let atoms = space.labels.atoms();
    let changed_atom = random.below(atoms);
    let other = [Truth::True, Truth::False, Truth::Unknown][random.below(3)];
    let mut labels = Labels::new(atoms);
    for state in 0..space.states.len() as u32 {
        let label = |atom| match (state, atom) == (changed, changed_atom) {
            true => other,
            false => space.labels.get(state, atom),
        };
        labels.add((0..atoms).map(label));
    }
    space.labels = labels;
}

/// The upper and the lower bound of the stack.
fn depths(stack: &mut Stack) -> [Option<&mut Depth>; 2] {
    let upper = match &mut stack.upper {
        Some(Upper::Space(depth)) => Some(depth),
        Some(Upper::Map(_)) | None => None,
    };
    [upper, stack.lower.as_mut()]
}

/// All proofs of a certificate.
fn proofs(certificate: &mut Certificate) -> Vec<&mut Proof> {
    let depths = depths(&mut certificate.stack).into_iter().flatten();
    let decided = certificate.claims.iter_mut().filter_map(|claim| match claim {
        Claim::Decided(decided) => Some(decided),
        Claim::Undecided | Claim::Uncertified(_) | Claim::Invariant(_) | Claim::Symbolic(_) | Claim::Confined(_) => {
            None
        }
    });
    let claimed = decided.flat_map(|decided| {
        let vacuous = decided.vacuous.iter_mut().flat_map(|vacuous| &mut vacuous.proofs);
        decided.proofs.iter_mut().chain(vacuous)
    });
    claimed.chain(depths.map(|depth| &mut depth.proof)).collect()
}

/// Claims that another part of a property does not matter, or that one of another property does not.
fn change_part(certificate: &mut Certificate, random: &mut Random) {
    let parts = certificate.claims.iter().filter_map(|claim| match claim {
        Claim::Decided(decided) => decided.vacuous.clone(),
        Claim::Undecided | Claim::Uncertified(_) | Claim::Invariant(_) | Claim::Symbolic(_) | Claim::Confined(_) => {
            None
        }
    });
    let parts: Vec<_> = parts.collect();
    let claim = random.below(certificate.claims.len());
    let Claim::Decided(decided) = &mut certificate.claims[claim] else { return };
    let other = parts.get(random.below(parts.len() + 1)).cloned();
    decided.vacuous = other.or_else(|| decided.vacuous.take());
    if let Some(vacuous) = &mut decided.vacuous {
        vacuous.part = random.below(6);
    }
}

/// Claims another depth of the stack.
fn change_depth(certificate: &mut Certificate, random: &mut Random) {
    let stack = &mut certificate.stack;
    if random.once_in(4) {
        let upper = match stack.upper.take() {
            Some(Upper::Space(depth)) => Some(depth),
            Some(Upper::Map(_)) | None => None,
        };
        stack.upper = std::mem::replace(&mut stack.lower, upper).map(Upper::Space);
    }
    let [upper, lower] = depths(stack);
    let Some(depth) = (if random.once_in(2) { upper } else { lower }) else { return };
    depth.bytes = match random.below(3) {
        0 => depth.bytes + 1,
        1 => depth.bytes.saturating_sub(1),
        _ => random.below(1 << 12),
    };
}

fn change_choice(certificate: &mut Certificate, random: &mut Random) {
    let mut proofs = proofs(certificate);
    let proof = random.below(proofs.len());
    let choices = &mut proofs[proof].strategy.choices;
    if choices.is_empty() {
        return;
    }
    let node = random.below(choices.len());
    let states = &mut choices[node].1;
    let state = random.below(states.len());
    match random.below(3) {
        0 => _ = states.remove(state),
        1 => states[state].1 ^= 1,
        _ => states[state].1 = random.below(4),
    }
}

/// Makes an unknown bit of a page known, or changes a known one.
fn change_bit(certificate: &mut Certificate, random: &mut Random) {
    let page = random.below(certificate.store.pages.len());
    let page = &mut certificate.store.pages[page];
    let cell = random.below(page.len());
    let (byte, bit) = (page[cell], 1 << random.below(8));
    page[cell] = match (byte.known_mask() & bit == 0, random.once_in(2)) {
        (true, zero) => TvByte::new(byte.value() | if zero { 0 } else { bit }, byte.known_mask() | bit),
        (false, true) => TvByte::new(byte.value() ^ bit, byte.known_mask()),
        (false, false) => byte.forget(bit),
    };
}

fn change_control(space: &mut Space, state: u32, random: &mut Random) {
    let other = space.states[random.below(space.states.len())];
    match (&mut space.states[state as usize], other, random.below(4)) {
        (State::Running(running), _, 0) => running.control.interrupt_delay ^= true,
        (State::Running(running), _, 1) => running.control.sleeping ^= true,
        (State::Running(running), State::Running(other), 2) => running.memory = other.memory,
        (changed, other, _) => *changed = other,
    }
}

fn change_claim(certificate: &mut Certificate, random: &mut Random) {
    let claim = random.below(certificate.claims.len());
    let Claim::Decided(decided) = &mut certificate.claims[claim] else { return };
    match decided.verdict {
        _ if random.once_in(2) => decided.proofs.iter_mut().for_each(|proof| proof.basis = Basis::Hardware),
        Verdict::Holds => decided.verdict = Verdict::Violated,
        Verdict::Violated => decided.verdict = Verdict::Holds,
    }
}
