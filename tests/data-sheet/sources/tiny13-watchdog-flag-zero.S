; The flag stays when a zero is written to it, and is 0 while the watchdog is off.
; device: attiny13
#define WDIF WDTIF
#define WDIE WDTIE
#include "tiny-watchdog-flag-zero.S"
