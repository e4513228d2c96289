// A controller of a three-axis router, in the style of G-code firmware: floating-point arithmetic, arcs, a planner with look-ahead, a stepper
// interrupt with acceleration, work coordinates, canned cycles, parameters, homing, probing, overrides, settings in the EEPROM, and reports by printf.
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/wdt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define AXES 3
#define RX_SIZE 64
#define TX_SIZE 64
#define LINE_SIZE 72
#define BLOCKS 8
#define COORDINATES 6
#define TOOLS 8
#define PARAMETERS 12
#define SETTINGS_AT ((void *)16)
#define COORDINATES_AT ((void *)160)
#define TOOLS_AT ((void *)256)
#define SETTINGS_VERSION 7
#define TICKS_PER_SECOND 2000000.0f
#define SLOWEST 40000u

enum { X, Y, Z };
enum { IDLE, RUN, HOLD, HOMING, PROBING, JOGGING, ALARM, CHECK };
enum { OK, E_LETTER, E_NUMBER, E_STATEMENT, E_RANGE, E_IDLE, E_OVERFLOW, E_LOCKED, E_COMMAND, E_CONFLICT, E_RADIUS, E_FEED, E_ABORT, E_EEPROM, E_PARAMETER, E_TRAVEL };
enum { WORD_F = 1, WORD_I = 2, WORD_J = 4, WORD_K = 8, WORD_L = 16, WORD_N = 32, WORD_P = 64, WORD_Q = 128, WORD_R = 256, WORD_S = 512, WORD_T = 1024, WORD_X = 2048, WORD_Y = 4096, WORD_Z = 8192 };

typedef struct {
    uint8_t version;
    float steps_per_mm[AXES];
    float most_rate[AXES];
    float acceleration[AXES];
    float travel[AXES];
    float junction_deviation, arc_tolerance, homing_feed, homing_seek, homing_pulloff, most_spindle, least_spindle;
    uint8_t pulse, step_invert, direction_invert, homing_directions, report_mask, flags, idle_delay;
} settings_t;
enum { HARD_LIMITS = 1, SOFT_LIMITS = 2, HOMING_ENABLED = 4, INCHES = 8, LASER = 16 };

typedef struct {
    uint32_t steps[AXES];
    uint32_t most;
    uint8_t directions;
    float millimetres, nominal, entry, most_entry, acceleration;
    uint16_t first_interval, least_interval;
    uint32_t accelerate_until, decelerate_after;
    uint8_t spindle;
} block_t;

static volatile uint8_t rx_buffer[RX_SIZE], rx_head, rx_tail, tx_buffer[TX_SIZE], tx_head, tx_tail;
static volatile bool hold_wanted, resume_wanted, reset_wanted, status_wanted, limit_hit, probe_active, probe_hit, door_open;
static volatile uint8_t feed_override = 100, rapid_override = 100, spindle_override = 100;
static block_t blocks[BLOCKS];
static volatile uint8_t block_head, block_tail;
static volatile int32_t machine_steps[AXES];
static int32_t probe_steps[AXES];
static struct {
    bool active;
    uint32_t done;
    uint32_t count[AXES];
    uint16_t interval;
    uint8_t lines;
} stepper;
static volatile uint16_t milliseconds;
static uint8_t state = IDLE;
static settings_t settings;
static char line[LINE_SIZE];
static uint8_t line_length;
static bool line_overflowed, in_comment, in_remark;
static float planned[AXES];
static int32_t planned_steps[AXES];
static float previous_unit[AXES], previous_nominal;
static float parameters[PARAMETERS];
static struct {
    uint8_t motion, plane, coordinates, spindle, coolant, tool, cycle_return;
    bool inches, relative, inverse_time, relative_arcs;
    float feed, speed;
    float offset[AXES], tool_offset;
    float work[COORDINATES][AXES];
    float tools[TOOLS];
    float cycle_r, cycle_z, cycle_p, cycle_q;
} modal;
static uint16_t lines_read, arcs_drawn;

static const char name_0[] PROGMEM = "pulse", name_1[] PROGMEM = "idle delay", name_2[] PROGMEM = "step invert", name_3[] PROGMEM = "direction invert",
                  name_4[] PROGMEM = "homing directions", name_5[] PROGMEM = "report", name_6[] PROGMEM = "flags", name_7[] PROGMEM = "junction deviation",
                  name_8[] PROGMEM = "arc tolerance", name_9[] PROGMEM = "homing feed", name_10[] PROGMEM = "homing seek", name_11[] PROGMEM = "homing pull-off",
                  name_12[] PROGMEM = "most spindle", name_13[] PROGMEM = "least spindle";
static const char *const setting_names[] PROGMEM = {name_0, name_1, name_2, name_3, name_4, name_5, name_6, name_7, name_8, name_9, name_10, name_11, name_12, name_13};

ISR(USART_RX_vect) {
    uint8_t c = UDR0;
    switch (c) {
    case '!': hold_wanted = true; return;
    case '~': resume_wanted = true; return;
    case '?': status_wanted = true; return;
    case 0x18: reset_wanted = true; return;
    case 0x84: door_open = true; return;
    case 0x90: feed_override = 100; return;
    case 0x91: if (feed_override < 190) { feed_override += 10; } return;
    case 0x92: if (feed_override > 20) { feed_override -= 10; } return;
    case 0x95: rapid_override = 100; return;
    case 0x96: rapid_override = 50; return;
    case 0x97: rapid_override = 25; return;
    case 0x99: spindle_override = 100; return;
    case 0x9a: if (spindle_override < 190) { spindle_override += 10; } return;
    case 0x9b: if (spindle_override > 20) { spindle_override -= 10; } return;
    }
    uint8_t next = (rx_head + 1) & (RX_SIZE - 1);
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
    tx_tail = (tail + 1) & (TX_SIZE - 1);
}

ISR(PCINT0_vect) {
    if ((PINB & 0x07) != 0x07 && settings.flags & HARD_LIMITS) {
        limit_hit = true;
        TIMSK1 = 0;
    }
}

ISR(TIMER2_COMPA_vect) {
    milliseconds++;
}

ISR(TIMER0_OVF_vect) {
    // The end of a step pulse.
    PORTD = (PORTD & ~0x1c) | (settings.step_invert << 2 & 0x1c);
    TCCR0B = 0;
}

