// A low-speed USB device of its own in software: an interrupt receives bits at D+ and D-, with bit stuffing; the main program decodes tokens,
// checks CRC-16, answers control requests from descriptors, and reports the state of keys.
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <stdbool.h>
#include <stdint.h>

#define PACKET 11
#define MINUS 0
#define PLUS 2

static volatile uint8_t received[2][PACKET + 1];
static volatile uint8_t received_length[2];
static volatile uint8_t filling;
static volatile bool ready;
static volatile uint8_t overruns;
static uint8_t sending[PACKET + 1], sending_length;
static uint8_t address, new_address, configuration, idle_rate, toggle;
static const uint8_t *descriptor;
static uint16_t descriptor_left;
static uint8_t descriptor_toggle;
static uint8_t report[8];
static uint8_t key_states[12], key_ages[12];
static bool is_setup_next;

static const uint8_t device_descriptor[] PROGMEM = {18, 1, 0x10, 1, 0, 0, 0, 8, 0xc0, 0x16, 0xdb, 0x27, 0, 1, 1, 2, 0, 1};
static const uint8_t configuration_descriptor[] PROGMEM = {
    9, 2, 34, 0, 1, 1, 0, 0xa0, 50, 9, 4, 0, 0, 1, 3, 1, 1, 0, 9, 0x21, 1, 1, 0, 1, 0x22, 63, 0, 7, 5, 0x81, 3, 8, 0, 10};
static const uint8_t report_descriptor[] PROGMEM = {
    5, 1, 9, 6, 0xa1, 1, 5, 7, 0x19, 0xe0, 0x29, 0xe7, 0x15, 0, 0x25, 1, 0x75, 1, 0x95, 8, 0x81, 2, 0x95, 1, 0x75, 8, 0x81, 3,
    0x95, 5, 0x75, 1, 5, 8, 0x19, 1, 0x29, 5, 0x91, 2, 0x95, 1, 0x75, 3, 0x91, 3, 0x95, 6, 0x75, 8, 0x15, 0, 0x25, 0x65,
    5, 7, 0x19, 0, 0x29, 0x65, 0x81, 0, 0xc0};
static const uint8_t languages[] PROGMEM = {4, 3, 9, 4};
static const uint8_t vendor_name[] PROGMEM = {14, 3, 'v', 0, 'e', 0, 'n', 0, 'd', 0, 'o', 0, 'r', 0};
static const uint8_t product_name[] PROGMEM = {16, 3, 'k', 0, 'e', 0, 'y', 0, 'p', 0, 'a', 0, 'd', 0, 's', 0};

ISR(INT0_vect) {
    // Waits for the end of the synchronisation pattern, and receives bits until both lines are low.
    uint8_t *to = (uint8_t *)received[filling & 1];
    uint8_t count = 0, bits = 0, value = 0, ones = 0;
    uint8_t last = PIND & (1 << PLUS | 1 << MINUS);
    for (uint8_t wait = 0; wait < 60; wait++) {
        uint8_t now = PIND & (1 << PLUS | 1 << MINUS);
        if (now == last) {
            break;
        }
        last = now;
    }
    for (;;) {
        uint8_t now = PIND & (1 << PLUS | 1 << MINUS);
        if (now == 0) {
            break;
        }
        bool one = now == last;
        last = now;
        if (ones == 6) {
            // A stuffed bit.
            ones = 0;
            if (one) {
                overruns++;
                EIFR = 1;
                return;
            }
            continue;
        }
        ones = one ? ones + 1 : 0;
        value = value >> 1 | (one ? 0x80 : 0);
        if (++bits == 8) {
            bits = 0;
            if (count > PACKET) {
                overruns++;
                EIFR = 1;
                return;
            }
            to[count++] = value;
        }
    }
    if (count >= 1 && !ready) {
        received_length[filling & 1] = count;
        filling ^= 1;
        ready = true;
    }
    EIFR = 1;
}

static void pause(void) {
    for (uint8_t wait = 0; wait < 2; wait++) {
        __asm__ volatile("nop");
    }
}

static void line_state(uint8_t state) {
    PORTD = (PORTD & ~(1 << PLUS | 1 << MINUS)) | state;
    pause();
}

static void transmit(const uint8_t *bytes, uint8_t length) {
    uint8_t state = 1 << MINUS, ones = 0;
    cli();
    DDRD |= 1 << PLUS | 1 << MINUS;
    for (uint8_t bit = 0; bit < 8; bit++) {
        if (bit < 7) {
            state ^= 1 << PLUS | 1 << MINUS;
        }
        line_state(state);
    }
    for (uint8_t at = 0; at < length; at++) {
        uint8_t value = bytes[at];
        for (uint8_t bit = 0; bit < 8; bit++) {
            if (value & 1) {
                if (++ones == 6) {
                    line_state(state);
                    state ^= 1 << PLUS | 1 << MINUS;
                    ones = 0;
                }
            } else {
                state ^= 1 << PLUS | 1 << MINUS;
                ones = 0;
            }
            line_state(state);
            value >>= 1;
        }
    }
    line_state(0);
    line_state(0);
    line_state(1 << MINUS);
    DDRD &= ~(1 << PLUS | 1 << MINUS);
    sei();
}

static uint16_t crc16(const uint8_t *bytes, uint8_t length) {
    uint16_t crc = 0xffff;
    while (length--) {
        crc ^= *bytes++;
        for (uint8_t bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
        }
    }
    return ~crc;
}

static void handshake(uint8_t pid) {
    transmit(&pid, 1);
}

