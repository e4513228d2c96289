//! The stacks of tasks that a property file names.

use avr_isa::DataAddress;
use mu_calculus::{ComparisonKind, Expr, Formula, parse_predicate};

use crate::error::{PropertyError, PropertyErrorKind};
use crate::nearest::nearest;
use crate::place::Place;

/// The name of the main stack in formulas.
pub(crate) const MAIN_STACK: &str = "main";
/// The name of the condition that a stack is in use.
pub(crate) const ON_STACK: &str = "on_stack";

/// A variable that is the stack of a task: an array of bytes, alone or as a part of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStack {
    /// The variable, or the part of one, as formulas name it: `task1_stack`, `stacks[1]`, `tasks[1].stack`.
    pub name: String,
    /// The same as an expression.
    pub(crate) expression: Expr,
    /// The lowest data address and the number of bytes, where the property file gives them, as it must for an image without symbols.
    pub(crate) given: Option<(DataAddress, u16)>,
    /// The place in the property file.
    pub(crate) place: Place,
}

/// The error that a stack is not among those of the property file.
pub(crate) fn unknown_stack(name: &str, stacks: &[TaskStack]) -> PropertyErrorKind {
    let names = stacks.iter().map(|stack| stack.name.as_str()).chain([MAIN_STACK]);
    PropertyErrorKind::UnknownStack { name: name.to_owned(), nearest: nearest(name, names) }
}

impl TaskStack {
    /// A stack by its text, and by its lowest data address and the number of its bytes if they are given.
    ///
    /// # Errors
    /// If the text names no variable, or one of the numbers is missing.
    pub(crate) fn parse(
        text: &str,
        (at, bytes): (Option<u16>, Option<u16>),
        place: Place,
    ) -> Result<Self, PropertyError> {
        let given = at.map(DataAddress).zip(bytes);
        if given.is_none() && (at.is_some() || bytes.is_some()) {
            let missing = if at.is_none() { "at" } else { "bytes" };
            return Err(PropertyErrorKind::MissingField(missing).at_place(place));
        }
        let expected = "the name of a variable, or of a part of one, as in stacks[1]";
        let wrong = || PropertyErrorKind::Expected { expected }.at_place(place.clone());
        let Ok(Formula::Atom(comparison)) = parse_predicate(&format!("{text} == 0")) else { return Err(wrong()) };
        let ComparisonKind::Compare(_, expression, _) = comparison.kind else { return Err(wrong()) };
        let name = expression.to_string();
        if name == MAIN_STACK {
            return Err(wrong());
        }
        Ok(Self { name, expression, given, place })
    }

    /// True if a text is the name of this stack.
    pub(crate) fn is_named(&self, text: &str) -> bool {
        let without_space = |text: &str| text.split_whitespace().collect::<String>();
        without_space(text) == without_space(&self.name)
    }
}
