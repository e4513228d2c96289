/* A press of a button that bounces five times at most is counted once: six looks in a row are not all bounces. */
#define LOOKS 6
#include "../common/button-bounces.h"
