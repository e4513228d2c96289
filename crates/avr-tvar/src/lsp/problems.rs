//! Errors of a property file.

use std::collections::BTreeMap;

use avr_machine::device::Device;
use avr_properties::{
    AtomTable, Binding, FILE_FIELDS, PropertyError, PropertyErrorKind, PropertyFile, Setting, SpecificationError,
    StartError, bind, bind_assumptions, bind_machines, bind_predicates, check_syntax,
};
use lsp_types::{Diagnostic, DiagnosticSeverity};

use super::project::{Project, Target};
use super::text::{self, Encoding};
use crate::error::InputError;

/// The errors of a text, and what is not supported.
pub(super) fn of(text: &str, project: &mut Project, encoding: Encoding) -> Vec<Diagnostic> {
    let show = |error: &PropertyError, severity| shown(text, error, severity, encoding);
    let file = match PropertyFile::parse(NAME, text) {
        Ok(file) => file,
        Err(error) if is_of_another_kind(&error) => return Vec::new(),
        Err(error) => return vec![show(&error, DiagnosticSeverity::ERROR)],
    };
    let target = match project.target(Some(&file)) {
        Ok(target) => target,
        Err(error) => return vec![of_project(&error)],
    };
    let errors = errors(&file, &target);
    let severity = |error: &PropertyError| match error.undecided() {
        Some(_) => DiagnosticSeverity::WARNING,
        None => DiagnosticSeverity::ERROR,
    };
    errors.iter().map(|error| show(error, severity(error))).collect()
}

/// The name that stands for the file in its own errors.
const NAME: &str = "this file";

/// Fields of manifests and stimulus files, which are RON as well and are not for this server.
const OTHERS: [&str; 9] =
    ["runs", "exact", "events", "clock_hertz", "registers", "memory", "shared", "timeout", "strategy"];

/// True if the text is another file of this program.
fn is_of_another_kind(error: &PropertyError) -> bool {
    match error.kind() {
        PropertyErrorKind::UnknownField { found, known, .. } => {
            *known == FILE_FIELDS && OTHERS.contains(&found.as_str())
        }
        _ => false,
    }
}

fn errors(file: &PropertyFile, target: &Target) -> Vec<PropertyError> {
    let Target { device, image } = target;
    let Some(image) = image else {
        let checked = file.properties.iter().map(|property| check_syntax(property, &file.definitions));
        return checked.filter_map(Result::err).collect();
    };
    let start = start(file, device);
    let binding = Binding {
        device,
        image,
        start,
        ends_paths: file.ends_paths(),
        stacks: &file.stacks,
        boot_start: file.boot_start(device),
    };
    let mut table = AtomTable::default();
    let bound =
        file.properties.iter().map(|property| bind(property, &file.definitions, &binding, &mut table).map(drop));
    let mut errors: Vec<PropertyError> = bound.filter_map(Result::err).collect();
    errors.extend(bind_machines(file, &binding).err());
    // The server reads no other files: what these hold is told by the commands.
    errors.extend(Setting { image, device, start: None, file, eeprom: &BTreeMap::new() }.check_start().err());
    errors.retain(|error| {
        let kind = error.kind();
        !matches!(kind, PropertyErrorKind::Specification(SpecificationError::NotRead(_)))
            && !matches!(kind, PropertyErrorKind::Start(StartError::NotRead(_)))
    });
    errors.extend(bind_assumptions(file, &binding).err());
    errors.extend(bind_predicates(file, &binding).err());
    errors.extend(file.allow_findings.iter().filter_map(|allowed| allowed.check(image).err()));
    errors.extend(file.allow_at.iter().filter_map(|allowed| allowed.instructions(image).err()));
    errors
}

fn start(file: &PropertyFile, device: &Device) -> u32 {
    file.start_address(device, None)
}

fn shown(text: &str, error: &PropertyError, severity: DiagnosticSeverity, encoding: Encoding) -> Diagnostic {
    let span = error.excerpt().filter(|excerpt| excerpt.file.is_some()).map_or(0..0, |excerpt| excerpt.span);
    let hint = error.hint().map_or_else(String::new, |hint| format!("\n{hint}"));
    let message = format!("{}{hint}", error.title());
    diagnostic(text::range(text, span, encoding), severity, message)
}

/// An error of the firmware or the device, at the beginning of the file.
fn of_project(error: &InputError) -> Diagnostic {
    let hint = error.hint().map_or_else(String::new, |hint| format!("\n{hint}"));
    diagnostic(lsp_types::Range::default(), DiagnosticSeverity::ERROR, format!("{error}{hint}"))
}

fn diagnostic(range: lsp_types::Range, severity: DiagnosticSeverity, message: String) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(severity),
        source: Some("avr-tvar".to_owned()),
        message,
        ..Diagnostic::default()
    }
}
