    ${name}_values(outputs, outputs);
    printf("infer: status %d, %lld us\n", (int)status, (long long)spent);
    for (int i = 0; i < ${NAME}_TARGETS; i++)
        printf("%s %g %s\n", ${name}_target_names[i], (double)outputs[i], ${name}_target_units[i]);
