; With TSM the bit that resets the prescaler of timer 0 stays 1.
; device: attiny13
#define PSR0 PSR10
#include "tiny-prescaler-kept.S"
