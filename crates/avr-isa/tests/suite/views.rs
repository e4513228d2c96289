//! Control flow and memory access, as the manual has them.

use avr_isa::{
    Addressing, CodeSpace, ControlFlow, DataAddress, FeatureSet, FlashWordAddress, Instruction, MemoryAccess, Pointer,
    PointerMode, decode,
};

/// Flash of 0x1000 words: instructions of two words begin at multiples of 16.
struct Code;

impl CodeSpace for Code {
    fn pc_mask(&self) -> u32 {
        0xfff
    }

    fn words_at(&self, address: FlashWordAddress) -> u32 {
        if address.0.is_multiple_of(16) { 2 } else { 1 }
    }
}

fn instruction(words: [u16; 2]) -> Instruction {
    decode(words[0], Some(words[1]), FeatureSet::AVR6).expect("the words are an instruction")
}

#[track_caller]
fn check_flow(address: u32, words: [u16; 2], expected: ControlFlow) {
    assert_eq!(instruction(words).control_flow(FlashWordAddress(address), &Code), expected);
}

#[test]
fn destinations_are_resolved() {
    check_flow(8, [0x0000, 0], ControlFlow::Next { next: FlashWordAddress(9) }); // nop
    check_flow(8, [0x9000, 0x100], ControlFlow::Next { next: FlashWordAddress(10) }); // lds r0, 0x100
    check_flow(8, [0x1000, 0], ControlFlow::Skip { next: FlashWordAddress(9), target: FlashWordAddress(10) }); // cpse r0, r0
    check_flow(15, [0x9900, 0], ControlFlow::Skip { next: FlashWordAddress(16), target: FlashWordAddress(18) }); // sbic 0, 0
    check_flow(8, [0xf3f9, 0], ControlFlow::Branch { next: FlashWordAddress(9), target: FlashWordAddress(8) }); // breq .-2
    check_flow(8, [0xc001, 0], ControlFlow::Jump { target: FlashWordAddress(10) }); // rjmp .+2
    check_flow(8, [0x940c, 0x123], ControlFlow::Jump { target: FlashWordAddress(0x123) }); // jmp 0x246
    check_flow(8, [0xdfff, 0], ControlFlow::Call { next: FlashWordAddress(9), target: FlashWordAddress(8) }); // rcall .-2
    check_flow(8, [0x940e, 0x123], ControlFlow::Call { next: FlashWordAddress(10), target: FlashWordAddress(0x123) }); // call 0x246
    check_flow(8, [0x9409, 0], ControlFlow::IndirectJump);
    check_flow(8, [0x9419, 0], ControlFlow::IndirectJump); // eijmp
    check_flow(8, [0x9509, 0], ControlFlow::IndirectCall { next: FlashWordAddress(9) });
    check_flow(8, [0x9508, 0], ControlFlow::Return);
    check_flow(8, [0x9518, 0], ControlFlow::InterruptReturn);
    check_flow(8, [0x9588, 0], ControlFlow::Sleep { next: FlashWordAddress(9) });
    check_flow(8, [0x9598, 0], ControlFlow::Break { next: FlashWordAddress(9) });
}

#[test]
fn flash_wraps() {
    check_flow(0xfff, [0x0000, 0], ControlFlow::Next { next: FlashWordAddress(0) });
    check_flow(0xffe, [0x9000, 0x100], ControlFlow::Next { next: FlashWordAddress(0) });
    check_flow(0xffe, [0x1000, 0], ControlFlow::Skip { next: FlashWordAddress(0xfff), target: FlashWordAddress(0) });
    check_flow(0xfff, [0x1000, 0], ControlFlow::Skip { next: FlashWordAddress(0), target: FlashWordAddress(2) });
    check_flow(0, [0xcffe, 0], ControlFlow::Jump { target: FlashWordAddress(0xfff) }); // rjmp .-4
    check_flow(0xfff, [0xf009, 0], ControlFlow::Branch { next: FlashWordAddress(0), target: FlashWordAddress(1) }); // breq .+2
    check_flow(0xffe, [0xd001, 0], ControlFlow::Call { next: FlashWordAddress(0xfff), target: FlashWordAddress(0) }); // rcall .+2
    check_flow(8, [0x940c, 0x1003], ControlFlow::Jump { target: FlashWordAddress(3) });
    check_flow(0xffe, [0x941e, 0x1003], ControlFlow::Call { next: FlashWordAddress(0), target: FlashWordAddress(3) });
}

