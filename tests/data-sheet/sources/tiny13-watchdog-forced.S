; WDE stays 1 as long as WDRF is.
; device: attiny13
#include "tiny-watchdog-forced.S"
