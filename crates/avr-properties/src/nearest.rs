//! The nearest names, for errors about unknown ones.

/// The largest number of names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;
/// Longer names take no part in the search.
const MAX_BYTES: usize = 128;

/// The names among `known` that are a few edits away from `name`, the nearest first.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut near: Vec<(usize, &str)> =
        known.into_iter().filter_map(|candidate| Some((distance(name, candidate)?, candidate))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// The number of edits, case apart; `None` when too many for a typing error.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let limit = 1 + name.len() / 4;
    if name.len() > MAX_BYTES || candidate.len() > MAX_BYTES || name.len().abs_diff(candidate.len()) > limit {
        return None;
    }
    let edits = strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase());
    (edits <= limit && edits < name.len()).then_some(edits)
}

/// `; did you mean a or b?`, or nothing.
pub(crate) fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, known: &[&str], expected: &[&str]) {
        assert_eq!(nearest(name, known.iter().copied()), expected, "{name}");
    }

    #[test]
    fn nearest_first_and_only_near_ones() {
        check("PROTB", &["PORTB", "PORTC", "PINB"], &["PORTB", "PORTC"]);
        check("portb", &["PORTB"], &["PORTB"]);
        check("counter", &["conter", "x"], &["conter"]);
        check("q", &["x", "y"], &[]);
        check("", &["x"], &[]);
    }
}
