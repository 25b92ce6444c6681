    int best = 0;
    for (int i = 1; i < ${NAME}_CLASSES; i++)
        if (logits[i] > logits[best]) best = i;
    ${print}("infer: status %d, %s, %lu us\n", (int)status, ${name}_class_names[best], spent);
