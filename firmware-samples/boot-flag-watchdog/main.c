/* The watchdog is left on: the defect. */
#define STOP_WATCHDOG()
#include "../common/boot-flag.h"
