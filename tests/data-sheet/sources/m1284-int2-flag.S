; An edge at INT2 is kept in the flag although the interrupt is not enabled.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef ISC01
#define ISC01 ISC21
#undef INTF0
#define INTF0 INTF2
#include "int0-edge-flag.S"
