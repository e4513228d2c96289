//! Lines of a property file that remove alarms. Each is tried: the file with it is read, and the map is looked for again.

use super::{Alarm, AlarmKind, AlarmLine, Alarms, DependenceKind};
use crate::invariants::LIMITS;
use avr_invariant::{Analysis, Claims, Gap, Options, Reason, analyse_until};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::PropertyFile;

/// The abstract steps that all trials take together: some, so many for each that it took to find the alarms, and no more than a number.
const FEW_STEPS: usize = 1_000;
const STEPS_PER_STEP: usize = 4;
const MOST_STEPS: usize = 30_000;
/// The most inputs of an alarm that are tried.
const MOST_INPUTS: usize = 3;

/// A trial of lines of a property file.
pub(crate) struct Trial<'a> {
    /// The property file as it is.
    pub(crate) file: &'a PropertyFile,
    /// The machine with another property file; none if the file is wrong.
    pub(crate) machine: &'a dyn Fn(&PropertyFile) -> Option<Machine>,
    /// The device, which names registers.
    pub(crate) device: &'static Device,
    /// True where no time is left.
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

/// The effect of a line.
enum Effect {
    None,
    AlarmIsGone,
    Closes,
}

impl Alarms {
    /// Looks for a line for each alarm that removes it. To find the alarms took so many abstract steps.
    pub(crate) fn find_lines(&mut self, trial: &Trial<'_>, steps: usize) {
        let mut left = MOST_STEPS.min(FEW_STEPS + STEPS_PER_STEP * steps);
        for alarm in &mut self.list {
            let mut lines = trial.candidates(alarm).into_iter();
            alarm.line = lines.find_map(|text| match trial.effect(&text, alarm, &mut left) {
                Effect::None => None,
                Effect::AlarmIsGone => Some(AlarmLine { text, closes: false }),
                Effect::Closes => Some(AlarmLine { text, closes: true }),
            });
        }
    }
}

impl Trial<'_> {
    /// The lines that may help, those that assume least first.
    fn candidates(&self, alarm: &Alarm) -> Vec<String> {
        let mut lines = Vec::new();
        let inputs = alarm.dependences.iter().filter(|one| one.kind == DependenceKind::Input);
        for input in inputs.take(MOST_INPUTS) {
            let Some(register) = self.device.register_at(input.cell) else { continue };
            let name = register.name;
            let bits = (0..u8::BITS).rev().filter(|bit| input.mask >> bit & 1 == 1);
            let masks = bits.scan(0, |mask, bit| {
                *mask |= 1_u8 << bit;
                Some(*mask)
            });
            lines.extend(masks.map(|mask| match mask {
                u8::MAX => format!("assume: [\"{name} == 0\"]"),
                _ => format!("assume: [\"{name} & {mask:#04x} == 0\"]"),
            }));
        }
        if let AlarmKind::Hazard(hazard) = alarm.kind {
            lines.push(format!("allow: {{\"{}\": \"why it does no harm\"}}", hazard.kind.name()));
        }
        lines
    }

    /// The effect of a line on an alarm, for so many steps at most.
    fn effect(&self, line: &str, alarm: &Alarm, left: &mut usize) -> Effect {
        let added = PropertyFile::parse("suggested", &format!("({line})"));
        let Ok(added) = added else { return Effect::None };
        let mut file = self.file.clone();
        file.add_assumptions(added);
        let Some(machine) = (self.machine)(&file).filter(|_| *left > 0 && !(self.is_over)()) else {
            return Effect::None;
        };
        let limits = Options { steps: (*left).min(LIMITS.steps), ..LIMITS };
        let Analysis { outcome, work, .. } = analyse_until(&machine, &limits, self.is_over);
        *left = left.saturating_sub(work);
        match outcome {
            Ok(claims) if claims.has_no_hazard() => Effect::Closes,
            Ok(claims) => gone(!is_marked(&claims, alarm)),
            // At a limit nothing is known of what comes behind.
            Err(Gap { reason: Reason::TooManySteps(_) | Reason::TooManyStates(_) | Reason::Cancelled, .. }) => {
                Effect::None
            }
            Err(gap) => gone(gap.at.is_some_and(|(_, address)| Some(address.0) != alarm.pc)),
        }
    }
}

fn gone(is_gone: bool) -> Effect {
    if is_gone { Effect::AlarmIsGone } else { Effect::None }
}

fn is_marked(claims: &Claims, alarm: &Alarm) -> bool {
    claims.marks.iter().any(|mark| Some(mark.address.0) == alarm.pc)
}
