; With AIN0 as an output the output of the comparator is left open.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << DDE6
        out DDRE, r16
        ldi r16, 1 << ACME
        sts ADCSRB, r16
        nop
        nop
        in r18, ACSR
        sbrc r18, ACO
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