#[test]
fn destinations_are_those_of_the_program_counter() {
    assert_eq!(
        ControlFlow::Skip { next: FlashWordAddress(1), target: FlashWordAddress(2) }.destinations(),
        Some([FlashWordAddress(1), FlashWordAddress(2)])
    );
    assert_eq!(
        ControlFlow::Call { next: FlashWordAddress(1), target: FlashWordAddress(7) }.destinations(),
        Some([FlashWordAddress(7), FlashWordAddress(7)])
    );
    assert_eq!(ControlFlow::IndirectCall { next: FlashWordAddress(1) }.destinations(), None);
    assert_eq!(
        ControlFlow::Branch { next: FlashWordAddress(1), target: FlashWordAddress(7) }.jump_target(),
        Some(FlashWordAddress(7))
    );
    assert_eq!(ControlFlow::Call { next: FlashWordAddress(1), target: FlashWordAddress(7) }.jump_target(), None);
    assert!(instruction([0xd000, 0]).only_reserves_stack());
    assert!(!instruction([0xd001, 0]).only_reserves_stack());
}

#[track_caller]
fn check_access(words: [u16; 2], expected: MemoryAccess) {
    let instruction = instruction(words);
    assert_eq!(instruction.memory_access(), expected);
    assert_eq!(instruction.uses_stack(), expected.uses_stack());
}

#[test]
fn kinds_of_accesses() {
    let kinds = |words| {
        let access = instruction(words).memory_access();
        [access.uses_stack(), access.pops(), access.is_load_or_store()]
    };
    assert_eq!([[0x900f, 0], [0x9508, 0], [0x9518, 0]].map(kinds), [[true, true, false]; 3]); // pop, ret, reti
    assert_eq!([[0x920f, 0], [0xd001, 0], [0x9509, 0]].map(kinds), [[true, false, false]; 3]); // push, rcall, icall
    assert_eq!([[0x900d, 0], [0x9200, 0x100]].map(kinds), [[false, false, true]; 2]); // ld, sts
    assert_eq!([[0xb60f, 0], [0x95c8, 0], [0x0000, 0]].map(kinds), [[false; 3]; 3]); // in, lpm, nop
}

#[test]
fn accesses_have_data_addresses() {
    let indirect = |pointer, mode| Addressing::Indirect { pointer, mode };
    check_access([0x0c00, 0], MemoryAccess::None); // add r0, r0
    check_access([0x900d, 0], MemoryAccess::Load(indirect(Pointer::X, PointerMode::PostIncrement)));
    check_access([0x8009, 0], MemoryAccess::Load(indirect(Pointer::Y, PointerMode::Displacement(1))));
    check_access([0x9202, 0], MemoryAccess::Store(indirect(Pointer::Z, PointerMode::PreDecrement)));
    check_access([0x9000, 0x123], MemoryAccess::Load(Addressing::Direct(DataAddress(0x123))));
    check_access([0x9200, 0x123], MemoryAccess::Store(Addressing::Direct(DataAddress(0x123))));
    check_access([0xb60f, 0], MemoryAccess::LoadIo { address: DataAddress(0x5f) }); // in r0, 0x3f
    check_access([0xb80f, 0], MemoryAccess::StoreIo { address: DataAddress(0x2f) }); // out 0x0f, r0
    check_access([0x992b, 0], MemoryAccess::LoadIoBit { address: DataAddress(0x25), bit: 3 }); // sbic 0x05, 3
    check_access([0x9a2b, 0], MemoryAccess::StoreIoBit { address: DataAddress(0x25), bit: 3 }); // sbi 0x05, 3
    check_access([0x920f, 0], MemoryAccess::Push);
    check_access([0x900f, 0], MemoryAccess::Pop);
    check_access([0xd000, 0], MemoryAccess::PushReturnAddress);
    check_access([0x9519, 0], MemoryAccess::PushReturnAddress); // eicall
    check_access([0x9518, 0], MemoryAccess::PopReturnAddress); // reti
    check_access([0x95c8, 0], MemoryAccess::LoadFlash);
    check_access([0x9006, 0], MemoryAccess::LoadFlash); // elpm r0, Z
    check_access([0x95e8, 0], MemoryAccess::StoreFlash);
    check_access([0x95a8, 0], MemoryAccess::ResetWatchdog);
}

#[test]
fn pointers_of_accesses_are_read() {
    for word in 0..=u16::MAX {
        let Ok(instruction) = decode(word, Some(0), FeatureSet::AVR6) else { continue };
        let (MemoryAccess::Load(place) | MemoryAccess::Store(place)) = instruction.memory_access() else { continue };
        let Addressing::Indirect { pointer, mode } = place else { continue };
        let (read, written) = (instruction.registers_read(), instruction.registers_written());
        let moves = !matches!(mode, PointerMode::Displacement(_));
        for half in [pointer.low(), pointer.high()] {
            assert!(read.contains(half), "{instruction}");
            let loads = matches!(instruction, Instruction::Ld { rd, .. } if rd == half);
            assert_eq!(written.contains(half), moves || loads, "{instruction}");
        }
    }
}
