//! Stacks of tasks: variables into which the program sets the stack pointer.
//!
//! A run without these stacks ends in a hazard: SP is set into static data, or a return there is to no call. A variable is taken for the stack of
//! a task if SP was set to what was loaded, or a return found SP there, to which pushes alone do not lead. Nothing rests on it: the file names the
//! stacks, and results list them among what is assumed.

use avr_image::{FlashByteAddress, FlashWordAddress, Type};
use avr_isa::{DataAddress, Instruction, Register};
use avr_machine::{HazardKind, Program};
use avr_properties::{PropertyError, PropertyFile};
use avr_verify::{PropertyResult, Request, Results, verify};

use crate::job::Job;

/// The most stacks that are looked for, as many as a property file may name.
const MOST_STACKS: usize = 64;
/// The I/O address of SPL.
const SPL: u8 = 0x3d;
/// The words before a write of SPL in which its value is looked for.
const WORDS_BEFORE: u32 = 16;
/// Structures and arrays inside of others are followed so far.
const MAX_DEPTH: usize = 4;

/// The results of all properties. Where the stacks of tasks are found, each is noted, and they are those with all stacks.
///
/// # Errors
/// If the properties do not fit the image.
pub(super) fn verified(job: &Job, note: &dyn Fn(&str)) -> Result<Results, PropertyError> {
    let mut results = verify(&job.request())?;
    let mut file = job.file.clone();
    file.properties.truncate(1);
    let mut found = false;
    let mut named = proposed(job, &results, &file);
    while let Some((name, with)) = named {
        // Results with some of the stacks are not those of the file.
        job.known.forget();
        // A name that the image does not know is no stack.
        let Ok(next) = verify(&Request { file: &with, known: None, ..job.request() }) else { break };
        note(&name);
        (found, file) = (true, with);
        named = proposed(job, &next, &file);
    }
    if found {
        job.known.forget();
        file.properties.clone_from(&job.file.properties);
        results = verify(&Request { file: &file, ..job.request() })?;
    }
    Ok(results)
}

/// The name of another stack that the inherent property, which is the first one, shows, and the file with it.
fn proposed(job: &Job, results: &Results, file: &PropertyFile) -> Option<(String, PropertyFile)> {
    let cells = cells_of_stack(job, results.properties.first()?)?;
    let name = cells.into_iter().find_map(|cell| name_at(job, cell))?;
    let with = PropertyFile::parse("init", &format!("(stacks: [(symbol: {name:?})])")).ok()?.stacks;
    let is_new = file.stacks.iter().all(|stack| stack.name != name);
    let mut named = file.clone();
    named.stacks.extend(with);
    (is_new && named.stacks.len() <= MOST_STACKS).then_some((name, named))
}

/// The value that SPL is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A constant: an empty stack.
    Constant,
    /// A byte of memory, or an argument: a stack on which something was saved.
    Loaded,
}

/// The cells of a variable into which SP was set in the run to a hazard, the likelier one first.
fn cells_of_stack(job: &Job, result: &PropertyResult) -> Option<[DataAddress; 2]> {
    let end = &result.evidence.as_ref()?.end;
    let hazard = end.hazard?;
    match hazard.kind {
        // The stack was never there: a push that came there would have been the hazard.
        HazardKind::ReturnToNonCall | HazardKind::CallStackUnderflow => {
            Some([end.stack_pointer.checked_add(1)?, end.stack_pointer])
        }
        HazardKind::StackIntoData => {
            let word = |address: u32| job.image.program.word(FlashWordAddress(address));
            let program = Program::decode(job.device.memory.flash_words(), job.device.core.features, word);
            // The lowest byte of the stack, above SP.
            let lowest = u16::try_from(hazard.address?).ok()?;
            let (lowest, pointer) = (DataAddress(lowest), DataAddress(lowest.checked_sub(1)?));
            match source(&program, FlashByteAddress(end.pc).word())? {
                Source::Constant => Some([pointer, lowest]),
                Source::Loaded => Some([lowest, pointer]),
            }
        }
        _ => None,
    }
}

/// The value that an instruction sets SPL to; none if it does not, or by a computed one: a function that makes room for its variables reads SPL, and sets it
/// to a difference.
fn source(program: &Program, at: FlashWordAddress) -> Option<Source> {
    let window = FlashWordAddress(at.0.saturating_sub(WORDS_BEFORE))..=at;
    let all: Vec<Instruction> =
        program.instructions().filter(|(address, _)| window.contains(address)).map(|(_, one)| one).collect();
    let (&Instruction::Out { io: SPL, rr }, before) = all.split_last()? else { return None };
    let mut register = rr;
    for one in before.iter().rev() {
        if !one.registers_written().contains(register) {
            continue;
        }
        register = match *one {
            Instruction::Mov { rr, .. } => rr,
            Instruction::Movw { rd, rr } if rd == register => rr,
            Instruction::Movw { rr, .. } => Register::new(rr.index() + 1)?,
            Instruction::Ldi { .. } => return Some(Source::Constant),
            Instruction::Lds { .. } | Instruction::Ld { .. } | Instruction::Pop { .. } => return Some(Source::Loaded),
            _ => return None,
        };
    }
    let is_read = before.iter().any(|one| matches!(one, Instruction::In { io: SPL, .. }));
    (!is_read).then_some(Source::Loaded)
}

