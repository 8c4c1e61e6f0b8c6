#include "decoding/beam.h"

#include "base/vec.h"
#include "decoding/candidates.h"

/* A finished hypothesis: the path to place `tokens` of a slot (place 0 holds <s>), then </s>. */
typedef struct Finished {
    int slot, tokens;
    double log_p, end_log_p, score;
} Finished;

typedef struct SentenceSearch {
    int most; /* tokens without </s> */
    const int *forced;
    int forced_count;
    int count;      /* finished */
    Finished *best; /* [N] best first */
} SentenceSearch;

typedef struct Beam {
    const StepModel *model;
    int models;
    const DecodeLimits *limits;
    const BeamOptions *options;
    StepCache *cache;       /* [models] with the same tokens */
    StepRows rows, next;    /* of this step and the following */
    double *sum, *next_sum; /* [rows] log-probabilities of the live hypotheses */
    SentenceSearch *search; /* [sentences] */
    const int64_t *line;
    Candidates candidates;
    int V, *path;         /* path: ids of one hypothesis */
    Logits logits, other; /* of all slots; other: of one of several models */
    double *log_sum;      /* [slots] of several models: the mean of their normalizers */
    bool normalized;      /* are sums log-probabilities, or of no account? */
    bool largest_only;    /* is a row's largest logit all that counts? Of those that may be chosen, which are */
    int first_allowed;    /* </s> and all from here on */
} Beam;

static StepRows rows_new(int most, Arena *arena) {
    return (StepRows){0, arena_array(arena, int, "slots", most), arena_array(arena, StepToken, "last tokens", most)};
}

static SentenceSearch search_new(const BeamSources *in, int s, const DecodeLimits *limits, int N, Arena *arena) {
    SentenceSearch search = {.most = limits_most_tokens(limits, packed_length(&in->rows, s))};
    if (in->forced_ids != NULL) {
        search.forced = in->forced_ids + in->forced.offset[s];
        search.forced_count = packed_length(&in->forced, s);
        if (in->complete || search.most < search.forced_count) search.most = search.forced_count;
    }
    search.best = arena_array(arena, Finished, "finished", N);
    return search;
}

static void open_caches(Beam *b, const BeamSources *in, int capacity, Arena *arena) {
    const BeamOptions *o = b->options;
    b->cache = arena_array(arena, StepCache, "caches", b->models);
    for (int i = 0; i < b->models; i++) {
        b->cache[i] = step_begin(&b->model[i], in->ids, in->rows, o->beam_size, capacity, arena);
        if (!o->attention && !(o->coverage_penalty > 0)) continue;
        b->cache[i].watched_layer = o->layer >= 0 ? o->layer : b->cache[i].layers - 1;
        b->cache[i].watched_head = o->head;
    }
}

static Beam beam_new(const StepModel *model, int models, const BeamSources *in, const DecodeLimits *limits,
                     const BeamOptions *options, Arena *arena) {
    int N = options->beam_size, slots = in->rows.sentences * N, longest = 0;
    Beam b = {.model = model, .models = models, .limits = limits, .options = options, .line = in->line};
    b.V = model->p->config.target_vocab;
    b.normalized = N > 1 || options->scores || options->token_log_p;
    b.largest_only =
        models == 1 && !b.normalized && !options->sampling.on && limits->no_repeat_ngram == 0 && in->forced_ids == NULL;
    b.first_allowed = ID_EOS + 1;
    for (int i = 0; i < limits->banned_count; i++)
        if (limits->banned[i] >= b.first_allowed) b.first_allowed = limits->banned[i] + 1;
    b.search = arena_array(arena, SentenceSearch, "searches", in->rows.sentences);
    for (int s = 0; s < in->rows.sentences; s++) {
        b.search[s] = search_new(in, s, limits, N, arena);
        longest = b.search[s].most > longest ? b.search[s].most : longest;
    }
    b.rows = rows_new(slots, arena);
    b.next = rows_new(slots, arena);
    b.sum = arena_array(arena, double, "log-probabilities", slots);
    b.next_sum = arena_array(arena, double, "log-probabilities", slots);
    b.candidates.best = arena_array(arena, Candidate, "candidates", N);
    b.path = arena_array(arena, int, "path", longest + 1);
    b.logits = logits_new(slots, b.V, b.normalized && models == 1, arena);
    if (models > 1) b.other = logits_new(slots, b.V, b.normalized, arena);
    if (models > 1) b.log_sum = arena_array(arena, double, "normalizers", slots);
    open_caches(&b, in, longest + 1, arena);
    return b;
}

