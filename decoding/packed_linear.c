#include "decoding/packed_linear.h"

#include <assert.h>

#include "base/memory.h"
#include "base/vec.h"
#include "model/tile.h"

static size_t panel_size(const PackedLinear *p) { return (size_t)p->in * TILE_WIDE; }

void packed_linear_init(PackedLinear *packed, const Linear *p) {
    *packed = (PackedLinear){.in = p->in, .out = p->out, .b = p->b};
    size_t panels = (size_t)((p->out + TILE_WIDE - 1) / TILE_WIDE);
    packed->panels = memory_alloc(panels * panel_size(packed), sizeof(real), "packed weights");
    for (int o = 0; o < p->out; o++) {
        real *panel = packed->panels + (size_t)(o / TILE_WIDE) * panel_size(packed);
        for (int i = 0; i < p->in; i++) panel[i * TILE_WIDE + o % TILE_WIDE] = p->W[(size_t)o * p->in + i];
    }
}

void packed_linear_free(PackedLinear *packed) {
    memory_free(packed->panels);
    *packed = (PackedLinear){0};
}

void packed_linear_outputs(real *y, const real *x, const PackedLinear *p, int N, int first, int end) {
    assert(first % TILE_WIDE == 0);
    for (int o = first; o < end; o += TILE_WIDE) {
        const real *panel = p->panels + (size_t)(o / TILE_WIDE) * panel_size(p);
        int cols = end - o < TILE_WIDE ? end - o : TILE_WIDE;
        tile_matmul(y + (o - first), end - first, x, p->in, 1, panel, TILE_WIDE, N, cols, p->in);
    }
}

void packed_linear_forward(real *y, const real *x, const PackedLinear *p, int N) {
    packed_linear_outputs(y, x, p, N, 0, p->out);
    for (int n = 0; p->b && n < N; n++) vec_add(y + (size_t)n * p->out, p->b, p->out);
}