static void prepare(uint8_t pid, uint8_t length) {
    sending[0] = pid;
    uint16_t crc = crc16(sending + 1, length);
    sending[length + 1] = crc;
    sending[length + 2] = crc >> 8;
    sending_length = length + 3;
}

static void next_part(void) {
    uint8_t count = descriptor_left > 8 ? 8 : descriptor_left;
    for (uint8_t at = 0; at < count; at++) {
        sending[at + 1] = pgm_read_byte(descriptor++);
    }
    descriptor_left -= count;
    descriptor_toggle ^= 1;
    prepare(descriptor_toggle ? 0x4b : 0xc3, count);
}

static void offer(const uint8_t *from, uint16_t size, uint16_t wanted) {
    descriptor = from;
    descriptor_left = wanted < size ? wanted : size;
}

static void take_setup(const uint8_t *setup) {
    uint16_t wanted = setup[6] | (uint16_t)setup[7] << 8;
    descriptor_toggle = 0;
    descriptor_left = 0;
    sending_length = 0;
    switch (setup[0] & 0x60) {
    case 0x00:
        switch (setup[1]) {
        case 5: new_address = setup[2] & 0x7f; break;
        case 6:
            switch (setup[3]) {
            case 1: offer(device_descriptor, sizeof device_descriptor, wanted); break;
            case 2: offer(configuration_descriptor, sizeof configuration_descriptor, wanted); break;
            case 3:
                switch (setup[2]) {
                case 0: offer(languages, sizeof languages, wanted); break;
                case 1: offer(vendor_name, sizeof vendor_name, wanted); break;
                case 2: offer(product_name, sizeof product_name, wanted); break;
                }
                break;
            case 0x22: offer(report_descriptor, sizeof report_descriptor, wanted); break;
            }
            break;
        case 8:
            sending[1] = configuration;
            prepare(0x4b, 1);
            return;
        case 9: configuration = setup[2]; break;
        }
        break;
    case 0x20:
        switch (setup[1]) {
        case 1:
            for (uint8_t at = 0; at < 8; at++) {
                sending[at + 1] = report[at];
            }
            prepare(0x4b, 8);
            return;
        case 2:
            sending[1] = idle_rate;
            prepare(0x4b, 1);
            return;
        case 10: idle_rate = setup[3]; break;
        }
        break;
    }
    next_part();
}

static void take_packet(const volatile uint8_t *packet, uint8_t length) {
    static uint8_t token, endpoint;
    uint8_t copy[PACKET + 1];
    for (uint8_t at = 0; at < length && at <= PACKET; at++) {
        copy[at] = packet[at];
    }
    switch (copy[0]) {
    case 0x2d: case 0xe1: case 0x69:
        if (length < 3 || (copy[1] & 0x7f) != address) {
            token = 0;
            return;
        }
        token = copy[0];
        endpoint = copy[1] >> 7 | (copy[2] & 7) << 1;
        is_setup_next = token == 0x2d;
        if (token == 0x69) {
            if (endpoint == 0) {
                if (sending_length > 0) {
                    transmit(sending, sending_length);
                } else {
                    handshake(0x5a);
                }
            } else if (endpoint == 1 && configuration) {
                for (uint8_t at = 0; at < 8; at++) {
                    sending[at + 1] = report[at];
                }
                prepare(toggle ? 0x4b : 0xc3, 8);
                transmit(sending, sending_length);
                sending_length = 0;
            }
        }
        break;
    case 0xc3: case 0x4b:
        if (token == 0 || length < 3 || length > PACKET) {
            return;
        }
        uint16_t crc = copy[length - 2] | (uint16_t)copy[length - 1] << 8;
        if (crc16(copy + 1, length - 3) != crc) {
            return;
        }
        handshake(0xd2);
        if (is_setup_next && length == 11) {
            take_setup(copy + 1);
        }
        token = 0;
        break;
    case 0xd2:
        if (endpoint == 0) {
            if (new_address) {
                address = new_address;
                new_address = 0;
            }
            if (descriptor_left > 0) {
                next_part();
            } else {
                sending_length = 0;
            }
        } else {
            toggle ^= 1;
        }
        break;
    }
}

static void scan_keys(void) {
    uint8_t slot = 2;
    for (uint8_t row = 0; row < 3; row++) {
        PORTB = (PORTB | 7) & ~(1 << row);
        pause();
        uint8_t columns = ~PINC & 0x0f;
        for (uint8_t column = 0; column < 4; column++) {
            uint8_t key = row * 4 + column;
            bool down = columns >> column & 1;
            if (down != (key_states[key] & 1)) {
                if (++key_ages[key] >= 5) {
                    key_states[key] = down;
                    key_ages[key] = 0;
                }
            } else {
                key_ages[key] = 0;
            }
        }
    }
    for (uint8_t at = 0; at < sizeof report; at++) {
        report[at] = 0;
    }
    for (uint8_t key = 0; key < sizeof key_states; key++) {
        if (key_states[key] && slot < sizeof report) {
            report[slot++] = 0x59 + key;
        }
    }
}

int main(void) {
    DDRB = 0x07;
    PORTC = 0x0f;
    EICRA = 3;
    EIMSK = 1;
    sei();
    for (;;) {
        if (ready) {
            uint8_t side = (filling ^ 1) & 1;
            uint8_t length = received_length[side];
            if (length <= PACKET + 1) {
                take_packet(received[side], length);
            }
            ready = false;
        }
        scan_keys();
    }
}
