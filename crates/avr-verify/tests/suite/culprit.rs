//! The diagnosis of a property without an answer, and the states in which subformulas hold.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::{HazardKind, Limit};
use avr_properties::{Property, PropertyFile};
use avr_verify::{
    Along, Culprit, Exhausted, Explained, Help, InvariantUse, NodeKind, Obstacle, Origin, Progress, PropertyResult,
    Request, Results, StateGraph, UnknownBits, Unlimited, Verdict, Watch, graph, verify,
};
use three_valued::Truth;

/// Reads the port and counts: `in r17,PINC; ldi r24,0; ldi r25,0; 1: adiw r24,1; rjmp 1b`.
const COUNTS: &[u16] = &[0xb116, 0xe080, 0xe090, 0x9601, 0xcffe];
/// Reads the port and loops for ever: `in r17,PINC; rjmp .-2`.
const READS: &[u16] = &[0xb116, 0xcfff];
/// Executes a word that is no instruction: `nop; .word 0xffff`.
const RESERVED: &[u16] = &[0x0000, 0xffff];
/// Waits, then writes the port and loops for ever: `nop; ldi r16,1; out PORTB,r16; rjmp .-2`.
const WRITES: &[u16] = &[0x0000, 0xe001, 0xb905, 0xcfff];
/// Branches on an unknown stored bit: `sbrc r1,0; nop; rjmp .-2`.
const BRANCHES: &[u16] = &[0xfc10, 0x0000, 0xcfff];
/// Something about the port, and about the counter, which must not be forgotten.
/// It counts steps, so that nothing is left out.
const LOW_BITS: &str = "nu X. (pc != 6 || r17 & 3 == 0 || r25 == 77) && []X";
/// The data address of PINC.
const PINC: u16 = 0x26;

