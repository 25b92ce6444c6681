
static void configure(const float params[${NAME}_PARAMS]) {
    float alpha[${NAME}_ALPHA_SIZE];
    const int64_t start = esp_timer_get_time();
    scn_status status = ${name}_encode(params, alpha);
    if (status == SCN_OK) status = ${name}_configure(alpha);
    printf("configure: status %d, %lld us\n", (int)status, (long long)(esp_timer_get_time() - start));
}
