; An input of port F whose digital buffer is off reads 0.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINF
#undef PINC2
#define PINC2 PINF1
#undef ADC2D
#define ADC2D ADC1D
#include "port-digital-disable.S"
