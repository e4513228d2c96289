; The entry into the handler of the watchdog clears WDIE in the mode of interrupt and reset.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WDCE) | (1 << WDE)
        ldi r17, (1 << WDIE) | (1 << WDE)
        large
        wdr
        sts WDTCSR, r16
        sts WDTCSR, r17
wait:   lds r18, WDTCSR
        sbrs r18, WDIF
        rjmp wait
        sei
        nop
        nop
        nop
        nop
again:  lds r18, WDTCSR         ; the handler has run
        sbrc r18, WDIE
        rjmp again
        .global reached
reached:
        .word 0x0001            ; a reserved opcode
        rjmp again
        .global vector_6
vector_6:
        reti
