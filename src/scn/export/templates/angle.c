/* The angle of (cosine, sine) as a part of a whole turn, from 0 to 1. Exact at multiples of 45 degrees. */
static float scn_part_of_turn(const float *circle)
{
    const float x = circle[0] < 0.0f ? -circle[0] : circle[0], y = circle[1] < 0.0f ? -circle[1] : circle[1];
    const float least = x < y ? x : y, most = x < y ? y : x;
    const int near = least > 0.414213562f * most; /* the angle is nearer to 45 degrees than to an axis */
    const float z = near ? (least - most) / (least + most) : most > 0.0f ? least / most : 0.0f;
    const float s = z * z;
    float part = z * 0.159154943f *
                 (1.0f - s * (0.333333333f - s * (0.2f - s * (0.142857143f - s * (0.111111111f -
                  s * (0.0909090909f - s * 0.0769230769f))))));
    part = near ? part + 0.125f : part;
    part = x < y ? 0.25f - part : part;
    part = circle[0] < 0.0f ? 0.5f - part : part;
    return circle[1] < 0.0f ? 1.0f - part : part;
}
