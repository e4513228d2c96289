/* The receiver, which answers each character. */
#define PACED 1
#include "../common/burst-receiver.h"