ISR(TIMER1_COMPA_vect) {
    if (probe_active && !(PINC & 0x20)) {
        for (uint8_t axis = 0; axis < AXES; axis++) {
            probe_steps[axis] = machine_steps[axis];
        }
        probe_active = false;
        probe_hit = true;
        stepper.active = false;
        block_tail = block_head;
        return;
    }
    if (!stepper.active) {
        if (block_tail == block_head) {
            TIMSK1 = 0;
            return;
        }
        block_t *block = &blocks[block_tail];
        stepper.done = 0;
        for (uint8_t axis = 0; axis < AXES; axis++) {
            stepper.count[axis] = block->most >> 1;
        }
        stepper.interval = block->first_interval;
        PORTD = (PORTD & 0x1f) | ((block->directions ^ settings.direction_invert) << 5);
        OCR2B = block->spindle;
        stepper.active = true;
    }
    block_t *block = &blocks[block_tail];
    stepper.lines = 0;
    for (uint8_t axis = 0; axis < AXES; axis++) {
        stepper.count[axis] += block->steps[axis];
        if (stepper.count[axis] > block->most) {
            stepper.count[axis] -= block->most;
            stepper.lines |= 4 << axis;
            if (block->directions & 1 << axis) {
                machine_steps[axis]--;
            } else {
                machine_steps[axis]++;
            }
        }
    }
    PORTD = (PORTD & ~0x1c) | ((stepper.lines ^ settings.step_invert << 2) & 0x1c);
    TCNT0 = (uint8_t)-settings.pulse;
    TCCR0B = _BV(CS01);
    stepper.done++;
    if (stepper.done < block->accelerate_until) {
        uint16_t less = stepper.interval / (4 * (uint16_t)stepper.done + 1) * 2;
        stepper.interval = stepper.interval > block->least_interval + less ? stepper.interval - less : block->least_interval;
    } else if (stepper.done > block->decelerate_after) {
        uint16_t left = (uint16_t)(block->most - stepper.done) + 1;
        uint16_t more = stepper.interval / (4 * left + 1) * 2;
        stepper.interval = stepper.interval < SLOWEST - more ? stepper.interval + more : SLOWEST;
    }
    OCR1A = stepper.interval;
    if (stepper.done >= block->most) {
        stepper.active = false;
        block_tail = (block_tail + 1) & (BLOCKS - 1);
    }
}

static void realtime(void);

static int put(char c, FILE *stream) {
    (void)stream;
    uint8_t next = (tx_head + 1) & (TX_SIZE - 1);
    while (next == tx_tail) {
        if (reset_wanted) {
            return 1;
        }
    }
    tx_buffer[tx_head] = c;
    tx_head = next;
    UCSR0B |= _BV(UDRIE0);
    return 0;
}

static FILE output = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

static uint16_t now(void) {
    cli();
    uint16_t time = milliseconds;
    sei();
    return time;
}

static void position(float at[AXES]) {
    for (uint8_t axis = 0; axis < AXES; axis++) {
        cli();
        int32_t steps = machine_steps[axis];
        sei();
        at[axis] = steps / settings.steps_per_mm[axis];
    }
}

static float work_offset(uint8_t axis) {
    float all = modal.work[modal.coordinates][axis] + modal.offset[axis];
    return axis == Z ? all + modal.tool_offset : all;
}

static void print_position(const float at[AXES]) {
    float unit = settings.flags & INCHES ? 25.4f : 1.0f;
    printf_P(PSTR("%.3f,%.3f,%.3f"), (double)(at[X] / unit), (double)(at[Y] / unit), (double)(at[Z] / unit));
}

static void print_state(void) {
    switch (state) {
    case IDLE: fputs_P(PSTR("Idle"), &output); break;
    case RUN: fputs_P(PSTR("Run"), &output); break;
    case HOLD: printf_P(PSTR("Hold:%u"), stepper.active); break;
    case HOMING: fputs_P(PSTR("Home"), &output); break;
    case PROBING: fputs_P(PSTR("Probe"), &output); break;
    case JOGGING: fputs_P(PSTR("Jog"), &output); break;
    case CHECK: fputs_P(PSTR("Check"), &output); break;
    default: fputs_P(PSTR("Alarm"), &output);
    }
}

static void report_status(void) {
    float at[AXES];
    position(at);
    put('<', &output);
    print_state();
    if (settings.report_mask & 1) {
        fputs_P(PSTR("|MPos:"), &output);
    } else {
        fputs_P(PSTR("|WPos:"), &output);
        for (uint8_t axis = 0; axis < AXES; axis++) {
            at[axis] -= work_offset(axis);
        }
    }
    print_position(at);
    if (settings.report_mask & 2) {
        printf_P(PSTR("|Bf:%u,%u"), (block_tail - block_head - 1) & (BLOCKS - 1), (rx_tail - rx_head - 1) & (RX_SIZE - 1));
    }
    if (settings.report_mask & 4) {
        printf_P(PSTR("|FS:%.0f,%.0f"), (double)modal.feed, (double)modal.speed);
    }
    printf_P(PSTR("|Ov:%u,%u,%u"), feed_override, rapid_override, spindle_override);
    uint8_t pins = ~PINB & 7;
    if (pins || !(PINC & 0x20)) {
        fputs_P(PSTR("|Pn:"), &output);
        for (uint8_t axis = 0; axis < AXES; axis++) {
            if (pins & 1 << axis) {
                put('X' + axis, &output);
            }
        }
        if (!(PINC & 0x20)) {
            put('P', &output);
        }
    }
    fputs_P(PSTR(">\n"), &output);
}

static void report_error(uint8_t status) {
    const char *text;
    switch (status) {
    case OK: fputs_P(PSTR("ok\n"), &output); return;
    case E_LETTER: text = PSTR("a letter is expected"); break;
    case E_NUMBER: text = PSTR("bad number"); break;
    case E_STATEMENT: text = PSTR("bad $ statement"); break;
    case E_RANGE: text = PSTR("value out of range"); break;
    case E_IDLE: text = PSTR("not idle"); break;
    case E_OVERFLOW: text = PSTR("line too long"); break;
    case E_LOCKED: text = PSTR("locked"); break;
    case E_COMMAND: text = PSTR("unknown command"); break;
    case E_CONFLICT: text = PSTR("words conflict"); break;
    case E_RADIUS: text = PSTR("bad arc"); break;
    case E_FEED: text = PSTR("no feed rate"); break;
    case E_ABORT: text = PSTR("aborted"); break;
    case E_EEPROM: text = PSTR("EEPROM was reset"); break;
    case E_PARAMETER: text = PSTR("no such parameter"); break;
    default: text = PSTR("beyond travel");
    }
    printf_P(PSTR("error:%u (%S)\n"), status, text);
}

