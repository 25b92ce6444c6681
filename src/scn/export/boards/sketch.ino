// ${title}
// Written by scn for this board: ${board}. README.md of the library says how to use it and what was tested.
#include <Arduino.h>
#include <${name}.h>
${includes}
static float x[${NAME}_INPUT_SIZE];
static float ${outputs}[${NAME}_${SIZE}];
static const float mean[] = {${mean}};
static const float deviation[] = {${deviation}};
static bool ready = ${ready};

// What the network sees: (x - mean) / deviation, for each channel.
static void normalise() {
    const int channels = sizeof mean / sizeof mean[0], size = ${NAME}_INPUT_SIZE / channels;
    for (int i = 0; i < ${NAME}_INPUT_SIZE; i++) x[i] = (x[i] - mean[i / size]) / deviation[i / size];
}

static void answer() {
    const unsigned long start = micros();
    if (${name}_infer(x, ${outputs}) != SCN_OK) {
        Serial.println("not configured yet");
        return;
    }
    const unsigned long spent = micros() - start;
${said}    Serial.print(" in us: ");
    Serial.println(spent);
}
${configure}${sensor}
static bool receive(float *to, int count) {
    return Serial.readBytes((char *)to, 4 * count) == (size_t)(4 * count);
}

void setup() {
    Serial.begin(115200);
    Serial.setTimeout(5000);
    if (${name}_selftest(x, ${outputs}) != SCN_OK) Serial.println("self-test failed: answers are wrong");${begin}
}

// Requests from the serial port, as bytes: 'x' and ${inputs} float32 for an answer${requests}.
void loop() {${poll}
    if (!Serial.available()) return;
    const int request = Serial.read();
    if (request == 'x' && receive(x, ${NAME}_INPUT_SIZE) && ready) {
        normalise();
        answer();
    }${serve}
}