/* All hypotheses start with <s>: one in the first slot of a sentence, from which the others will branch off, or all
 * samples. */
static void start(Beam *b) {
    int width = b->cache->width, each = b->options->sampling.on ? width : 1;
    b->rows.count = b->cache->source.sentences * each;
    for (int r = 0; r < b->rows.count; r++) {
        b->rows.slot[r] = r / each * width + r % each;
        b->rows.token[r] = (StepToken){.id = ID_BOS};
        b->sum[r] = 0;
    }
}

/* Several models: the mean of log p = mean(z) - mean(normalizer), kept apart so that a model with itself is itself. */
static void mean_logits(Beam *b, Arena *arena) {
    real share = 1 / (real)b->models;
    for (int i = 0; i < b->models; i++) {
        step_forward(&b->other, &b->cache[i], &b->model[i], &b->rows, arena);
        for (int r = 0; r < b->rows.count; r++) {
            real *z_r = logits_row(&b->other, r), *mean_r = logits_row(&b->logits, r);
            if (i == 0) vec_fill(mean_r, 0, b->V);
            if (i == 0) b->log_sum[r] = 0;
            for (int v = 0; v < b->V; v++) mean_r[v] += share * z_r[v];
            if (b->normalized) b->log_sum[r] += logits_normalizer(&b->other, r) / b->models;
            if (i == b->models - 1) logits_find_largest(&b->logits, r);
        }
    }
}

/* Tokens, without <s>, of the live hypotheses of sentence s. */
static int tokens_so_far(const Beam *b, int s) { return b->cache->length[s] - 1; }

static int draw(const Beam *b, const real *z, int row, int s, Arena *scratch) {
    const Sampling *o = &b->options->sampling;
    int64_t line = b->line != NULL ? b->line[s] : s;
    double u = sampling_uniform(o, line, b->rows.slot[row] % b->cache->width, tokens_so_far(b, s));
    return sampling_draw(z, b->V, o, u, scratch);
}

/* Offers the continuations of one row: the only one possible, or all, or one that is drawn. */
static void offer(Beam *b, int row, int s, Arena *scratch) {
    const SentenceSearch *search = &b->search[s];
    real *z = logits_row(&b->logits, row);
    int tokens = tokens_so_far(b, s);
    double base = b->normalized ? b->sum[row] : 0;
    if (b->normalized) base -= b->models == 1 ? logits_normalizer(&b->logits, row) : b->log_sum[row];
    int only = tokens < search->forced_count ? search->forced[tokens] : tokens == search->most ? ID_EOS : -1;
    if (only < 0) {
        if (b->limits->no_repeat_ngram > 0) hypothesis_ids(b->path, b->cache, tokens, b->rows.slot[row]);
        limits_apply(z, b->V, b->limits, b->path, tokens);
        if (b->options->sampling.on) only = draw(b, z, row, s, scratch);
    }
    if (only >= 0)
        candidates_add(&b->candidates, base + (double)z[only], row, only);
    else if (!b->options->sampling.on)
        candidates_add_row(&b->candidates, &b->logits, base, row);
}

static double normalized_score(const Beam *b, double log_p, int length) {
    double A = b->options->length_penalty;
    return A > 0 ? log_p / pow((double)length, A) : log_p;
}

/* Keeps the finished ones sorted; of equal ones the first stays first. */
static void finish(Beam *b, int s, const Candidate *c) {
    SentenceSearch *search = &b->search[s];
    int tokens = tokens_so_far(b, s), slot = b->rows.slot[c->row], i = search->count++;
    Finished f = {slot, tokens, c->sum, c->sum - b->sum[c->row], normalized_score(b, c->sum, tokens + 1)};
    if (b->options->coverage_penalty > 0)
        f.score += b->options->coverage_penalty * hypothesis_coverage(b->cache, b->models, tokens, slot);
    for (; i > 0 && search->best[i - 1].score < f.score; i--) search->best[i] = search->best[i - 1];
    search->best[i] = f;
}

