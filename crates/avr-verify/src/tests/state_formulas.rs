//! Formulas about states in symbolic states, against their evaluation in single ones.

use crate::Reductions;
use crate::random_programs::{LONG, Random, with_request};
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::Control;
use avr_progress::{StateFormula, Target};
use avr_properties::{AtomTable, StateView, bind};
use avr_symbolic::{Answer, Assignment, Graph, Pattern, QueryLimits, SymbolicBit, SymbolicState, Valuation, satisfy};
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, NormalForm};
use std::collections::BTreeMap;
use three_valued::{Truth, TvByte};

/// Formulas, each with what is known of a cell, and true if each state decides which value the bits have.
const FORMULAS: [(&str, (u16, TvByte), bool); 9] = [
    ("mem[0x100] == 0x5a && mem[0x101] == 3", NOTHING, true),
    ("mem16[0x100] == 0x1234", NOTHING, true),
    ("mem16[0x100] < 300 || mem16[0x100] > 65000", NOTHING, true),
    ("mem16[0x100] >= 0x8001 && PORTB.5 == 1", NOTHING, true),
    ("mem[0x100] == 1 -> mem16[0x102] > 1000", NOTHING, true),
    ("!(mem16[0x100] != 77) || mem[0x103] == mem[0x104]", NOTHING, false),
    ("mem16[0x100] - mem16[0x102] < 10", NOTHING, false),
    ("mem[0x100] < mem[0x101] || mem[0x100] >= mem[0x101]", NOTHING, false),
    ("mem16[0x100] == 0x1234 || mem16[0x102] == 0x4321", (0x101, TvByte::new(0x10, 0xf0)), true),
];

const NOTHING: (u16, TvByte) = (0x100, TvByte::UNKNOWN);

/// Single states, by the values of their cells.
struct Values(Vec<u8>);

impl StateView for Values {
    fn cell(&self, address: DataAddress) -> TvByte {
        TvByte::constant(self.0[address.index()])
    }

    fn pc(&self) -> FlashByteAddress {
        FlashByteAddress(0)
    }

    fn stack_pointer_torn(&self) -> bool {
        false
    }

    fn stack(&self) -> u8 {
        0
    }

    fn interrupt_depth(&self) -> usize {
        0
    }

    fn sleeping(&self) -> Truth {
        Truth::False
    }

    fn in_startup(&self) -> Truth {
        Truth::False
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}

#[test]
fn symbolic_states_agree_with_single_ones() {
    let texts = FORMULAS.map(|(text, ..)| format!("Formula(check: \"{text}\")"));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    with_request(&[0xcfff], &texts, Reductions::ALL, LONG, |request| {
        let machine = crate::pipeline::machine::machine(request).expect("there are no assumptions");
        for (property, (text, (cell, known), is_decided)) in request.file.properties.iter().zip(FORMULAS) {
            let mut table = AtomTable::default();
            let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).expect("it is bound");
            let target = StateFormula::new(table.atoms(), &bound.formula).expect("it is about states");
            let formula = NormalForm::new(&bound.formula).expect("it has a normal form");
            let graph = Graph::new(1_000_000);
            let cells = BTreeMap::from([(DataAddress(cell), known)]);
            let pattern = Pattern { control: Control::default(), frames: Vec::new(), cells };
            let (state, _) = pattern.any(&machine, &graph);
            let bits = [target.bit(&state), target.outside(&state)];
            let agree = |assignment: Assignment| {
                let mut values = Valuation::new(&graph, assignment);
                let found = bits.each_ref().map(|bit| values.bit(bit).expect("it is not open"));
                let view = Values(bytes(&state, &mut values));
                let label = |atom: AtomId| table.atoms()[atom.index()].evaluate(&view);
                let value = truth(&formula, formula.root(), &label).known().expect("all is known");
                assert!(!found[usize::from(value)], "{text} is {value}");
                assert!(found[usize::from(!value)] || !is_decided, "{text} is {value}, and that is not known");
            };
            for bit in &bits {
                if let Answer::Satisfiable(assignment) = satisfy(bit, QueryLimits::default()) {
                    agree(assignment);
                }
            }
            let is_possible =
                |bit: &SymbolicBit<'_>| matches!(satisfy(bit, QueryLimits::default()), Answer::Satisfiable(_));
            assert!(!is_decided || bits.iter().all(is_possible), "{text}");
            let mut random = Random::new(1);
            for _ in 0..300 {
                let mut assignment = Assignment::default();
                graph.variables().for_each(|variable| assignment.set(variable, random.below(2) == 1));
                agree(assignment);
            }
        }
    });
}

/// The content of all cells.
fn bytes<'g>(state: &SymbolicState<'g>, values: &mut Valuation<'g>) -> Vec<u8> {
    state.data.cells().iter().map(|cell| values.byte(cell).expect("it is not open")).collect()
}
