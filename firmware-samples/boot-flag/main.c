/* The watchdog is stopped before the application begins. */
#define STOP_WATCHDOG()                                                                                                \
    do {                                                                                                               \
        WDTCSR = 1 << WDCE | 1 << WDE;                                                                                 \
        WDTCSR = 0;                                                                                                    \
    } while (0)
#include "../common/boot-flag.h"
