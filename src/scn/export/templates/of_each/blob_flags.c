/* Between these two nobody else uses the weights, but an inference with a second theta. */
static int scn_hold(@NAME@_state *s)
{
    return !scn_swap(&s->@FLAG@, 1);
}

static void scn_release(@NAME@_state *s)
{
    scn_set(&s->@FLAG@, 0);
}
