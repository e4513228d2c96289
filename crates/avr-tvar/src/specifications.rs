//! The files that property files name: specifications and the application of a boot loader.

use std::path::Path;

use avr_properties::{PropertyFile, SpecificationAutomaton, application_hex};
use avr_report::Escaped;

use crate::error::{InputError, InputErrorKind};
use crate::inputs::{Inputs, Role};

/// The property file with the specifications and the application that it names. Paths are relative to the property file; without one, to the
/// current directory.
///
/// # Errors
/// If a file cannot be read or is no specification.
pub(crate) fn attach(
    inputs: &mut Inputs,
    mut file: PropertyFile,
    properties: Option<&Path>,
) -> Result<PropertyFile, InputError> {
    let folder = properties.and_then(Path::parent).unwrap_or(Path::new(""));
    for name in file.missing_specifications() {
        let automaton = read(inputs, &folder.join(&name))?;
        file.add_specification(&name, automaton);
    }
    if let Some(path) = file.missing_application().map(|name| folder.join(name)) {
        let input = inputs.read(Role::Application, &path)?;
        file.add_application(application_hex(&input.name(), &input.bytes)?);
    }
    Ok(file)
}

/// A specification file.
///
/// # Errors
/// If it cannot be read or is no specification.
pub(crate) fn read(inputs: &mut Inputs, path: &Path) -> Result<SpecificationAutomaton, InputError> {
    let input = inputs.read(Role::Specification, path)?;
    let text = input.text().ok_or_else(|| InputErrorKind::NotText { path: input.name() })?;
    Ok(SpecificationAutomaton::parse(&Escaped(&input.name()).to_string(), text)?)
}