fn with_request<T>(words: &[u16], property: &str, watch: &dyn Watch, run: impl FnOnce(&Request<'_>) -> T) -> T {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.push(Property::from_command_line(property).unwrap_or_else(|error| panic!("{property}: {error}")));
    let (image, device) = (avr_testkit::image::image(words), Device::named("atmega328p").expect("the device exists"));
    run(&Request { watch, invariants: InvariantUse::Off, ..Request::of(&image, device, &file) })
}

fn result(words: &[u16], property: &str, watch: &dyn Watch) -> PropertyResult {
    let results: Results = with_request(words, property, watch, verify).unwrap_or_else(|error| panic!("{error}"));
    results.properties.into_iter().next().expect("there is one property")
}

fn culprit(words: &[u16], property: &str, watch: &dyn Watch) -> Culprit {
    match result(words, property, watch).verdict {
        Verdict::Unknown(unknown) => *unknown.culprit.unwrap_or_else(|| panic!("{} has no culprit", unknown.reason)),
        decided => panic!("{property}: {decided:?}"),
    }
}

/// Ends the exploration when it asks for the second time behind some states.
#[derive(Default)]
struct Impatient(AtomicUsize);

impl Watch for Impatient {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let before = self.0.fetch_add(usize::from(progress.states > 120 || progress.states == 0), Ordering::Relaxed);
        (before > 0).then_some(Exhausted::Time(Duration::from_secs(1)))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn a_limit_names_the_input_that_the_cause_depends_on() {
    let culprit = culprit(COUNTS, LOW_BITS, &Impatient::default());
    let bits = UnknownBits { origin: Origin::Input, cell: DataAddress(PINC), mask: 0x03, step: 1, pc: Some(0) };
    assert_eq!(culprit.obstacle, Obstacle::Time(Duration::from_secs(1)));
    assert_eq!(culprit.cause, "'r17 & 3 == 0' is unknown");
    assert_eq!((culprit.steps, culprit.path.as_slice()), (4, &[0, 2, 4, 6][..]));
    assert_eq!((culprit.bits.as_slice(), culprit.more_bits), (&[bits][..], 0));
    assert_eq!(culprit.help, [Help::Assume(DataAddress(PINC), 0x03), Help::RaiseTime(Duration::from_secs(1))]);
}

#[test]
fn a_limit_without_a_better_cause_names_where_the_work_ended() {
    let culprit = culprit(COUNTS, "AG (pc != 6 || r25 != 200)", &Impatient::default());
    assert_eq!(culprit.cause, "the path was not followed further");
    assert!(culprit.bits.is_empty() && culprit.steps > 100, "{culprit:?}");
    assert_eq!(culprit.path.len(), 64);
    assert_eq!(culprit.help, [Help::RaiseTime(Duration::from_secs(1))]);
}

#[test]
fn a_limit_names_the_instruction_with_the_most_states() {
    let culprit = culprit(COUNTS, "AG (pc != 6 || r25 != 200)", &Impatient::default());
    let explosion = culprit.explosion.expect("a counter has many values");
    let cells: Vec<u16> = explosion.cells.iter().map(|one| one.cell.0).collect();
    assert_eq!(cells, [24], "{explosion:?}");
    assert!(explosion.states >= 32 && explosion.cells[0].contents == explosion.states, "{explosion:?}");
}

#[test]
fn after_a_hazard_nothing_is_defined() {
    let culprit = culprit(RESERVED, "EF (pc == 0x100)", &Unlimited);
    assert!(
        matches!(culprit.obstacle, Obstacle::Hazard(hazard) if hazard.kind == HazardKind::ReservedOpcode),
        "{culprit:?}"
    );
    assert_eq!(culprit.path.last(), Some(&2));
    assert_eq!(culprit.help, [Help::Hazard(HazardKind::ReservedOpcode)]);
}

#[test]
fn what_the_engine_cannot_follow_is_named() {
    // `ijmp` with nothing known of Z.
    let culprit = culprit(&[0x9409], "EF (pc == 0x100)", &Unlimited);
    assert_eq!(culprit.obstacle, Obstacle::Engine(Limit::TooManyCases));
    assert_eq!(culprit.help[0], Help::Bound(Limit::TooManyCases));
    assert_eq!(culprit.path, [0]);
}

#[track_caller]
fn check(explained: &Explained, text: &str, depth: usize, stretches: &[(u64, u64, Truth)]) {
    let found: Vec<_> = explained.stretches.iter().map(|one| (one.first, one.last, one.value)).collect();
    assert_eq!((explained.text.as_str(), explained.depth, found.as_slice()), (text, depth, stretches));
}

#[test]
fn subformulas_are_explained_along_the_run() {
    let explanation =
        result(WRITES, "EF (PORTB == 1 && AX (PORTB == 1))", &Unlimited).explanation.expect("it is little");
    assert_eq!((explanation.along, explanation.positions, explanation.left_out), (Along::Evidence, 4, 0));
    let [whole, both, is, stays, again] = explanation.subformulas.as_slice() else { panic!("{explanation:?}") };
    check(whole, "EF (PORTB == 1 && AX PORTB == 1)", 0, &[(0, 3, Truth::True)]);
    check(both, "PORTB == 1 && AX PORTB == 1", 1, &[(0, 2, Truth::False), (3, 3, Truth::True)]);
    check(is, "PORTB == 1", 2, &[(0, 2, Truth::False), (3, 3, Truth::True)]);
    check(stays, "AX PORTB == 1", 2, &[(0, 1, Truth::False), (2, 3, Truth::True)]);
    check(again, "PORTB == 1", 3, &[(0, 2, Truth::False), (3, 3, Truth::True)]);
    assert_eq!((is.states.holds, is.states.fails, is.states.unknown), (1, 3, 0));
}

#[test]
fn fixed_points_are_put_for_their_variables() {
    let explanation = result(WRITES, "mu X. PORTB == 1 || <>X", &Unlimited).explanation.expect("it is little");
    let texts: Vec<_> = explanation.subformulas.iter().map(|one| (one.text.as_str(), one.depth)).collect();
    let expected = [("mu X. PORTB == 1 || <>X", 0), ("PORTB == 1 || <>X", 1), ("PORTB == 1", 2), ("<>X", 2)];
    assert_eq!(texts, expected);
    check(&explanation.subformulas[3], "<>X", 2, &[(0, 3, Truth::True)]);
}

#[test]
fn a_path_formula_is_unknown_where_it_depends_on_the_path() {
    let text = "Ltl(check: \"F (PORTB == 1) && G (PORTB == 0)\")";
    let explanation = result(READS, "A[F (r17 & 1 == 1) || G (PORTB == 0)]", &Unlimited).explanation.expect("little");
    let value = |text: &str| {
        let found = explanation.subformulas.iter().find(|one| one.text == text);
        found.unwrap_or_else(|| panic!("{text} in {explanation:?}")).stretches[0].value
    };
    assert_eq!(value("F r17 & 1 == 1"), Truth::Unknown);
    assert_eq!(value("G PORTB == 0"), Truth::True);
    assert_eq!(result(WRITES, text, &Unlimited).verdict, Verdict::Violated);
}

#[test]
fn a_path_to_a_culprit_is_explained_where_there_is_no_run() {
    let explanation = result(COUNTS, LOW_BITS, &Impatient::default()).explanation.expect("it is little");
    assert_eq!((explanation.along, explanation.positions), (Along::Culprit, 4));
    let atom = explanation.subformulas.iter().find(|one| one.text == "r17 & 3 == 0").expect("it is there");
    assert_eq!(atom.stretches.last().map(|one| (one.last, one.value)), Some((3, Truth::Unknown)));
}

fn state_graph(words: &[u16], property: &str) -> StateGraph {
    let (_, graph) = with_request(words, property, &Unlimited, graph).unwrap_or_else(|error| panic!("{error}"));
    graph.expect("the property was checked")
}

#[test]
fn the_graph_has_states_labels_and_the_run() {
    let graph = state_graph(WRITES, "EF (PORTB == 1)");
    let pcs: Vec<_> = graph.nodes.iter().map(|node| node.pc).collect();
    assert_eq!(pcs, [None, Some(0), Some(2), Some(4), Some(6)]);
    assert_eq!(graph.nodes[0].kind, NodeKind::Start);
    assert_eq!(graph.nodes[4].edges, [[4]]);
    assert_eq!(graph.nodes[4].labels, [Truth::True]);
    assert_eq!(
        (graph.atoms.as_slice(), graph.marked.as_slice()),
        (&["PORTB == 1".to_owned()][..], &[0, 1, 2, 3, 4][..])
    );
}

#[test]
fn a_branch_on_a_stored_bit_is_one_hyper_edge() {
    let graph = state_graph(BRANCHES, "AG EF (pc == 4)");
    let first = graph.nodes.iter().find(|node| node.pc == Some(0)).expect("it is reached");
    assert_eq!(first.edges.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
}

#[test]
fn hazards_are_nodes_without_edges() {
    let graph = state_graph(RESERVED, "EF (pc == 0x100)");
    let sink = graph.nodes.last().expect("there is one");
    assert!(matches!(sink.kind, NodeKind::Hazard(hazard) if hazard.kind == HazardKind::ReservedOpcode));
    assert!(sink.edges.is_empty());
    assert_eq!(graph.marked.last().map(|state| *state as usize), Some(graph.nodes.len() - 1));
}

/// Reads ports into one register, five times, and counts: `ldi r24,0; ldi r25,0; in r16,PINB; in r16,PINC; in r16,PIND;
/// in r16,PINB; in r16,PINC; nop; 1: adiw r24,1; rjmp 1b`.
const READS_FIVE: &[u16] = &[0xe080, 0xe090, 0xb103, 0xb106, 0xb109, 0xb103, 0xb106, 0x0000, 0x9601, 0xcffe];
/// A formula that holds, and is known only where bits of ports are distinguished: two after the first and the last, one
/// after the others.
/// The counter must not be forgotten, and nothing is left out, because steps are counted.
const FIVE_PLACES: &str = "nu X. (pc != 6 && pc != 14 || (r16 ^ r16) & 3 == 0 || r25 == 77) \
                           && (pc != 8 && pc != 10 && pc != 12 || (r16 ^ r16) & 1 == 0 || r25 == 77) && []X";

/// Ends the exploration after so many refinements, some way into it.
struct Refinements(usize);

impl Watch for Refinements {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let is_enough = progress.refinements >= self.0 && progress.states > 100;
        is_enough.then_some(Exhausted::Time(Duration::from_secs(1)))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn a_culprit_counts_the_refinements_for_its_own_place() {
    let result = result(READS_FIVE, FIVE_PLACES, &Refinements(6));
    let Verdict::Unknown(unknown) = result.verdict else { panic!("{:?}", result.verdict) };
    let culprit = unknown.culprit.expect("there is one");
    assert_eq!((culprit.cause.as_str(), culprit.path.last()), ("'(r16 ^ r16) & 3 == 0' is unknown", Some(&14)));
    // Of the others two were made for the first place, and one for each place between.
    assert_eq!((culprit.refinements, result.statistics.refinements), (1, 6));
}
