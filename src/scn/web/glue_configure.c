
static float scn_params[${NAME}_PARAMS], scn_alpha[${NAME}_ALPHA_SIZE], scn_beta[${NAME}_DIMS];

SCN_EXPORT("params") float *web_params(void) { return scn_params; }
SCN_EXPORT("alpha") float *web_alpha(void) { return scn_alpha; }
SCN_EXPORT("beta") float *web_beta(void) { return scn_beta; }
SCN_EXPORT("mixture") int web_mixture(void) { return (int)${name}_beta(scn_alpha, scn_beta); }
SCN_EXPORT("configure") int web_configure(void) { return (int)${name}_configure(scn_alpha); }
