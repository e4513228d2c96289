/* A light that the USB host switches. */
#define CHECKED
#include "../common/usb-light.h"
