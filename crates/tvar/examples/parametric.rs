//! The curves of the parametric automata: refinements, states and time of each strategy as one parameter grows.
//!
//! `cargo run --release -p tvar --example parametric` prints a table; with `svg` behind it, the drawing of states and times that
//! is `docs/parametric-automata.svg`.
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
use tvar::{Goal, Strategy, Unlimited, Unobserved, verify};

/// The parameter that grows, with its greatest value; the others are 2.
const GROWING: [(&str, usize); 3] = [("w", 7), ("u", 16), ("c", 12)];

/// The strategies with the colours of their curves; those with precision per state are dashed.
const STRATEGIES: [(Strategy, &str); 5] = [
    (Strategy::Naive, "#c0392b"),
    (Strategy::Default, "#2471a3"),
    (Strategy::Decay, "#1e8449"),
    (Strategy::Paper, "#7fb3d5"),
    (Strategy::PaperDecay, "#82c99a"),
];

/// The number of times that is measured what does not take long.
const REPETITIONS: usize = 9;
/// The time from which on it is measured once.
const LONG: Duration = Duration::from_millis(100);

/// The height of a row of panels.
const ROW: usize = 270;

/// A quantity that a row of panels shows, upwards in powers of two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    States,
    /// The time that passes, in microseconds.
    Time,
}

impl Quantity {
    /// The greatest exponent of two.
    fn top(self) -> f64 {
        match self {
            Self::States => 16.0,
            Self::Time => 24.0,
        }
    }

    /// The labels of the vertical axis, by the exponents of two at which they stand.
    fn labels(self) -> Vec<(f64, String)> {
        match self {
            Self::States => [0, 4, 8, 12].map(|exponent| (f64::from(exponent), format!("2^{exponent}"))).into(),
            Self::Time => [(1e3, "1 ms"), (1e5, "100 ms"), (1e7, "10 s")]
                .map(|(microseconds, label): (f64, &str)| (microseconds.log2(), label.to_owned()))
                .into(),
        }
    }

