//! The older report of `--baseline`: reading it, and what of its comparison is denied.

use std::path::Path;

use avr_report::{Baseline, Changes, Escaped};

use crate::arguments::{Deny, Verify};
use crate::error::{InputError, InputErrorKind};
use crate::output;

/// Reads the older report, if one is named.
///
/// # Errors
/// When it is no report, when a report of this run would replace it, or when none is named and regressions are denied.
pub(crate) fn read(arguments: &Verify) -> Result<Option<Baseline>, InputError> {
    let Some(path) = &arguments.baseline else {
        let what = arguments.deny.iter().find_map(|deny| match deny {
            Deny::Regressions => Some("regressions"),
            Deny::Incomparable => Some("incomparable"),
            Deny::Vacuous => None,
        });
        return what.map_or(Ok(None), |what| Err(InputErrorKind::NoBaseline { what }.into()));
    };
    let name = path.display().to_string();
    let is_baseline = |report: &Path| is_same_file(report, path);
    if let Some(report) = arguments.report.iter().find(|report| is_baseline(&report.path)) {
        let path = report.path.display().to_string();
        return Err(InputErrorKind::ReportOverBaseline { path, baseline: name }.into());
    }
    let text = std::fs::read_to_string(path).map_err(|error| InputErrorKind::Read { path: name.clone(), error })?;
    let baseline = Baseline::parse(&text).map_err(|error| InputErrorKind::Baseline { path: name, error })?;
    Ok(Some(baseline.accepting(arguments.accept.iter().cloned())))
}

/// True if two paths lead to one file, links followed.
fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// True if something is denied that changed since the older report. A note names it, and another one each name of
/// `--accept` that accepts nothing.
pub(crate) fn is_denied(changes: &Changes, arguments: &Verify) -> bool {
    let denied = |deny: Deny, names: Vec<&str>, what: &str| {
        if names.is_empty() || !arguments.deny.contains(&deny) {
            return false;
        }
        let names: Vec<String> = names.iter().map(|name| format!("'{}'", Escaped(name))).collect();
        output::note(&format!("note: {what}: {}; --accept NAME accepts one\n", names.join(", ")));
        true
    };
    let regressions = denied(Deny::Regressions, changes.regressions(), "less is proved or asked than before");
    let incomparable = denied(Deny::Incomparable, changes.incomparable(), "not comparable with what was before");
    for name in arguments.accept.iter().filter(|name| !changes.accepts(name)) {
        output::note(&format!("note: --accept '{}' accepts nothing: nothing of this name got worse\n", Escaped(name)));
    }
    regressions || incomparable
}
