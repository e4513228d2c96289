/* The devices of runner.c. */
#include <stdint.h>

enum { MCUSR = 0x54, MOST_PORTS = 11, MOST_USARTS = 4, MOST_FLAGS = 8, MOST_EXTERNALS = 8, MOST_INITIAL = 3 };

/* A port: its letter, the data address of its pins, the pins that it has, and the register that disables the digital inputs at them, 0 unless it has one with
 * a bit for each pin. */
struct port {
    char letter;
    uint16_t pins;
    uint8_t mask;
    uint16_t disabled;
};
/* An external interrupt: the register with its sense control, the place of that, and its flag. */
struct external {
    uint16_t control;
    uint8_t shift, flag;
};
/* A register, and its initial value. */
struct initial {
    uint16_t address;
    uint8_t value;
};
/* Facts of a device that libsimavr does not tell, by avr-libc's headers: data addresses, and numbers of interrupts. */
static const struct device {
    const char *name;
    uint16_t sram_start;
    struct port ports[MOST_PORTS];
    /* A pin that is the reset: no level is put there. */
    char reset_port;
    uint8_t reset_pin;
    /* The port of INT0, and its pin there. */
    char int0_port;
    uint8_t int0_pin;
    /* UCSRnA, and the number of the first one in libsimavr. */
    uint16_t usarts[MOST_USARTS];
    char usart;
    uint16_t adcsra, eecr;
    uint8_t eeprom_ready;
    /* The register of SE, and SE. */
    uint16_t sleep;
    uint8_t enable;
    /* The registers of flags, and that of the external interrupts among them. */
    uint16_t flags[MOST_FLAGS], external_flags;
    struct external externals[MOST_EXTERNALS];
    /* Initial values by the data sheet, of registers that libsimavr has at 0 after reset. */
    struct initial initial[MOST_INITIAL];
} devices[] = {
#define DIDR0 0x7e
#define DIDR2 0x7d
#define DIDR0_OF_TINY 0x34
#define PORTS_OF_MEGA {{'B', 0x23, 0xff, 0}, {'C', 0x26, 0x7f, DIDR0}, {'D', 0x29, 0xff, 0}}, 0, 0, 'D', 2
#define FLAGS_OF_MEGA {0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c}, 0x3c
#define INT0_TO_2 {0x69, 0, 0x01}, {0x69, 2, 0x02}, {0x69, 4, 0x04}
#define INT0_TO_3 INT0_TO_2, {0x69, 6, 0x08}
#define INT0_OF_TINY {{0x55, 0, 0x40}}
/* CLKPR with the fuse CKDIV8 programmed, as it is delivered (section "System Clock and Clock Options"). */
#define CLKPR_OF_MEGA {0x61, 0x03}
#define CLKPR_OF_TINY {0x46, 0x03}
/* TWAR (section "TWI Register Description"). */
#define TWAR {0xba, 0xfe}
/* PLLFRQ with PDIV2 (section "PLL Frequency Control Register"). */
#define PLLFRQ {0x52, 0x04}
/* OCR1C (section "Timer/Counter1 Output Compare RegisterC"). */
#define OCR1C {0x4d, 0xff}
/* MCUSR with PORF: in this device libsimavr keeps no cause of a reset (section "MCU Status Register"). */
#define POWER_ON {MCUSR, 0x01}
    {"atmega328p", 0x100, PORTS_OF_MEGA, {0xc0}, '0', 0x7a, 0x3f, 22, 0x53, 0x01, FLAGS_OF_MEGA, {{0x69, 0, 0x01}, {0x69, 2, 0x02}}, {CLKPR_OF_MEGA, TWAR}},
    {"atmega168p", 0x100, PORTS_OF_MEGA, {0xc0}, '0', 0x7a, 0x3f, 22, 0x53, 0x01, FLAGS_OF_MEGA, {{0x69, 0, 0x01}, {0x69, 2, 0x02}}, {CLKPR_OF_MEGA, TWAR}},
    {"atmega88p", 0x100, PORTS_OF_MEGA, {0xc0}, '0', 0x7a, 0x3f, 22, 0x53, 0x01, FLAGS_OF_MEGA, {{0x69, 0, 0x01}, {0x69, 2, 0x02}}, {CLKPR_OF_MEGA, TWAR}},
    {"atmega1284p", 0x100, {{'A', 0x20, 0xff, DIDR0}, {'B', 0x23, 0xff, 0}, {'C', 0x26, 0xff, 0}, {'D', 0x29, 0xff, 0}}, 0, 0, 'D', 2,
     {0xc0, 0xc8}, '0', 0x7a, 0x3f, 25, 0x53, 0x01, FLAGS_OF_MEGA, {INT0_TO_2}, {CLKPR_OF_MEGA, TWAR}},
    {"atmega2560", 0x200, {{'A', 0x20, 0xff, 0}, {'B', 0x23, 0xff, 0}, {'C', 0x26, 0xff, 0}, {'D', 0x29, 0xff, 0}, {'E', 0x2c, 0xff, 0}, {'F', 0x2f, 0xff, DIDR0},
                           {'G', 0x32, 0x3f, 0}, {'H', 0x100, 0xff, 0}, {'J', 0x103, 0xff, 0}, {'K', 0x106, 0xff, DIDR2}, {'L', 0x109, 0xff, 0}}, 0, 0, 'D', 0,
     {0xc0, 0xc8, 0xd0, 0x130}, '0', 0x7a, 0x3f, 30, 0x53, 0x01, FLAGS_OF_MEGA,
     {INT0_TO_3, {0x6a, 0, 0x10}, {0x6a, 2, 0x20}, {0x6a, 4, 0x40}, {0x6a, 6, 0x80}}, {CLKPR_OF_MEGA, TWAR}},
    {"atmega32u4", 0x100, {{'B', 0x23, 0xff, 0}, {'C', 0x26, 0xc0, 0}, {'D', 0x29, 0xff, 0}, {'E', 0x2c, 0x44, 0}, {'F', 0x2f, 0xf3, DIDR0}}, 0, 0, 'D', 0,
     {0xc8}, '1', 0x7a, 0x3f, 30, 0x53, 0x01, FLAGS_OF_MEGA, {INT0_TO_3, {0x6a, 4, 0x40}}, {CLKPR_OF_MEGA, TWAR, PLLFRQ}},
    {"attiny85", 0x60, {{'B', 0x36, 0x3f, DIDR0_OF_TINY}}, 'B', 5, 'B', 2, {0}, 0, 0x26, 0x3c, 6, 0x55, 0x20, {0x58, 0x5a}, 0x5a, INT0_OF_TINY, {CLKPR_OF_TINY, OCR1C}},
    {"attiny84", 0x60, {{'A', 0x39, 0xff, 0x21}, {'B', 0x36, 0x0f, 0}}, 'B', 3, 'B', 2, {0}, 0, 0x26, 0x3c, 14, 0x55, 0x20, {0x2b, 0x58, 0x5a}, 0x5a, INT0_OF_TINY, {CLKPR_OF_TINY}},
    {"attiny13", 0x60, {{'B', 0x36, 0x3f, DIDR0_OF_TINY}}, 'B', 5, 'B', 1, {0}, 0, 0x26, 0x3c, 4, 0x55, 0x20, {0x58, 0x5a}, 0x5a, INT0_OF_TINY, {CLKPR_OF_TINY, POWER_ON}},
};
