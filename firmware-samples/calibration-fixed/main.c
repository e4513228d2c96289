/* The calibration that writes the kept value, so that port D can get back to 0. */
#define WRITE_RESULT 1
#define COMPLICATED 0
#include "../common/calibration.h"