    fn exponent(self, point: &Point) -> f64 {
        match self {
            Self::States => (point.states as f64).log2(),
            Self::Time => (point.time.as_secs_f64() * 1e6).max(1.0).log2(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Time => "time",
        }
    }
}

struct Point {
    resettable: bool,
    parameter: &'static str,
    value: usize,
    strategy: Strategy,
    refinements: usize,
    states: usize,
    time: Duration,
}

fn main() {
    let of = |resettable| GROWING.into_iter().flat_map(move |(name, limit)| curves(resettable, name, limit));
    let points: Vec<Point> = [true, false].into_iter().flat_map(of).collect();
    let svg = std::env::args().nth(1).as_deref() == Some("svg");
    print!("{}", if svg { drawing(&points) } else { table(&points) });
}

fn curves(resettable: bool, parameter: &'static str, limit: usize) -> impl Iterator<Item = Point> {
    let values = move |strategy| (1..=limit).map(move |value| (value, strategy));
    let all = STRATEGIES.into_iter().flat_map(move |(strategy, _)| values(strategy));
    all.filter_map(move |(value, strategy)| measure(resettable, parameter, value, strategy))
}

/// None where it would take long: a million steps of the naive strategy, thousands of refinements one by one.
fn measure(resettable: bool, parameter: &'static str, value: usize, strategy: Strategy) -> Option<Point> {
    let of = |name| if name == parameter { value } else { 2 };
    let parameters = Parameters { w: of("w"), u: of("u"), c: of("c"), resettable };
    let Parameters { w, u, c, .. } = parameters;
    let is_long = match strategy {
        Strategy::Naive => 2 * (w + u) + c + 1 > 20,
        Strategy::Paper => w + c > 8,
        Strategy::PaperDecay => w > 6,
        Strategy::Default | Strategy::Decay => w + c > 14,
    };
    if is_long {
        return None;
    }
    let formula = NormalForm::new(&recovery()).expect("the formula is closed");
    let goals = [Goal { formula, observes_hazards: false }];
    // The least time counts; a long one is not disturbed much, and is measured once.
    let mut least: Option<(usize, usize, Duration)> = None;
    for _ in 0..REPETITIONS {
        let outcome = verify(&mut parameters.automaton(), &mut Unobserved, 1, &goals, strategy, &Unlimited);
        let decision = &outcome.decisions[0];
        assert_eq!(decision.verdict.known(), Some(resettable), "{parameters:?}, {strategy:?}");
        let time = least.map_or(decision.time, |(.., time)| time.min(decision.time));
        least = Some((decision.refinements, decision.space.states.len(), time));
        if decision.time > LONG {
            break;
        }
    }
    let (refinements, states, time) = least?;
    Some(Point { resettable, parameter, value, strategy, refinements, states, time })
}

fn table(points: &[Point]) -> String {
    let mut text = "reset parameter value strategy    refinements states milliseconds\n".to_owned();
    for point in points {
        let Point { resettable, parameter, value, strategy, refinements, states, time } = point;
        let (reset, name) = (if *resettable { "yes" } else { "no" }, strategy.name());
        let milliseconds = time.as_secs_f64() * 1e3;
        let _ = writeln!(
            text,
            "{reset:<5} {parameter:<9} {value:>5} {name:<11} {refinements:>11} {states:>6} {milliseconds:>12.2}"
        );
    }
    text
}

/// One panel per parameter: two rows with states, two with times. In the first of each the automaton can be reset.
fn drawing(points: &[Point]) -> String {
    let rows = [Quantity::States, Quantity::Time].into_iter().flat_map(|shown| [(shown, true), (shown, false)]);
    let height = 30 + 4 * ROW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"780\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (row, (quantity, resettable)) in rows.enumerate() {
        for (index, (parameter, limit)) in GROWING.into_iter().enumerate() {
            let shown = points.iter().filter(|point| point.resettable == resettable && point.parameter == parameter);
            let _ = writeln!(svg, r#"<g transform="translate({},{})">"#, 50 + 250 * index, row * ROW);
            let title = format!("{} by bits of {parameter}, {}", quantity.name(), title(resettable));
            panel(&mut svg, (quantity, &title), limit, &shown.collect::<Vec<_>>());
            svg += "</g>\n";
        }
    }
    for (index, (strategy, colour)) in STRATEGIES.into_iter().enumerate() {
        let x = 40 + 90 * index;
        let _ = writeln!(svg, r#"<text x="{x}" y="20" fill="{colour}">{}</text>"#, strategy.name());
    }
    svg + "</svg>\n"
}

fn title(resettable: bool) -> &'static str {
    if resettable { "with reset" } else { "without" }
}

fn panel(svg: &mut String, (quantity, title): (Quantity, &str), limit: usize, points: &[&Point]) {
    let height = |exponent: f64| 260.0 - 220.0 * exponent / quantity.top();
    let place = |point: &&&Point| {
        let x = 210.0 * (point.value - 1) as f64 / (limit - 1) as f64;
        format!("{x:.1},{:.1}", height(quantity.exponent(point)))
    };
    *svg += "<path d=\"M0 40V260H215\" fill=\"none\" stroke=\"black\"/>\n";
    for (exponent, label) in quantity.labels() {
        let y = height(exponent);
        let _ = writeln!(svg, r#"<text x="-4" y="{:.1}" text-anchor="end">{label}</text>"#, y + 4.0);
    }
    for value in [1, limit] {
        let x = 210 * (value - 1) / (limit - 1);
        let _ = writeln!(svg, r#"<text x="{x}" y="276" text-anchor="middle">{value}</text>"#);
    }
    let _ = writeln!(svg, r#"<text x="105" y="292" text-anchor="middle">{title}</text>"#);
    for (strategy, colour) in STRATEGIES {
        let places: Vec<String> = points.iter().filter(|point| point.strategy == strategy).map(|p| place(&p)).collect();
        let (curve, dashes) = (places.join(" "), if strategy.is_per_state() { "6 4" } else { "none" });
        let _ = writeln!(
            svg,
            r#"<polyline points="{curve}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>"#
        );
    }
}
