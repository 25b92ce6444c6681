/*
 * The weights: one file in words of 32 bits, little-endian. Its head is as the structure of this network has it,
 * but for the hash of the weights and who made it; the CRC-32 of all before it is its last word.
 */
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a blob of weights is little-endian, and this core is not: export with --weights-in code"
#endif
#define SCN_HEAD @HEAD WORDS@u
#define SCN_IS_FREE(at) (((at) >= 10u && (at) < 14u) || ((at) >= 15u && (at) < 22u))

static const uint32_t scn_head[SCN_HEAD] = {
    @HEAD@};

/* What was seen of a blob so far, word by word. */
typedef struct {
    uint32_t at, crc;
    int is_other, is_bad;
} scn_reading;

static uint32_t scn_crc(uint32_t crc, uint32_t word)
{
    static const uint32_t of_four_bits[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
        0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    int i;
    crc ^= word;
    for (i = 0; i < 8; i++) {
        crc = (crc >> 4) ^ of_four_bits[crc & 15u];
    }
    return crc;
}

@IN RANGE@/* Whether the code is defined for a word of the blob: finite numbers, and whole ones in their range. */
static int scn_is_possible(uint32_t at, uint32_t word)
{
@POSSIBLE@
    return 1;
}

static void scn_look(scn_reading *seen, const uint32_t *words, uint32_t count)
{
    for (; count > 0; count--, seen->at++) {
        const uint32_t word = *words++, at = seen->at;
        seen->crc = scn_crc(seen->crc, word);
        if (at < SCN_HEAD) {
            seen->is_other |= !SCN_IS_FREE(at) && word != scn_head[at];
        } else {
            seen->is_bad |= !scn_is_possible(at, word);
        }
    }
}

/* The words before the CRC that a head states, or 0 if it is none or more than there is. */
static uint32_t scn_stated(const uint32_t *head, size_t size)
{
    const int is_blob = head[0] == scn_head[0] && head[1] == scn_head[1] && head[2] == scn_head[2];
    const uint32_t bytes = head[5];
    return is_blob && bytes % 4u == 0 && bytes > 4u * SCN_HEAD && bytes <= size ? bytes / 4u - 1u : 0u;
}

static scn_status scn_verdict(const scn_reading *seen, uint32_t crc)
{
    if (crc != ~seen->crc) {
        return SCN_BAD_BLOB;
    }
    return seen->is_other ? SCN_OTHER_NETWORK : seen->is_bad ? SCN_BAD_BLOB : SCN_OK;
}
