/* The coefficients that are not zero, or any one if all are; returns 0 if one is not a number. */
SCN_KERNEL static int scn_collect(const float *beta, scn_few *few)
{
    int i = 0, count = 0;
    few->which[0] = 0;
    few->share[0] = 0.0f;
    while (i < SCN_DIMS) {
        const float *const here = beta + i;
        if (i + 4 <= SCN_DIMS && here[0] == 0.0f && here[1] == 0.0f && here[2] == 0.0f && here[3] == 0.0f) {
            i += 4;
            continue;
        }
        if (!scn_finite(here, 1)) {
            return 0;
        }
        if (*here != 0.0f) {
            few->which[count] = (uint16_t)i;
            few->share[count] = *here;
            count++;
        }
        i++;
    }
    few->count = count ? count : 1;
    return 1;
}
