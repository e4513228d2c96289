//! The curves of the parametric automata: refinements, states and time of each strategy as one parameter grows.
//!
//! `cargo run --release -p tvar --example parametric` prints a table; with `svg` behind it, a drawing of the states.
#![expect(dead_code, reason = "the systems of the tests offer more than is drawn here")]
#![expect(clippy::print_stdout, reason = "this is a program that prints")]

#[path = "../tests/suite/automata.rs"]
mod automata;
#[path = "../tests/suite/function.rs"]
mod function;
#[path = "../tests/suite/toy.rs"]
mod toy;
#[path = "../tests/suite/trace.rs"]
mod trace;
#[path = "../tests/suite/word.rs"]
mod word;

use automata::{Parameters, recovery};
use mu_calculus::NormalForm;
use std::fmt::Write;
use std::time::Duration;
use tvar::{Goal, Strategy, Unlimited, verify};

/// Which parameter grows, up to what; the others are 2.
const GROWING: [(&str, usize); 3] = [("w", 7), ("u", 16), ("c", 12)];

/// The strategies with the colours of their curves.
const STRATEGIES: [(Strategy, &str); 3] =
    [(Strategy::Naive, "#c0392b"), (Strategy::Default, "#2471a3"), (Strategy::Decay, "#1e8449")];

struct Point {
    parameter: &'static str,
    value: usize,
    strategy: Strategy,
    refinements: usize,
    states: usize,
    time: Duration,
}

fn main() {
    let points: Vec<Point> = GROWING.into_iter().flat_map(|(parameter, limit)| curves(parameter, limit)).collect();
    let svg = std::env::args().nth(1).as_deref() == Some("svg");
    print!("{}", if svg { drawing(&points) } else { table(&points) });
}

fn curves(parameter: &'static str, limit: usize) -> impl Iterator<Item = Point> {
    let values = move |strategy| (1..=limit).map(move |value| (value, strategy));
    let all = STRATEGIES.into_iter().flat_map(move |(strategy, _)| values(strategy));
    all.filter_map(move |(value, strategy)| measure(parameter, value, strategy))
}

/// None where naive exploration would take more than a million steps.
fn measure(parameter: &'static str, value: usize, strategy: Strategy) -> Option<Point> {
    let of = |name| if name == parameter { value } else { 2 };
    let parameters = Parameters { w: of("w"), u: of("u"), c: of("c"), resettable: true };
    let Parameters { w, u, c, .. } = parameters;
    if strategy == Strategy::Naive && 2 * (w + u) + c + 1 > 20 {
        return None;
    }
    let formula = NormalForm::new(&recovery()).expect("the formula is closed");
    let goals = [Goal { formula, sees_hazards: false }];
    let outcome = verify(&mut parameters.automaton(), 1, &goals, strategy, &Unlimited);
    let decision = &outcome.decisions[0];
    assert!(decision.verdict.is_true(), "the automaton can be reset");
    let (refinements, states, time) = (decision.refinements, decision.space.states.len(), decision.time);
    Some(Point { parameter, value, strategy, refinements, states, time })
}

fn table(points: &[Point]) -> String {
    let mut text = "parameter value strategy refinements states milliseconds\n".to_owned();
    for point in points {
        let Point { parameter, value, strategy, refinements, states, time } = point;
        let name = strategy.name();
        let milliseconds = time.as_secs_f64() * 1e3;
        let _ =
            writeln!(text, "{parameter:<9} {value:>5} {name:<8} {refinements:>11} {states:>6} {milliseconds:>12.2}");
    }
    text
}

/// One panel per parameter, the states upwards in powers of two.
fn drawing(points: &[Point]) -> String {
    let mut svg =
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 300" font-family="sans-serif" "#.to_owned();
    svg += "font-size=\"12\">\n<rect width=\"780\" height=\"300\" fill=\"white\"/>\n";
    for (index, (parameter, limit)) in GROWING.into_iter().enumerate() {
        panel(&mut svg, 40 + 250 * index, parameter, limit, points);
    }
    for (index, (strategy, colour)) in STRATEGIES.into_iter().enumerate() {
        let x = 40 + 90 * index;
        let _ = writeln!(svg, r#"<text x="{x}" y="20" fill="{colour}">{}</text>"#, strategy.name());
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, left: usize, parameter: &str, limit: usize, points: &[Point]) {
    let place = |point: &Point| {
        let x = left as f64 + 210.0 * (point.value - 1) as f64 / (limit - 1) as f64;
        format!("{x:.1},{:.1}", height((point.states as f64).log2()))
    };
    let _ = writeln!(svg, r#"<path d="M{left} 40V260H{}" fill="none" stroke="black"/>"#, left + 215);
    for exponent in [0, 4, 8, 12] {
        let y = height(f64::from(exponent));
        let _ = writeln!(svg, r#"<text x="{}" y="{:.1}" text-anchor="end">2^{exponent}</text>"#, left - 4, y + 4.0);
    }
    for value in [1, limit] {
        let x = left + 210 * (value - 1) / (limit - 1);
        let _ = writeln!(svg, r#"<text x="{x}" y="276" text-anchor="middle">{value}</text>"#);
    }
    let _ = writeln!(svg, r#"<text x="{}" y="292" text-anchor="middle">bits of {parameter}</text>"#, left + 105);
    for (strategy, colour) in STRATEGIES {
        let of_curve = |point: &&Point| point.parameter == parameter && point.strategy == strategy;
        let places: Vec<String> = points.iter().filter(of_curve).map(place).collect();
        let curve = places.join(" ");
        let _ = writeln!(svg, r#"<polyline points="{curve}" fill="none" stroke="{colour}" stroke-width="2"/>"#);
    }
}

/// Where a power of two lies; 16 is at the top.
fn height(exponent: f64) -> f64 {
    260.0 - 220.0 * exponent / 16.0
}
