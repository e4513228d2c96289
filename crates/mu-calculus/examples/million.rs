//! Solving time on a graph of a million states, for formulas up to alternation depth 3.
//!
//! `cargo run --release -p mu-calculus --example million [STATES]`; one line per graph and formula.
#![expect(clippy::print_stdout, reason = "the table is what the example is for")]

use std::error::Error;
use std::time::Instant;

use avr_testkit::Random;
use mu_calculus::{AtomId, GraphBuilder, GraphError, HyperGraph, Labels, NormalForm, Problem, StateId, parse_formula};
use three_valued::Truth;

/// Formulas over `p` (rare: one state in 1,000), `q` (common: all but one in 100,000) and `r` (every other state).
const FORMULAS: [&str; 11] = [
    "AG q",
    "AG EF p",
    "E[q U p]",
    "mu X. nu Y. []X || (q && []Y)",
    "nu X. mu Y. (p && []X) || []Y",
    "nu X. mu Y. (p && <>X) || <>Y",
    "nu X. mu Y. (r && []X) || (!r && <>Y)",
    "mu X. nu Y. mu Z. (r && []Y) || (!r && <>Z) || (!q && []X)",
    "nu X. mu Y. nu Z. (p && []X) || (q && []Z) || []Y",
    "mu X. nu Y. mu Z. (p && <>Y) || (!q && <>X) || <>Z",
    "nu X. mu Y. nu Z. [](q && Z || p && X || <>(Y && !p))",
];

fn main() -> Result<(), Box<dyn Error>> {
    let states: u32 = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    println!("{:10} {:56} {:>5} {:>7} {:>9}", "graph", "formula", "depth", "verdict", "seconds");
    for (name, graph) in [
        ("program", program(states)?),
        ("random", random(states)?),
        ("ladder", ladder(states)?),
        ("peel", peel(states)?),
    ] {
        let labels = labels(&graph);
        for formula in FORMULAS {
            measure(name, &graph, &labels, formula)?;
        }
    }
    Ok(())
}

fn measure(name: &str, graph: &HyperGraph, labels: &Labels, text: &str) -> Result<(), Box<dyn Error>> {
    let bound = parse_formula(text)?.try_map_atoms(&mut |atom| match atom.bare_name() {
        Some("p") => Ok(AtomId(0)),
        Some("q") => Ok(AtomId(1)),
        Some("r") => Ok(AtomId(2)),
        _ => Err(format!("no atom `{atom}`")),
    })?;
    let formula = NormalForm::new(&bound)?;
    let start = Instant::now();
    let solution = Problem { graph, labels, formula: &formula }.solve(&|| false)?;
    let seconds = start.elapsed().as_secs_f64();
    let depth = formula.alternation_depth();
    println!("{name:10} {text:56} {depth:5} {:>7} {seconds:9.3}", solution.verdict().to_string());
    Ok(())
}

/// Straight lines with branches, inner loops and a way back to the start: one large component.
fn program(states: u32) -> Result<HyperGraph, GraphError> {
    let mut random = Random::new(1);
    let mut builder = GraphBuilder::new();
    for state in 0..states {
        builder.state();
        let next = StateId((state + 1) % states);
        builder.edge([next]);
        match random.below(20) {
            0 => builder.edge([StateId(state.saturating_sub(random.below(200)))]),
            1 => builder.edge([StateId((state + random.below(500)) % states), next]),
            _ => 0,
        };
    }
    builder.finish(StateId(0))
}

/// Two hyper-edges per state to anywhere, one in ten with two members, one state in 10,000 a sink.
fn random(states: u32) -> Result<HyperGraph, GraphError> {
    let mut random = Random::new(2);
    let mut builder = GraphBuilder::new();
    for _ in 0..states {
        builder.state();
        let degree = if random.below(10_000) == 0 { 0 } else { 2 };
        for _ in 0..degree {
            let members = if random.below(10) == 0 { 2 } else { 1 };
            builder.edge((0..members).map(|_| StateId(random.below(states))));
        }
    }
    builder.finish(StateId(0))
}

/// A chain in both directions in which every step back may as well go on: what is lost at one end is lost at the
/// other, one state at a time.
fn ladder(states: u32) -> Result<HyperGraph, GraphError> {
    let mut builder = GraphBuilder::new();
    for state in 0..states {
        builder.state();
        let (before, after) = (StateId(state.saturating_sub(1)), StateId((state + 1).min(states - 1)));
        builder.edge([before, after]);
        builder.edge([after]);
    }
    builder.finish(StateId(0))
}

/// Pairs of states: one (odd) that may stay or go to the next pair, one (even) that leads back into the pair before or
/// to the start. Where `r` holds in the even ones and the opponent moves there, `r` recurs nowhere, but each pair shows
/// that only after the next one has.
fn peel(states: u32) -> Result<HyperGraph, GraphError> {
    let mut builder = GraphBuilder::new();
    for state in 0..states {
        builder.state();
        let targets = if state % 2 == 0 { [state + 1, 0] } else { [state, state + 1] };
        for target in targets {
            builder.edge([StateId(target.min(states - 1))]);
        }
    }
    builder.finish(StateId(0))
}

fn labels(graph: &HyperGraph) -> Labels {
    let mut random = Random::new(3);
    let mut labels = Labels::new(3, graph.state_count());
    for state in graph.states() {
        let unknown = random.below(50_000) == 0;
        let p = Truth::from(random.below(1_000) == 0);
        labels.set(AtomId(2), state, Truth::from(state.0.is_multiple_of(2)));
        let q = Truth::from(random.below(100_000) != 0);
        labels.set(AtomId(0), state, if unknown { Truth::Unknown } else { p });
        labels.set(AtomId(1), state, if unknown { Truth::Unknown } else { q });
    }
    labels
}
