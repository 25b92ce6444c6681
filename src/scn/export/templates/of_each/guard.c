typedef struct {
    float low, high; /* of a reading */
    float period;    /* after which values return; 0 where they do not */
    float at_once;   /* how far a good reading may be from another */
    float per_ms;    /* and how much farther for each millisecond between */
    float step;      /* a change up to this configures nothing */
    float neutral;
    uint32_t on_range, on_rate;
} scn_limit;

static const scn_limit scn_limits[@PARAMS@] = {
@LIMITS@};

/* How long ago a moment was. A clock that went back starts anew; what is very long ago stays so. */
static uint32_t scn_age(uint32_t *since, uint32_t now)
{
    const uint32_t age = now - *since;
    if (age >= 0x80000000u) {
        *since = now;
        return 0;
    }
    if (age > @LONGEST@u) {
        *since = now - @LONGEST@u;
        return @LONGEST@u;
    }
    return age;
}

static float scn_apart(const scn_limit *limit, float a, float b)
{
    const float period = limit->period;
    float apart = a < b ? b - a : a - b;
    if (period > 0.0f) {
        while (apart >= period) {
            apart -= period;
        }
        apart = period - apart < apart ? period - apart : apart;
    }
    return apart;
}

/* 0 if all values are possible, else 1 + the strictest action for those that are not. */
static uint32_t scn_outside(const float *params)
{
    uint32_t found = 0;
    int i;
    for (i = 0; i < @PARAMS@; i++) {
        const scn_limit *const limit = &scn_limits[i];
        if (!scn_finite(params + i, 1) || !(params[i] >= limit->low && params[i] <= limit->high)) {
            found = limit->on_range >= found ? limit->on_range + 1u : found;
        }
    }
    return found;
}

/* The same, of values that cannot have changed so much in this time. */
static uint32_t scn_jumped(const float *params, const float *others, uint32_t ms)
{
    uint32_t found = 0;
    int i;
    for (i = 0; i < @PARAMS@; i++) {
        const scn_limit *const limit = &scn_limits[i];
        const float beyond = scn_apart(limit, params[i], others[i]) - limit->at_once;
        if (!(beyond <= limit->per_ms * (float)(ms + 1u))) {
            found = limit->on_rate >= found ? limit->on_rate + 1u : found;
        }
    }
    return found;
}

static void scn_force(@NAME@_guarded *guarded, uint32_t action)
{
    if (action > guarded->strictest) {
        guarded->strictest = action;
    }
}

static void scn_keep(float *to, const float *params)
{
    int i;
    for (i = 0; i < @PARAMS@; i++) {
        to[i] = params[i];
    }
}

static void scn_watch(@NAME@_guarded *guarded, uint32_t now_ms)
{
    if (!guarded->started) {
        guarded->started = 1;
        guarded->good_at = now_ms;
    }
    if (scn_age(&guarded->good_at, now_ms) >= @TIMEOUT@u) {
        guarded->timed_out = 1;
        scn_force(guarded, @ON TIMEOUT@);
    }
}

static scn_guard_status scn_judged(@NAME@_guarded *guarded, const float *params, uint32_t now_ms)
{
    const uint32_t wrong = scn_outside(params);
    uint32_t jumped = 0;
    int agrees;
    if (wrong) {
        scn_force(guarded, wrong - 1u);
        guarded->count = 0;
        return SCN_GUARD_RANGE;
    }
    if (guarded->known) {
        jumped = scn_jumped(params, guarded->good, scn_age(&guarded->good_at, now_ms));
    }
    if (!jumped && guarded->strictest == SCN_KEEP) {
        return SCN_GUARD_OK;
    }
    agrees = guarded->count &&
             !scn_jumped(params, guarded->candidate, scn_age(&guarded->candidate_at, now_ms));
    guarded->count = agrees ? guarded->count + 1u : 1u;
    scn_keep(guarded->candidate, params);
    guarded->candidate_at = now_ms;
    if (guarded->count >= @RECOVER@u) {
        return SCN_GUARD_OK;
    }
    if (agrees || !jumped) {
        return SCN_GUARD_WAITING;
    }
    scn_force(guarded, jumped - 1u);
    return SCN_GUARD_RATE;
}

