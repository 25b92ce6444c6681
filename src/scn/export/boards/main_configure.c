
static void configure(const float params[${NAME}_PARAMS]) {
    float alpha[${NAME}_ALPHA_SIZE];
    const uint32_t start = ${now};
    scn_status status = ${name}_encode(params, alpha);
    if (status == SCN_OK) status = ${name}_configure(alpha);
    ${print}("configure: status %d, %lu us\n", (int)status, microseconds(start));
}
