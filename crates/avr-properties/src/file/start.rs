//! The fields `initially` and `application`.

use mu_calculus::parse_predicate;
use ron::value::RawValue;

use super::content::{ApplicationEntry, StartEntry};
use super::{Origin, read, ron_error, trimmed};
use crate::application::{ApplicationContent, ApplicationSetting};
use crate::error::{PropertyError, PropertyErrorKind};
use crate::start::{StartCondition, StartsAt};

/// The conditions of the field `initially`: a list, or one list for power-on and one for later resets.
pub(super) fn conditions(field: Option<&RawValue>, origin: &Origin<'_>) -> Result<Vec<StartCondition>, PropertyError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let part = trimmed(field.get_ron());
    let of = |raw: &[&RawValue], at| raw.iter().map(|raw| condition(raw, at, origin)).collect::<Result<Vec<_>, _>>();
    if part.starts_with('[') {
        let list: Vec<&RawValue> = super::options().from_str(part).map_err(|error| ron_error(&error, origin, part))?;
        return of(&list, StartsAt::First);
    }
    let entry: StartEntry<'_> = super::options().from_str(part).map_err(|error| ron_error(&error, origin, part))?;
    let mut all = of(&entry.power_on, StartsAt::PowerOn)?;
    all.extend(of(&entry.reset, StartsAt::Reset)?);
    Ok(all)
}

fn condition(raw: &RawValue, at: StartsAt, origin: &Origin<'_>) -> Result<StartCondition, PropertyError> {
    let part = trimmed(raw.get_ron());
    let (text, place): (String, _) = (read(part, origin)?, origin.place_of(part));
    match parse_predicate(&text) {
        Ok(_) => Ok(StartCondition { at, text, place }),
        Err(error) => {
            Err(PropertyErrorKind::Formula(error.kind).at(error.span, &text).of_property("initially", Some(&place)))
        }
    }
}

/// The field `application`.
pub(super) fn application(
    field: Option<&RawValue>,
    origin: &Origin<'_>,
) -> Result<Option<ApplicationSetting>, PropertyError> {
    let Some(field) = field else { return Ok(None) };
    let part = trimmed(field.get_ron());
    let content = match read(part, origin)? {
        ApplicationEntry::Absent => ApplicationContent::Absent,
        ApplicationEntry::Any => ApplicationContent::Any,
        ApplicationEntry::File(path) => ApplicationContent::File { path, hex: None },
        ApplicationEntry::Hex(path, hex) => ApplicationContent::File { path, hex: Some(hex.into()) },
    };
    Ok(Some(ApplicationSetting { content, place: origin.place_of(part) }))
}