static uint8_t checksum(const uint8_t *bytes, uint8_t size) {
    uint8_t sum = 0x5a;
    while (size--) {
        sum = (sum << 1 | sum >> 7) + *bytes++;
    }
    return sum;
}

static void save_settings(void) {
    eeprom_update_block(&settings, SETTINGS_AT, sizeof settings);
    eeprom_update_byte((uint8_t *)SETTINGS_AT - 1, checksum((const uint8_t *)&settings, sizeof settings));
}

static void default_settings(void) {
    settings.version = SETTINGS_VERSION;
    for (uint8_t axis = 0; axis < AXES; axis++) {
        settings.steps_per_mm[axis] = 250;
        settings.most_rate[axis] = axis == Z ? 500 : 1500;
        settings.acceleration[axis] = 36000;
        settings.travel[axis] = 200;
    }
    settings.junction_deviation = 0.01f;
    settings.arc_tolerance = 0.002f;
    settings.homing_feed = 25;
    settings.homing_seek = 500;
    settings.homing_pulloff = 1;
    settings.most_spindle = 10000;
    settings.least_spindle = 0;
    settings.pulse = 10;
    settings.report_mask = 7;
    settings.flags = HOMING_ENABLED;
    settings.idle_delay = 25;
    save_settings();
}

static bool load_settings(void) {
    eeprom_read_block(&settings, SETTINGS_AT, sizeof settings);
    uint8_t sum = eeprom_read_byte((const uint8_t *)SETTINGS_AT - 1);
    if (settings.version != SETTINGS_VERSION || sum != checksum((const uint8_t *)&settings, sizeof settings)) {
        default_settings();
        return false;
    }
    return true;
}

static void load_tables(void) {
    eeprom_read_block(modal.work, COORDINATES_AT, sizeof modal.work);
    eeprom_read_block(modal.tools, TOOLS_AT, sizeof modal.tools);
    for (uint8_t index = 0; index < COORDINATES; index++) {
        for (uint8_t axis = 0; axis < AXES; axis++) {
            if (isnan(modal.work[index][axis])) {
                modal.work[index][axis] = 0;
            }
        }
    }
    for (uint8_t index = 0; index < TOOLS; index++) {
        if (isnan(modal.tools[index])) {
            modal.tools[index] = 0;
        }
    }
}

static float *float_setting(uint8_t number) {
    switch (number) {
    case 7: return &settings.junction_deviation;
    case 8: return &settings.arc_tolerance;
    case 9: return &settings.homing_feed;
    case 10: return &settings.homing_seek;
    case 11: return &settings.homing_pulloff;
    case 12: return &settings.most_spindle;
    case 13: return &settings.least_spindle;
    }
    if (number >= 100 && number < 100 + AXES) {
        return &settings.steps_per_mm[number - 100];
    }
    if (number >= 110 && number < 110 + AXES) {
        return &settings.most_rate[number - 110];
    }
    if (number >= 120 && number < 120 + AXES) {
        return &settings.acceleration[number - 120];
    }
    if (number >= 130 && number < 130 + AXES) {
        return &settings.travel[number - 130];
    }
    return NULL;
}

static uint8_t *byte_setting(uint8_t number) {
    switch (number) {
    case 0: return &settings.pulse;
    case 1: return &settings.idle_delay;
    case 2: return &settings.step_invert;
    case 3: return &settings.direction_invert;
    case 4: return &settings.homing_directions;
    case 5: return &settings.report_mask;
    case 6: return &settings.flags;
    }
    return NULL;
}

static void report_settings(void) {
    for (uint8_t number = 0; number < 140; number++) {
        const uint8_t *byte = byte_setting(number);
        const float *value = float_setting(number);
        if (byte) {
            printf_P(PSTR("$%u=%u"), number, *byte);
        } else if (value) {
            printf_P(PSTR("$%u=%.3f"), number, (double)*value);
        } else {
            continue;
        }
        if (number < sizeof setting_names / sizeof *setting_names) {
            printf_P(PSTR(" (%S)"), (const char *)pgm_read_word(&setting_names[number]));
        }
        put('\n', &output);
    }
}

static void report_coordinates(void) {
    for (uint8_t index = 0; index < COORDINATES; index++) {
        printf_P(PSTR("[G%u:"), 54 + index);
        print_position(modal.work[index]);
        fputs_P(PSTR("]\n"), &output);
    }
    fputs_P(PSTR("[G92:"), &output);
    print_position(modal.offset);
    float at[AXES];
    for (uint8_t axis = 0; axis < AXES; axis++) {
        at[axis] = probe_steps[axis] / settings.steps_per_mm[axis];
    }
    fputs_P(PSTR("]\n[PRB:"), &output);
    print_position(at);
    printf_P(PSTR(":%u]\n[TLO:%.3f]\n"), probe_hit, (double)modal.tool_offset);
    for (uint8_t index = 0; index < TOOLS; index++) {
        printf_P(PSTR("[T%u:%.3f]\n"), index, (double)modal.tools[index]);
    }
}

static void report_modes(void) {
    printf_P(PSTR("[GC:G%u G%u G%u G%u G%u G%u M%u M%u T%u F%.1f S%.0f]\n"), modal.motion, 54 + modal.coordinates, 17 + modal.plane,
             modal.inches ? 20 : 21, modal.relative ? 91 : 90, modal.inverse_time ? 93 : 94, modal.spindle, modal.coolant, modal.tool, (double)modal.feed,
             (double)modal.speed);
}

// The planner.

static float least_of(float a, float b) {
    return a < b ? a : b;
}

static void recalculate(void) {
    uint8_t index = block_head;
    float next_entry = 0;
    while (index != block_tail) {
        index = (index - 1) & (BLOCKS - 1);
        block_t *block = &blocks[index];
        float most = sqrtf(next_entry * next_entry + 2 * block->acceleration * block->millimetres);
        block->entry = least_of(block->most_entry, most);
        next_entry = block->entry;
    }
    while (index != block_head) {
        block_t *block = &blocks[index];
        uint8_t next = (index + 1) & (BLOCKS - 1);
        float exit = next == block_head ? 0 : blocks[next].entry;
        float twice = 2 * block->acceleration;
        float up = (block->nominal * block->nominal - block->entry * block->entry) / twice;
        float down = (block->nominal * block->nominal - exit * exit) / twice;
        if (up + down > block->millimetres) {
            up = (block->millimetres + (exit * exit - block->entry * block->entry) / twice) / 2;
            up = up < 0 ? 0 : least_of(up, block->millimetres);
            down = block->millimetres - up;
        }
        float per_mm = block->most / block->millimetres;
        cli();
        block->accelerate_until = (uint32_t)(up * per_mm);
        block->decelerate_after = (uint32_t)((block->millimetres - down) * per_mm);
        sei();
        index = next;
    }
}

