static int scn_nearest_turn(const float *turn, const float *places)
{
    float most = scn_agreement(turn, places);
    int i, nearest = 0;
    for (i = 1; i < SCN_DIMS; i++) {
        const float agreement = scn_agreement(turn, places + 9 * i);
        if (agreement > most) {
            most = agreement;
            nearest = i;
        }
    }
    return nearest;
}
