/* The program around a sketch, which ends after one round. */
#include <stdio.h>

#include "Arduino.h"
extern "C" {
#include "board.h"
int main(void);
}

SerialPort Serial;

void SerialPort::begin(unsigned long) {
}

void SerialPort::print(const char *text) {
    board_print(text);
}

void SerialPort::print(unsigned number) {
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    print(text);
}

void SerialPort::println(const char *text) {
    print(text);
    print("\n");
}

void SerialPort::println(long number) {
    char text[16];
    snprintf(text, sizeof text, "%ld\n", number);
    print(text);
}

void delay(unsigned long) {
}

int main() {
    setup();
    loop();
    return 0;
}
