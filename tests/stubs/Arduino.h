// So much of the Arduino API as the sketches use, to check their syntax and types: nothing here does anything.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct SerialStub {
    void begin(unsigned long);
    void setTimeout(unsigned long);
    int available();
    int read();
    size_t readBytes(char *, size_t);
    size_t print(const char *);
    size_t print(double, int = 2);
    size_t println(const char *);
    size_t println(unsigned long, int = 10);
};
extern SerialStub Serial;

unsigned long micros();
void delay(unsigned long);
bool psramFound();
