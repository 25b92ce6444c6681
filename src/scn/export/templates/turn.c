/* Three angles in degrees, in the YZ, XZ and XY planes, to a rotation matrix, row by row. */
static void scn_turn(const float *degrees, float *out)
{
    float a[2], b[2], c[2], first[3], second[3];
    int i;
    scn_circle(degrees[0], a);
    scn_circle(degrees[1], b);
    scn_circle(degrees[2], c);
    first[0] = b[0];
    first[1] = -b[1] * a[1];
    first[2] = -b[1] * a[0];
    second[0] = 0.0f;
    second[1] = a[0];
    second[2] = -a[1];
    for (i = 0; i < 3; i++) {
        out[i] = c[0] * first[i] - c[1] * second[i];
        out[3 + i] = c[1] * first[i] + c[0] * second[i];
    }
    out[6] = b[1];
    out[7] = b[0] * a[1];
    out[8] = b[0] * a[0];
}
