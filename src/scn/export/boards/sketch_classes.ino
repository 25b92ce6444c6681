    int best = 0;
    for (int i = 1; i < ${NAME}_CLASSES; i++)
        if (logits[i] > logits[best]) best = i;
    Serial.print(${name}_class_names[best]);
