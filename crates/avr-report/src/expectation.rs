//! Expectations on a certificate: every property that is asked for is claimed and holds, under no more than what is
//! asked for.

use avr_certificate::{Basis, Verdict};
use avr_check::{Checked, Proved};
use avr_properties::{Specification, SpecifiedProperty};

/// An expectation that every property of a specification holds, and how far a certificate meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The properties that are asked for.
    pub properties: Vec<Expected>,
}

/// A property that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The name.
    pub name: String,
    /// The answer of the certificate.
    pub answer: Answer,
}

/// The answer of a certificate to a property that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is proved to hold.
    Holds,
    /// It is proved to be violated.
    Violated,
    /// Neither is proved of what is asked for, for this reason.
    Open(String),
}

impl Expectation {
    /// The answers to what is `asked` of a certificate that proves this of each property that it `claims`. With
    /// `strict`, what rests on the model is open.
    #[must_use]
    pub fn of(asked: &Specification, claims: &Specification, proved: &[Checked], strict: bool) -> Self {
        let subject = Subject { asked, claims, proved, strict };
        let answer = |property: &SpecifiedProperty| Expected {
            name: property.name.clone(),
            answer: subject.answer(property).unwrap_or_else(Answer::Open),
        };
        Self { properties: asked.properties.iter().map(answer).collect() }
    }

    /// True if a property is proved to be violated.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.properties.iter().any(|property| property.answer == Answer::Violated)
    }

    /// True if every property is proved to hold.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.properties.iter().all(|property| property.answer == Answer::Holds)
    }
}

/// Both specifications and what is proved.
struct Subject<'a> {
    asked: &'a Specification,
    claims: &'a Specification,
    proved: &'a [Checked],
    strict: bool,
}

impl Subject<'_> {
    /// The answer to a property, or why it is open.
    fn answer(&self, asked: &SpecifiedProperty) -> Result<Answer, String> {
        let claims = || self.claims.properties.iter().zip(self.proved);
        let same_name = || claims().filter(|(claim, _)| claim.name == asked.name);
        let same_formula = || same_name().filter(|(claim, _)| claim.bound.is_some() && claim.bound == asked.bound);
        let Some((_, checked)) = same_formula().find(|(claim, _)| claim.under == asked.under) else {
            return Err(match (same_formula().next(), same_name().next()) {
                (Some((claim, _)), _) => format!("the certificate assumes {} of fair paths", list(&claim.under)),
                (None, Some((claim, _))) => {
                    format!("the certificate speaks of another formula: {}", claim.bound.as_deref().unwrap_or("none"))
                }
                (None, None) => "the certificate does not claim it".to_owned(),
            });
        };
        let (verdict, basis) = match &checked.proved {
            Proved::Decided(verdict, basis) => (*verdict, *basis),
            Proved::Nothing => return Err("it was not decided".to_owned()),
            Proved::Uncertified(reason) => return Err(format!("it was decided, but there is no proof: {reason}")),
        };
        if self.strict && basis == Basis::Model {
            return Err("it is proved in the model only, and strictness was asked for".to_owned());
        }
        if verdict == Verdict::Violated {
            return Ok(Answer::Violated);
        }
        let beyond = self.claims.conditions_beyond(self.asked);
        if !beyond.is_empty() {
            return Err(format!("the certificate proves it under other conditions: {}", beyond.join("; ")));
        }
        // SOUND: that something exists in more runs does not say that it exists in fewer.
        if !(asked.is_monotone && !self.asked.ends_paths || self.claims.has_conditions_of(self.asked)) {
            return Err("the certificate proves it where less is assumed, which does not carry over".to_owned());
        }
        Ok(Answer::Holds)
    }
}

fn list(texts: &[String]) -> String {
    if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
}
