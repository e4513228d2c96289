; The registers of the USB controller read anything; the bit that lets the host reset the processor is 0 until it is set.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        lds r16, UDCON
        sbrc r16, RSTCPU
        rjmp reset
        ldi r16, 0
        sts UDCON, r16
        lds r16, UDCON
        sbrc r16, RSTCPU
        rjmp reset
        lds r18, UHWCON
        mov r19, r18
        ori r19, 0xfe
        and r20, r19
        andi r18, 0x01
        or r21, r18
        lds r18, USBSTA
        mov r19, r18
        ori r19, 0xf6
        and r20, r19
        andi r18, 0x09
        or r21, r18
        lds r18, USBINT
        mov r19, r18
        ori r19, 0xfe
        and r20, r19
        andi r18, 0x01
        or r21, r18
        lds r18, UDINT
        mov r19, r18
        ori r19, 0x82
        and r20, r19
        andi r18, 0x7d
        or r21, r18
        lds r18, UDIEN
        mov r19, r18
        ori r19, 0x82
        and r20, r19
        andi r18, 0x7d
        or r21, r18
        lds r18, UDADDR
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, UDFNUML
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, UDFNUMH
        mov r19, r18
        ori r19, 0xf8
        and r20, r19
        andi r18, 0x07
        or r21, r18
        lds r18, UDMFN
        mov r19, r18
        ori r19, 0xef
        and r20, r19
        andi r18, 0x10
        or r21, r18
        lds r18, UEINTX
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, UENUM
        mov r19, r18
        ori r19, 0xf8
        and r20, r19
        andi r18, 0x07
        or r21, r18
        lds r18, UERST
        mov r19, r18
        ori r19, 0x80
        and r20, r19
        andi r18, 0x7f
        or r21, r18
        lds r18, UECONX
        mov r19, r18
        ori r19, 0xc6
        and r20, r19
        andi r18, 0x39
        or r21, r18
        lds r18, UECFG0X
        mov r19, r18
        ori r19, 0x3e
        and r20, r19
        andi r18, 0xc1
        or r21, r18
        lds r18, UECFG1X
        mov r19, r18
        ori r19, 0x81
        and r20, r19
        andi r18, 0x7e
        or r21, r18
        lds r18, UESTA0X
        mov r19, r18
        ori r19, 0x10
        and r20, r19
        andi r18, 0xef
        or r21, r18
        lds r18, UESTA1X
        mov r19, r18
        ori r19, 0xf8
        and r20, r19
        andi r18, 0x07
        or r21, r18
        lds r18, UEIENX
        mov r19, r18
        ori r19, 0x20
        and r20, r19
        andi r18, 0xdf
        or r21, r18
        lds r18, UEDATX
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, UEBCLX
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, UEBCHX
        mov r19, r18
        ori r19, 0xf8
        and r20, r19
        andi r18, 0x07
        or r21, r18
        lds r18, UEINT
        mov r19, r18
        ori r19, 0x80
        and r20, r19
        andi r18, 0x7f
        or r21, r18
        cpi r20, 0xff
        breq ones
        tst r21
        brne end
        .global zeros
zeros:
        nop
end:    rjmp end
        .global ones
ones:
        nop
        rjmp end
        .global reset
reset:
        nop
        rjmp end