static void scn_accept(@NAME@_guarded *guarded, const float *params, uint32_t now_ms)
{
    int moved = !guarded->settled, i;
    for (i = 0; i < @PARAMS@; i++) {
        moved |= scn_apart(&scn_limits[i], params[i], guarded->configured[i]) > scn_limits[i].step;
    }
    scn_keep(guarded->good, params);
    guarded->known = 1;
    guarded->good_at = now_ms;
    guarded->strictest = SCN_KEEP;
    guarded->timed_out = 0;
    guarded->count = 0;
    if (moved) {
        scn_keep(guarded->configured, params);
        guarded->settled = 1;
        guarded->owed = 1;
    }
}

/* What follows from an action that was not in force before. */
static void scn_follow(@NAME@_guarded *guarded, uint32_t before)
{
    int i;
    if (guarded->strictest == before) {
        return;
    }
    if (guarded->strictest == SCN_NEUTRAL) {
        for (i = 0; i < @PARAMS@; i++) {
            guarded->configured[i] = scn_limits[i].neutral;
        }
        guarded->settled = 1;
        guarded->owed = 1;
        return;
    }
    guarded->settled = 0;
    guarded->owed = 0;
    scn_set(&guarded->refused, scn_get(&guarded->refused) + 1u);
}

/* Publish what was decided. A wish that finds no place is left by the next call. */
static void scn_publish(@STATE@@NAME@_guarded *guarded)
{
    float alpha[SCN_ALPHA];
@AGAIN@    if (guarded->owed && @NAME@_encode(guarded->configured, alpha) == SCN_OK) {
        guarded->owed = scn_leave(@S@alpha, scn_get(&guarded->refused)) != SCN_OK;
    }
    scn_set(&guarded->in_force, guarded->strictest);
    scn_set(&guarded->guarding, 0);
}

scn_guard_status @NAME@_guard(@STATE@const float *params, uint32_t now_ms)
{
    @NAME@_guarded *const guarded = @GUARDED@;
    float reading[@PARAMS@]; /* what the caller has may change meanwhile */
    scn_guard_status status;
    uint32_t before;
    int i;
    if (scn_swap(&guarded->guarding, 1)) {
        return SCN_GUARD_BUSY;
    }
    for (i = 0; i < @PARAMS@; i++) {
        reading[i] = (uintptr_t)params % sizeof(float) == 0 ? params[i] : FLT_MAX;
    }
    before = guarded->strictest;
    scn_watch(guarded, now_ms);
    status = scn_judged(guarded, reading, now_ms);
    if (status == SCN_GUARD_OK) {
        scn_accept(guarded, reading, now_ms);
    } else {
        scn_follow(guarded, before);
    }
    scn_publish(@S@guarded);
    return status;
}

scn_guard_status @NAME@_guard_tick(@STATE@uint32_t now_ms)
{
    @NAME@_guarded *const guarded = @GUARDED@;
    scn_guard_status status;
    uint32_t before;
    if (scn_swap(&guarded->guarding, 1)) {
        return SCN_GUARD_BUSY;
    }
    before = guarded->strictest;
    scn_watch(guarded, now_ms);
    status = guarded->timed_out ? SCN_GUARD_TIMEOUT : SCN_GUARD_OK;
    scn_follow(guarded, before);
    scn_publish(@S@guarded);
    return status;
}

scn_guard_policy @NAME@_guard_policy(@STATE ALONE@)
{
    @NAME@_guarded *const guarded = @GUARDED@;
    const uint32_t found = scn_get(&guarded->in_force);
    return found == SCN_KEEP ? SCN_KEEP : found == SCN_NEUTRAL ? SCN_NEUTRAL : SCN_REFUSE;
}
