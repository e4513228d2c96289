//! Validation against the published schemas in `docs/schema/`.

#![allow(dead_code, reason = "each file of tests uses a part")]

use jsonschema::Registry;
use serde_json::Value;

/// What in a report contradicts `docs/schema/report-1.json`.
pub fn problems(report: &Value) -> Vec<String> {
    problems_with(report, include_str!("../../../../docs/schema/report-1.json"))
}

/// What in a trace contradicts `docs/schema/trace-1.json`.
pub fn trace_problems(trace: &Value) -> Vec<String> {
    problems_with(trace, include_str!("../../../../docs/schema/trace-1.json"))
}

/// What contradicts a schema, which may refer to that of reports.
pub fn problems_with(value: &Value, schema: &str) -> Vec<String> {
    let report: Value = parse(include_str!("../../../../docs/schema/report-1.json"));
    let registry = Registry::new().add("urn:avr-tvar:report:1", report).expect("the name is a URI");
    let registry = registry.prepare().expect("the schema is one");
    let schema = parse(schema);
    let validator = jsonschema::options().with_registry(&registry).build(&schema).expect("the schema is one");
    let problems = validator.iter_errors(value);
    problems.map(|problem| format!("{}: {problem}", problem.instance_path())).collect()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the schema is JSON")
}
