/* A lamp with a button and a serial console. Its settings are kept in the EEPROM.
 *
 * Lines of the console: "L<digit>" sets the level, "M<digit>" the mode, "P<digit>" adds to the power of the service
 * mode, "S" saves the settings. The bytes "OPEN7!" enter the service mode.
 *
 * BUGGY chooses the twin with the bugs that lamp-buggy/BUGS.md lists. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LEVELS 10
#define MAX_POWER 40
#define LINE_SIZE 8
#define MAGIC 0xa5

enum mode { OFF, STEADY, BLINK, MODES };

struct settings {
    uint8_t magic;
    uint8_t level;
    uint8_t mode;
};

static volatile uint16_t ticks;
static volatile char line[LINE_SIZE];
static volatile uint8_t line_len;
static volatile uint8_t line_ready;
static volatile uint8_t unlocked;
static volatile uint8_t service;
struct settings cfg;
uint8_t power;

static const char secret[6] = {'O', 'P', 'E', 'N', '7', '!'};
static const uint8_t masks[MODES] = {0x00, 0xff, 0x20};

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

ISR(USART_RX_vect)
{
    char byte = UDR0;
    unlocked = byte == secret[unlocked] ? unlocked + 1 : 0;
    if (unlocked == sizeof secret) {
        unlocked = 0;
        service = 1;
    }
    if (line_ready) {
        return;
    }
    if (byte == '\n') {
        line_ready = 1;
        return;
    }
#if BUGGY
    line[line_len++] = byte;
#else
    if (line_len < LINE_SIZE) {
        line[line_len++] = byte;
    }
#endif
}

static uint16_t now(void)
{
#if BUGGY
    return ticks;
#else
    uint16_t time;
    cli();
    time = ticks;
    sei();
    return time;
#endif
}

static uint8_t read_eeprom(uint8_t address)
{
    while (EECR & (1 << EEPE)) {
    }
    EEAR = address;
    EECR |= 1 << EERE;
    return EEDR;
}

static void write_eeprom(uint8_t address, uint8_t value)
{
    while (EECR & (1 << EEPE)) {
    }
    cli();
    EEAR = address;
    EEDR = value;
    EECR |= 1 << EEMPE;
    EECR |= 1 << EEPE;
    sei();
}

static void load(void)
{
    struct settings found = {read_eeprom(0), read_eeprom(1), read_eeprom(2)};
#if BUGGY
    int is_usable = found.magic == MAGIC;
#else
    int is_usable = found.magic == MAGIC && found.level < LEVELS && found.mode < MODES;
#endif
    if (is_usable) {
        cfg = found;
    } else {
        cfg.magic = MAGIC;
        cfg.level = 1;
        cfg.mode = OFF;
    }
}

static void save(void)
{
    write_eeprom(0, cfg.magic);
    write_eeprom(1, cfg.level);
    write_eeprom(2, cfg.mode);
}

static void execute(void)
{
    uint8_t digit = line[1] - '0';
    switch (line[0]) {
    case 'L':
        if (line_len == 2 && digit < LEVELS) {
            cfg.level = digit;
        }
        break;
    case 'M':
        if (line_len == 2 && digit < MODES) {
            cfg.mode = digit;
        }
        break;
    case 'P':
        if (service && line_len == 2 && digit < 10) {
#if BUGGY
            power += digit;
#else
            power = power + digit <= MAX_POWER ? power + digit : MAX_POWER;
#endif
        }
        break;
    case 'S':
        save();
        break;
    }
}

static void show(uint16_t time)
{
    uint8_t shown = masks[cfg.mode] & (cfg.level + power);
    if (cfg.mode == BLINK && !(time & 0x20)) {
        shown = 0;
    }
    PORTB = shown;
}

int main(void)
{
    uint16_t pressed_at = 0;
    DDRB = 0x3f;
    PORTD = 1 << PD2;
    TCCR0B = 1 << CS02;
    TIMSK0 = 1 << TOIE0;
    UBRR0 = 103;
    UCSR0B = 1 << RXCIE0 | 1 << RXEN0;
    load();
    sei();
    for (;;) {
        uint16_t time = now();
        if (line_ready) {
            execute();
            line_len = 0;
            line_ready = 0;
        }
        if (!(PIND & (1 << PD2)) && (uint16_t)(time - pressed_at) > 30) {
            pressed_at = time;
            cfg.mode = cfg.mode + 1 < MODES ? cfg.mode + 1 : OFF;
        }
        show(time);
    }
}
