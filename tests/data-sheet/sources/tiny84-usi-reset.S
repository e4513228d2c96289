; An interface that is not used counts nothing and sets no flag.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-reset.S"
