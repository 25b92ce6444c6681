/* The places on both sides of a value of alpha, and the part of the second one. */
typedef struct {
    int before, after;
    float share;
} scn_around;
