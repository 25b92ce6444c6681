    ${name}_values(outputs, outputs);
    ${print}("infer: status %d, %lu us\n", (int)status, spent);
    for (int i = 0; i < ${NAME}_TARGETS; i++)
        ${print}("%s %g %s\n", ${name}_target_names[i], (double)outputs[i], ${name}_target_units[i]);