static uint16_t interval_of(float rate) {
    float interval = TICKS_PER_SECOND * 60 / rate;
    return interval > SLOWEST ? SLOWEST : (uint16_t)interval;
}

static void spindle(uint8_t mode, float speed);

static uint8_t plan(const float target[AXES], float rate, bool rapid) {
    if (settings.flags & SOFT_LIMITS) {
        for (uint8_t axis = 0; axis < AXES; axis++) {
            if (target[axis] > 0 || target[axis] < -settings.travel[axis]) {
                return E_TRAVEL;
            }
        }
    }
    if (state == CHECK) {
        return OK;
    }
    uint8_t next = (block_head + 1) & (BLOCKS - 1);
    while (next == block_tail) {
        realtime();
        if (reset_wanted || limit_hit) {
            return E_ABORT;
        }
    }
    block_t *block = &blocks[block_head];
    memset(block, 0, sizeof *block);
    float unit[AXES], length = 0;
    int32_t steps[AXES];
    for (uint8_t axis = 0; axis < AXES; axis++) {
        steps[axis] = lroundf(target[axis] * settings.steps_per_mm[axis]);
        int32_t distance = steps[axis] - planned_steps[axis];
        unit[axis] = distance / settings.steps_per_mm[axis];
        if (distance < 0) {
            block->directions |= 1 << axis;
            distance = -distance;
        }
        block->steps[axis] = distance;
        if (block->steps[axis] > block->most) {
            block->most = block->steps[axis];
        }
        length += unit[axis] * unit[axis];
    }
    if (block->most == 0) {
        return OK;
    }
    length = sqrtf(length);
    block->millimetres = length;
    block->acceleration = 1e9f;
    float limit = 1e9f, cosine = 0;
    for (uint8_t axis = 0; axis < AXES; axis++) {
        unit[axis] /= length;
        float part = fabsf(unit[axis]);
        if (part > 0.0001f) {
            limit = least_of(limit, settings.most_rate[axis] / part);
            block->acceleration = least_of(block->acceleration, settings.acceleration[axis] / part);
        }
        cosine -= previous_unit[axis] * unit[axis];
    }
    if (rapid) {
        rate = limit * rapid_override / 100;
    } else {
        rate = rate * feed_override / 100;
    }
    block->nominal = least_of(rate, limit);
    if (block_head == block_tail || cosine > 0.9999f) {
        block->most_entry = 0;
    } else if (cosine < -0.9999f) {
        block->most_entry = least_of(block->nominal, previous_nominal);
    } else {
        float half_sine = sqrtf(0.5f * (1 - cosine));
        float junction = sqrtf(block->acceleration * settings.junction_deviation * half_sine / (1 - half_sine));
        block->most_entry = least_of(junction, least_of(block->nominal, previous_nominal));
    }
    float per_mm = block->most / length;
    block->least_interval = interval_of(block->nominal * per_mm);
    block->first_interval = interval_of(sqrtf(2 * block->acceleration / per_mm) * per_mm * 0.7f);
    if (block->first_interval < block->least_interval) {
        block->first_interval = block->least_interval;
    }
    block->spindle = OCR2B;
    if (settings.flags & LASER && rapid) {
        block->spindle = 0;
    }
    for (uint8_t axis = 0; axis < AXES; axis++) {
        previous_unit[axis] = unit[axis];
        planned_steps[axis] = steps[axis];
        planned[axis] = target[axis];
    }
    previous_nominal = block->nominal;
    block_head = next;
    recalculate();
    TIMSK1 = _BV(OCIE1A);
    if (state == IDLE) {
        state = RUN;
    }
    return OK;
}

static uint8_t finish(void) {
    while (block_head != block_tail || stepper.active) {
        realtime();
        if (reset_wanted || limit_hit) {
            return E_ABORT;
        }
    }
    if (state == RUN || state == JOGGING) {
        state = IDLE;
    }
    return OK;
}

static void synchronise(void) {
    for (uint8_t axis = 0; axis < AXES; axis++) {
        cli();
        planned_steps[axis] = machine_steps[axis];
        sei();
    }
    position(planned);
    previous_nominal = 0;
}

static uint8_t arc(const float target[AXES], const float centre[2], bool clockwise, float turns, float rate) {
    uint8_t first = modal.plane == 2 ? Y : modal.plane == 1 ? Z : X;
    uint8_t second = modal.plane == 2 ? Z : modal.plane == 1 ? X : Y;
    uint8_t third = modal.plane == 2 ? X : modal.plane == 1 ? Y : Z;
    float from_0 = planned[first] - centre[0], from_1 = planned[second] - centre[1];
    float to_0 = target[first] - centre[0], to_1 = target[second] - centre[1];
    float radius = hypotf(from_0, from_1);
    if (fabsf(radius - hypotf(to_0, to_1)) > 0.05f) {
        return E_RADIUS;
    }
    float angle = atan2f(from_0 * to_1 - from_1 * to_0, from_0 * to_0 + from_1 * to_1);
    if (clockwise) {
        if (angle >= -1e-6f) {
            angle -= 2 * (float)M_PI;
        }
        angle -= turns * 2 * (float)M_PI;
    } else {
        if (angle <= 1e-6f) {
            angle += 2 * (float)M_PI;
        }
        angle += turns * 2 * (float)M_PI;
    }
    float chord = 2 * sqrtf(settings.arc_tolerance * (2 * radius - settings.arc_tolerance));
    float wanted = chord > 0 ? fabsf(angle) * radius / chord : 1;
    uint16_t segments = wanted > 2000 ? 2000 : (uint16_t)wanted;
    float rise = target[third] - planned[third], start = planned[third];
    for (uint16_t segment = 1; segment < segments; segment++) {
        float part = (float)segment / segments;
        float sine = sinf(angle * part), cosine = cosf(angle * part);
        float middle[AXES];
        middle[first] = centre[0] + from_0 * cosine - from_1 * sine;
        middle[second] = centre[1] + from_0 * sine + from_1 * cosine;
        middle[third] = start + rise * part;
        uint8_t status = plan(middle, rate, false);
        if (status != OK) {
            return status;
        }
    }
    arcs_drawn++;
    return plan(target, rate, false);
}

