; No reset by JTAG comes before the first one.
; device: atmega2560
#include "m1284-reset-cause.S"
