; Compare matches have vectors of their own. Pins choose which are enabled; overflows and the capture are not.
#include "common.inc"
        vectors
        .global vector_7
vector_7:
        .global timer2_a
timer2_a:
        nop
        rjmp end
        .global vector_8
vector_8:
        .global timer2_b
timer2_b:
        nop
        rjmp end
        .global vector_9
vector_9:
        .global timer2_overflow
timer2_overflow:
        nop
        rjmp end
        .global vector_10
vector_10:
        .global capture
capture:
        nop
        rjmp end
        .global vector_11
vector_11:
        .global timer1_a
timer1_a:
        nop
        rjmp end
        .global vector_12
vector_12:
        .global timer1_b
timer1_b:
        nop
        rjmp end
        .global vector_13
vector_13:
        .global timer1_overflow
timer1_overflow:
        nop
        rjmp end
        .global vector_14
vector_14:
        .global timer0_a
timer0_a:
        nop
        rjmp end
        .global vector_15
vector_15:
        .global timer0_b
timer0_b:
        nop
        rjmp end
        .global vector_16
vector_16:
        .global timer0_overflow
timer0_overflow:
        nop
        rjmp end
start:  in r16, PINB
        andi r16, (1 << OCIE0B) | (1 << OCIE0A)
        sts TIMSK0, r16
        in r16, PINC
        andi r16, (1 << OCIE1B) | (1 << OCIE1A)
        sts TIMSK1, r16
        in r16, PIND
        andi r16, (1 << OCIE2B) | (1 << OCIE2A)
        sts TIMSK2, r16
        ldi r16, 1
        out TCCR0B, r16
        sts TCCR1B, r16
        sts TCCR2B, r16
        sei
end:    rjmp end
