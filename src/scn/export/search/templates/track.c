/* One parameter of the grid: what moves by 0, 1, ... values weigh, and what all moves from each value add up to. */
typedef struct {
    const float *kernel, *norms;
    float low, span;
    int circle, steps, reach;
} scn_axis;

static const scn_axis scn_axes[@UPPER@_PARAMS] = {@AXES@};

/* The way from one value to another; on a circle the shorter one. */
static float scn_offset_on(const scn_axis *axis, float from, float to)
{
    const float way = to - from, half = 0.5f * axis->span;
    if (!axis->circle) {
        return way;
    }
    return way < -half ? way + axis->span : way >= half ? way - axis->span : way;
}

static int scn_is_near(const scn_axis *axis, float a, float b)
{
    float apart = (a - b) / axis->span;
    apart = apart < 0.0f ? -apart : apart;
    apart = axis->circle && 1.0f - apart < apart ? 1.0f - apart : apart;
    return apart <= @NEAR@;
}

static float scn_bounded(const scn_axis *axis, float value)
{
    const float high = axis->low + axis->span;
    if (axis->circle) {
        return value < axis->low ? value + axis->span : value >= high ? value - axis->span : value;
    }
    return value < axis->low ? axis->low : value > high ? high : value;
}

/* The square root of what is not far above 1, by the logarithm. */
static float scn_root(float x)
{
    return x > FLT_MIN ? scn_exp(0.5f * scn_log(x)) : 0.0f;
}

/* The setting may have moved: the belief spreads along one parameter, whose values are `stride` apart. */
static void scn_drift(const scn_axis *axis, int stride, float *belief, float *before)
{
    const int n = axis->steps, least = axis->circle && 2 * axis->reach == n ? 1 - axis->reach : -axis->reach;
    int c, move;
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        before[c] = belief[c] / axis->norms[c / stride % n];
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        const int place = c / stride % n;
        float sum = 0.0f;
        for (move = least; move <= axis->reach; move++) {
            int from = place + move;
            if (axis->circle) {
                from = from < 0 ? from + n : from >= n ? from - n : from;
            } else if (from < 0 || from >= n) {
                continue;
            }
            sum += axis->kernel[move < 0 ? -move : move] * before[c + (from - place) * stride];
        }
        belief[c] = sum;
    }
}

/* What is believed before the next input. */
static void scn_expect(@NAME@_state *s)
{
    int c, axis, stride = 1;
    for (c = 0; !s->track_begun[0] && c < @UPPER@_CANDIDATES; c++) {
        s->track_belief[c] = 1.0f / @UPPER@_CANDIDATES;
    }
    s->track_begun[0] = 1;
    for (axis = @UPPER@_PARAMS - 1; axis >= 0; axis--) {
        scn_drift(&scn_axes[axis], stride, s->track_belief, s->search_doubts);
        stride *= scn_axes[axis].steps;
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        s->track_belief[c] = @STAYS@ * s->track_belief[c] + @JUMPS@;
    }
}

/* What is believed after it, by the doubts of each candidate. */
static void scn_believe(@NAME@_state *s)
{
    float most = -FLT_MAX, sum = 0.0f;
    int c;
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        float *const level = s->search_doubts + c, belief = s->track_belief[c];
        *level = belief > FLT_MIN ? scn_log(belief) - *level * @COLD@ : -FLT_MAX;
        most = *level > most ? *level : most;
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        s->track_belief[c] = scn_exp(s->search_doubts[c] - most);
        sum += s->track_belief[c];
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        s->track_belief[c] /= sum;
    }
}

/* The mean of the belief around its peak, the deviation of all of it, and whether most of it is elsewhere. */
static void scn_believed(const @NAME@_state *s, float *params, float *spread, int *lost)
{
    float mean[@UPPER@_PARAMS], inside = 0.0f;
    int best = 0, c, p;
    for (c = 1; c < @UPPER@_CANDIDATES; c++) {
        best = s->track_belief[c] > s->track_belief[best] ? c : best;
    }
    for (p = 0; p < @UPPER@_PARAMS; p++) {
        mean[p] = 0.0f;
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        const float *const from = scn_candidate_params + best * @UPPER@_PARAMS;
        const float *const to = scn_candidate_params + c * @UPPER@_PARAMS;
        int is_near = 1;
        for (p = 0; p < @UPPER@_PARAMS; p++) {
            is_near = is_near && scn_is_near(&scn_axes[p], from[p], to[p]);
        }
        for (p = 0; is_near && p < @UPPER@_PARAMS; p++) {
            mean[p] += s->track_belief[c] * scn_offset_on(&scn_axes[p], from[p], to[p]);
        }
        inside += is_near ? s->track_belief[c] : 0.0f;
    }
    for (p = 0; p < @UPPER@_PARAMS; p++) {
        const scn_axis *const axis = &scn_axes[p];
        const float peak = scn_candidate_params[best * @UPPER@_PARAMS + p];
        float square = 0.0f;
        mean[p] /= inside;
        for (c = 0; c < @UPPER@_CANDIDATES; c++) {
            const float to = scn_candidate_params[c * @UPPER@_PARAMS + p];
            const float off = (scn_offset_on(axis, peak, to) - mean[p]) / axis->span;
            square += s->track_belief[c] * off * off;
        }
        params[p] = scn_bounded(axis, peak + mean[p]);
        if (spread) {
            spread[p] = axis->span * scn_root(square);
        }
    }
    if (lost) {
        *lost = inside < @ENOUGH@;
    }
}

scn_status @NAME@_track_begin(@STATE ALONE@)
{
@OWN@@TAKEN@    s->track_begun[0] = 0;
@FREED@    return SCN_OK;
}

scn_status @NAME@_track(@STATE@const float *x, float *params, float *spread, int *lost)
{
    int usable;
@OWN@@TAKEN@    scn_expect(s);
    usable = scn_finite(x, @UPPER@_INPUT_SIZE) && scn_doubts(s, x);
    if (usable) {
        scn_believe(s);
    }
    scn_believed(s, params, spread, lost);
@FREED@    return usable ? SCN_OK : SCN_BAD_INPUT;
}
