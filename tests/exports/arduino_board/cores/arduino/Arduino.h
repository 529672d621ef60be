/* As much of Arduino's API as the exported sketch uses; it prints by semihosting. */
#ifndef ARDUINO_H
#define ARDUINO_H

class SerialPort {
  public:
    void begin(unsigned long baud);
    void print(const char *text);
    void print(unsigned number);
    void println(const char *text);
    void println(long number);
};

extern SerialPort Serial;

void delay(unsigned long milliseconds);
void setup();
void loop();

#endif
