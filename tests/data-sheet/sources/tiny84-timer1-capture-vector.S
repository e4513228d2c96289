; A capture has a vector of its own.
; device: attiny84
#include "tiny84.inc"
#undef vector_10
#define vector_10 vector_5
#undef vector_11
#define vector_11 vector_6
#include "timer1-capture-vector.S"
