static float scn_size(float value)
{
    return value < 0.0f ? -value : value;
}

/* Whether rows have length 1 and are at right angles, and the third is the cross product of the others. */
static int scn_is_turn(const float *m)
{
    const float first = m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - 1.0f;
    const float second = m[3] * m[3] + m[4] * m[4] + m[5] * m[5] - 1.0f;
    const float across = m[0] * m[3] + m[1] * m[4] + m[2] * m[5];
    const float x = m[1] * m[5] - m[2] * m[4] - m[6], y = m[2] * m[3] - m[0] * m[5] - m[7];
    const float z = m[0] * m[4] - m[1] * m[3] - m[8];
    return scn_size(first) + scn_size(second) + scn_size(across) + scn_size(x) + scn_size(y) + scn_size(z) <= 0.02f;
}
