/* The outputs of the network under the coefficients of one candidate. */
static void scn_shown(@NAME@_state *s, @X@@beta@)
{
@EACH@
}

/* How badly each candidate explains x; returns whether all outputs are finite. */
static int scn_doubts(@NAME@_state *s, const float *x)
{
    int c;
@ONCE@
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
@SHOWN@
        if (!scn_finite(s->search_outputs, @UPPER@_@SIZE@)) {
            return 0;
        }
        s->search_doubts[c] = scn_doubt(s->search_outputs, @UPPER@_@SIZE@);
    }
    return 1;
}
