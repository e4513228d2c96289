; The register belongs to the debugger.
; device: attiny84
#include "tiny84.inc"
#include "tiny-debug-register.S"
