; The six upper channels of the converter are pins of the ports D and B, which MUX5 selects.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << DDB4
        out DDRB, r16
        ldi r16, 1 << MUX5
        sts ADCSRB, r16
        ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCH
        cpi r18, 0x80
        brsh high
        ldi r16, (1 << REFS0) | (1 << ADLAR) | 3
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCH
        cpi r18, 0x80
        brsh driven
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
        .global driven
driven:
        nop
        rjmp end
