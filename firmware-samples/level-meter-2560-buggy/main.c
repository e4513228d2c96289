/* The level meter on an ATmega2560, whose reversed scale has one step too many. */
#define LAST_STEP 4
#include "../common/far-meter.h"
