//! Checking the texts of a property without a firmware: whether they are formulas, not what their names mean.

use mu_calculus::{Comparison, Formula, ParseError, parse_formula, parse_linear, parse_path};

use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::property::{Property, PropertyKind};

/// Checks that every text of a property is a formula, and that the definitions that it uses can be expanded.
///
/// # Errors
/// The first text that is no formula, with the place of the error.
pub fn check_syntax(property: &Property, definitions: &Definitions) -> Result<(), PropertyError> {
    let read: fn(&str) -> Result<Formula<Comparison>, ParseError> = match property.kind() {
        PropertyKind::Ltl { .. } => parse_linear,
        _ => parse_formula,
    };
    let texts = texts(property.kind()).into_iter().map(|text| (text, read(text)));
    let under = property.under().iter().map(|text| (text.as_str(), parse_path(text)));
    for (text, parsed) in texts.chain(under) {
        let checked =
            parsed.map_err(|error| PropertyErrorKind::Formula(error.kind).at(error.span, text)).and_then(|formula| {
                let expanded = definitions.formulas.expand(&formula);
                expanded.map(|_| ()).map_err(|error| PropertyErrorKind::from(error).error())
            });
        checked.map_err(|error| error.of_property(property.name(), property.place()))?;
    }
    Ok(())
}

/// The texts of a kind of property.
fn texts(kind: &PropertyKind) -> Vec<&str> {
    match kind {
        PropertyKind::Inherent
        | PropertyKind::Stack(_)
        | PropertyKind::StackOf { .. }
        | PropertyKind::NoHang { .. }
        | PropertyKind::Conforms { .. } => Vec::new(),
        PropertyKind::Recovery { to: check }
        | PropertyKind::Formula { check }
        | PropertyKind::Ltl { check }
        | PropertyKind::Always { check }
        | PropertyKind::Never { check }
        | PropertyKind::Reachable { check }
        | PropertyKind::InfinitelyOften { check }
        | PropertyKind::EventuallyForever { check } => vec![check],
        PropertyKind::Response { after, eventually } => vec![after, eventually],
        PropertyKind::Precedence { first, then } => vec![first, then],
        PropertyKind::Until { holds, until } => vec![holds, until],
        PropertyKind::Mutex { between } => between.iter().map(String::as_str).collect(),
        PropertyKind::StaysAfter { after, stays } => vec![after, stays],
    }
}

#[cfg(test)]
mod tests {
    use super::check_syntax;
    use crate::file::PropertyFile;

    fn check(file: &str) -> Result<(), String> {
        let file = PropertyFile::parse("p.ron", file).map_err(|error| error.to_string())?;
        let checked = file.properties.iter().map(|property| check_syntax(property, &file.definitions));
        checked.collect::<Result<(), _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn names_need_no_meaning() {
        let file = "(define: { \"idle\": \"pc == nowhere\" }, properties: [Inherent(), Stack(max_bytes: 2), \
            Recovery(to: \"idle\"), Ltl(check: \"F G idle\"), Mutex(between: [\"idle\", \"a == 1\"]), \
            Always(check: \"AF idle\", under: [\"G F interrupt(INT0)\"])])";
        assert_eq!(check(file), Ok(()));
    }

    #[test]
    fn what_is_no_formula_is_named_with_its_place() {
        let error = check("(properties: [\n  Until(holds: \"a == 1\", until: \"a = 2\"),\n])").expect_err("it is none");
        assert!(error.contains("p.ron:2:3") && error.contains("write `==` to compare"), "{error}");
        let error = check("(properties: [Always(check: \"a == 1\", under: [\"G F (\"])])").expect_err("it is none");
        assert!(error.contains("G F ("), "{error}");
        let error =
            check("(define: { \"a\": \"b\", \"b\": \"a\" }, properties: [Always(check: \"a\")])").expect_err("no end");
        assert!(error.contains("uses itself"), "{error}");
    }
}
