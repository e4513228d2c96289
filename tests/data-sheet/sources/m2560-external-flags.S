; An edge at INT4 is kept in the flag although the interrupt is not enabled, and the sense of INT4 is in EICRB.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef ISC01
#define ISC01 ISC41
#undef INTF0
#define INTF0 INTF4
#undef EICRA
#define EICRA EICRB
#include "int0-edge-flag.S"
