/* The level meter on an ATmega1284P. */
#include "../common/level-meter.h"
