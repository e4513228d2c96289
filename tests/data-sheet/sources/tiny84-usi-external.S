; With the external clock the counter counts the edges that the environment makes.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-external.S"
