/* The level meter on an ATmega168P. */
#include "../common/level-meter.h"
