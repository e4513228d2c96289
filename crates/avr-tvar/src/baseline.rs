//! The older report of `--baseline`: reading it, and what of its comparison is denied.

use avr_report::{Baseline, Changes, Escaped};

use crate::error::{InputError, InputErrorKind};
use crate::inputs::{Inputs, Role};
use crate::options::{Deny, Verify};
use crate::output;

/// Reads the older report, if one is named.
///
/// # Errors
/// If it is no report, or when none is named and regressions are denied.
pub(crate) fn read(inputs: &mut Inputs, arguments: &Verify) -> Result<Option<Baseline>, InputError> {
    let Some(path) = &arguments.baseline else {
        let what = arguments.deny.iter().find_map(|deny| match deny {
            Deny::Regressions => Some("regressions"),
            Deny::Incomparable => Some("incomparable"),
            Deny::Vacuous | Deny::Findings => None,
        });
        return what.map_or(Ok(None), |what| Err(InputErrorKind::NoBaseline { what }.into()));
    };
    let input = inputs.read(Role::Baseline, path)?;
    let read = Baseline::parse(input.required_text()?);
    let baseline = read.map_err(|error| InputErrorKind::Baseline { path: input.name(), error })?;
    Ok(Some(baseline.accepting(arguments.accept.iter().cloned())))
}

/// True if something is denied that changed since the older report. A note names it, and another one each name of
/// `--accept` that accepts nothing.
pub(crate) fn is_denied(changes: &Changes, arguments: &Verify) -> bool {
    let denied = |deny: Deny, names: Vec<&str>, what: &str| {
        if names.is_empty() || !arguments.deny.contains(&deny) {
            return false;
        }
        let names: Vec<String> = names.iter().map(|name| format!("'{}'", Escaped(name))).collect();
        output::note(&format!("{what}: {}; --accept NAME accepts one", names.join(", ")));
        true
    };
    let regressions = denied(Deny::Regressions, changes.regressions(), "less is proved or asked than before");
    let incomparable = denied(Deny::Incomparable, changes.incomparable(), "not comparable with what was before");
    for name in arguments.accept.iter().filter(|name| !changes.accepts(name)) {
        output::note(&format!("--accept '{}' accepts nothing: nothing of this name got worse", Escaped(name)));
    }
    regressions || incomparable
}
