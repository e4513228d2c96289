//! Stacks of tasks: variables into which the program sets the stack pointer.
//!
//! A run without these stacks ends in `stack-into-data`. The variable is taken for the stack of a task where the stack was never before: the access is a pop
//! or a return, which a stack that grows too large does not begin with, or SP was set to a constant just before. Nothing rests on it: the file names the stacks, and
//! results list them among what is assumed.

use avr_image::{FlashByteAddress, FlashWordAddress, Type};
use avr_isa::{DataAddress, Instruction};
use avr_machine::{HazardKind, Program};
use avr_properties::{PropertyError, PropertyFile};
use avr_verify::{PropertyResult, Request, Results, verify};

use crate::job::Job;

/// The most stacks that are looked for, as many as a property file may name.
const MOST_STACKS: usize = 64;
/// The I/O addresses of SPL and SPH.
const SPL: u8 = 0x3d;
const SPH: u8 = 0x3e;
/// The words before an access in which SP is set.
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
        job.known.forget();
        // A name that the image does not know is no stack.
        let Ok(next) = verify(&Request { file: &with, ..job.request() }) else { break };
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
    let cell = cell_of_stack(job, results.properties.first()?)?;
    let name = name_at(job, cell)?;
    let with = PropertyFile::parse("init", &format!("(stacks: [(symbol: {name:?})])")).ok()?.stacks;
    let is_new = file.stacks.iter().all(|stack| stack.name != name);
    let mut named = file.clone();
    named.stacks.extend(with);
    (is_new && named.stacks.len() <= MOST_STACKS).then_some((name, named))
}

/// A cell of a variable into which SP was set before the first use of the stack there, in the run to a hazard.
fn cell_of_stack(job: &Job, result: &PropertyResult) -> Option<DataAddress> {
    let end = &result.evidence.as_ref()?.end;
    if end.hazard?.kind != HazardKind::StackIntoData {
        return None;
    }
    let word = |address: u32| job.image.program.word(FlashWordAddress(address));
    let program = Program::decode(job.device.memory.flash_words(), job.device.core.features, word);
    let at = FlashByteAddress(end.pc).word();
    let accessing = program.instructions().find(|(address, _)| *address == at)?.1;
    match accessing {
        Instruction::Pop { .. } | Instruction::Ret | Instruction::Reti => end.stack_pointer.checked_add(1),
        _ if is_set_to(&program, at, end.stack_pointer) => Some(end.stack_pointer),
        _ => None,
    }
}

/// True if SP is set to a constant just before an instruction: LDI of both halves, and OUT of both.
fn is_set_to(program: &Program, at: FlashWordAddress, value: DataAddress) -> bool {
    let before = FlashWordAddress(at.0.saturating_sub(WORDS_BEFORE))..at;
    let all: Vec<Instruction> =
        program.instructions().filter(|(address, _)| before.contains(address)).map(|(_, one)| one).collect();
    [(SPL, value.0 as u8), (SPH, (value.0 >> 8) as u8)].into_iter().all(|(half, wanted)| {
        all.iter().any(|one| match *one {
            Instruction::Out { io, rr } if io == half => {
                all.iter().any(|other| matches!(*other, Instruction::Ldi { rd, k } if rd == rr && k == wanted))
            }
            _ => false,
        })
    })
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
    use avr_isa::FeatureSet;
    use avr_testkit::image::{Code, r};
    use std::sync::Arc;

    /// True if SP is taken to be set to 0x01ff before the last instruction of a program.
    fn is_set(add: impl FnOnce(&mut Code)) -> bool {
        let mut code = Code::default();
        add(&mut code);
        let at = code.words.len() as u32;
        code.add(Instruction::Push { rr: r(2) });
        let program = Program::decode(0x100, FeatureSet::default(), |word| code.words.get(word as usize).copied());
        is_set_to(&program, FlashWordAddress(at), DataAddress(0x01ff))
    }

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

    #[test]
    fn only_a_constant_is_an_address_that_sp_is_set_to() {
        let set = |low: u8| {
            move |code: &mut Code| {
                code.add(Instruction::Ldi { rd: r(24), k: low });
                code.add(Instruction::Ldi { rd: r(25), k: 0x01 });
                code.add(Instruction::Out { io: SPH, rr: r(25) });
                code.add(Instruction::Out { io: SPL, rr: r(24) });
            }
        };
        assert!(is_set(set(0xff)));
        assert!(!is_set(set(0xfe)));
        let frame = |code: &mut Code| {
            code.add(Instruction::In { rd: r(28), io: 0x3d });
            code.add(Instruction::In { rd: r(29), io: 0x3e });
            code.add(Instruction::Sbiw { rd: r(28), k: 8 });
            code.add(Instruction::Out { io: SPH, rr: r(29) });
            code.add(Instruction::Out { io: SPL, rr: r(28) });
        };
        assert!(!is_set(frame));
    }
}
