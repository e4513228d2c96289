/* A light that the USB host switches. */
#define LAST_VALUE 1
#include "../common/usb-light.h"
