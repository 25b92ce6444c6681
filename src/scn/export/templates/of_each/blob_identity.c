scn_status @NAME@_identity(@STATE@scn_identity *identity)
{
@OWN@    if (!scn_hold(s)) {
        return SCN_BUSY;
    }
    if (!@LOADED@) {
        scn_release(s);
        return SCN_NOT_LOADED;
    }
    identity->api_version = @UPPER@_API_VERSION;
    identity->format_version = @UPPER@_FORMAT_VERSION;
    identity->model_hash = (const char *)SCN_AT(uint32_t, 10);
    identity->made_by = (const char *)SCN_AT(uint32_t, 15);
    scn_release(s);
    return SCN_OK;
}
