; The control registers read back as written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UPM01) | (1 << UPM00) | (1 << USBS0) | (1 << UCSZ01)
        sts UCSR0C, r16
        ldi r17, 0x67
        sts UBRR0L, r17
        ldi r18, 0x05
        sts UBRR0H, r18
        lds r19, UCSR0C
        lds r20, UBRR0L
        lds r21, UBRR0H
        cp r16, r19
        brne other
        cp r17, r20
        brne other
        cp r18, r21
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
