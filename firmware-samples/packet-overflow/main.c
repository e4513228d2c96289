/* The receiver that believes every length. */
#define CHECKED 0
#include "../common/packet.h"
