/* Dropping pairs: those that are kept move up to the front, in their order. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/corpus.h"

/* Moves the sentence of pair `from` behind those of the pairs before `to`; to <= from. */
static void move_up(CorpusSide *side, int to, int from) {
    int64_t start = side->offset[from], length = side->offset[from + 1] - start;
    if (length > 0)
        memmove(side->ids.ids + side->offset[to], side->ids.ids + start, (size_t)length * sizeof *side->ids.ids);
    side->offset[to + 1] = side->offset[to] + length;
}

/* The kept pairs, found by their ids: open addressing, at most half full. */
typedef struct PairSet {
    int *slot; /* [mask+1] pair + 1, or 0 */
    size_t mask;
} PairSet;

static PairSet pair_set(int most) {
    PairSet set = {.mask = 1};
    while (set.mask < 2 * (size_t)most) set.mask *= 2;
    set.slot = memory_alloc(set.mask--, sizeof *set.slot, "pairs to find duplicates (or drop_duplicates = no)");
    return set;
}

static uint64_t fold_sentence(uint64_t hash, const CorpusSide *side, int pair) {
    for (int64_t i = side->offset[pair]; i < side->offset[pair + 1]; i++)
        hash = hash_fold(hash, (uint64_t)side->ids.ids[i]);
    return hash_fold(hash, UINT64_MAX); /* its end */
}

static bool same_sentence(const CorpusSide *side, int a, int b) {
    size_t n = (size_t)corpus_length(side, a), size = sizeof *side->ids.ids;
    const int *ids = side->ids.ids;
    return n == (size_t)corpus_length(side, b) && memcmp(ids + side->offset[a], ids + side->offset[b], n * size) == 0;
}

/* Adds the pair. False if the same ids are there. */
static bool pair_set_add(PairSet *set, const Corpus *c, int pair) {
    uint64_t hash = fold_sentence(fold_sentence(0, &c->source, pair), &c->target, pair);
    size_t place = hash & set->mask;
    for (; set->slot[place] != 0; place = (place + 1) & set->mask) {
        int other = set->slot[place] - 1;
        if (same_sentence(&c->source, other, pair) && same_sentence(&c->target, other, pair)) return false;
    }
    set->slot[place] = pair + 1;
    return true;
}

static bool is_uneven(int s, int t, double max_ratio) {
    return max_ratio > 0 && (s > t ? s > max_ratio * t : t > max_ratio * s);
}

/* The counter of the reason to drop pair `pair`, which has line `line` of the text; NULL: it is kept. */
static int *reason(Corpus *c, int pair, const ParallelText *text, int line, const CorpusFilter *f, PairSet *kept) {
    int s = corpus_length(&c->source, pair), t = corpus_length(&c->target, pair), most = f->max_length;
    if (line_is_blank(text->source.line[line]) || line_is_blank(text->target.line[line])) return &c->empty_side;
    if (most > 0 && (s > most || t > most)) return &c->too_long;
    if (is_uneven(s, t, f->max_ratio)) return &c->uneven_lengths;
    if (f->drop_duplicates && !pair_set_add(kept, c, pair)) return &c->duplicates;
    return NULL;
}

void corpus_filter(Corpus *c, const ParallelText *text, const CorpusFilter *filter) {
    assert(c->pairs == c->lines && (size_t)c->lines == text->source.count);
    PairSet kept = filter->drop_duplicates ? pair_set(c->lines) : (PairSet){0};
    c->pairs = 0;
    for (int i = 0; i < c->lines; i++) {
        move_up(&c->source, c->pairs, i); /* a dropped pair is written over by the next */
        move_up(&c->target, c->pairs, i);
        int *counter = reason(c, c->pairs, text, i, filter, &kept);
        if (counter != NULL)
            (*counter)++;
        else
            c->line[c->pairs++] = i;
    }
    c->source.ids.count = (size_t)c->source.offset[c->pairs];
    c->target.ids.count = (size_t)c->target.offset[c->pairs];
    memory_free(kept.slot);
}
