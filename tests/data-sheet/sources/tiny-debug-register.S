; The register belongs to the debugger.
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
start:  in r18, DWDR
        cpi r18, 0
        breq end
        .global some
some:
        nop
end:    rjmp end
