// A protocol firmware of its own in the style of remote control of pins: messages of seven-bit bytes, system-exclusive messages with a buffer,
// pins with modes, sampling of analog inputs, servos by a timer interrupt, strings, and settings in the EEPROM.
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PINS 20
#define ANALOGS 6
#define SERVOS 8
#define SYSEX_SIZE 300
#define RX_SIZE 64
#define TX_SIZE 128

enum { START_SYSEX = 0xf0, END_SYSEX = 0xf7, DIGITAL = 0x90, ANALOG = 0xe0, REPORT_ANALOG = 0xc0, REPORT_DIGITAL = 0xd0,
       SET_MODE = 0xf4, SET_VALUE = 0xf5, VERSION = 0xf9, RESET = 0xff };
enum { MODE_INPUT, MODE_OUTPUT, MODE_ANALOG, MODE_PWM, MODE_SERVO, MODE_PULLUP = 11 };

static volatile uint8_t rx_buffer[RX_SIZE], rx_head, rx_tail;
static volatile uint8_t tx_buffer[TX_SIZE], tx_head, tx_tail;
static uint8_t sysex[SYSEX_SIZE];
static uint16_t sysex_length;
static bool in_sysex;
static uint8_t command, channel, waiting, arguments[2];
static uint8_t modes[PINS], values[PINS];
static uint8_t reported_analogs, reported_ports;
static uint8_t last_ports[3];
static uint16_t interval = 19;
static volatile uint16_t milliseconds;
static uint16_t last_sample;
static volatile uint16_t servo_widths[SERVOS];
static uint8_t servo_pins[SERVOS];
static volatile uint8_t servo_count, servo_active;
static char name[24];

ISR(USART_RX_vect) {
    uint8_t c = UDR0;
    uint8_t next = (rx_head + 1) & (RX_SIZE - 1);
    if (next != rx_tail) {
        rx_buffer[rx_head] = c;
        rx_head = next;
    }
}

ISR(USART_UDRE_vect) {
    if (tx_head == tx_tail) {
        UCSR0B &= ~_BV(UDRIE0);
    } else {
        UDR0 = tx_buffer[tx_tail];
        tx_tail = (tx_tail + 1) & (TX_SIZE - 1);
    }
}

ISR(TIMER2_COMPA_vect) {
    milliseconds++;
}

static void drive(uint8_t pin, bool high) {
    volatile uint8_t *port = pin < 8 ? &PORTD : pin < 14 ? &PORTB : &PORTC;
    uint8_t mask = 1 << (pin < 8 ? pin : pin < 14 ? pin - 8 : pin - 14);
    uint8_t status = SREG;
    cli();
    if (high) {
        *port |= mask;
    } else {
        *port &= ~mask;
    }
    SREG = status;
}

ISR(TIMER1_COMPA_vect) {
    uint8_t servo = servo_active;
    if (servo < servo_count) {
        drive(servo_pins[servo], false);
        servo++;
    } else {
        servo = 0;
    }
    if (servo < servo_count) {
        drive(servo_pins[servo], true);
        OCR1A = TCNT1 + servo_widths[servo];
    } else {
        OCR1A = TCNT1 + 20000;
    }
    servo_active = servo;
}

static void put(uint8_t c) {
    uint8_t next = (tx_head + 1) & (TX_SIZE - 1);
    while (next == tx_tail) {
    }
    tx_buffer[tx_head] = c;
    tx_head = next;
    UCSR0B |= _BV(UDRIE0);
}

static void put_14(uint16_t value) {
    put(value & 0x7f);
    put(value >> 7 & 0x7f);
}

static void direct(uint8_t pin, bool output) {
    volatile uint8_t *port = pin < 8 ? &DDRD : pin < 14 ? &DDRB : &DDRC;
    uint8_t mask = 1 << (pin < 8 ? pin : pin < 14 ? pin - 8 : pin - 14);
    if (output) {
        *port |= mask;
    } else {
        *port &= ~mask;
    }
}

static uint8_t read_port(uint8_t port) {
    switch (port) {
    case 0: return PIND;
    case 1: return PINB & 0x3f;
    case 2: return PINC & 0x3f;
    default: return 0;
    }
}

static void attach(uint8_t pin) {
    for (uint8_t servo = 0; servo < servo_count; servo++) {
        if (servo_pins[servo] == pin) {
            return;
        }
    }
    if (servo_count < SERVOS) {
        servo_pins[servo_count] = pin;
        cli();
        servo_widths[servo_count] = 3000;
        servo_count++;
        sei();
    }
}

