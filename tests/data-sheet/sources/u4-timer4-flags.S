; Its flags may be set once it was started, even after it was stopped, and stay until a one is written.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  clr r1
        ldi r16, 1 << CS40
        sts TCCR4B, r16
        sts TCCR4B, r1
        out TIFR4, r1
        in r17, TIFR4
        sbrs r17, TOV4
        rjmp 2f
        .global overflow
overflow:
        nop
        out TIFR4, r1
        in r18, TIFR4
        sbrs r18, TOV4
        rjmp lost
2:      sbrc r17, OCF4A
        rjmp match_a
        sbrc r17, OCF4B
        rjmp match_b
        sbrc r17, OCF4D
        rjmp match_d
        .global rest
rest:
        nop
end:    rjmp end
        .global match_a
match_a:
        nop
        rjmp end
        .global match_b
match_b:
        nop
        rjmp end
        .global match_d
match_d:
        nop
        rjmp end
        .global lost
lost:
        nop
        rjmp end
