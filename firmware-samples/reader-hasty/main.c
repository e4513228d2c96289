/* A reader that looks at the claim of the writer before its own only. */
#define HASTY 1
#include "../common/reader.h"
