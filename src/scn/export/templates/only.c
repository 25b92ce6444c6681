static const uint16_t scn_only[1] = {0}; /* of weights that do not depend on alpha */
