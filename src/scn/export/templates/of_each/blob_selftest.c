/* The alpha of a test, if there is one, or how far its outputs are from those in the blob. */
static scn_status scn_test(@NAME@_state *s, int test, float *alpha, const float *outputs)
{
    scn_status status = SCN_OK;
    int i;
    if (!scn_hold(s)) {
        return SCN_BUSY;
    }
    if (!@LOADED@) {
        status = SCN_NOT_LOADED;
    } else if (!outputs) {
@ALPHAS@
    } else {
        const float near_by = *scn_test_near;
        for (i = 0; i < @OUTPUTS@; i++) {
            const float off = outputs[i] - scn_test_outputs[test * @OUTPUTS@ + i];
            status = off >= -near_by && off <= near_by ? status : SCN_FAILED;
        }
    }
    scn_release(s);
    return status;
}

scn_status @NAME@_selftest(@HEAD@)
{
@OWN@    float alpha[@ALPHA SIZE@];
    int test, i;
    for (test = 0; test < @TESTS@; test++) {
        uint32_t seed = (uint32_t)test + 1u;
        scn_status status = scn_test(s, test, alpha, 0);
        for (i = 0; i < @INPUTS@; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (float)(int32_t)(seed >> 24) / 128.0f - 1.0f;
        }
        @CONFIGURE@
        status = status == SCN_OK ? @INFER@ : status;
        status = status == SCN_OK ? scn_test(s, test, alpha, @outputs@) : status;
        if (status != SCN_OK) {
            return status;
        }
    }
    return SCN_OK;
}
