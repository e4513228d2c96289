//! The results as Markdown: ratios, and no time without them.

use std::fmt::Write;

use crate::compare::count;
use crate::results::{Compared, LimitedRun, Ratios, Results, Side};
use crate::suite::Verdict;

const READING: &str = "\
A ratio is what `machine-check-avr` needs divided by what `avr-tvar` needs: above 1, `avr-tvar` needs less. `≥` stands
where a limit stopped `machine-check-avr`. Times are of whole processes, from start to end; CPU time is that of all
threads together and does not depend on what else the machine does. Memory is the largest resident set. Refinements and
states are given as `avr-tvar` / `machine-check-avr`; states are those of the last state space.";

/// The whole report.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let mut text = format!("# avr-tvar and machine-check-avr, {}\n\n", results.date);
    text += &circumstances(results);
    if !results.comparisons.is_empty() {
        text += &format!("\n## The same properties of the same images\n\n{READING}\n\n{}", comparisons(results));
        text += &format!("\n{}", summary(&results.comparisons));
    }
    if !results.limited.is_empty() {
        text += &format!("\n## Within limits\n\n{}", limited(&results.limited));
    }
    let faults = results.faults();
    if !faults.is_empty() {
        text += &format!("\n## Faults\n\n{}", list(&faults));
    }
    text
}

fn circumstances(results: &Results) -> String {
    let machine = &results.machine;
    list(&[
        format!("Processor: {}, {} cores", machine.processor, machine.cores),
        format!("Memory: {:.1} GiB", machine.memory_mebibytes as f64 / 1024.0),
        format!("System: {}; {}", machine.system, machine.rustc),
        format!("`avr-tvar` {}: the median of {} runs", results.revision, results.runs),
        format!(
            "`machine-check-avr` {}: one run, at most {} s of CPU time and {:.1} GiB for each property",
            results.peer_version,
            results.peer_seconds,
            results.peer_memory_bytes as f64 / f64::from(1 << 30)
        ),
        load(results),
    ])
}

/// Half a processor may be this program's own past.
fn load(results: &Results) -> String {
    let other = if results.load_before > 0.5 { "other work ran at the same time" } else { "nothing else ran" };
    format!("Load before the run: {:.2} ({other})", results.load_before)
}

fn list(items: &[String]) -> String {
    items.iter().fold(String::new(), |text, item| text + "* " + item + "\n")
}

fn comparisons(results: &Results) -> String {
    let mut table = String::from(
        "| image | property | avr-tvar | machine-check-avr | time | CPU time | memory | refinements | states |\n\
         |---|---|---|---|--:|--:|--:|--:|--:|\n",
    );
    for compared in &results.comparisons {
        let (ours, peer) = (&compared.ours, &compared.peer);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            compared.image,
            compared.property,
            ours.saying(),
            peer.saying(),
            ratio(compared.ratios, |ratios| ratios.time),
            ratio(compared.ratios, |ratios| ratios.cpu_time),
            ratio(compared.ratios, |ratios| ratios.memory),
            counts(ours, peer, |answer| answer.refinements),
            counts(ours, peer, |answer| answer.states),
        );
    }
    table
}

fn ratio(ratios: Option<Ratios>, which: impl Fn(Ratios) -> f64) -> String {
    let Some(ratios) = ratios else { return "–".into() };
    let sign = if ratios.at_least { "≥ " } else { "" };
    format!("{sign}{}", times(which(ratios)))
}

/// Whole numbers from 10 on.
fn times(ratio: f64) -> String {
    if ratio >= 9.95 { grouped(ratio.round() as u64) } else { format!("{ratio:.1}") }
}

fn counts(ours: &Side, peer: &Side, which: impl Fn(&crate::tools::Answer) -> usize) -> String {
    let of = |side: &Side| side.answer.as_ref().map_or("–".into(), |answer| grouped(which(answer) as u64));
    format!("{} / {}", of(ours), of(peer))
}

/// With a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn summary(comparisons: &[Compared]) -> String {
    let with_goal: Vec<&Compared> = comparisons.iter().filter(|compared| compared.goal.is_some()).collect();
    let mut items = Vec::new();
    items.extend(spread("All", comparisons.iter().filter_map(|compared| compared.ratios)));
    items.extend(spread("With a goal", with_goal.iter().filter_map(|compared| compared.ratios)));
    let reached = with_goal.iter().filter(|compared| compared.reaches_goal()).count();
    if !with_goal.is_empty() {
        items.push(format!("The goal of time, and no more memory, is reached by {reached} of {}", with_goal.len()));
    }
    list(&items)
}

/// The smallest ratios and the geometric means.
fn spread(what: &str, ratios: impl Iterator<Item = Ratios>) -> Option<String> {
    let ratios: Vec<Ratios> = ratios.collect();
    if ratios.is_empty() {
        return None;
    }
    let figures = |which: fn(&Ratios) -> f64| {
        let smallest = ratios.iter().map(which).fold(f64::INFINITY, f64::min);
        let mean = (ratios.iter().map(|ratios| which(ratios).ln()).sum::<f64>() / ratios.len() as f64).exp();
        format!("smallest {}, geometric mean {}", times(smallest), times(mean))
    };
    let (time, memory) = (figures(|ratios| ratios.time), figures(|ratios| ratios.memory));
    Some(format!("{what} ({}): time {time}; memory {memory}", ratios.len()))
}

impl Compared {
    fn reaches_goal(&self) -> bool {
        let Some((goal, ratios)) = self.goal.zip(self.ratios) else { return false };
        ratios.time >= goal && ratios.memory >= 1.0
    }
}

fn limited(runs: &[LimitedRun]) -> String {
    let mut table = String::from(
        "| image | holds | violated | unknown | part of the time | part of the memory | limits kept | states |\n\
         |---|--:|--:|--:|--:|--:|---|--:|\n",
    );
    for run in runs {
        let states = run.answers.iter().map(|answer| answer.states).max().unwrap_or(0);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            run.image,
            count(&run.answers, Verdict::Holds),
            count(&run.answers, Verdict::Violated),
            count(&run.answers, Verdict::Unknown),
            percent(run.part_of_time),
            percent(run.part_of_memory),
            if run.kept_limits { "yes" } else { "no" },
            grouped(states as u64),
        );
    }
    table
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::{grouped, percent, ratio, times};
    use crate::results::Ratios;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn ratios_have_two_digits_at_least() {
        for (ratio, text) in [(0.12, "0.1"), (9.94, "9.9"), (9.96, "10"), (12_345.6, "12,346")] {
            assert_eq!(times(ratio), text);
        }
        assert_eq!(percent(0.1234), "12.3 %");
    }

    #[test]
    fn lower_bounds_are_marked_and_missing_ratios_shown() {
        let ratios = |at_least| Some(Ratios { time: 2000.0, cpu_time: 1.0, memory: 1.0, at_least });
        assert_eq!(ratio(ratios(false), |ratios| ratios.time), "2,000");
        assert_eq!(ratio(ratios(true), |ratios| ratios.time), "≥ 2,000");
        assert_eq!(ratio(None, |ratios| ratios.time), "–");
    }
}
