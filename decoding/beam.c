#include "decoding/beam.h"

#include <string.h>

#include "base/memory.h"
#include "decoding/candidates.h"

/* A finished hypothesis: the path to place `tokens` of a slot (place 0 holds <s>), then </s>. */
typedef struct Finished {
    int slot, tokens;
    double log_p, score;
} Finished;

typedef struct SentenceSearch {
    int most;       /* tokens without </s> */
    int count;      /* finished */
    Finished *best; /* [N] best first */
} SentenceSearch;

typedef struct Beam {
    const BeamOptions *options;
    StepCache cache;
    StepRows rows, next;    /* of this step and the following */
    double *sum, *next_sum; /* [rows] log-probabilities of the live hypotheses */
    SentenceSearch *search; /* [sentences] */
    Candidates candidates;
    int V, *banned, banned_count;
    bool normalized; /* are sums log-probabilities, or of no account? */
} Beam;

static StepRows rows_new(int most, Arena *arena) {
    return (StepRows){0, arena_array(arena, int, "slots", most), arena_array(arena, StepToken, "last tokens", most)};
}

static Beam beam_new(const StepModel *m, const int *source_ids, Packed source, const DecodeLimits *limits,
                     const BeamOptions *options, Arena *arena) {
    int N = options->beam_size, slots = source.sentences * N, longest = 0;
    Beam b = {.options = options, .V = m->p->config.target_vocab};
    b.search = arena_array(arena, SentenceSearch, "searches", source.sentences);
    for (int s = 0; s < source.sentences; s++) {
        int most = decode_most_tokens(limits, packed_length(&source, s));
        b.search[s] = (SentenceSearch){most, 0, arena_array(arena, Finished, "finished", N)};
        longest = most > longest ? most : longest;
    }
    b.rows = rows_new(slots, arena);
    b.next = rows_new(slots, arena);
    b.sum = arena_array(arena, double, "log-probabilities", slots);
    b.next_sum = arena_array(arena, double, "log-probabilities", slots);
    b.normalized = N > 1 || options->scores;
    b.banned = arena_array(arena, int, "banned ids", b.V);
    for (int v = 0; v < b.V; v++)
        if (limits->banned[v]) b.banned[b.banned_count++] = v;
    b.candidates = (Candidates){.best = arena_array(arena, Candidate, "candidates", N)};
    b.cache = step_begin(m, source_ids, source, N, longest + 1, arena);
    return b;
}

/* All sentences start with <s>, in their first slot. */
static void start(Beam *b) {
    b->rows.count = b->cache.source.sentences;
    for (int s = 0; s < b->rows.count; s++) {
        b->rows.slot[s] = s * b->cache.width;
        b->rows.token[s] = (StepToken){.id = ID_BOS};
        b->sum[s] = 0;
    }
}

/* Tokens, without <s>, of the live hypotheses of sentence s. */
static int tokens_so_far(const Beam *b, int s) { return b->cache.length[s] - 1; }

/* Offers the continuations of one row. */
static void offer(Beam *b, real *z, int row, int s) {
    double base = b->normalized ? b->sum[row] - log_normalizer(z, b->V) : 0;
    if (tokens_so_far(b, s) == b->search[s].most) {
        candidates_add(&b->candidates, base + (double)z[ID_EOS], row, ID_EOS);
        return;
    }
    for (int i = 0; i < b->banned_count; i++) z[b->banned[i]] = (real)-INFINITY;
    if (tokens_so_far(b, s) == 0) z[ID_EOS] = (real)-INFINITY;
    candidates_add_row(&b->candidates, z, base, row, b->V);
}

static double score(double log_p, int length, double A) { return A > 0 ? log_p / pow((double)length, A) : log_p; }

/* Keeps the finished ones sorted; of equal ones the first stays first. */
static void finish(Beam *b, int s, const Candidate *c) {
    SentenceSearch *search = &b->search[s];
    int tokens = tokens_so_far(b, s), i = search->count++;
    Finished f = {b->rows.slot[c->row], tokens, c->sum, score(c->sum, tokens + 1, b->options->length_penalty)};
    for (; i > 0 && search->best[i - 1].score < f.score; i--) search->best[i] = search->best[i - 1];
    search->best[i] = f;
}

static void go_on(Beam *b, int s, const Candidate *c, int place) {
    int r = b->next.count++;
    b->next.slot[r] = s * b->cache.width + place;
    b->next.token[r] = (StepToken){c->id, b->rows.slot[c->row], c->sum - b->sum[c->row]};
    b->next_sum[r] = c->sum;
}

/* Can no live hypothesis, the best of which has this log-probability, still come among the n_best? */
static bool is_settled(const Beam *b, int s, double live) {
    const SentenceSearch *search = &b->search[s];
    if (search->count == b->options->beam_size) return true;
    if (search->count < b->options->n_best) return false;
    return search->best[b->options->n_best - 1].score >= score(live, search->most + 1, b->options->length_penalty);
}

/* One step of sentence s, whose live hypotheses are rows r .. r+n-1 with logits z [n,V]. */
static void advance(Beam *b, real *z, int s, int r, int n) {
    int first = b->next.count, live = 0;
    b->candidates.count = 0;
    b->candidates.most = b->options->beam_size - b->search[s].count;
    for (int i = 0; i < n; i++) offer(b, z + (size_t)i * b->V, r + i, s);
    for (int i = 0; i < b->candidates.count; i++) {
        const Candidate *c = &b->candidates.best[i];
        if (c->id == ID_EOS)
            finish(b, s, c);
        else
            go_on(b, s, c, live++);
    }
    if (live > 0 && is_settled(b, s, b->next_sum[first])) b->next.count = first;
}

static void swap_rows(Beam *b) {
    StepRows rows = b->rows;
    double *sum = b->sum;
    b->rows = b->next;
    b->sum = b->next_sum;
    b->next = rows;
    b->next_sum = sum;
}

static Hypothesis hypothesis(const Beam *b, const Finished *f) {
    Hypothesis h = {memory_alloc((size_t)f->tokens, sizeof(int), "translation"), f->tokens, 0, 0};
    if (b->normalized) {
        h.log_p = f->log_p;
        h.score = f->score;
    }
    for (int t = f->tokens, slot = f->slot; t > 0; t--) {
        const StepToken *token = step_token(&b->cache, t, slot);
        h.ids[t - 1] = token->id;
        slot = token->parent;
    }
    return h;
}

void beam_decode(Hypothesis *out, const StepModel *m, const int *source_ids, Packed source, const DecodeLimits *limits,
                 const BeamOptions *options, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int K = options->n_best;
    Beam b = beam_new(m, source_ids, source, limits, options, arena);
    real *logits = arena_reals(arena, "logits", b.cache.slots, b.V);
    for (start(&b); b.rows.count > 0; swap_rows(&b)) {
        step_forward(logits, &b.cache, m, &b.rows, arena);
        b.next.count = 0;
        for (int r = 0, n; r < b.rows.count; r += n) {
            int s = step_sentence(&b.cache, b.rows.slot[r]);
            for (n = 1; r + n < b.rows.count && step_sentence(&b.cache, b.rows.slot[r + n]) == s;) n++;
            advance(&b, logits + (size_t)r * b.V, s, r, n);
        }
    }
    memset(out, 0, (size_t)source.sentences * (size_t)K * sizeof *out);
    for (int s = 0; s < source.sentences; s++)
        for (int k = 0; k < K && k < b.search[s].count; k++)
            out[(size_t)s * (size_t)K + (size_t)k] = hypothesis(&b, &b.search[s].best[k]);
    arena_release(arena, mark);
}
