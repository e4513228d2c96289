; The register belongs to the debugger.
; device: attiny13
#include "tiny-debug-register.S"
