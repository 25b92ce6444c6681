    ${name}_values(outputs, outputs);
    for (int i = 0; i < ${NAME}_TARGETS; i++) {
        Serial.print(${name}_target_names[i]);
        Serial.print(" ");
        Serial.print(outputs[i]);
        Serial.print(${name}_target_units[i]);
        Serial.print(" ");
    }
