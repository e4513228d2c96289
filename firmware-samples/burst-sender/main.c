/* The sender, which waits for one answer to all characters. */
#define PACED 0
#include "../common/burst-sender.h"
