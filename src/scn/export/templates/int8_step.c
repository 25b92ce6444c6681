/* The step of a row's mixed weights: the mean of the steps of its base models. */
static int32_t scn_step(const scn_rows *m, @beta@, int row)
{
    const int all = m->groups * m->rows;
    int32_t sum = 0;
    int i;
    for (i = 0; i < @dims@; i++) {
        const int32_t term = scn_whole(@share@ * m->scale[@i@ * all + row], (1 << 30) / SCN_DIMS);
        sum += term < 0 ? -term : term;
    }
    return sum;
}