static void set_mode(uint8_t pin, uint8_t mode) {
    if (pin < 2 || pin >= PINS) {
        return;
    }
    modes[pin] = mode;
    values[pin] = 0;
    switch (mode) {
    case MODE_INPUT:
    case MODE_ANALOG:
        direct(pin, false);
        drive(pin, false);
        break;
    case MODE_PULLUP:
        direct(pin, false);
        drive(pin, true);
        break;
    case MODE_SERVO:
        direct(pin, true);
        attach(pin);
        break;
    case MODE_OUTPUT:
    case MODE_PWM:
        direct(pin, true);
        drive(pin, false);
        break;
    default:
        modes[pin] = MODE_INPUT;
    }
}

static void write_analog(uint8_t pin, uint16_t value) {
    if (pin >= PINS) {
        return;
    }
    values[pin] = value > 255 ? 255 : value;
    if (modes[pin] == MODE_SERVO) {
        for (uint8_t servo = 0; servo < servo_count; servo++) {
            if (servo_pins[servo] == pin) {
                uint16_t width = value < 544 ? 1088 + (value > 180 ? 180 : value) * 20 : (value > 2400 ? 2400 : value) * 2;
                cli();
                servo_widths[servo] = width;
                sei();
            }
        }
    } else if (modes[pin] == MODE_PWM) {
        switch (pin) {
        case 3: OCR2B = values[pin]; TCCR2A |= _BV(COM2B1); break;
        case 5: OCR0B = values[pin]; TCCR0A |= _BV(COM0B1); break;
        case 6: OCR0A = values[pin]; TCCR0A |= _BV(COM0A1); break;
        default: drive(pin, value >= 128);
        }
    }
}

static uint16_t convert(uint8_t input) {
    ADMUX = _BV(REFS0) | (input & 7);
    ADCSRA |= _BV(ADSC);
    while (ADCSRA & _BV(ADSC)) {
    }
    return ADC;
}

static void write_port(uint8_t port, uint16_t bits) {
    for (uint8_t bit = 0; bit < 8; bit++) {
        uint8_t pin = port == 0 ? bit : port == 1 ? 8 + bit : 14 + bit;
        if (pin >= 2 && pin < PINS && modes[pin] == MODE_OUTPUT) {
            values[pin] = bits >> bit & 1;
            drive(pin, values[pin]);
        }
    }
}

static void send_name(void) {
    put(START_SYSEX);
    put(0x79);
    put(2);
    put(5);
    for (uint8_t i = 0; i < sizeof name && name[i]; i++) {
        put_14((uint8_t)name[i]);
    }
    put(END_SYSEX);
}

static void send_capabilities(void) {
    put(START_SYSEX);
    put(0x6c);
    for (uint8_t pin = 0; pin < PINS; pin++) {
        if (pin >= 2) {
            put(MODE_INPUT);
            put(1);
            put(MODE_OUTPUT);
            put(1);
            if (pin >= 14) {
                put(MODE_ANALOG);
                put(10);
            }
            put(MODE_SERVO);
            put(14);
        }
        put(127);
    }
    put(END_SYSEX);
}

static void send_state(uint8_t pin) {
    if (pin >= PINS) {
        return;
    }
    put(START_SYSEX);
    put(0x6e);
    put(pin);
    put(modes[pin]);
    put_14(values[pin]);
    put(END_SYSEX);
}

static void echo_text(void) {
    // Two seven-bit bytes for each character.
    uint16_t count = 0;
    static char text[SYSEX_SIZE / 2];
    for (uint16_t at = 1; at + 1 < sysex_length && count < sizeof text; at += 2) {
        text[count++] = (sysex[at] & 0x7f) | sysex[at + 1] << 7;
    }
    put(START_SYSEX);
    put(0x71);
    for (uint16_t at = count; at > 0; at--) {
        put_14((uint8_t)text[at - 1]);
    }
    put(END_SYSEX);
}

static void checksum(void) {
    uint16_t sum = 0;
    for (uint16_t at = 0; at < sysex_length; at++) {
        sum = (sum << 3 | sum >> 13) ^ sysex[at];
    }
    put(START_SYSEX);
    put(0x10);
    put_14(sum);
    put(END_SYSEX);
}

static void store_name(void) {
    uint8_t count = 0;
    memset(name, 0, sizeof name);
    for (uint16_t at = 1; at + 1 < sysex_length && count < sizeof name - 1; at += 2) {
        name[count++] = (sysex[at] & 0x7f) | sysex[at + 1] << 7;
    }
    for (uint8_t i = 0; i < sizeof name; i++) {
        eeprom_update_byte((uint8_t *)(uintptr_t)(16 + i), name[i]);
    }
}

static void schedule(void) {
    // Steps of a program: pin, value, pause.
    for (uint16_t at = 1; at + 2 < sysex_length; at += 3) {
        uint8_t pin = sysex[at];
        if (pin < PINS && modes[pin] == MODE_OUTPUT) {
            drive(pin, sysex[at + 1]);
        }
        cli();
        uint16_t begun = milliseconds;
        sei();
        for (;;) {
            cli();
            uint16_t now = milliseconds;
            sei();
            if ((uint16_t)(now - begun) >= sysex[at + 2]) {
                break;
            }
        }
    }
}

