/* The level meter on an ATmega88P. */
#include "../common/level-meter.h"
