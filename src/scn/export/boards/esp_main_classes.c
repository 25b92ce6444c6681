    int best = 0;
    for (int i = 1; i < ${NAME}_CLASSES; i++)
        if (logits[i] > logits[best]) best = i;
    printf("infer: status %d, %s, %lld us\n", (int)status, ${name}_class_names[best], (long long)spent);
