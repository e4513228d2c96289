//! Specification files: RON in which every name keeps its place.

use std::collections::BTreeSet;

use ron::value::RawValue;
use serde::Deserialize;

use super::content::Pairs;
use super::{Origin, options, read, ron_error, trimmed};
use crate::conformance::{
    MAX_STATES, PlacedText, SpecificationAutomaton, SpecificationError, SpecificationMove, SpecificationState, TAU,
};
use crate::definitions::is_name;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::nearest::nearest;
use crate::state_atoms::is_reserved;

/// The fields of a specification file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecificationContent<'a> {
    #[serde(borrow)]
    initial: Vec<&'a RawValue>,
    #[serde(borrow)]
    states: Pairs<'a>,
}

/// The fields of a state.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct StateContent<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    moves: Vec<&'a RawValue>,
    may_stop: bool,
}

/// The fields of a move.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveContent<'a> {
    #[serde(borrow)]
    on: &'a RawValue,
    #[serde(borrow)]
    to: &'a RawValue,
}

impl SpecificationAutomaton {
    /// Reads the text of a specification file; `name` stands for it in errors. Events and data are checked where they are
    /// bound to a device and an image.
    ///
    /// # Errors
    /// If the text is no specification: no RON, a name that does not exist, a state without a way to it.
    pub fn parse(name: &str, text: &str) -> Result<Self, PropertyError> {
        let origin = Origin::new(name, text);
        let content: SpecificationContent<'_> =
            options().from_str(text).map_err(|error| ron_error(&error, &origin, text))?;
        let names = names(&content.states, &origin)?;
        if content.initial.is_empty() {
            return Err(error(SpecificationError::NoInitial).at_place(origin.whole()));
        }
        let initial = content.initial.iter().map(|raw| number(raw, &names, &origin)).collect::<Result<Vec<_>, _>>()?;
        let states = content.states.0.iter().zip(&names);
        let states = states.map(|((_, raw), name)| state(name, raw, &names, &origin)).collect::<Result<Vec<_>, _>>()?;
        let automaton = Self { name: name.to_owned(), initial, states, text: text.to_owned() };
        match automaton.unreachable() {
            Some(state) => {
                let kind = SpecificationError::Unreachable(names[state].clone());
                Err(error(kind).at_place(origin.place_of(trimmed(content.states.0[state].0.get_ron()))))
            }
            None => Ok(automaton),
        }
    }

    /// The first state that no moves lead to.
    fn unreachable(&self) -> Option<usize> {
        let mut reached: BTreeSet<usize> = self.initial.iter().copied().collect();
        let mut waiting: Vec<usize> = self.initial.clone();
        while let Some(state) = waiting.pop() {
            waiting.extend(self.states[state].moves.iter().map(|it| it.to).filter(|to| reached.insert(*to)));
        }
        (0..self.states.len()).find(|state| !reached.contains(state))
    }
}

/// The names of the states, each once.
fn names(states: &Pairs<'_>, origin: &Origin<'_>) -> Result<Vec<String>, PropertyError> {
    let mut names: Vec<String> = Vec::new();
    let mut known = BTreeSet::new();
    for (key, _) in &states.0 {
        let place = || origin.place_of(trimmed(key.get_ron()));
        let name: String = read(key.get_ron(), origin)?;
        if names.len() == MAX_STATES {
            return Err(error(SpecificationError::TooManyStates).at_place(place()));
        }
        if !is_name(&name) || is_reserved(&name) {
            return Err(error(SpecificationError::BadName(name)).at_place(place()));
        }
        if !known.insert(name.clone()) {
            return Err(PropertyErrorKind::Duplicate(name).at_place(place()));
        }
        names.push(name);
    }
    Ok(names)
}

fn state(
    name: &str,
    raw: &RawValue,
    names: &[String],
    origin: &Origin<'_>,
) -> Result<SpecificationState, PropertyError> {
    let part = raw.get_ron();
    let content: StateContent<'_> = options().from_str(part).map_err(|error| ron_error(&error, origin, part))?;
    let mut moves: Vec<SpecificationMove> = Vec::new();
    for raw in &content.moves {
        let part = raw.get_ron();
        let content: MoveContent<'_> = options().from_str(part).map_err(|error| ron_error(&error, origin, part))?;
        let on = placed(content.on, origin)?;
        let to = number(content.to, names, origin)?;
        let on = Some(on).filter(|on| on.text.trim() != TAU);
        let text = |on: &Option<PlacedText>| on.as_ref().map(|on| on.text.trim().to_owned());
        if moves.iter().any(|known| known.to == to && text(&known.on) == text(&on)) {
            return Err(error(SpecificationError::RepeatedMove).at_place(origin.place_of(trimmed(part))));
        }
        moves.push(SpecificationMove { on, to });
    }
    let data = content.data.map(|raw| placed(raw, origin)).transpose()?;
    Ok(SpecificationState { name: name.to_owned(), data, moves, may_stop: content.may_stop })
}

fn placed(raw: &RawValue, origin: &Origin<'_>) -> Result<PlacedText, PropertyError> {
    let text: String = read(raw.get_ron(), origin)?;
    Ok(PlacedText { text, place: origin.place_of(trimmed(raw.get_ron())) })
}

/// The number of the state that a name stands for.
fn number(raw: &RawValue, names: &[String], origin: &Origin<'_>) -> Result<usize, PropertyError> {
    let name: String = read(raw.get_ron(), origin)?;
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let nearest = nearest(&name, names.iter().map(String::as_str));
        let place = origin.place_of(trimmed(raw.get_ron()));
        error(SpecificationError::UnknownState { name, nearest }).at_place(place)
    })
}

fn error(kind: SpecificationError) -> PropertyErrorKind {
    PropertyErrorKind::Specification(kind)
}
