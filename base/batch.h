/* What a model eats: sentence pairs as ids, laid end to end without padding. */
#ifndef BASE_BATCH_H
#define BASE_BATCH_H

#include <stdint.h>

/* Special ids, the first of every vocabulary. */
enum { ID_BOS = 0, ID_PAD = 1, ID_EOS = 2, ID_UNK = 3, ID_FIRST_BYTE = 4, ID_FIRST_PIECE = 260 };

/* The sentences of one side. Sentence i is rows offset[i] .. offset[i+1]-1; offset[0] is 0. */
typedef struct Packed {
    int sentences;
    int *offset; /* [sentences+1] */
} Packed;

static inline int packed_rows(const Packed *p) { return p->offset[p->sentences]; }
static inline int packed_length(const Packed *p, int i) { return p->offset[i + 1] - p->offset[i]; }

/* A piece: as many sentence pairs as go through the model at a time. */
typedef struct Batch {
    Packed source, target;
    int *source_ids; /* [source rows]  x1 .. xn </s>                          */
    int *target_in;  /* [target rows]  <s> y1 .. ym   the decoder's input     */
    int *target_out; /* [target rows]  y1 .. ym </s>  what it has to predict  */
    int64_t *index;  /* [sentences]    place in the corpus: dropout masks depend on it */
} Batch;

#endif
