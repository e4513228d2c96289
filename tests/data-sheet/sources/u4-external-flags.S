; An edge at INT6 is kept in the flag although the interrupt is not enabled, and the sense of INT6 is in EICRB.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef ISC01
#define ISC01 ISC61
#undef INTF0
#define INTF0 INTF6
#undef EICRA
#define EICRA EICRB
#include "int0-edge-flag.S"
