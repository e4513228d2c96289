/* The calibration that forgets its result, with eight bytes of noise and volatile reads. */
#define WRITE_RESULT 0
#define COMPLICATED 1
#include "../common/calibration.h"
