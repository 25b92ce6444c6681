/* The cosine and sine of an angle in degrees, from -3600 to 3600. */
static void scn_circle(float degrees, float *out)
{
    const float quarters = degrees * (1.0f / 90.0f);
    const int n = (int)(quarters < 0.0f ? quarters - 0.5f : quarters + 0.5f);
    const float a = (degrees - 90.0f * (float)n) * 0.0174532925f;
    const float s = a * a;
    const float sine = a * (1.0f - s * (0.166666667f - s * (8.33333333e-3f - s * (1.98412698e-4f - s * 2.75573192e-6f))));
    const float cosine = 1.0f - s * (0.5f - s * (0.0416666667f - s * (1.38888889e-3f - s * 2.48015873e-5f)));

    switch (n & 3) {
    case 0: out[0] = cosine; out[1] = sine; break;
    case 1: out[0] = -sine; out[1] = cosine; break;
    case 2: out[0] = -cosine; out[1] = -sine; break;
    default: out[0] = sine; out[1] = -cosine; break;
    }
}
