#include "model/embedding.h"

#include <string.h>

#include "base/memory.h"
#include "base/parts.h"

void positions_init(Positions *p, int rows, int width) {
    *p = (Positions){rows, width, memory_alloc((size_t)rows * (size_t)width, sizeof(real), "position table")};
    for (int pos = 0; pos < rows; pos++) position_row(p->table + (size_t)pos * width, pos, width);
}

void positions_free(Positions *p) {
    memory_free(p->table);
    *p = (Positions){0};
}

void position_row(real *row, int pos, int D) {
    int half = D / 2;
    for (int j = 0; j < half; j++) {
        double angle = pos / pow(10000.0, 2.0 * j / D);
        row[j] = (real)sin(angle);
        row[half + j] = (real)cos(angle);
    }
}

/* m_n: 1 without word dropout and for <s> and </s>, else 0 or 1/keep. */
static real word_mask(int n, int id, const DropoutSite *words) {
    return words == NULL || id == ID_BOS || id == ID_EOS ? 1 : dropout_word(n, words);
}

void embedding_forward(real *x, const int *ids, const Packed *rows, int first, const Embedding *p,
                       const Positions *positions, const DropoutSite *words) {
    int D = p->width;
    real root = sqrt((real)D);
    part_begin(PART_EMBEDDING);
    for (int s = 0; s < rows->sentences; s++) {
        for (int n = rows->offset[s]; n < rows->offset[s + 1]; n++) {
            real *x_n = x + (size_t)n * D;
            const real *E_n = p->E + (size_t)ids[n] * D;
            real scale = root * word_mask(n, ids[n], words);
            int pos = first + n - rows->offset[s];
            if (pos < positions->rows)
                memcpy(x_n, positions->table + (size_t)pos * D, (size_t)D * sizeof(real));
            else
                position_row(x_n, pos, D);
            for (int d = 0; d < D; d++) x_n[d] += scale * E_n[d];
        }
    }
    part_end();
}

/* Forward     x_nd = sqrt(D) m_n E[id_n]_d + position_nd,  m_n from word dropout, independent of E
 * Given       dx.   Wanted  dE.
 * Derivation  Row v of E is read by every n with id_n = v:  dE_vd = sqrt(D) sum_{n: id_n = v} m_n dx_nd.
 *             Positions are constants. A tied matrix receives this on top of the output layer's gradient.
 * Saved       nothing but the ids: the mask is drawn again. */
void embedding_backward(Embedding *dp, const real *dx, const int *ids, int N, const DropoutSite *words) {
    int D = dp->width;
    real root = sqrt((real)D);
    part_begin(PART_EMBEDDING);
    for (int n = 0; n < N; n++) {
        real *dE_n = dp->E + (size_t)ids[n] * D;
        const real *dx_n = dx + (size_t)n * D;
        real scale = root * word_mask(n, ids[n], words);
        for (int d = 0; d < D; d++) dE_n[d] += scale * dx_n[d];
    }
    part_end();
}
