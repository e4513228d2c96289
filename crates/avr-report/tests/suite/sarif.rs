//! The standard of SARIF.

use avr_testkit::schema;
use serde_json::Value;

/// The contradictions between a log and the standard. The pattern of `language`, which our logs do not have, is no
/// regular expression of JSON Schema: a bracket is left over in it.
pub fn sarif_problems(log: &Value) -> Vec<String> {
    let mut schema: Value = serde_json::from_str(include_str!("../sarif/sarif-schema-2.1.0.json")).expect("it is JSON");
    for of in ["run", "toolComponent"] {
        let language = schema["definitions"][of]["properties"]["language"].as_object_mut();
        assert!(language.and_then(|language| language.remove("pattern")).is_some());
    }
    schema::problems(log, &schema.to_string())
}
