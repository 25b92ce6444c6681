/* Rows come in blocks of 4, then 2, then 1. */
#define SCN_BLOCK(rows) ((rows) >= 4 ? 4 : (rows) >= 2 ? 2 : 1)
