//! A specification file to begin with: the automaton of what a firmware does with some events.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use avr_properties::PropertyError;
use avr_report::Escaped;
use avr_verify::{Extracted, Request, event_automaton, events};

use super::{Init, write};
use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{self, Ended};
use crate::options::Verify;
use crate::output;

/// The automaton, or the reason why there is none.
type Work = Result<Result<Extracted, String>, PropertyError>;

/// Reads the automaton off the firmware, proves what it can of it, and writes it.
///
/// # Errors
/// If the command line or a file is wrong, or there is no automaton.
pub(super) fn run(arguments: &Init, verification: &Verify) -> Result<Exit, InputError> {
    let verification = Verify { allow_empty: true, ..verification.clone() };
    let job = Arc::new(job::configure(&verification, Inputs::default(), Instant::now())?);
    let alphabet = events(&arguments.alphabet, &[&job.request()])?;
    output::image_warnings(&job.image);
    job::handle_interrupts(&job);
    let name = arguments.firmware.display().to_string();
    let time = Some(arguments.timeout * 9 / 10);
    let (of, seen) = (name.clone(), alphabet.clone());
    let work = job::start(&job, arguments.jobs, move |job, sender: &Sender<Work>| {
        let request = Request { known: None, ..job.request() };
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(event_automaton((&request, &of), &seen, time));
    })?;
    let nothing = |reason: String| InputErrorKind::NoSpecification { path: name.clone(), reason };
    let extracted = match job::watch(&job, &work) {
        Ended::Done(extracted) => extracted?.map_err(nothing)?,
        Ended::GivenUp(_) if job.is_interrupted() => return Ok(Exit::Interrupted),
        Ended::GivenUp(limit) => return Err(nothing(limit.to_string()).into()),
        Ended::Failed => return Ok(Exit::Internal),
    };
    if job.is_interrupted() {
        return Ok(Exit::Interrupted);
    }
    let text = extracted.automaton.specification(&comment(&name, arguments, &extracted));
    write(arguments, &text.map_err(|error| nothing(error.to_string()))?)?;
    Ok(Exit::Holds)
}

/// The lines at the beginning of the file.
fn comment(name: &str, arguments: &Init, extracted: &Extracted) -> Vec<String> {
    let proof = match (extracted.has_all, extracted.has_only) {
        (true, true) => "Proved: it conforms to this, and it can do all of this.",
        (true, false) => "Proved: it conforms to this. Not proved: that it can do all of this; some of it may be more.",
        (false, true) => {
            "Proved: it can do all of this. Not proved: that it conforms to this; something may be missing."
        }
        (false, false) => "Nothing is proved: something of it may be missing, and some of it may be more.",
    };
    vec![
        format!("The sequences of events of {}, as a start.", Escaped(name)),
        format!(
            "Events: {}.",
            arguments.alphabet.iter().map(|event| Escaped(event).to_string()).collect::<Vec<_>>().join(", ")
        ),
        proof.to_owned(),
        "Leave out what must not come, and give the states names that say what they mean.".to_owned(),
    ]
}