static uint8_t cycle(uint8_t code, const float target[AXES], uint8_t repeats) {
    float at[AXES];
    memcpy(at, planned, sizeof at);
    float clear = modal.cycle_return == 98 && planned[Z] > modal.cycle_r ? planned[Z] : modal.cycle_r;
    float step_x = modal.relative ? target[X] - planned[X] : 0, step_y = modal.relative ? target[Y] - planned[Y] : 0;
    at[X] = target[X];
    at[Y] = target[Y];
    for (uint8_t round = 0; round < repeats; round++) {
        uint8_t status = plan(at, 0, true);
        at[Z] = modal.cycle_r;
        if (status == OK) {
            status = plan(at, 0, true);
        }
        float depth = modal.cycle_r;
        while (status == OK && depth > modal.cycle_z) {
            depth = code == 83 ? depth - modal.cycle_q : modal.cycle_z;
            at[Z] = depth < modal.cycle_z ? modal.cycle_z : depth;
            status = plan(at, modal.feed, false);
            if (status == OK && code == 83) {
                at[Z] = modal.cycle_r;
                status = plan(at, 0, true);
            }
        }
        if (status == OK && code == 82) {
            status = finish();
            uint16_t begun = now();
            while ((uint16_t)(now() - begun) < (uint16_t)(modal.cycle_p * 1000) && status == OK) {
                realtime();
                status = reset_wanted ? E_ABORT : OK;
            }
        }
        at[Z] = clear;
        if (status == OK) {
            status = plan(at, code == 85 ? modal.feed : 0, code != 85);
        }
        if (status != OK) {
            return status;
        }
        at[X] += step_x;
        at[Y] += step_y;
    }
    return OK;
}

static void spindle(uint8_t mode, float speed) {
    if (mode == 5 || speed <= 0) {
        OCR2B = 0;
        PORTC &= ~1;
    } else {
        float range = settings.most_spindle - settings.least_spindle;
        float part = range > 0 ? (speed * spindle_override / 100 - settings.least_spindle) / range : 1;
        OCR2B = part >= 1 ? 255 : part <= 0 ? 1 : (uint8_t)(part * 255);
        if (mode == 4) {
            PORTC |= 3;
        } else {
            PORTC = (PORTC & ~2) | 1;
        }
    }
    modal.spindle = mode;
}

static void coolant(uint8_t mode) {
    if (mode == 7) {
        PORTC |= 4;
    } else if (mode == 8) {
        PORTC |= 8;
    } else {
        PORTC &= ~0x0c;
    }
    modal.coolant = mode;
}

static uint8_t dwell(float seconds) {
    uint8_t status = finish();
    if (seconds > 60) {
        return E_RANGE;
    }
    uint16_t begun = now(), wanted = (uint16_t)(seconds * 1000);
    while (status == OK && (uint16_t)(now() - begun) < wanted) {
        realtime();
        if (reset_wanted) {
            status = E_ABORT;
        }
    }
    return status;
}

static uint8_t home_axis(uint8_t axis, bool away, float rate, float distance) {
    float target[AXES];
    memcpy(target, planned, sizeof target);
    bool negative = (settings.homing_directions >> axis & 1) != away;
    target[axis] += negative ? -distance : distance;
    uint8_t status = plan(target, rate, false);
    while (status == OK && (block_head != block_tail || stepper.active)) {
        bool pressed = !(PINB & 1 << axis);
        if (pressed != away) {
            cli();
            block_tail = block_head;
            stepper.active = false;
            sei();
            synchronise();
            return OK;
        }
        realtime();
        if (reset_wanted) {
            status = E_ABORT;
        }
    }
    synchronise();
    return status == OK && !away ? E_TRAVEL : status;
}

static uint8_t home(uint8_t axes) {
    if (!(settings.flags & HOMING_ENABLED)) {
        return E_STATEMENT;
    }
    state = HOMING;
    PCICR = 0;
    uint8_t status = OK;
    for (uint8_t order = 0; order < AXES && status == OK; order++) {
        uint8_t axis = AXES - 1 - order;
        if (!(axes & 1 << axis)) {
            continue;
        }
        status = home_axis(axis, false, settings.homing_seek, settings.travel[axis] * 1.5f);
        if (status == OK) {
            status = home_axis(axis, true, settings.homing_feed, settings.homing_pulloff * 2);
        }
        if (status == OK) {
            status = home_axis(axis, false, settings.homing_feed, settings.homing_pulloff * 4);
        }
        cli();
        machine_steps[axis] = settings.homing_directions >> axis & 1 ? -(int32_t)(settings.travel[axis] * settings.steps_per_mm[axis]) : 0;
        sei();
        synchronise();
    }
    PCIFR = 1;
    PCICR = 1;
    state = status == OK ? IDLE : ALARM;
    return status;
}

static uint8_t probe(const float target[AXES], bool must_hit) {
    uint8_t status = finish();
    if (status != OK) {
        return status;
    }
    if (!(PINC & 0x20)) {
        state = ALARM;
        return E_CONFLICT;
    }
    state = PROBING;
    probe_hit = false;
    probe_active = true;
    status = plan(target, modal.feed, false);
    while (status == OK && (block_head != block_tail || stepper.active)) {
        realtime();
        if (reset_wanted) {
            status = E_ABORT;
        }
    }
    probe_active = false;
    synchronise();
    state = must_hit && !probe_hit ? ALARM : IDLE;
    fputs_P(PSTR("[PRB:"), &output);
    float at[AXES];
    for (uint8_t axis = 0; axis < AXES; axis++) {
        at[axis] = probe_steps[axis] / settings.steps_per_mm[axis];
    }
    print_position(at);
    printf_P(PSTR(":%u]\n"), probe_hit);
    return status;
}

// The parser.

