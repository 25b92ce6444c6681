SCN_EXPORT("encode") int web_encode(void) { return (int)${name}_encode(scn_params, scn_alpha); }
