/* Byte pair encoding (Gage 1994; for words: Sennrich, Haddow, Birch 2016): count all pairs of neighbouring
 * pieces, make the most frequent pair a piece, put it in the pair's place everywhere, and so on.
 *
 * Only what a merge changes is counted again: each pair knows the sequences it has occurred in, and a heap
 * gives the most frequent pair. Equal counts: the pair with the smaller left id, then the smaller right id.
 *
 * Words are cut into sequences before learning, so that no merge joins letters with digits, punctuation or
 * symbols. Marks (accents, variation selectors) and format characters (joiners) go with whatever they
 * follow, "▁" with whatever follows it. */
#include <assert.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/progress.h"
#include "tokenizer/heap.h"
#include "tokenizer/learn.h"
#include "tokenizer/utf8.h"

enum { SEQUENCE_LIMIT = 1000 }; /* a merge scans whole sequences: a long one is cut, in learning only */

typedef struct Sequence {
    size_t start; /* in symbols */
    int length;   /* becomes shorter with each merge */
    int64_t count;
} Sequence;

typedef struct Place { /* a sequence in which a pair has occurred, if no longer then harmlessly so */
    int sequence;
    int next; /* index of a Place + 1, or 0 */
} Place;

typedef struct Pair {
    int left, right;
    int64_t count; /* of its occurrences now */
    int place;     /* the last Place + 1, or 0 */
    bool raised;   /* listed in Learner.raised */
} Pair;

typedef struct Learner {
    Tokenizer *tokenizer;
    int *symbols; /* ids of all sequences, one behind the other */
    size_t symbol_count, symbol_capacity;
    Sequence *sequences;
    int sequence_count, sequence_capacity;
    Pair *pairs;
    int pair_count, pair_capacity;
    PairMap pair_index; /* (left, right) -> index in pairs */
    Place *places;
    int place_count, place_capacity;
    int *raised; /* indices of pairs whose count grew in this merge */
    int raised_count, raised_capacity;
    Heap queue; /* first: UINT64_MAX - count; second: left << 32 | right. A count may be out of date. */
} Learner;

/* Makes room for one more item of a growing array. */
#define GROW(array, count, capacity)                                                                 \
    do {                                                                                             \
        if ((count) == (capacity)) {                                                                 \
            assert((size_t)(count) < ((size_t)1 << 29)); /* counts and indices are ints */           \
            (array) = memory_grow(array, (size_t)(count), (size_t)(count)*2 + 1024, sizeof *(array), \
                                  "learning the tokenizer");                                         \
            (capacity) = (count)*2 + 1024;                                                           \
        }                                                                                            \
    } while (0)

/* ---- words into sequences ---- */

typedef enum Kind { KIND_ANY, KIND_LETTER, KIND_OTHER } Kind;

static Kind kind_of(int32_t code) {
    if (code == CODE_WORD_MARK) return KIND_ANY;
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return KIND_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
        return KIND_ANY;
    default:
        return KIND_OTHER;
    }
}

/* Ends the sequence at the end of symbols, and begins the next one. One symbol alone has no pair. */
static void end_sequence(Learner *l, size_t *start, int64_t count) {
    int length = (int)(l->symbol_count - *start);
    if (length >= 2) {
        GROW(l->sequences, l->sequence_count, l->sequence_capacity);
        l->sequences[l->sequence_count++] = (Sequence){*start, length, count};
    } else {
        l->symbol_count = *start;
    }
    *start = l->symbol_count;
}

static void add_word(Learner *l, const char *word, size_t length, int64_t count) {
    size_t start = l->symbol_count;
    Kind kind = KIND_ANY;
    for (size_t i = 0, n; i < length; i += n) {
        int32_t code;
        n = utf8_next(word + i, length - i, &code);
        int id = string_map_find(&l->tokenizer->pieces, word + i, n);
        Kind next = kind_of(code);
        bool changes = kind != KIND_ANY && next != KIND_ANY && next != kind;
        if (id < 0 || changes || l->symbol_count - start == SEQUENCE_LIMIT) end_sequence(l, &start, count);
        if (next != KIND_ANY) kind = next;
        if (id < 0) continue; /* outside the alphabet: byte tokens, which do not merge */
        GROW(l->symbols, l->symbol_count, l->symbol_capacity);
        l->symbols[l->symbol_count++] = id;
    }
    end_sequence(l, &start, count);
}

/* ---- counting pairs ---- */

static Pair *get_pair(Learner *l, int left, int right) {
    int index = pair_map_find(&l->pair_index, left, right);
    if (index < 0) {
        GROW(l->pairs, l->pair_count, l->pair_capacity);
        index = l->pair_count++;
        l->pairs[index] = (Pair){.left = left, .right = right};
        pair_map_add(&l->pair_index, left, right, index);
    }
    return &l->pairs[index];
}

