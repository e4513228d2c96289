/* The least that C needs: r1 zero and a stack. It has no vectors, clears no .bss and copies no .data, because crt0 does so
 * with CPC and LPM: see ../README.md.
 */
#include <avr/io.h>

        /* The compiler asks for it when there is .bss; no one calls it. */
        .global __do_clear_bss
        .set    __do_clear_bss, 0

        .section .vectors, "ax", @progbits
        .global start
start:  eor     r1, r1
        out     _SFR_IO_ADDR(SREG), r1
        ldi     r28, lo8(RAMEND)
        ldi     r29, hi8(RAMEND)
        out     _SFR_IO_ADDR(SPH), r29
        out     _SFR_IO_ADDR(SPL), r28
        call    main
stop:   rjmp    stop
