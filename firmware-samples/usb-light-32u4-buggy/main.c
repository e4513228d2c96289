/* A light that the USB host switches, with one level too many. */
#define LAST_VALUE 255
#include "../common/usb-light.h"
