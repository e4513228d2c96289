/* The repaired calibration, with eight bytes of noise and volatile reads. */
#define WRITE_RESULT 1
#define COMPLICATED 1
#include "../common/calibration.h"
