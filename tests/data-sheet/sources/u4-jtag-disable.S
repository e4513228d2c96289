; The value of the bit that switches JTAG off is left open, as its timed sequence is not followed.
; device: atmega32u4
#include "m1284-jtag-disable.S"