/// The name of the variable that has a cell, or of the array of bytes in it.
fn name_at(job: &Job, cell: DataAddress) -> Option<String> {
    let located = job.image.symbols.object_at(cell)?;
    part_at(located.symbol.base_name(), located.symbol.of.as_ref(), located.offset)
}

/// The name of the part of a variable that has the byte at an offset and is made of nothing but numbers; none if it lies too deep.
fn part_at(name: &str, mut of: Option<&Type>, mut offset: u32) -> Option<String> {
    let mut name = name.to_owned();
    for _ in 0..MAX_DEPTH {
        match of {
            Some(Type::Array { element, stride, .. }) if is_made_of_parts(element) => {
                name = format!("{name}[{}]", offset.checked_div(*stride)?);
                (of, offset) = (Some(element.as_ref()), offset % stride);
            }
            Some(Type::Struct(members)) => {
                let member = members.iter().rev().find(|member| member.offset <= offset)?;
                if !member.name.is_empty() {
                    name = format!("{name}.{}", member.name);
                }
                (of, offset) = (Some(&member.of), offset - member.offset);
            }
            _ => return Some(name),
        }
    }
    None
}

fn is_made_of_parts(of: &Type) -> bool {
    matches!(of, Type::Array { .. } | Type::Struct(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_image::{Member, Scalar};
    use avr_isa::{FeatureSet, Pointer, PointerMode};
    use avr_testkit::image::{Code, r};
    use std::sync::Arc;

    #[test]
    fn stacks_in_arrays_and_structures_have_names() {
        let byte = Type::Scalar(Scalar { bytes: 1, signed: Some(false) });
        let array = |element: &Type, stride, count| Type::Array {
            element: Arc::new(element.clone()),
            stride,
            count: Some(count),
        };
        let stack = array(&byte, 1, 40);
        let member = |name: &str, offset, of: &Type| Member { name: name.to_owned(), offset, of: of.clone() };
        let task = Type::Struct([member("state", 0, &byte), member("stack", 1, &stack)].into());
        let check = |of: Option<&Type>, offset, expected: Option<&str>| {
            assert_eq!(part_at("all", of, offset).as_deref(), expected);
        };
        check(None, 3, Some("all"));
        check(Some(&stack), 39, Some("all"));
        check(Some(&array(&stack, 40, 3)), 40, Some("all[1]"));
        check(Some(&array(&task, 41, 2)), 81, Some("all[1].stack"));
        let deep = (0..5).fold(stack, |inner, _| array(&inner, 40, 1));
        check(Some(&deep), 0, None);
    }

    /// The value that SPL is set to behind some instructions.
    fn source_behind(add: impl FnOnce(&mut Code)) -> Option<Source> {
        let mut code = Code::default();
        add(&mut code);
        code.add(Instruction::Out { io: 0x3e, rr: r(29) });
        let at = code.words.len() as u32;
        code.add(Instruction::Out { io: SPL, rr: r(28) });
        let program = Program::decode(0x100, FeatureSet::default(), |word| code.words.get(word as usize).copied());
        source(&program, FlashWordAddress(at))
    }

    #[test]
    fn room_for_variables_is_no_stack_of_a_task() {
        let constant = source_behind(|code| code.add(Instruction::Ldi { rd: r(28), k: 0xff }));
        assert_eq!(constant, Some(Source::Constant));
        let loaded = source_behind(|code| {
            code.add(Instruction::Ld { rd: r(24), pointer: Pointer::Z, mode: PointerMode::Displacement(0) });
            code.add(Instruction::Mov { rd: r(28), rr: r(24) });
        });
        assert_eq!(loaded, Some(Source::Loaded));
        let argument = source_behind(|code| code.add(Instruction::Movw { rd: r(28), rr: r(24) }));
        assert_eq!(argument, Some(Source::Loaded));
        let room = |code: &mut Code| {
            code.add(Instruction::In { rd: r(28), io: SPL });
            code.add(Instruction::In { rd: r(29), io: 0x3e });
            code.add(Instruction::Sbiw { rd: r(28), k: 8 });
        };
        assert_eq!(source_behind(room), None);
        let other = source_behind(|code| {
            room(code);
            code.add(Instruction::Movw { rd: r(28), rr: r(24) });
        });
        assert_eq!(other, None);
    }
}
