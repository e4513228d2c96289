/* 255 nested calls: the stack grows into the table. */
#define DEEPEST 255
#include "../common/deep-recursion.h"
