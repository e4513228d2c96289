/* A reader that looks at the claim of the writer after its own. */
#define HASTY 0
#include "../common/reader.h"
