; Of a left adjusted result the low byte has two bits.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCL
        lds r19, ADCH
        mov r20, r18
        andi r20, 0x3f
        brne below
        cpi r18, 0xc0
        brne end
        .global both
both:
        nop
end:    rjmp end
        .global below
below:
        nop
        rjmp end
