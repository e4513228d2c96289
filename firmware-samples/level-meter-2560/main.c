/* The level meter on an ATmega2560. */
#define LAST_STEP 3
#include "../common/far-meter.h"