static void raise_pair(Learner *l, int left, int right, int sequence) {
    Pair *pair = get_pair(l, left, right);
    pair->count += l->sequences[sequence].count;
    if (pair->place == 0 || l->places[pair->place - 1].sequence != sequence) {
        GROW(l->places, l->place_count, l->place_capacity);
        l->places[l->place_count++] = (Place){sequence, pair->place};
        pair->place = l->place_count;
    }
    if (!pair->raised) {
        GROW(l->raised, l->raised_count, l->raised_capacity);
        l->raised[l->raised_count++] = (int)(pair - l->pairs);
        pair->raised = true;
    }
}

static void lower_pair(Learner *l, int left, int right, int sequence) {
    get_pair(l, left, right)->count -= l->sequences[sequence].count;
}

static void queue_pair(Learner *l, const Pair *pair) {
    if (pair->count > 0)
        heap_push(&l->queue,
                  (HeapItem){UINT64_MAX - (uint64_t)pair->count, (uint64_t)pair->left << 32 | (uint64_t)pair->right});
}

static void queue_raised(Learner *l) {
    for (int i = 0; i < l->raised_count; i++) {
        l->pairs[l->raised[i]].raised = false;
        queue_pair(l, &l->pairs[l->raised[i]]);
    }
    l->raised_count = 0;
}

static void count_pairs(Learner *l) {
    for (int s = 0; s < l->sequence_count; s++) {
        const int *symbol = l->symbols + l->sequences[s].start;
        for (int i = 0; i + 1 < l->sequences[s].length; i++) raise_pair(l, symbol[i], symbol[i + 1], s);
    }
    queue_raised(l);
}

/* ---- merging ---- */

/* Replaces (left, right) by result from left to right. Each replacement turns  p left right n  into
 * p result n,  and the counts of the pairs follow it exactly, also where occurrences overlap or touch. */
static void merge_in_sequence(Learner *l, int s, Merge m) {
    Sequence *sequence = &l->sequences[s];
    int *symbol = l->symbols + sequence->start, length = sequence->length, kept = 0;
    for (int i = 0; i < length; i++) {
        if (symbol[i] != m.left || i + 1 == length || symbol[i + 1] != m.right) {
            symbol[kept++] = symbol[i];
            continue;
        }
        lower_pair(l, m.left, m.right, s);
        if (kept > 0) {
            lower_pair(l, symbol[kept - 1], m.left, s);
            raise_pair(l, symbol[kept - 1], m.result, s);
        }
        if (i + 2 < length) {
            lower_pair(l, m.right, symbol[i + 2], s);
            raise_pair(l, m.result, symbol[i + 2], s);
        }
        symbol[kept++] = m.result;
        i++;
    }
    sequence->length = kept;
}

/* The most frequent pair, its count in *count; false when none is left. */
static bool next_pair(Learner *l, int *left, int *right, int64_t *count) {
    while (l->queue.count > 0) {
        HeapItem item = heap_pop(&l->queue);
        *left = (int)(item.second >> 32);
        *right = (int)(uint32_t)item.second;
        *count = (int64_t)(UINT64_MAX - item.first);
        const Pair *pair = get_pair(l, *left, *right);
        if (pair->count == *count) return true;
        if (pair->count < *count) queue_pair(l, pair); /* lowered since: back in line */
    }
    return false;
}

/* The new piece is really new: what stands between two ends of a piece was merged as if it stood alone, since a
 * merge across an end would have swallowed it, so equal strings come about by equal merges. */
static void merge_pair(Learner *l, int left, int right) {
    int id = l->tokenizer->pieces.count;
    Merge merge = {left, right, vocabulary_join(l->tokenizer, left, right, true)};
    assert(merge.result == id);
    vocabulary_add_merge(l->tokenizer, merge);
    Pair *pair = get_pair(l, left, right);
    int place = pair->place;
    pair->place = 0;
    for (; place != 0; place = l->places[place - 1].next) merge_in_sequence(l, l->places[place - 1].sequence, merge);
    assert(get_pair(l, left, right)->count == 0);
    queue_raised(l);
}

void bpe_learn(Tokenizer *tokenizer, const WordCounts *counts, int vocab_size, int min_frequency) {
    Learner l = {.tokenizer = tokenizer};
    for (int w = 0; w < counts->words.count; w++)
        add_word(&l, string_map_text(&counts->words, w), counts->words.entries[w].length, counts->count[w]);
    count_pairs(&l);
    int left, right;
    int64_t count;
    Progress progress;
    progress_begin(&progress, "learning the tokenizer", vocab_size - tokenizer->pieces.count);
    while (tokenizer->pieces.count < vocab_size && next_pair(&l, &left, &right, &count) && count >= min_frequency) {
        merge_pair(&l, left, right);
        progress_add(&progress, 1);
    }
    progress_end(&progress);
    memory_free(l.symbols);
    memory_free(l.sequences);
    memory_free(l.pairs);
    memory_free(l.places);
    memory_free(l.raised);
    pair_map_free(&l.pair_index);
    heap_free(&l.queue);
}
