#include "decoding/greedy.h"

#include "base/memory.h"

uint8_t *decode_banned(int vocab) {
    uint8_t *banned = memory_alloc((size_t)vocab, 1, "banned ids");
    banned[ID_BOS] = banned[ID_PAD] = banned[ID_UNK] = 1;
    for (int byte = 0; byte < 0x20 && ID_FIRST_BYTE + byte < vocab; byte++) banned[ID_FIRST_BYTE + byte] = 1;
    return banned;
}

/* The most probable id that may be emitted; the smallest of equals. `first`: the end of the sentence is not allowed. */
static int best_id(const real *logits, const uint8_t *banned, bool first, int V) {
    int best = -1;
    for (int v = 0; v < V; v++) {
        if (banned[v] || (first && v == ID_EOS)) continue;
        if (best < 0 || logits[v] > logits[best]) best = v;
    }
    return best;
}

int decode_most_tokens(const DecodeLimits *limits, int source_length) {
    double most = limits->max_length_factor * source_length + limits->max_length_extra;
    return most < 1 ? 1 : most > 1e6 ? 1000000 : (int)most;
}

void greedy_decode(Hypothesis *out, const StepModel *m, const int *source_ids, Packed source,
                   const DecodeLimits *limits, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int V = m->p->config.target_vocab, rows = source.sentences, longest = 0;
    for (int s = 0; s < rows; s++) {
        int most = decode_most_tokens(limits, packed_length(&source, s));
        longest = most > longest ? most : longest;
        out[s] = (Hypothesis){memory_alloc((size_t)most, sizeof(int), "translation"), 0, 0, 0};
    }
    StepCache cache = step_begin(m, source_ids, source, 1, longest, arena);
    real *logits = arena_reals(arena, "logits", rows, V);
    StepRows row = {rows, arena_array(arena, int, "slots", rows), arena_array(arena, StepToken, "last tokens", rows)};
    for (int s = 0; s < rows; s++) {
        row.slot[s] = s;
        row.token[s] = (StepToken){.id = ID_BOS, .parent = s};
    }
    while (row.count > 0) {
        step_forward(logits, &cache, m, &row, arena);
        int going = 0; /* rows that are not finished close up, in order */
        for (int r = 0; r < row.count; r++) {
            int slot = row.slot[r];
            Hypothesis *h = &out[slot];
            int id = best_id(logits + (size_t)r * V, limits->banned, h->count == 0, V);
            if (id == ID_EOS) continue;
            h->ids[h->count++] = id;
            if (h->count == decode_most_tokens(limits, packed_length(&source, slot))) continue;
            row.slot[going] = slot;
            row.token[going++] = (StepToken){.id = id, .parent = slot};
        }
        row.count = going;
    }
    arena_release(arena, mark);
}
