; The timers of more than eight bits have vectors of their own. Pins choose which requests are enabled.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
        handler 19, timer1_c
        handler 31, capture3
        handler 32, timer3_a
        handler 33, timer3_b
        handler 34, timer3_c
        handler 35, overflow3
        handler 38, timer4_a
        handler 39, timer4_b
        handler 40, timer4_d
        handler 41, timer4_overflow
        handler 42, fault
start:  in r16, PINB
        sbrc r16, 0
        rjmp four
        sbrc r16, 7
        rjmp three
        ldi r17, 1 << OCIE1C
        sts TIMSK1, r17
        ldi r17, 1 << CS10
        sts TCCR1B, r17
        rjmp go
three:  andi r16, (1 << OCIE3A) | (1 << OCIE3B) | (1 << OCIE3C)
        sts TIMSK3, r16
        ldi r17, 1 << CS30
        sts TCCR3B, r17
        rjmp go
four:   andi r16, (1 << OCIE4A) | (1 << OCIE4B) | (1 << OCIE4D) | (1 << TOIE4)
        sts TIMSK4, r16
        ldi r17, 1 << CS40
        sts TCCR4B, r17
go:     sei
end:    rjmp end
