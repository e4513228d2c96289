; No reset by JTAG comes before the first one.
; device: atmega32u4
#include "m1284-reset-cause.S"
