    ${print}("infer: status %d, %lu us\n", (int)status, spent);
    for (int i = 0; i < ${NAME}_OUTPUTS; i++) ${print}("%g\n", (double)outputs[i]);
