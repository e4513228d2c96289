; With TSM the bit that resets the prescaler of timer 0 stays 1.
; device: attiny84
#include "tiny84.inc"
#include "tiny-prescaler-kept.S"
