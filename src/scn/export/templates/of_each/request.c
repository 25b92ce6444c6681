@HEAD@
{
    @NAME@_wishes *const wishes = @WISHES@;
    uint32_t place = 0, before;
    int i;
    while (scn_swap(&wishes->taken[place], 1)) {
        place++;
        if (place == SCN_WISHES) {
            return SCN_BUSY;
        }
    }
    for (i = 0; i < SCN_ALPHA; i++) {
        wishes->alpha[place][i] = alpha[i];
    }
@LIFTS@    before = scn_swap(&wishes->latest, place + 1);
    if (before) { /* nobody saw that one, and nobody need */
        scn_set(&wishes->taken[before - 1], 0);
    }
    return SCN_OK;
}
@REQUEST@
scn_status @NAME@_poll(@STATE ALONE@)
{
    @NAME@_wishes *const wishes = @WISHES@;
    scn_status status = SCN_OK;
    uint32_t mine;
    if (scn_swap(&wishes->polling, 1)) {
        return SCN_BUSY;
    }
    mine = scn_swap(&wishes->latest, 0);
    if (mine) {
        status = @NAME@_configure(@S@wishes->alpha[mine - 1]);
@LIFTED@        /* What could not be done now waits, unless a later wish is there. */
        if (@DONE@ || !scn_fill(&wishes->latest, mine)) {
            scn_set(&wishes->taken[mine - 1], 0);
        }
    }
    scn_set(&wishes->polling, 0);
    return status;
}
