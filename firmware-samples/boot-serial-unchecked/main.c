/* The boot loader leaps without looking: the defect where the application is erased. */
#define IS_APPLICATION_THERE() 1
#include "../common/boot-serial.h"
