/* The rows of the only base model that is mixed, used as they are: its step holds its share. Else null. */
static const int8_t *scn_alone(const scn_rows *m, const scn_few *beta, const int8_t *base)
{
    return beta->count == 1 && beta->share[0] > 0.0f ? base + beta->which[0] * m->stride : 0;
}
