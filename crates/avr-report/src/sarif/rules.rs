//! The rules of a SARIF log: the kinds of properties and findings with their meaning, and the properties as cases of them.

use serde_json::{Value, json};

use super::{message, visible};

/// The address of the pages about properties and findings. A build for a place where the book is published names that place.
const BOOK: &str = match option_env!("AVR_TVAR_BOOK") {
    Some(address) => address,
    None => "urn:avr-tvar:book:",
};

/// The meaning of a kind in a line, and its page in the book.
fn meaning(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "Inherent" => ("No hazard of the machine happens.", "properties/inherent.html"),
        "Stack" => ("The stack stays within its limit.", "properties/stack.html"),
        "Recovery" => {
            ("Wherever the program gets, a state with the condition can still come.", "properties/recovery.html")
        }
        "NoHang" => ("Every wait of the program can be left.", "properties/no-hang.html"),
        "Formula" => ("A formula of CTL and the mu-calculus holds.", "properties/formula.html"),
        "Ltl" => ("A formula of linear time holds on all paths.", "properties/ltl.html"),
        "Always" => ("The condition holds in every state.", "properties/always.html"),
        "Never" => ("The condition holds in no state.", "properties/never.html"),
        "Reachable" => ("A state with the condition can come.", "properties/reachable.html"),
        "Response" => ("After the trigger, the response comes on every path.", "properties/response.html"),
        "Precedence" => ("The second condition does not come before the first.", "properties/precedence.html"),
        "Until" => ("The first condition holds until the second one, which does come.", "properties/until.html"),
        "Mutex" => ("No two of the conditions hold at the same time.", "properties/mutex.html"),
        "StaysAfter" => ("Once the trigger has come, the condition holds for ever.", "properties/stays-after.html"),
        "InfinitelyOften" => ("The condition comes again and again on every path.", "properties/infinitely-often.html"),
        "Deadlock" => ("From every state of all nodes, something on a wire can still happen.", "systems.html"),
        "Conforms" => ("The firmware does nothing that the specification does not allow.", "properties/conforms.html"),
        "EventuallyForever" => {
            ("On every path the condition holds for ever from some state on.", "properties/eventually-forever.html")
        }
        "out-of-object" => ("A store through a pointer stays in its object.", "findings.html"),
        "torn-access" => ("No handler writes a variable between two accesses to its bytes.", "findings.html"),
        _ => ("The property holds.", "properties.html"),
    }
}

/// The meaning of a kind of property in a line.
#[must_use]
pub fn meaning_of_kind(kind: &str) -> &'static str {
    meaning(kind).0
}

/// The rule of a kind.
pub(crate) fn of_kind(kind: &str) -> Value {
    let (text, page) = meaning(kind);
    json!({
        "id": kind,
        "name": kind,
        "shortDescription": { "text": text },
        "help": { "text": text },
        "helpUri": format!("{BOOK}{page}"),
    })
}

/// A property as rules have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    /// The text of the property with all that it says.
    pub(crate) formula: &'a str,
}

/// The rule of a property: the rule of its kind says more.
pub(crate) fn of_property(property: Named<'_>, kinds: &[&str]) -> Value {
    let Named { kind, name, formula } = property;
    let index = kinds.iter().position(|known| *known == kind);
    json!({
        "id": property_id(property),
        "shortDescription": { "text": message(name) },
        "fullDescription": { "text": message(&format!("{kind}: {formula}")) },
        "helpUri": format!("{BOOK}{}", meaning(kind).1),
        "relationships": [{ "target": { "id": kind, "index": index }, "kinds": ["superset"] }],
    })
}

/// The identifier of the rule of a property.
pub(crate) fn property_id(property: Named<'_>) -> String {
    format!("{}/{}", property.kind, visible(property.name))
}

#[cfg(test)]
mod tests {
    use super::meaning;
    use std::path::Path;

    #[test]
    fn every_page_is_in_the_book() {
        let kinds = [
            "Inherent",
            "Stack",
            "Recovery",
            "NoHang",
            "Formula",
            "Ltl",
            "Always",
            "Never",
            "Reachable",
            "Response",
            "Precedence",
            "Until",
            "Mutex",
            "StaysAfter",
            "InfinitelyOften",
            "EventuallyForever",
            "Conforms",
            "Deadlock",
            "out-of-object",
            "torn-access",
            "Other",
        ];
        let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for kind in kinds {
            let page = book.join(meaning(kind).1.replace(".html", ".md"));
            assert!(page.is_file(), "{kind}: {}", page.display());
        }
    }
}
