; What is written and read while the clock of a timer is stopped.
#include "common.inc"
        vectors
start:  ldi r16, 1 << PRTIM0
        ldi r17, 0x33
        out OCR0A, r17
        sts PRR, r16
        in r18, OCR0A
        ldi r17, 0x44
        out OCR0A, r17
        clr r16
        sts PRR, r16
        in r19, OCR0A
        cpi r19, 0x44
        breq written
        cpi r18, 0x33
        breq end
        .global read_other
read_other:
        nop
end:    rjmp end
        .global written
written:
        nop
        rjmp end