static void take_sysex(void) {
    switch (sysex[0]) {
    case 0x79: send_name(); break;
    case 0x6b: send_capabilities(); break;
    case 0x6d:
        if (sysex_length > 1) {
            send_state(sysex[1]);
        }
        break;
    case 0x6f:
        if (sysex_length > 3) {
            write_analog(sysex[1], sysex[2] | (uint16_t)sysex[3] << 7);
        }
        break;
    case 0x7a:
        if (sysex_length > 2) {
            interval = sysex[1] | (uint16_t)sysex[2] << 7;
            if (interval < 1) {
                interval = 1;
            }
        }
        break;
    case 0x70:
        if (sysex_length > 1 && sysex[1] < PINS) {
            attach(sysex[1]);
        }
        break;
    case 0x71: echo_text(); break;
    case 0x10: checksum(); break;
    case 0x11: store_name(); break;
    case 0x12: schedule(); break;
    }
}

static void take_message(void) {
    uint16_t value = arguments[0] | (uint16_t)arguments[1] << 7;
    switch (command) {
    case ANALOG: write_analog(channel, value); break;
    case DIGITAL: write_port(channel, value); break;
    case SET_MODE: set_mode(arguments[0], arguments[1]); break;
    case SET_VALUE:
        if (arguments[0] < PINS && modes[arguments[0]] == MODE_OUTPUT) {
            values[arguments[0]] = arguments[1];
            drive(arguments[0], arguments[1]);
        }
        break;
    case REPORT_ANALOG:
        if (channel < ANALOGS) {
            reported_analogs = arguments[0] ? reported_analogs | 1 << channel : reported_analogs & ~(1 << channel);
        }
        break;
    case REPORT_DIGITAL:
        if (channel < 3) {
            reported_ports = arguments[0] ? reported_ports | 1 << channel : reported_ports & ~(1 << channel);
        }
        break;
    }
}

static void restart(void) {
    for (uint8_t pin = 2; pin < PINS; pin++) {
        set_mode(pin, pin >= 14 ? MODE_ANALOG : MODE_OUTPUT);
    }
    reported_analogs = reported_ports = 0;
    cli();
    servo_count = 0;
    sei();
}

static void take(uint8_t c) {
    if (in_sysex) {
        if (c == END_SYSEX) {
            in_sysex = false;
            if (sysex_length > 0) {
                take_sysex();
            }
        } else if (sysex_length < SYSEX_SIZE) {
            sysex[sysex_length++] = c;
        }
        return;
    }
    if (c < 0x80) {
        if (waiting > 0 && waiting <= 2) {
            waiting--;
            arguments[1 - waiting] = c;
            if (waiting == 0) {
                take_message();
            }
        }
        return;
    }
    command = c < 0xf0 ? c & 0xf0 : c;
    channel = c & 0x0f;
    switch (command) {
    case ANALOG: case DIGITAL: case SET_MODE: case SET_VALUE: waiting = 2; break;
    case REPORT_ANALOG: case REPORT_DIGITAL: waiting = 1; arguments[1] = 0; break;
    case START_SYSEX: in_sysex = true; sysex_length = 0; break;
    case VERSION: put(VERSION); put(2); put(5); break;
    case RESET: restart(); break;
    }
}

static void sample(void) {
    for (uint8_t port = 0; port < 3; port++) {
        uint8_t now = read_port(port);
        if (reported_ports >> port & 1 && now != last_ports[port]) {
            last_ports[port] = now;
            put(DIGITAL | port);
            put_14(now);
        }
    }
    cli();
    uint16_t now = milliseconds;
    sei();
    if ((uint16_t)(now - last_sample) >= interval) {
        last_sample = now;
        for (uint8_t input = 0; input < ANALOGS; input++) {
            if (reported_analogs >> input & 1) {
                put(ANALOG | input);
                put_14(convert(input));
            }
        }
    }
}

int main(void) {
    UBRR0 = 16;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    ADCSRA = _BV(ADEN) | 7;
    TCCR1B = _BV(CS11);
    TIMSK1 = _BV(OCIE1A);
    TCCR2A = _BV(WGM21);
    TCCR2B = _BV(CS22);
    OCR2A = 249;
    TIMSK2 = _BV(OCIE2A);
    for (uint8_t i = 0; i < sizeof name; i++) {
        name[i] = eeprom_read_byte((const uint8_t *)(uintptr_t)(16 + i));
    }
    sei();
    restart();
    for (;;) {
        while (rx_tail != rx_head) {
            uint8_t c = rx_buffer[rx_tail];
            rx_tail = (rx_tail + 1) & (RX_SIZE - 1);
            take(c);
        }
        sample();
    }
}
