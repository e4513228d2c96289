; With both pins driven by the processor the output of the comparator is not the choice of the environment.
; device: attiny13
#include "tiny-comparator-driven.S"
