/* The sender, which waits for an answer to each character. */
#define PACED 1
#include "../common/burst-sender.h"
