// A G-code interpreter of its own: serial line input by interrupt, a parser for numbers with decimals, a planner with a queue of blocks, and a
// stepper interrupt that moves three axes by Bresenham's algorithm.
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <stdbool.h>
#include <stdint.h>

#define AXES 3
#define RX_SIZE 64
#define TX_SIZE 64
#define LINE_SIZE 80
#define BLOCKS 16

static volatile uint8_t rx_buffer[RX_SIZE], rx_head, rx_tail;
static volatile uint8_t tx_buffer[TX_SIZE], tx_head, tx_tail;
static volatile bool hold, reset_wanted, limit_hit;

typedef struct {
    uint32_t steps[AXES];
    uint32_t most;
    uint8_t directions;
    uint16_t interval;
} block_t;

static block_t blocks[BLOCKS];
static volatile uint8_t block_head, block_tail;

static struct {
    bool active;
    uint32_t left;
    uint32_t count[AXES];
} stepper;

static volatile int32_t machine_position[AXES];
static int32_t planned[AXES];
static char line[LINE_SIZE];
static uint8_t line_length;
static bool absolute = true, inches, in_comment, overflowed;
static uint8_t motion = 0;
static int32_t feed = 60000;
static int32_t offset[AXES];
static uint16_t settings[24];

ISR(USART_RX_vect) {
    uint8_t c = UDR0;
    if (c == '!') {
        hold = true;
        return;
    }
    if (c == '~') {
        hold = false;
        return;
    }
    if (c == 0x18) {
        reset_wanted = true;
        return;
    }
    uint8_t next = (rx_head + 1) % RX_SIZE;
    if (next != rx_tail) {
        rx_buffer[rx_head] = c;
        rx_head = next;
    }
}

ISR(USART_UDRE_vect) {
    uint8_t tail = tx_tail;
    if (tail == tx_head) {
        UCSR0B &= ~_BV(UDRIE0);
        return;
    }
    UDR0 = tx_buffer[tail];
    tx_tail = (tail + 1) % TX_SIZE;
}

ISR(PCINT0_vect) {
    if (PINB & 0x07) {
        limit_hit = true;
    }
}

ISR(TIMER1_COMPA_vect) {
    static uint8_t pulse;
    if (pulse) {
        PORTD &= ~0x1c;
        pulse = 0;
    }
    if (hold || limit_hit) {
        return;
    }
    if (!stepper.active) {
        if (block_tail == block_head) {
            return;
        }
        block_t *block = &blocks[block_tail];
        stepper.left = block->most;
        for (uint8_t axis = 0; axis < AXES; axis++) {
            stepper.count[axis] = block->most >> 1;
        }
        PORTD = (PORTD & ~0xe0) | (block->directions & 7) << 5;
        OCR1A = block->interval;
        stepper.active = true;
    }
    block_t *block = &blocks[block_tail];
    for (uint8_t axis = 0; axis < AXES; axis++) {
        stepper.count[axis] += block->steps[axis];
        if (stepper.count[axis] > block->most) {
            stepper.count[axis] -= block->most;
            pulse |= 4 << axis;
            if (block->directions & 1 << axis) {
                machine_position[axis]--;
            } else {
                machine_position[axis]++;
            }
        }
    }
    PORTD |= pulse & 0x1c;
    if (stepper.left == 0 || --stepper.left == 0) {
        stepper.active = false;
        block_tail = (block_tail + 1) % BLOCKS;
    }
}

static void put(uint8_t c) {
    uint8_t next = (tx_head + 1) % TX_SIZE;
    while (next == tx_tail) {
        if (reset_wanted) {
            return;
        }
    }
    tx_buffer[tx_head] = c;
    tx_head = next;
    UCSR0B |= _BV(UDRIE0);
}

static void print_text(const char *text) {
    for (char c; (c = pgm_read_byte(text)) != 0; text++) {
        put(c);
    }
}

static void print_number(uint32_t number) {
    char digits[10];
    uint8_t count = 0;
    do {
        digits[count++] = '0' + number % 10;
        number /= 10;
    } while (number != 0 && count < sizeof digits);
    while (count > 0) {
        put(digits[--count]);
    }
}

static void print_signed(int32_t number) {
    if (number < 0) {
        put('-');
        number = -number;
    }
    print_number(number / 1000);
    put('.');
    uint16_t rest = number % 1000;
    put('0' + rest / 100);
    put('0' + rest / 10 % 10);
    put('0' + rest % 10);
}

