; The pin of a running transmitter is an output, whatever the direction register says.
; device: atmega32u4
#include "m2560-usart1-transmit-pin.S"
