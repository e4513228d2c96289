; The pin of RTS belongs to the USART while its flow control is on.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        ldi r16, 1 << RTSEN
        sts UCSR1D, r16
        nop
        nop
        in r18, PINB
        mov r19, r18
        ori r19, 0x7f
        and r20, r19
        andi r18, 0x80
        or r21, r18
        cpi r20, 0xff
        breq high
        tst r21
        brne end
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
