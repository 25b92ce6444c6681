scn_status @NAME@_search_begin(@STATE ALONE@)
{
    int i;
@OWN@@TAKEN@    s->search_count[0] = 0;
    for (i = 0; i < @SUMS@; i++) {
        s->search_sums[i] = 0.0f;
    }
@FREED@    return SCN_OK;
}

scn_status @NAME@_search_add(@STATE@const float *x)
{
    int usable;
@OWN@    if (!scn_finite(x, @UPPER@_INPUT_SIZE)) {
        return SCN_BAD_INPUT;
    }
@TAKEN@    usable = scn_heard(s, x);
    s->search_count[0] += usable ? 1u : 0u;
@FREED@    return usable ? SCN_OK : SCN_BAD_INPUT;
}

scn_status @NAME@_search_end(@STATE@float *params, float *alpha)
{
    uint32_t count;
@OWN@@TAKEN@    count = s->search_count[0];
    if (count) {
        scn_found(s, params, alpha);
    }
@FREED@    return count ? SCN_OK : SCN_BAD_INPUT;
}
