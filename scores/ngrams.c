#include "scores/ngrams.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

void pair_numbers_begin(PairNumbers *p, size_t most) {
    size_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    p->mask = slots - 1;
    p->count = 0;
    if (slots > p->capacity) {
        memory_free(p->slot);
        p->slot = memory_alloc(slots, sizeof *p->slot, "n-grams of a line to score");
        p->capacity = slots;
        p->round = 0;
    }
    if (++p->round == 0) { /* after 2^32 rounds the numbers of old ones come again */
        memset(p->slot, 0, p->capacity * sizeof *p->slot);
        p->round = 1;
    }
}

void pair_numbers_free(PairNumbers *p) {
    memory_free(p->slot);
    *p = (PairNumbers){0};
}

/* The slot of a pair, or the empty one where it belongs. */
static NumberedPair *find(const PairNumbers *p, int32_t left, int32_t right) {
    size_t i = hash64((uint64_t)(uint32_t)left << 32 | (uint32_t)right) & p->mask;
    for (; p->slot[i].round == p->round; i = (i + 1) & p->mask)
        if (p->slot[i].left == left && p->slot[i].right == right) break;
    return &p->slot[i];
}

int32_t pair_number(const PairNumbers *p, int32_t left, int32_t right) {
    const NumberedPair *slot = find(p, left, right);
    return slot->round == p->round ? slot->number : -1;
}

int32_t pair_number_or_new(PairNumbers *p, int32_t left, int32_t right) {
    NumberedPair *slot = find(p, left, right);
    if (slot->round != p->round) *slot = (NumberedPair){left, right, p->count++, p->round};
    return slot->number;
}

void words_number(Symbols *words, PairNumbers *prefixes, const Symbols *text) {
    symbols_begin(words, text->count);
    int32_t prefix = -1;
    for (size_t i = 0; i < text->count; i++) {
        bool space = code_is_space(text->at[i]);
        if (space && prefix >= 0) symbols_push(words, prefix);
        prefix = space ? -1 : pair_number_or_new(prefixes, prefix, text->at[i]);
    }
    if (prefix >= 0) symbols_push(words, prefix);
}

void ngram_counter_free(NgramCounter *c) {
    pair_numbers_free(&c->grams);
    symbols_free(&c->hypothesis);
    symbols_free(&c->reference);
    memory_free(c->in_hypothesis);
    memory_free(c->in_reference);
    memory_free(c->taken);
    *c = (NgramCounter){0};
}

static void reserve_counts(NgramCounter *c, size_t most) {
    if (most < c->capacity) return;
    int32_t **counts[3] = {&c->in_hypothesis, &c->in_reference, &c->taken};
    c->capacity = most + most / 2 + 1;
    for (int i = 0; i < 3; i++) {
        memory_free(*counts[i]);
        *counts[i] = memory_alloc(c->capacity, sizeof **counts[i], "counts of n-grams of a line to score");
    }
}

/* Numbers and counts the hypothesis's n-grams. gram[i] comes in as the number of the (n-1)-gram at i. */
static void number_hypothesis(NgramCounter *c, int32_t *gram, const Symbols *text, int n) {
    size_t positions = (size_t)ngrams_in(text, n);
    pair_numbers_begin(&c->grams, positions);
    memset(c->in_hypothesis, 0, positions * sizeof *c->in_hypothesis);
    memset(c->taken, 0, positions * sizeof *c->taken);
    for (size_t i = 0; i < positions; i++) {
        gram[i] = pair_number_or_new(&c->grams, n == 1 ? 0 : gram[i], text->at[i + (size_t)n - 1]);
        c->in_hypothesis[gram[i]]++;
    }
}

/* The k-th time that a reference has an n-gram is a match if the hypothesis has it k times and no reference before had
 * it as often. */
static int32_t match_reference(NgramCounter *c, const int32_t *gram, int32_t positions) {
    int32_t matches = 0;
    memset(c->in_reference, 0, (size_t)c->grams.count * sizeof *c->in_reference);
    for (int32_t i = 0; i < positions; i++) {
        int32_t g = gram[i];
        if (g < 0) continue;
        int32_t times = ++c->in_reference[g];
        if (times <= c->in_hypothesis[g] && times > c->taken[g]) {
            c->taken[g] = times;
            matches++;
        }
    }
    return matches;
}

/* An n-gram that the hypothesis lacks is -1, and so are all that begin with it: no pair has -1 on its left. */
static void look_up_reference(NgramCounter *c, int32_t *gram, const Symbols *text, int n) {
    int32_t positions = ngrams_in(text, n);
    for (int32_t i = 0; i < positions; i++) gram[i] = pair_number(&c->grams, n == 1 ? 0 : gram[i], text->at[i + n - 1]);
}

void ngrams_match(int32_t *matches, NgramCounter *c, const Symbols *hypothesis, const Symbols *references, int count,
                  int order) {
    size_t all = 0, first = 0;
    for (int r = 0; r < count; r++) all += references[r].count;
    reserve_counts(c, hypothesis->count);
    symbols_begin(&c->hypothesis, hypothesis->count);
    symbols_begin(&c->reference, all); /* of all references, one behind the other */
    for (int n = 1; n <= order; n++, first = 0) {
        number_hypothesis(c, c->hypothesis.at, hypothesis, n);
        matches[n - 1] = 0;
        for (int r = 0; r < count; first += references[r++].count) {
            look_up_reference(c, c->reference.at + first, &references[r], n);
            matches[n - 1] += match_reference(c, c->reference.at + first, ngrams_in(&references[r], n));
        }
    }
}