static bool read_float(uint8_t *at, float *result) {
    uint8_t index = *at;
    bool negative = false;
    if (index < line_length && line[index] == '#') {
        // A parameter.
        uint8_t number = 0;
        index++;
        while (index < line_length && line[index] >= '0' && line[index] <= '9' && number < 20) {
            number = number * 10 + (line[index++] - '0');
        }
        if (number >= PARAMETERS) {
            return false;
        }
        *result = parameters[number];
        *at = index;
        return true;
    }
    if (index < line_length && (line[index] == '-' || line[index] == '+')) {
        negative = line[index++] == '-';
    }
    uint32_t digits = 0;
    int8_t exponent = 0;
    uint8_t count = 0;
    bool point = false;
    while (index < line_length) {
        char c = line[index];
        if (c >= '0' && c <= '9') {
            count++;
            if (count <= 8) {
                digits = digits * 10 + (c - '0');
                if (point) {
                    exponent--;
                }
            } else if (!point) {
                exponent++;
            }
        } else if (c == '.' && !point) {
            point = true;
        } else {
            break;
        }
        index++;
    }
    if (count == 0) {
        return false;
    }
    float value = digits;
    while (exponent <= -2) {
        value *= 0.01f;
        exponent += 2;
    }
    if (exponent < 0) {
        value *= 0.1f;
    }
    while (exponent > 0) {
        value *= 10;
        exponent--;
    }
    *result = negative ? -value : value;
    *at = index;
    return true;
}

static uint8_t execute_block(uint8_t at) {
    float words[14] = {0};
    uint16_t seen = 0;
    uint8_t motion = modal.motion, action = 0, stop = 0, spindle_mode = 0, coolant_mode = 0;
    bool absolute_machine = false, has_motion = false, tool_change = false;
    float value;
    while (at < line_length) {
        char letter = line[at++];
        if (letter < 'A' || letter > 'Z') {
            return E_LETTER;
        }
        if (!read_float(&at, &value)) {
            return E_NUMBER;
        }
        if (letter == 'G') {
            uint16_t code = (uint16_t)(value * 10 + 0.5f);
            switch (code) {
            case 0: case 10: case 20: case 30: case 382: case 383: case 810: case 820: case 830: case 850:
                if (has_motion) {
                    return E_CONFLICT;
                }
                motion = code / 10;
                has_motion = true;
                break;
            case 800: motion = 80; has_motion = true; break;
            case 40: case 100: case 280: case 281: case 300: case 301: case 920: case 921:
                if (action) {
                    return E_CONFLICT;
                }
                action = code == 921 ? 93 : code == 281 ? 29 : code == 301 ? 31 : code / 10;
                break;
            case 170: modal.plane = 0; break;
            case 180: modal.plane = 1; break;
            case 190: modal.plane = 2; break;
            case 200: modal.inches = true; break;
            case 210: modal.inches = false; break;
            case 400: case 610: case 640: break;
            case 430: modal.tool_offset = modal.tools[modal.tool]; break;
            case 490: modal.tool_offset = 0; break;
            case 530: absolute_machine = true; break;
            case 540: case 550: case 560: case 570: case 580: case 590: modal.coordinates = code / 10 - 54; break;
            case 900: modal.relative = false; break;
            case 910: modal.relative = true; break;
            case 911: modal.relative_arcs = true; break;
            case 930: modal.inverse_time = true; break;
            case 940: modal.inverse_time = false; break;
            case 980: modal.cycle_return = 98; break;
            case 990: modal.cycle_return = 99; break;
            default: return E_COMMAND;
            }
            continue;
        }
        if (letter == 'M') {
            uint8_t code = value < 0 || value > 99 ? 255 : (uint8_t)value;
            switch (code) {
            case 0: case 1: case 2: case 30: stop = code + 1; break;
            case 3: case 4: case 5: spindle_mode = code; break;
            case 6: tool_change = true; break;
            case 7: case 8: case 9: coolant_mode = code; break;
            case 48: feed_override = 100; break;
            default: return E_COMMAND;
            }
            continue;
        }
        uint8_t index;
        switch (letter) {
        case 'F': index = 0; break;
        case 'I': index = 1; break;
        case 'J': index = 2; break;
        case 'K': index = 3; break;
        case 'L': index = 4; break;
        case 'N': index = 5; break;
        case 'P': index = 6; break;
        case 'Q': index = 7; break;
        case 'R': index = 8; break;
        case 'S': index = 9; break;
        case 'T': index = 10; break;
        case 'X': index = 11; break;
        case 'Y': index = 12; break;
        case 'Z': index = 13; break;
        default: return E_COMMAND;
        }
        if (seen & 1u << index) {
            return E_CONFLICT;
        }
        seen |= 1u << index;
        words[index] = value;
    }
    float unit = modal.inches ? 25.4f : 1.0f;
    if (seen & WORD_F) {
        if (words[0] <= 0) {
            return E_FEED;
        }
        modal.feed = words[0] * unit;
    }
    if (seen & WORD_S) {
        modal.speed = words[9] < 0 ? 0 : words[9];
    }
    if (seen & WORD_T) {
        if (words[10] < 0 || words[10] >= TOOLS) {
            return E_RANGE;
        }
        modal.tool = (uint8_t)words[10];
    }
    if (tool_change) {
        uint8_t status = finish();
        if (status != OK) {
            return status;
        }
        spindle(5, 0);
        printf_P(PSTR("[MSG:Tool %u]\n"), modal.tool);
        state = HOLD;
    }
    if (spindle_mode) {
        spindle(spindle_mode, modal.speed);
    }
    if (coolant_mode) {
        coolant(coolant_mode);
    }
    float target[AXES];
    for (uint8_t axis = 0; axis < AXES; axis++) {
        target[axis] = planned[axis];
        if (seen & WORD_X << axis) {
            float given = words[11 + axis] * unit;
            if (absolute_machine) {
                target[axis] = given;
            } else if (modal.relative) {
                target[axis] = planned[axis] + given;
            } else {
                target[axis] = given + work_offset(axis);
            }
        }
    }
    switch (action) {
    case 4: {
        uint8_t status = dwell(words[6]);
        if (status != OK) {
            return status;
        }
        break;
    }
    case 10: {
        if (words[4] == 1) {
            if (words[6] < 0 || words[6] >= TOOLS) {
                return E_RANGE;
            }
            modal.tools[(uint8_t)words[6]] = words[13] * unit;
            eeprom_update_block(modal.tools, TOOLS_AT, sizeof modal.tools);
            return OK;
        }
        if (words[6] < 1 || words[6] > COORDINATES) {
            return E_RANGE;
        }
        uint8_t which = (uint8_t)words[6] - 1;
        for (uint8_t axis = 0; axis < AXES; axis++) {
            if (seen & WORD_X << axis) {
                modal.work[which][axis] = words[4] == 20 ? planned[axis] - words[11 + axis] * unit : words[11 + axis] * unit;
            }
        }
        eeprom_update_block(modal.work, COORDINATES_AT, sizeof modal.work);
        return OK;
    }
    case 28: case 30: {
        uint8_t status = plan(target, 0, true);
        if (status != OK) {
            return status;
        }
        float origin[AXES] = {0, 0, 0};
        return plan(origin, 0, true);
    }
    case 92:
        for (uint8_t axis = 0; axis < AXES; axis++) {
            if (seen & WORD_X << axis) {
                modal.offset[axis] = planned[axis] - modal.work[modal.coordinates][axis] - words[11 + axis] * unit;
            }
        }
        return OK;
    case 93:
        memset(modal.offset, 0, sizeof modal.offset);
        return OK;
    }
    modal.motion = motion;
    uint8_t status = OK;
    if (seen & (WORD_X | WORD_Y | WORD_Z)) {
        float rate = modal.feed;
        if (motion != 0 && motion != 80) {
            if (modal.feed <= 0) {
                return E_FEED;
            }
            if (modal.inverse_time) {
                float length = 0;
                for (uint8_t axis = 0; axis < AXES; axis++) {
                    length += (target[axis] - planned[axis]) * (target[axis] - planned[axis]);
                }
                rate = sqrtf(length) * words[0];
            }
        }
        switch (motion) {
        case 0: status = plan(target, 0, true); break;
        case 1: status = plan(target, rate, false); break;
        case 2: case 3: {
            uint8_t first = modal.plane == 2 ? Y : modal.plane == 1 ? Z : X;
            uint8_t second = modal.plane == 2 ? Z : modal.plane == 1 ? X : Y;
            float centre[2];
            if (seen & WORD_R) {
                float dx = target[first] - planned[first], dy = target[second] - planned[second];
                float square = 4 * words[8] * words[8] * unit * unit - dx * dx - dy * dy;
                if (square < 0 || (dx == 0 && dy == 0)) {
                    return E_RADIUS;
                }
                float height = -sqrtf(square) / hypotf(dx, dy);
                if ((motion == 3) != (words[8] < 0)) {
                    height = -height;
                }
                centre[0] = planned[first] + (dx - dy * height) / 2;
                centre[1] = planned[second] + (dy + dx * height) / 2;
            } else {
                if (!(seen & (WORD_I | WORD_J | WORD_K))) {
                    return E_RADIUS;
                }
                centre[0] = planned[first] + words[1 + first] * unit;
                centre[1] = planned[second] + words[1 + second] * unit;
            }
            status = arc(target, centre, motion == 2, seen & WORD_P && words[6] >= 1 && words[6] < 100 ? words[6] - 1 : 0, rate);
            break;
        }
        case 38: status = probe(target, true); break;
        case 81: case 82: case 83: case 85:
            if (seen & WORD_R) {
                modal.cycle_r = modal.relative ? planned[Z] + words[8] * unit : words[8] * unit + work_offset(Z);
            }
            if (seen & WORD_Z) {
                modal.cycle_z = target[Z];
            }
            if (seen & WORD_P) {
                modal.cycle_p = words[6];
            }
            if (seen & WORD_Q) {
                modal.cycle_q = words[7] * unit;
            }
            if (motion == 83 && modal.cycle_q <= 0) {
                return E_RANGE;
            }
            status = cycle(motion, target, seen & WORD_L && words[4] >= 1 && words[4] < 100 ? (uint8_t)words[4] : 1);
            break;
        default: return E_COMMAND;
        }
    }
    if (status == OK && stop) {
        status = finish();
        if (stop >= 3) {
            spindle(5, 0);
            coolant(9);
            modal.motion = 1;
            modal.coordinates = modal.plane = 0;
            modal.relative = modal.inverse_time = false;
            fputs_P(PSTR("[MSG:Program end]\n"), &output);
        } else {
            state = HOLD;
        }
    }
    return status;
}

