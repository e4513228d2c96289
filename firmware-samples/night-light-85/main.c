/* The night light on an ATtiny85. */
#include "../common/night-light.h"
