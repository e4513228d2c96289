; The register belongs to the debugger.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DWDR
#define DWDR OCDR
#include "tiny-debug-register.S"
