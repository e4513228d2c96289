//! A validator for the part of JSON Schema (draft 2020-12) that the published schema uses.

#![allow(dead_code, reason = "each file of tests uses a part")]

use serde_json::Value;

/// What in a report contradicts `docs/schema/report-1.json`.
pub fn problems(report: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    validate(report, &report_schema(), "", &mut problems);
    problems
}

/// What in a trace contradicts `docs/schema/trace-1.json`.
pub fn trace_problems(trace: &Value) -> Vec<String> {
    let text = include_str!("../../../../docs/schema/trace-1.json");
    let mut problems = Vec::new();
    validate(trace, &serde_json::from_str(text).expect("the schema is JSON"), "", &mut problems);
    problems
}

fn report_schema() -> Value {
    let text = include_str!("../../../../docs/schema/report-1.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

/// The definition that a reference means: all definitions are in the schema of reports.
fn definition(reference: &Value) -> Value {
    let reference = reference.as_str().expect("a reference is a string");
    let pointer = reference.strip_prefix("avr-tvar/report/1").unwrap_or(reference);
    let pointer = pointer.strip_prefix('#').expect("references have a fragment");
    report_schema().pointer(pointer).unwrap_or_else(|| panic!("there is no {reference}")).clone()
}

fn validate(value: &Value, schema: &Value, path: &str, problems: &mut Vec<String>) {
    for (keyword, argument) in schema.as_object().expect("a schema is an object") {
        let problem = match keyword.as_str() {
            "const" => (value != argument).then(|| format!("is not {argument}")),
            "enum" => (!list(argument).contains(value)).then(|| "is none of the values".to_owned()),
            "type" => check_type(value, argument),
            "minimum" => {
                value.as_f64().zip(argument.as_f64()).filter(|(v, m)| v < m).map(|_| format!("is below {argument}"))
            }
            "pattern" => check_pattern(value, argument),
            "required" => missing(value, argument),
            "properties" => {
                for (name, schema) in argument.as_object().expect("properties are an object") {
                    if let Some(field) = value.get(name) {
                        validate(field, schema, &format!("{path}/{name}"), problems);
                    }
                }
                None
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(item, argument, &format!("{path}/{index}"), problems);
                }
                None
            }
            "maximum" => {
                value.as_f64().zip(argument.as_f64()).filter(|(v, m)| v > m).map(|_| format!("is above {argument}"))
            }
            "minItems" | "maxItems" => {
                let wanted = argument.as_u64().expect("a number of items") as usize;
                let count = value.as_array().map_or(wanted, Vec::len);
                let fits = if keyword == "minItems" { count >= wanted } else { count <= wanted };
                (!fits).then(|| format!("has {count} items"))
            }
            "additionalProperties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    if schema.get("properties").and_then(|known| known.get(name)).is_none() {
                        validate(field, argument, &format!("{path}/{name}"), problems);
                    }
                }
                None
            }
            "anyOf" => {
                let fits = |schema: &Value| {
                    let mut problems = Vec::new();
                    validate(value, schema, path, &mut problems);
                    problems.is_empty()
                };
                (!list(argument).iter().any(fits)).then(|| "fits none of the alternatives".to_owned())
            }
            "$ref" => {
                validate(value, &definition(argument), path, problems);
                None
            }
            "$schema" | "$id" | "$defs" | "title" | "description" => None,
            other => panic!("the validator does not know the keyword `{other}`"),
        };
        problems.extend(problem.map(|problem| format!("{path}: {problem}")));
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("the keyword takes a list")
}

fn check_type(value: &Value, argument: &Value) -> Option<String> {
    let types = if argument.is_array() { list(argument) } else { std::slice::from_ref(argument) };
    let names: Vec<&str> = types.iter().map(|name| name.as_str().expect("types are names")).collect();
    let fits = names.iter().any(|name| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the validator does not know the type `{other}`"),
    });
    (!fits).then(|| format!("is no {}", names.join(" or ")))
}

/// The only pattern of the schema is that of a digest.
fn check_pattern(value: &Value, argument: &Value) -> Option<String> {
    assert_eq!(argument, "^[0-9a-f]{64}$", "the validator does not know this pattern");
    let digest = value.as_str()?;
    let fits = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (!fits).then(|| "does not match the pattern".to_owned())
}

fn missing(value: &Value, argument: &Value) -> Option<String> {
    if !value.is_object() {
        return None;
    }
    let absent = list(argument).iter().filter_map(Value::as_str).find(|name| value.get(name).is_none())?;
    Some(format!("lacks `{absent}`"))
}
