scn_status @NAME@_selftest(@HEAD@)
{
    const float near_by = @NEAR@;
    int test, i;
    for (test = 0; test < @TESTS@; test++) {
        const float *const expected = scn_test_outputs + test * @OUTPUTS@;
        uint32_t seed = (uint32_t)test + 1u;
        scn_status status = @CONFIGURE@;
        for (i = 0; i < @INPUTS@; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (float)(int32_t)(seed >> 24) / 128.0f - 1.0f;
        }
        status = status == SCN_OK ? @INFER@ : status;
        if (status != SCN_OK) {
            return status;
        }
        for (i = 0; i < @OUTPUTS@; i++) {
            const float off = @outputs@[i] - expected[i];
            if (!(off >= -near_by && off <= near_by)) {
                return SCN_FAILED;
            }
        }
    }
    return SCN_OK;
}
