; Where no pin of a group is enabled its flag stays 0.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PCINT24
#define PCINT24 PCINT16
#define PCMSK3 PCMSK2
#undef PCIF2
#define PCIF2 PCIF1
#define PCIF3 2
#include "m1284-pin-change-masked.S"
