//! Random ways through small programs, against all values of the register that they begin with.

use super::loops::{at, machine, register};
use crate::{Feasibility, Graph, QueryLimits, SymbolicState, Waypoint, feasibility, replay};
use avr_isa::{FlashWordAddress, Instruction as I};
use avr_machine::{Demand, DeterminedBy, Environment, HazardKind, Input, Machine, MachineState, Question, Stop};
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};

const LIMITS: QueryLimits = QueryLimits { steps: 10_000, nodes: 100_000 };

/// A world in which nothing is asked.
struct Nothing;

impl Environment<u8> for Nothing {
    fn input(&mut self, source: Input, _: u8, _: Demand, _: DeterminedBy) -> u8 {
        panic!("{source:?} is asked for")
    }

    fn choose(&mut self, _: usize) -> usize {
        panic!("nothing is to choose")
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open")
    }
}

/// Instructions that change two registers, the second one a copy of the first, and branches over one of them.
fn random_program(random: &mut Random) -> Code {
    let mut code = Code::default();
    code.add(I::Mov { rd: r(17), rr: r(16) });
    for _ in 0..2 + random.below(4) {
        let (one, other) = random.pick(&[(16, 17), (17, 16)]);
        if random.once_in(2) {
            code.add(change(random, one, other));
        }
        code.add(I::Cpi { rd: r(one), k: random.byte() });
        let flag = random.pick(&[0, 1]);
        code.add(if random.once_in(2) { I::Brbs { flag, offset: 1 } } else { I::Brbc { flag, offset: 1 } });
        code.add(change(random, one, other));
    }
    code.add(I::Nop);
    code
}

fn change(random: &mut Random, one: u8, other: u8) -> I {
    match random.below(5) {
        0 => I::Subi { rd: r(one), k: random.byte() },
        1 => I::Andi { rd: r(one), k: random.byte() },
        2 => I::Lsr { rd: r(one) },
        3 => I::Mov { rd: r(one), rr: r(other) },
        _ => I::Add { rd: r(one), rr: r(other) },
    }
}

fn is_branch(machine: &Machine, pc: u32) -> bool {
    let mut all = machine.program.instructions();
    all.any(|(at, instruction)| at.0 == pc && matches!(instruction, I::Brbs { .. } | I::Brbc { .. }))
}

/// The places from the second instruction to the last one, where each branch goes either way.
fn random_way(machine: &Machine, last: u32, random: &mut Random) -> Vec<u32> {
    let mut way = vec![0];
    while let Some(pc) = way.last().copied().filter(|pc| *pc < last) {
        let skips = is_branch(machine, pc) && random.once_in(2);
        way.push(pc + 1 + u32::from(skips));
    }
    way.split_off(1)
}

/// True if the run that begins with a value of the register takes a way.
fn takes(machine: &Machine, value: u8, way: &[u32]) -> bool {
    let mut state: MachineState<u8> = MachineState::new(machine.cells(), 0);
    state.control = at(0, &[]).control;
    state.data.set(register(16), value);
    way.iter().all(|pc| {
        machine.step(&mut state, &mut Nothing).expect("there is nothing to stop at");
        state.control.pc == FlashWordAddress(*pc)
    })
}

fn found(machine: &Machine, way: &[u32]) -> Feasibility {
    found_to(machine, way, None)
}

/// The same where a hazard comes behind the places.
fn found_to(machine: &Machine, way: &[u32], hazard: Option<HazardKind>) -> Feasibility {
    let graph = Graph::new(100_000);
    let (start, _): (SymbolicState<'_>, _) = at(0, &[]).any(machine, &graph);
    let way = way
        .iter()
        .map(|pc| Waypoint::Place { pc: FlashWordAddress(*pc), depth: 0 })
        .chain(hazard.map(Waypoint::Hazard));
    feasibility(machine, &graph, start, &way.collect::<Vec<_>>(), LIMITS).expect("each step can be followed")
}

/// The steps that contradict each other on a way.
fn contradiction(machine: &Machine, way: &[u32]) -> Vec<usize> {
    match found(machine, way) {
        Feasibility::Infeasible(steps) => steps,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_way_contradicts_itself_if_no_value_takes_it() {
    let mut random = Random::new(61);
    let (mut refuted, mut taken) = (0, 0);
    for _ in 0..cases(300, 10_000) {
        let code = random_program(&mut random);
        let machine = machine(&code);
        let way = random_way(&machine, code.words.len() as u32 - 1, &mut random);
        let is_taken = (0..=255).any(|value| takes(&machine, value, &way));
        match found(&machine, &way) {
            Feasibility::Infeasible(steps) => {
                assert!(!is_taken, "{:04x?} {way:?}: {steps:?}", code.words);
                refuted += 1;
            }
            Feasibility::Feasible(run) => {
                let run = run.expect("nothing is open");
                let value = *run.start.data.get(register(16));
                assert!(is_taken && takes(&machine, value, &way), "{:04x?} {way:?}: {value}", code.words);
                taken += 1;
            }
            Feasibility::Unanswered(reason) => panic!("{reason}"),
        }
    }
    assert!(refuted > 50 && taken > 50, "{refuted} {taken}");
}

#[test]
fn steps_that_do_not_matter_are_left_out() {
    let mut code = Code::default();
    // Each goes on where the two are not equal.
    let differs = |code: &mut Code, register: u8, k: u8| {
        code.add(I::Cpi { rd: r(register), k });
        code.unless(1, false, |code| code.add(I::Nop));
    };
    differs(&mut code, 18, 7);
    differs(&mut code, 16, 1);
    code.add(I::Mov { rd: r(17), rr: r(16) });
    code.add(I::Subi { rd: r(17), k: 3 });
    differs(&mut code, 19, 9);
    code.add(I::Cpi { rd: r(17), k: 0xfe });
    code.unless(1, true, |code| code.add(I::Nop));
    code.add(I::Nop);
    let machine = machine(&code);
    let branches: Vec<usize> = (0..code.words.len()).filter(|pc| is_branch(&machine, *pc as u32)).collect();
    // Along the instructions that each branch would skip.
    let way: Vec<u32> = (1..code.words.len() as u32).collect();
    assert_eq!(contradiction(&machine, &way), [branches[1], branches[3]]);
}

#[test]
fn a_step_that_always_leads_elsewhere_contradicts_itself() {
    let mut code = Code::default();
    code.add(I::Nop);
    code.add(I::Nop);
    let machine = machine(&code);
    assert!(matches!(found(&machine, &[1]), Feasibility::Feasible(Some(_))));
    assert_eq!(contradiction(&machine, &[1, 5]), [1]);
}

#[test]
fn a_way_may_end_in_a_hazard() {
    let mut code = Code::default();
    code.add(I::Cpi { rd: r(16), k: 7 });
    code.unless(1, false, |code| code.words.push(0xffff));
    code.add(I::Nop);
    code.add(I::Nop);
    let machine = machine(&code);
    let invalid = HazardKind::ReservedOpcode;
    let Feasibility::Feasible(Some(run)) = found_to(&machine, &[1, 2], Some(invalid)) else { panic!("there is one") };
    assert_eq!(*run.start.data.get(register(16)), 7);
    assert!(matches!(replay(&machine, &run), Ok(Err(Stop::Hazard(hazard))) if hazard.kind == invalid));
    for (way, kind) in [(&[1, 3][..], invalid), (&[1, 2], HazardKind::StackOutsideSram)] {
        let found = found_to(&machine, way, Some(kind));
        assert!(matches!(&found, Feasibility::Infeasible(steps) if *steps == [2]), "{found:?}");
    }
}
