static scn_status scn_check(const void *blob, size_t size)
{
    const uint32_t *const words = (const uint32_t *)blob;
    scn_reading seen = {0u, 0xffffffffu, 0, 0};
    uint32_t count;
    if (!blob || (uintptr_t)blob % sizeof(uint32_t) != 0 || size < 4u * SCN_HEAD) {
        return SCN_BAD_BLOB;
    }
    count = scn_stated(words, size);
    if (count == 0) {
        return SCN_BAD_BLOB;
    }
    scn_look(&seen, words, count);
    return scn_verdict(&seen, words[count]);
}

/* Nothing is read of a blob any more once another one, or none, has taken its place. */
static scn_status scn_exchange(@NAME@_state *s, const uint32_t *blob)
{
    if (!scn_hold(s)) {
        return SCN_BUSY;
    }
@HOLD ALL@    s->blob = blob;
@UNCONFIGURE@@FREE ALL@    scn_release(s);
    return SCN_OK;
}

scn_status @NAME@_load(@STATE@const void *blob, size_t size)
{
@OWN@    const scn_status status = scn_check(blob, size);
    return status == SCN_OK ? scn_exchange(s, (const uint32_t *)blob) : status;
}

scn_status @NAME@_unload(@STATE ALONE@)
{
@OWN@    return scn_exchange(s, 0);
}