// Thousandths of a number; false if there is none.
static bool read_number(uint8_t *at, int32_t *result) {
    bool negative = false, any = false;
    uint8_t decimals = 0;
    bool point = false;
    int32_t number = 0;
    if (*at < line_length && (line[*at] == '-' || line[*at] == '+')) {
        negative = line[*at] == '-';
        (*at)++;
    }
    while (*at < line_length) {
        char c = line[*at];
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            any = true;
            if (!point || decimals < 3) {
                number = number * 10 + (c - '0');
                decimals += point;
            }
            if (number > 100000000) {
                return false;
            }
        } else {
            break;
        }
        (*at)++;
    }
    while (decimals++ < 3) {
        number *= 10;
    }
    *result = negative ? -number : number;
    return any;
}

static uint8_t plan(const int32_t target[AXES], int32_t speed) {
    uint8_t next = (block_head + 1) % BLOCKS;
    while (next == block_tail) {
        if (reset_wanted || limit_hit) {
            return 8;
        }
    }
    block_t *block = &blocks[block_head];
    block->most = 0;
    block->directions = 0;
    for (uint8_t axis = 0; axis < AXES; axis++) {
        int32_t distance = target[axis] - planned[axis];
        if (distance < 0) {
            block->directions |= 1 << axis;
            distance = -distance;
        }
        block->steps[axis] = (uint32_t)distance * settings[axis] / 1000;
        if (block->steps[axis] > block->most) {
            block->most = block->steps[axis];
        }
        planned[axis] = target[axis];
    }
    if (block->most == 0) {
        return 0;
    }
    uint32_t rate = (uint32_t)speed / 60 * settings[3] / 1000;
    if (rate < 31) {
        rate = 31;
    }
    uint32_t interval = 2000000 / rate;
    block->interval = interval > 65535 ? 65535 : interval;
    block_head = next;
    return 0;
}

static uint8_t arc(const int32_t target[AXES], const int32_t centre[2], bool clockwise) {
    static const int16_t sines[] PROGMEM = {0, 195, 383, 556, 707, 831, 924, 981, 1000};
    int32_t radius_x = planned[0] - centre[0], radius_y = planned[1] - centre[1];
    for (uint8_t segment = 1; segment <= 8; segment++) {
        int32_t sine = (int16_t)pgm_read_word(&sines[segment]);
        int32_t cosine = (int16_t)pgm_read_word(&sines[8 - segment]);
        if (clockwise) {
            sine = -sine;
        }
        int32_t middle[AXES] = {
            centre[0] + (radius_x * cosine - radius_y * sine) / 1000,
            centre[1] + (radius_x * sine + radius_y * cosine) / 1000,
            planned[2] + (target[2] - planned[2]) * segment / 8,
        };
        uint8_t status = plan(middle, feed);
        if (status) {
            return status;
        }
    }
    return plan(target, feed);
}

static uint8_t setting_line(void) {
    uint8_t at = 1;
    if (line_length == 1) {
        for (uint8_t number = 0; number < sizeof settings / sizeof *settings; number++) {
            put('$');
            print_number(number);
            put('=');
            print_number(settings[number]);
            put('\n');
        }
        return 0;
    }
    int32_t number, value;
    if (!read_number(&at, &number) || at >= line_length || line[at] != '=') {
        return 3;
    }
    at++;
    if (!read_number(&at, &value)) {
        return 2;
    }
    number /= 1000;
    value /= 1000;
    if (number < 0 || number >= (int32_t)(sizeof settings / sizeof *settings) || value < 1 || value > 30000) {
        return 4;
    }
    settings[number] = value;
    return 0;
}

static uint8_t dwell(int32_t milliseconds) {
    for (int32_t left = milliseconds; left > 0; left--) {
        for (volatile uint16_t wait = 0; wait < 2000; wait++) {
            if (reset_wanted) {
                return 8;
            }
        }
    }
    return 0;
}

