/* The night light on an ATtiny84. */
#include "../common/night-light.h"
