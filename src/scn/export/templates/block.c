/* Rows come in blocks of 4, then 2, then 1. */
static int scn_block(int rows)
{
    return rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}
