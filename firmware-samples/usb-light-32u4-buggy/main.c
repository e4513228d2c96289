/* A light that the USB host switches, where what it sends is not checked. */
#include "../common/usb-light.h"
