/* The rows of the only base model that is mixed, where they can be used as they are; null elsewhere. */
static const SCN_BASE *scn_alone(const scn_rows *m, const scn_few *beta, const SCN_BASE *base)
{
    const int alike = m->bases > 1 && !m->gain && beta->count == 1 && beta->share[0] == 1.0f;
    return alike ? base + beta->which[0] * m->stride : 0;
}
