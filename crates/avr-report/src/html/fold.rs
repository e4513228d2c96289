//! The parts of a long run that the page has in full, and those that it passes over.

use avr_verify::Item;

/// Loops of at most so many steps are kept in full.
const SHORT_LOOP: u64 = 48;
/// Of a run that is still too long one in so many of the kept steps are those at its beginning.
const HEAD: u64 = 8;

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// So many steps, each shown.
    Kept(u64),
    /// So many steps that are passed over, with a word about them.
    Folded(u64, String),
}

/// The parts of a run of so many steps, of which at most `limit` are kept. Iterations between the first and the last one of a
/// loop are passed over.
pub(super) fn parts(items: &[Item], steps: u64, limit: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    if steps <= limit.min(SHORT_LOOP) {
        return vec![Part::Kept(steps)];
    }
    items.iter().for_each(|item| add(&mut parts, item));
    let told: u64 = parts.iter().map(Part::steps).sum();
    if told < steps {
        push(&mut parts, Part::Kept(steps - told));
    }
    shortened(parts, limit)
}

impl Part {
    fn steps(&self) -> u64 {
        match self {
            Self::Kept(steps) | Self::Folded(steps, _) => *steps,
        }
    }
}

/// Adds a part; steps that are kept in a row are one part.
fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (_, Part::Kept(0)) => {}
        (Some(Part::Kept(before)), Part::Kept(more)) => *before += more,
        (_, part) => parts.push(part),
    }
}

fn add(parts: &mut Vec<Part>, item: &Item) {
    match item {
        Item::Line(_) => push(parts, Part::Kept(1)),
        Item::Omitted(steps) => push(parts, Part::Folded(*steps, "left out".to_owned())),
        Item::Loop { .. } if item.steps() <= SHORT_LOOP => push(parts, Part::Kept(item.steps())),
        Item::Loop { body, times } => {
            let once: u64 = body.iter().map(Item::steps).sum();
            body.iter().for_each(|item| add(parts, item));
            if *times > 2 {
                let more = times - 2;
                let word = if more == 1 { "iteration" } else { "iterations" };
                push(parts, Part::Folded(more * once, format!("{more} more {word} of this loop")));
            }
            if *times > 1 {
                body.iter().for_each(|item| add(parts, item));
            }
        }
    }
}

/// The parts with at most so many steps kept: the first ones, and most of the last.
fn shortened(parts: Vec<Part>, limit: u64) -> Vec<Part> {
    let kept = |part: &Part| if let Part::Kept(steps) = part { *steps } else { 0 };
    let all: u64 = parts.iter().map(kept).sum();
    let mut excess = all.saturating_sub(limit);
    if excess == 0 {
        return parts;
    }
    let mut head = limit / HEAD;
    let (mut short, mut left_out) = (Vec::new(), 0);
    let mut parts = parts.into_iter();
    for part in parts.by_ref() {
        match part {
            Part::Kept(steps) => {
                let first = steps.min(head);
                head -= first;
                push(&mut short, Part::Kept(first));
                let out = (steps - first).min(excess);
                excess -= out;
                left_out += out;
                if excess == 0 && head == 0 {
                    push(&mut short, Part::Folded(left_out, "left out".to_owned()));
                    push(&mut short, Part::Kept(steps - first - out));
                    break;
                }
            }
            Part::Folded(steps, _) if head == 0 => left_out += steps,
            folded @ Part::Folded(..) => short.push(folded),
        }
    }
    parts.for_each(|part| push(&mut short, part));
    short
}

#[cfg(test)]
mod tests {
    use super::{Part, parts};
    use avr_machine::Happening;
    use avr_verify::{Item, Line};

    fn line() -> Item {
        let happened = Happening::Continue;
        Item::Line(Line { step: 0, pc: 0, happened, asleep: false, changes: Vec::new(), chosen: None })
    }

    #[track_caller]
    fn check(items: &[Item], steps: u64, limit: u64, expected: &[Part]) {
        assert_eq!(parts(items, steps, limit), expected);
        assert_eq!(expected.iter().map(Part::steps).sum::<u64>(), steps);
    }

    fn folded(steps: u64, text: &str) -> Part {
        Part::Folded(steps, text.to_owned())
    }

    #[test]
    fn iterations_of_loops_are_folded() {
        let body = |count: usize| vec![line(); count];
        check(&[line()], 1, 10, &[Part::Kept(1)]);
        check(&[line(), Item::Loop { body: body(4), times: 3 }], 13, 100, &[Part::Kept(13)]);
        let long = Item::Loop { body: body(4), times: 1000 };
        let expected = [Part::Kept(5), folded(3992, "998 more iterations of this loop"), Part::Kept(5)];
        check(&[line(), long.clone(), line()], 4002, 100, &expected);
        let expected = [Part::Kept(5), folded(3992, "998 more iterations of this loop"), Part::Kept(4)];
        check(&[line(), long], 4001, 100, &expected);
    }

    #[test]
    fn long_runs_keep_their_end() {
        let items = vec![line(); 100];
        check(&items, 100, 16, &[Part::Kept(2), folded(84, "left out"), Part::Kept(14)]);
        check(&[], 100, 16, &[Part::Kept(2), folded(84, "left out"), Part::Kept(14)]);
        let omitted = [vec![line(); 20], vec![Item::Omitted(1000)], vec![line(); 60]].concat();
        check(&omitted, 1080, 16, &[Part::Kept(2), folded(1064, "left out"), Part::Kept(14)]);
    }
}
