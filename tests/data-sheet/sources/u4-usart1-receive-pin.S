; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega32u4
#include "m2560-usart1-receive-pin.S"
