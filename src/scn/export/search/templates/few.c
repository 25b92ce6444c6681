/* The base models of a candidate, and the coefficient of each. */
static void scn_candidate(int candidate, scn_few *few)
{
    const int first = candidate * SCN_ENTRIES;
    int i;
    few->count = 0;
    for (i = 0; i < SCN_ENTRIES && (i == 0 || scn_candidate_shares[first + i] != 0.0f); i++) {
        few->which[i] = (uint16_t)scn_candidate_bases[first + i];
        few->share[i] = scn_candidate_shares[first + i];
        few->count++;
    }
}
