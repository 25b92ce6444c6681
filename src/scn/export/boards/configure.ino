
// Configure for the params: ${params}. Says whether it did.
static bool configure(const float *params) {
    float alpha[${NAME}_ALPHA_SIZE];
    const unsigned long start = micros();
    if (${name}_encode(params, alpha) != SCN_OK || ${name}_configure(alpha) != SCN_OK) {
        Serial.println("params refused: the last configuration stays");
        return false;
    }
    ready = true;
    Serial.print("configured for ");
    Serial.print(params[0]);
    Serial.print(" in us: ");
    Serial.println(micros() - start);
    return true;
}
