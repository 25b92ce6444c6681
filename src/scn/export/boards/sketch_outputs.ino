    for (int i = 0; i < ${NAME}_OUTPUTS; i++) {
        Serial.print(outputs[i]);
        Serial.print(" ");
    }