static uint8_t parameter_line(void) {
    // #N=value
    uint8_t at = 1, number = 0;
    while (at < line_length && line[at] >= '0' && line[at] <= '9' && number < 20) {
        number = number * 10 + (line[at++] - '0');
    }
    if (number >= PARAMETERS || at == 1) {
        return E_PARAMETER;
    }
    if (at >= line_length || line[at] != '=') {
        return E_STATEMENT;
    }
    at++;
    float value;
    if (!read_float(&at, &value)) {
        return E_NUMBER;
    }
    while (at < line_length) {
        char operator = line[at++];
        float other;
        if (!read_float(&at, &other)) {
            return E_NUMBER;
        }
        switch (operator) {
        case '+': value += other; break;
        case '-': value -= other; break;
        case '*': value *= other; break;
        case '/':
            if (other == 0) {
                return E_RANGE;
            }
            value /= other;
            break;
        case '^': value = powf(value, other); break;
        default: return E_STATEMENT;
        }
    }
    parameters[number] = value;
    printf_P(PSTR("[#%u=%.4f]\n"), number, (double)value);
    return OK;
}

static uint8_t jog(void) {
    float target[AXES], value;
    memcpy(target, planned, sizeof target);
    float rate = 0;
    for (uint8_t at = 3; at < line_length;) {
        char letter = line[at++];
        if (!read_float(&at, &value)) {
            return E_NUMBER;
        }
        if (letter == 'F') {
            rate = value;
        } else if (letter >= 'X' && letter <= 'Z') {
            target[letter - 'X'] += value;
        } else {
            return E_COMMAND;
        }
    }
    if (rate <= 0) {
        return E_FEED;
    }
    uint8_t status = plan(target, rate, false);
    if (status == OK && state == RUN) {
        state = JOGGING;
    }
    return status;
}

