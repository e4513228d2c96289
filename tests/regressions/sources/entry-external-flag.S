; The entry into the handler of INT0 clears INTF0, which was known to be 1 before.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts EICRA, r16          ; rising edge
        sbi EIMSK, INT0
        large
wait:   sbis EIFR, INTF0
        rjmp wait
        sei
        nop
        nop
        nop
        nop
again:  sbic EIFR, INTF0        ; the handler has run
        rjmp again
        .global reached
reached:
        .word 0x0001            ; a reserved opcode
        rjmp again
        .global vector_1
vector_1:
        cbi EIMSK, INT0
        reti
