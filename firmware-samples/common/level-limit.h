/* A sensor at port B is read, and the level is shown at port D. It is noted that a level was beyond the limit. */
#include <avr/io.h>

uint8_t clipped;

__attribute__((noinline, noclone)) uint8_t read_level(void)
{
	uint8_t level = PINB;

	if (level > LIMIT) {
		clipped = 1;
		level = LIMIT;
	}
	return level;
}

int main(void)
{
	DDRD = 0xff;
	for (;;)
		PORTD = read_level();
}
