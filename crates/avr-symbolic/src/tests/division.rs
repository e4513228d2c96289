//! A division of 16 bits, which has a path for each quotient unless paths are merged.

use super::loops::{at, machine};
use crate::{Assignment, EndKind, ExecutionLimits, Executor, Graph, PathCondition, Strategy, SymbolicState, Valuation};
use avr_isa::{DataAddress, FlashWordAddress, Instruction as I};
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};

/// Divides r25:r24 by r23:r22, bit by bit; the remainder is in r27:r26.
fn division() -> Code {
    let mut code = Code::default();
    [
        I::Ldi { rd: r(26), k: 0 },
        I::Ldi { rd: r(27), k: 0 },
        I::Ldi { rd: r(21), k: 16 },
        // A bit of the dividend goes into the remainder.
        I::Add { rd: r(24), rr: r(24) },
        I::Adc { rd: r(25), rr: r(25) },
        I::Adc { rd: r(26), rr: r(26) },
        I::Adc { rd: r(27), rr: r(27) },
        // The remainder has 17 bits if the divisor has 16.
        I::Brbs { flag: 0, offset: 3 },
        I::Cp { rd: r(26), rr: r(22) },
        I::Cpc { rd: r(27), rr: r(23) },
        I::Brbs { flag: 0, offset: 3 },
        I::Sub { rd: r(26), rr: r(22) },
        I::Sbc { rd: r(27), rr: r(23) },
        I::Inc { rd: r(24) },
        I::Dec { rd: r(21) },
        I::Brbc { flag: 1, offset: -13 },
        I::Nop,
    ]
    .into_iter()
    .for_each(|instruction| code.add(instruction));
    code
}

/// A number of 16 bits in two registers.
fn value<'g>(values: &mut Valuation<'g>, state: &SymbolicState<'g>, low: u8) -> u16 {
    let bytes = [r(low), r(low + 1)].map(|register| values.byte(state.data.get(register.address())));
    u16::from_le_bytes(bytes.map(|byte| byte.expect("it is closed")))
}

#[test]
fn paths_of_a_division_are_merged() {
    let code = division();
    let machine = machine(&code);
    let graph = Graph::new(1 << 20);
    let end = FlashWordAddress(code.words.len() as u32 - 1);
    let (start, condition): (SymbolicState<'_>, PathCondition<'_>) = at(0, &[]).any(&machine, &graph);
    let limits = ExecutionLimits { paths: 8, ..ExecutionLimits::default() };
    let is_end = |state: &SymbolicState<'_>| state.control.pc == end;
    let execution =
        Executor::new(&machine, limits).execute(&graph, (start, condition), &Strategy::entering(&[]), &is_end);
    let [found] = &execution.ends[..] else { panic!("{} ends", execution.ends.len()) };
    let EndKind::Goal(state) = &found.kind else { panic!("{:?}", found.kind) };
    assert!(execution.steps < 16 * 14 + 5, "{} steps", execution.steps);
    assert!(execution.merges >= 16, "{} merges", execution.merges);
    let mut random = Random::new(41);
    for _ in 0..cases(100, 3_000) {
        let mut assignment = Assignment::default();
        graph.variables().for_each(|variable| assignment.set(variable, random.once_in(2)));
        if random.once_in(2) {
            assignment.set_byte(execution.start.data.get(DataAddress(23)), 0);
        }
        let mut values = Valuation::new(&graph, assignment);
        let dividend = value(&mut values, &execution.start, 24);
        let divisor = value(&mut values, &execution.start, 22);
        if let (Some(quotient), Some(remainder)) = (dividend.checked_div(divisor), dividend.checked_rem(divisor)) {
            assert_eq!(value(&mut values, state, 24), quotient, "{dividend} / {divisor}");
            assert_eq!(value(&mut values, state, 26), remainder, "{dividend} % {divisor}");
        }
    }
}
