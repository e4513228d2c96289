//! The tables in `docs/performance.md`, between a comment that names the family and one that ends it.

use super::points::{Curves, Point};
use super::suite::Family;
use crate::report::grouped;

/// The page with the present figures; none if it has no place for a family.
pub fn with_tables(page: &str, families: &[Family], curves: &Curves) -> Option<String> {
    let mut text = replaced(page, "circumstances", &circumstances(curves))?;
    for family in families {
        text = replaced(&text, &family.name, &table(family, curves))?;
    }
    Some(text)
}

/// The page with another text in a place.
fn replaced(page: &str, place: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {place} -->\n"))?;
    let (_, after) = rest.split_once("<!-- end -->\n")?;
    Some(format!("{before}<!-- {place} -->\n{text}<!-- end -->\n{after}"))
}

fn circumstances(curves: &Curves) -> String {
    let machine = &curves.machine;
    let load = if curves.load_before > 0.5 { "other work ran at the same time" } else { "nothing else ran" };
    format!(
        "Measured on {} with `avr-tvar` {}: {}, {} cores, {:.1} GiB, {}, {}. The load before was {:.1} ({load}). At most {} s of \
         CPU time for each point.\n",
        curves.date,
        curves.revision,
        machine.processor,
        machine.cores,
        machine.memory_mebibytes as f64 / 1024.0,
        machine.system,
        machine.rustc,
        curves.load_before,
        curves.limit_seconds
    )
}

fn table(family: &Family, curves: &Curves) -> String {
    let mut text = format!("![{}](scaling/{}.svg)\n\n", family.title, family.name);
    text += "| question | size | answer | states | refinements | steps | CPU time | time | memory |\n";
    text += "|---|--:|---|--:|--:|--:|--:|--:|--:|\n";
    for question in &family.questions {
        for point in curves.of(family, question) {
            text += &row(point);
        }
    }
    text
}

fn row(point: &Point) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {:.2} s | {:.2} s | {:.0} MiB |\n",
        point.question,
        grouped(point.size),
        point.verdict.name(),
        grouped(point.states as u64),
        point.refinements,
        point.steps.map_or("–".to_owned(), grouped),
        point.cpu_seconds,
        point.seconds,
        point.peak_memory_bytes as f64 / f64::from(1 << 20)
    )
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_the_text_in_its_place_is_replaced() {
        let page = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nother\n<!-- end -->\n";
        let expected = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nnew\n<!-- end -->\n";
        assert_eq!(replaced(page, "y", "new\n").as_deref(), Some(expected));
        assert_eq!(replaced(page, "z", "new\n"), None);
    }
}
