//! Validation against the published schemas in `docs/schema/`, in one place because the validator takes long to compile.

use jsonschema::Registry;
use serde_json::Value;

/// The published schema of reports.
pub const REPORT: &str = include_str!("../../../docs/schema/report-1.json");
/// The published schema of traces.
pub const TRACE: &str = include_str!("../../../docs/schema/trace-1.json");
/// The published schema of what `avr-tvar stack` says.
pub const STACK: &str = include_str!("../../../docs/schema/stack-1.json");
/// The published schema of what `avr-tvar check` says.
pub const CHECK: &str = include_str!("../../../docs/schema/check-1.json");

/// The published schema of what `avr-tvar verify-system` says.
pub const SYSTEM: &str = include_str!("../../../docs/schema/system-1.json");

/// The contradictions between a value and a JSON schema, which may refer to the schema of reports.
///
/// # Panics
/// If the text is no schema.
#[must_use]
pub fn problems(value: &Value, schema: &str) -> Vec<String> {
    let registry = Registry::new().add("urn:avr-tvar:report:1", parse(REPORT)).expect("the name is a URI");
    let registry = registry.prepare().expect("the schema is one");
    let schema = parse(schema);
    let validator = jsonschema::options().with_registry(&registry).build(&schema).expect("the schema is one");
    let problems = validator.iter_errors(value);
    problems.map(|problem| format!("{}: {problem}", problem.instance_path())).collect()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the schema is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_report_contradicts_the_schemas() {
        for schema in [REPORT, TRACE, STACK, CHECK] {
            assert_ne!(problems(&json!({"schema": "other"}), schema), Vec::<String>::new());
        }
    }
}