static void go_on(Beam *b, const Candidate *c, int slot) {
    int r = b->next.count++;
    b->next.slot[r] = slot;
    b->next.token[r] = (StepToken){c->id, b->rows.slot[c->row], c->sum - b->sum[c->row]};
    b->next_sum[r] = c->sum;
}

/* Can no live hypothesis, the best of which has this log-probability, still come among the n_best? (cp is at most 0.) */
static bool is_settled(const Beam *b, int s, double live) {
    const SentenceSearch *search = &b->search[s];
    if (search->count == b->options->beam_size) return true;
    if (search->count < b->options->n_best || b->options->sampling.on) return false;
    return search->best[b->options->n_best - 1].score >= normalized_score(b, live, search->most + 1);
}

/* The `most` best continuations of rows r .. r+n-1, all of sentence s, finish or go on. */
static void extend(Beam *b, int s, int r, int n, int most, int slot, Arena *scratch) {
    bool forced = tokens_so_far(b, s) < b->search[s].forced_count; /* perhaps to </s>, in the midst of a given target */
    b->candidates.count = 0;
    b->candidates.most = most;
    for (int i = r; i < r + n; i++) offer(b, i, s, scratch);
    for (int i = 0; i < b->candidates.count; i++) {
        const Candidate *c = &b->candidates.best[i];
        if (c->id == ID_EOS && !forced)
            finish(b, s, c);
        else
            go_on(b, c, slot++);
    }
}

/* One step of sentence s, whose live hypotheses are rows r .. r+n-1. Samples keep their slots. */
static void advance(Beam *b, int s, int r, int n, Arena *scratch) {
    int first = b->next.count;
    if (b->options->sampling.on)
        for (int i = r; i < r + n; i++) extend(b, s, i, 1, 1, b->rows.slot[i], scratch);
    else
        extend(b, s, r, n, b->options->beam_size - b->search[s].count, s * b->cache->width, scratch);
    if (b->next.count > first && is_settled(b, s, b->next_sum[first])) b->next.count = first;
}

static void step(Beam *b, Arena *arena) {
    if (b->models > 1)
        mean_logits(b, arena);
    else if (b->largest_only)
        step_forward_largest(&b->logits, b->first_allowed, b->cache, b->model, &b->rows, arena);
    else
        step_forward(&b->logits, b->cache, b->model, &b->rows, arena);
    b->next.count = 0;
    for (int r = 0, n; r < b->rows.count; r += n) {
        int s = step_sentence(b->cache, b->rows.slot[r]);
        for (n = 1; r + n < b->rows.count && step_sentence(b->cache, b->rows.slot[r + n]) == s;) n++;
        advance(b, s, r, n, arena);
    }
    StepRows rows = b->rows;
    double *sum = b->sum;
    b->rows = b->next;
    b->sum = b->next_sum;
    b->next = rows;
    b->next_sum = sum;
}

static void take(Hypothesis *h, const Beam *b, const Finished *f) {
    const BeamOptions *o = b->options;
    hypothesis_trace(h, b->cache, b->models, f->tokens, f->slot, f->end_log_p, o->token_log_p, o->attention);
    h->log_p = b->normalized ? f->log_p : 0;
    h->score = b->normalized ? f->score : 0;
}

void beam_decode(Hypothesis *out, const StepModel *model, int models, const BeamSources *sources,
                 const DecodeLimits *limits, const BeamOptions *options, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int sentences = sources->rows.sentences, K = options->n_best;
    Beam b = beam_new(model, models, sources, limits, options, arena);
    for (start(&b); b.rows.count > 0;) step(&b, arena);
    for (int s = 0; s < sentences; s++)
        for (int k = 0; k < K; k++) {
            Hypothesis *h = &out[(size_t)s * (size_t)K + (size_t)k];
            *h = (Hypothesis){.log_p = (double)-INFINITY, .score = (double)-INFINITY};
            if (k < b.search[s].count) take(h, &b, &b.search[s].best[k]);
        }
    arena_release(arena, mark);
}
