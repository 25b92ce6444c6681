#define SCN_PIECE 64u

/* Look through all words up to `end`; with `to`, also keep them. */
static int scn_look_through(scn_read read, void *context, scn_reading *seen, uint32_t end, uint32_t *to)
{
    uint32_t piece[SCN_PIECE], i;
    while (seen->at < end) {
        const uint32_t at = seen->at, count = end - at < SCN_PIECE ? end - at : SCN_PIECE;
        if (read(context, 4u * at, piece, 4u * count) != 0) {
            return 0;
        }
        for (i = 0; to && i < count; i++) {
            to[at + i] = piece[i];
        }
        scn_look(seen, piece, count);
    }
    return 1;
}

/* Look through a whole blob; returns the CRC of what will be kept of it as well. */
static scn_status scn_check(scn_read read, void *context, size_t size, uint32_t *kept)
{
    scn_reading seen = {0u, 0xffffffffu, 0, 0};
    uint32_t head[SCN_HEAD], count, crc;
    if (!read || size < sizeof head || read(context, 0u, head, (uint32_t)sizeof head) != 0) {
        return SCN_BAD_BLOB;
    }
    count = scn_stated(head, size);
    if (count == 0 || !scn_look_through(read, context, &seen, count < SCN_KEPT ? count : SCN_KEPT, 0)) {
        return SCN_BAD_BLOB;
    }
    *kept = seen.crc;
    if (!scn_look_through(read, context, &seen, count, 0) || read(context, 4u * count, &crc, 4u) != 0) {
        return SCN_BAD_BLOB;
    }
    return scn_verdict(&seen, crc);
}

scn_status @NAME@_load_from(@STATE@scn_read read, void *context, size_t size)
{
@OWN@    scn_reading seen = {0u, 0xffffffffu, 0, 0};
    uint32_t kept = 0u;
    scn_status status = scn_check(read, context, size, &kept);
    if (status != SCN_OK) {
        return status;
    }
    if (!scn_hold(s)) {
        return SCN_BUSY;
    }
@HOLD ALL@    s->from.read = 0;
@UNCONFIGURE@    if (scn_look_through(read, context, &seen, SCN_KEPT, s->kept.of_uint32_t) && seen.crc == kept) {
        s->from.read = read;
        s->from.context = context;
    } else { /* it was another one a moment before */
        status = SCN_BAD_BLOB;
    }
@FREE ALL@    scn_release(s);
    return status;
}

scn_status @NAME@_unload(@STATE ALONE@)
{
@OWN@    if (!scn_hold(s)) {
        return SCN_BUSY;
    }
@HOLD ALL@    s->from.read = 0;
@UNCONFIGURE@@FREE ALL@    scn_release(s);
    return SCN_OK;
}
