/* The night light on an ATtiny13. */
#include "../common/night-light.h"
