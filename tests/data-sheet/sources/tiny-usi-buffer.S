; The buffer takes a byte when a transfer is complete, and there is none.
; device: attiny85
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14
        vector vector_\number
        .endr
start:  ldi r19, 100
1:      in r18, USIBR
        cpi r18, 0
        brne changed
        dec r19
        brne 1b
        .global same
same:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
