/* The coefficients that are not zero, or any one if all are; returns 0 if one is not a number. */
SCN_KERNEL static int scn_collect(const float *beta, scn_few *few)
{
    int i, count = 0;
    few->which[0] = 0;
    few->share[0] = 0.0f;
    for (i = 0; i < SCN_DIMS; i++) {
        const float share = beta[i];
        if (share != 0.0f) {
            if (!(share >= -FLT_MAX && share <= FLT_MAX)) {
                return 0;
            }
            few->which[count] = (uint16_t)i;
            few->share[count] = share;
            count++;
        }
    }
    few->count = count ? count : 1;
    return 1;
}
