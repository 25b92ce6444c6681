    printf("infer: status %d, %lld us\n", (int)status, (long long)spent);
    for (int i = 0; i < ${NAME}_OUTPUTS; i++) printf("%g\n", (double)outputs[i]);
