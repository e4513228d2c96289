; WDE stays 1 as long as WDRF is.
; device: attiny84
#include "tiny84.inc"
#include "tiny-watchdog-forced.S"
