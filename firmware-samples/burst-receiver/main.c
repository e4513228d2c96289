/* The receiver, which answers the last character. */
#define PACED 0
#include "../common/burst-receiver.h"