static uint8_t execute(void) {
    int32_t target[AXES], centre[2] = {0, 0}, number, words_p = 0;
    bool moves = false, sets_offset = false, waits = false, rapid = false;
    if (line[0] == '$') {
        return setting_line();
    }
    for (uint8_t axis = 0; axis < AXES; axis++) {
        target[axis] = planned[axis];
    }
    for (uint8_t at = 0; at < line_length;) {
        char letter = line[at++];
        if (!read_number(&at, &number)) {
            return 2;
        }
        switch (letter) {
        case 'G':
            switch (number / 100) {
            case 0: case 10: case 20: case 30: motion = number / 1000; break;
            case 40: waits = true; break;
            case 200: inches = true; break;
            case 210: inches = false; break;
            case 900: absolute = true; break;
            case 910: absolute = false; break;
            case 920: sets_offset = true; break;
            default: return 20;
            }
            break;
        case 'M':
            switch (number / 1000) {
            case 0: case 2: case 30: hold = true; break;
            case 3: PORTC |= 1; break;
            case 5: PORTC &= ~1; break;
            case 7: case 8: PORTC |= 2; break;
            case 9: PORTC &= ~2; break;
            default: return 21;
            }
            break;
        case 'X': case 'Y': case 'Z': {
            uint8_t axis = letter - 'X';
            if (inches) {
                number = number * 254 / 10;
            }
            target[axis] = absolute ? number + offset[axis] : planned[axis] + number;
            moves = true;
            break;
        }
        case 'I': centre[0] = number; break;
        case 'J': centre[1] = number; break;
        case 'P': words_p = number; break;
        case 'F':
            if (number <= 0) {
                return 22;
            }
            feed = number;
            break;
        case 'N': case 'S': case 'T': break;
        default: return 1;
        }
    }
    if (waits) {
        return dwell(words_p);
    }
    if (sets_offset) {
        for (uint8_t axis = 0; axis < AXES; axis++) {
            offset[axis] = planned[axis] - target[axis];
        }
        return 0;
    }
    if (!moves) {
        return 0;
    }
    rapid = motion == 0;
    if (motion >= 2) {
        centre[0] += planned[0];
        centre[1] += planned[1];
        return arc(target, centre, motion == 2);
    }
    return plan(target, rapid ? (int32_t)settings[4] * 1000 : feed);
}

static void report_status(void) {
    put('<');
    print_text(hold ? PSTR("Hold") : limit_hit ? PSTR("Alarm") : block_head == block_tail ? PSTR("Idle") : PSTR("Run"));
    for (uint8_t axis = 0; axis < AXES; axis++) {
        cli();
        int32_t position = machine_position[axis];
        sei();
        put(axis ? ',' : '|');
        print_signed(position * 1000 / settings[axis]);
    }
    put('>');
    put('\n');
}

static void respond(uint8_t status) {
    if (status == 0) {
        print_text(PSTR("ok\n"));
        return;
    }
    print_text(PSTR("error:"));
    print_number(status);
    put('\n');
}

static void take(uint8_t c) {
    if (c == '\n' || c == '\r') {
        if (overflowed) {
            respond(11);
        } else if (line_length > 0) {
            respond(execute());
        } else {
            respond(0);
        }
        line_length = 0;
        overflowed = in_comment = false;
    } else if (c == '(') {
        in_comment = true;
    } else if (c == ')') {
        in_comment = false;
    } else if (c == '?') {
        report_status();
    } else if (c > ' ' && !in_comment) {
        if (line_length >= LINE_SIZE) {
            overflowed = true;
        } else {
            line[line_length++] = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
        }
    }
}

static void start(void) {
    for (uint8_t number = 0; number < sizeof settings / sizeof *settings; number++) {
        settings[number] = 250;
    }
    settings[3] = 80;
    DDRD = 0xfe;
    DDRC = 0x03;
    PCICR = 1;
    PCMSK0 = 7;
    UBRR0 = 8;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR1B = _BV(WGM12) | _BV(CS11);
    OCR1A = 2000;
    TIMSK1 = _BV(OCIE1A);
}

int main(void) {
    start();
    sei();
    for (;;) {
        if (reset_wanted) {
            cli();
            block_head = block_tail = 0;
            stepper.active = false;
            rx_head = rx_tail = 0;
            line_length = 0;
            reset_wanted = limit_hit = hold = false;
            sei();
        }
        if (rx_tail != rx_head) {
            uint8_t c = rx_buffer[rx_tail];
            rx_tail = (rx_tail + 1) % RX_SIZE;
            take(c);
        }
    }
}