static uint8_t system_line(void) {
    if (line_length < 2) {
        fputs_P(PSTR("[HLP:$$ $# $G $I $N $C $X $H $J= $RST=* $SLP]\n"), &output);
        return OK;
    }
    switch (line[1]) {
    case '$': report_settings(); return OK;
    case '#': report_coordinates(); return OK;
    case 'G': report_modes(); return OK;
    case 'I': printf_P(PSTR("[VER:1.0:%u lines, %u arcs]\n[OPT:V,%u,%u]\n"), lines_read, arcs_drawn, BLOCKS - 1, RX_SIZE); return OK;
    case 'N':
        for (uint8_t number = 0; number < PARAMETERS; number++) {
            printf_P(PSTR("[#%u=%.4f]\n"), number, (double)parameters[number]);
        }
        return OK;
    case 'C':
        if (state != IDLE && state != CHECK) {
            return E_IDLE;
        }
        state = state == CHECK ? IDLE : CHECK;
        printf_P(PSTR("[MSG:%S]\n"), state == CHECK ? PSTR("Enabled") : PSTR("Disabled"));
        return OK;
    case 'X':
        if (state == ALARM) {
            state = IDLE;
            limit_hit = false;
            fputs_P(PSTR("[MSG:Unlocked]\n"), &output);
        }
        return OK;
    case 'H':
        if (state != IDLE && state != ALARM) {
            return E_IDLE;
        }
        if (line_length > 2) {
            if (line[2] < 'X' || line[2] > 'Z') {
                return E_STATEMENT;
            }
            return home(1 << (line[2] - 'X'));
        }
        return home(7);
    case 'J':
        if (state != IDLE && state != JOGGING) {
            return E_IDLE;
        }
        if (line_length < 4 || line[2] != '=') {
            return E_STATEMENT;
        }
        return jog();
    case 'R':
        if (line_length < 6 || strncmp_P(line, PSTR("$RST="), 5) != 0) {
            return E_STATEMENT;
        }
        switch (line[5]) {
        case '$': default_settings(); break;
        case '#':
            memset(modal.work, 0, sizeof modal.work);
            eeprom_update_block(modal.work, COORDINATES_AT, sizeof modal.work);
            break;
        case '*':
            default_settings();
            memset(modal.work, 0, sizeof modal.work);
            memset(modal.tools, 0, sizeof modal.tools);
            eeprom_update_block(modal.work, COORDINATES_AT, sizeof modal.work);
            eeprom_update_block(modal.tools, TOOLS_AT, sizeof modal.tools);
            break;
        default: return E_STATEMENT;
        }
        return OK;
    }
    uint8_t at = 1;
    float number, value;
    if (!read_float(&at, &number) || at >= line_length || line[at] != '=') {
        return E_STATEMENT;
    }
    at++;
    if (!read_float(&at, &value)) {
        return E_NUMBER;
    }
    if (state != IDLE && state != ALARM) {
        return E_IDLE;
    }
    if (number < 0 || number > 139) {
        return E_RANGE;
    }
    uint8_t which = (uint8_t)number;
    uint8_t *byte = byte_setting(which);
    float *wide = float_setting(which);
    if (byte) {
        if (value < 0 || value > 255 || (which == 0 && value < 3)) {
            return E_RANGE;
        }
        *byte = (uint8_t)value;
    } else if (wide) {
        if (value < 0 || (which >= 100 && value <= 0)) {
            return E_RANGE;
        }
        *wide = value;
    } else {
        return E_STATEMENT;
    }
    save_settings();
    return OK;
}

static uint8_t execute(void) {
    lines_read++;
    if (line[0] == '$') {
        return system_line();
    }
    if (state == ALARM) {
        return E_LOCKED;
    }
    if (line[0] == '#') {
        return parameter_line();
    }
    return execute_block(line[0] == '/' ? 1 : 0);
}

static void take(char c) {
    if (c == '\n' || c == '\r') {
        if (line_overflowed) {
            report_error(E_OVERFLOW);
        } else if (line_length > 0) {
            report_error(execute());
        } else {
            report_error(OK);
        }
        line_length = 0;
        line_overflowed = in_comment = in_remark = false;
    } else if (in_comment || in_remark) {
        if (c == ')') {
            in_comment = false;
        }
    } else if (c == '(') {
        in_comment = true;
    } else if (c == ';') {
        in_remark = true;
    } else if (c > ' ') {
        if (line_length >= LINE_SIZE) {
            line_overflowed = true;
        } else {
            line[line_length++] = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
        }
    }
}

static void realtime(void) {
    wdt_reset();
    if (status_wanted) {
        status_wanted = false;
        report_status();
    }
    if (hold_wanted) {
        hold_wanted = false;
        if (state == RUN || state == JOGGING) {
            TIMSK1 = 0;
            state = HOLD;
        }
    }
    if (door_open) {
        door_open = false;
        TIMSK1 = 0;
        spindle(5, 0);
        coolant(9);
        state = HOLD;
    }
    if (resume_wanted) {
        resume_wanted = false;
        if (state == HOLD) {
            state = block_head == block_tail ? IDLE : RUN;
            TIMSK1 = block_head == block_tail ? 0 : _BV(OCIE1A);
        }
    }
}

static void restart(void) {
    TIMSK1 = 0;
    cli();
    block_head = block_tail = 0;
    stepper.active = false;
    rx_head = rx_tail = 0;
    sei();
    line_length = 0;
    line_overflowed = in_comment = in_remark = false;
    hold_wanted = resume_wanted = reset_wanted = probe_active = false;
    feed_override = rapid_override = spindle_override = 100;
    spindle(5, 0);
    coolant(9);
    modal.motion = modal.plane = modal.coordinates = 0;
    modal.relative = modal.inverse_time = modal.inches = false;
    modal.cycle_return = 98;
    synchronise();
    state = limit_hit || settings.flags & HOMING_ENABLED ? ALARM : IDLE;
    fputs_P(PSTR("\nRouter 1.0 ['$' for help]\n"), &output);
    if (state == ALARM) {
        fputs_P(PSTR("[MSG:'$H'|'$X' to unlock]\n"), &output);
    }
}

static void start(void) {
    DDRD = 0xfe;
    DDRC = 0x0f;
    PORTC = 0x20;
    PORTB = 0x07;
    PCMSK0 = 7;
    PCICR = 1;
    UBRR0 = 8;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR1B = _BV(WGM12) | _BV(CS11);
    OCR1A = 2000;
    TIMSK0 = _BV(TOIE0);
    TCCR2A = _BV(WGM21) | _BV(WGM20) | _BV(COM2B1);
    TCCR2B = _BV(CS22);
    OCR2A = 249;
    TIMSK2 = _BV(OCIE2A);
    wdt_enable(WDTO_2S);
}

int main(void) {
    stdout = &output;
    start();
    bool whole = load_settings();
    load_tables();
    sei();
    if (!whole) {
        report_error(E_EEPROM);
    }
    restart();
    for (;;) {
        realtime();
        if (reset_wanted) {
            restart();
        }
        if (limit_hit && state != ALARM) {
            state = ALARM;
            fputs_P(PSTR("ALARM:1\n"), &output);
        }
        if (state == RUN && block_head == block_tail && !stepper.active) {
            state = IDLE;
        }
        if (rx_tail != rx_head) {
            char c = rx_buffer[rx_tail];
            rx_tail = (rx_tail + 1) & (RX_SIZE - 1);
            take(c);
        }
    }
}
