#include "decoding/alignment.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char SPACE[] = "\xE2\x96\x81"; /* U+2581, which begins a word */

void alignment_words(int *word, const Tokenizer *tokenizer, const int *ids, int count) {
    int number = -1, begun = 0;
    bool visible = true; /* has the present word a character besides its space? */
    for (int i = 0; i < count; i++) {
        const char *piece = tokenizer_piece(tokenizer, ids[i]);
        bool begins = strncmp(piece, SPACE, strlen(SPACE)) == 0;
        if (number < 0 || (begins && visible)) {
            number++;
            begun = i;
            visible = false;
        }
        visible = visible || !begins || piece[strlen(SPACE)] != '\0';
        word[i] = number;
    }
    for (int i = begun; i < count && !visible; i++) word[i] = -1;
}

static void write_soft(FILE *out, const real *attention, int rows, int cols) {
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++)
            fprintf(out, "%s%.6g",
                    i > 0   ? ","
                    : j > 0 ? " "
                            : "",
                    (double)attention[(size_t)j * (size_t)cols + (size_t)i]);
}

typedef struct Pair {
    int source, target;
} Pair;

static int in_order(const void *a, const void *b) {
    const Pair *x = a, *y = b;
    return x->source != y->source ? x->source - y->source : x->target - y->target;
}

static int strongest(const real *row, int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

/* Pairs of pieces, as numbers of their words. */
static int find_pairs(Pair *pair, const AlignmentOptions *o, const real *attention, const int *source_word,
                      int source_count, const int *target_word, int target_count) {
    int pairs = 0;
    for (int j = 0; j < target_count; j++) {
        const real *row = attention + (size_t)j * (size_t)(source_count + 1);
        int best = strongest(row, source_count);
        for (int i = 0; i < source_count; i++) {
            bool joined = o->kind == ALIGNMENT_HARD ? i == best : (double)row[i] > o->threshold;
            if (joined && source_word[i] >= 0 && target_word[j] >= 0)
                pair[pairs++] = (Pair){source_word[i], target_word[j]};
        }
    }
    qsort(pair, (size_t)pairs, sizeof *pair, in_order);
    return pairs;
}

static void number_pieces(int *word, int count) {
    for (int i = 0; i < count; i++) word[i] = i;
}

void alignment_write(FILE *out, const AlignmentOptions *o, const real *attention, const Tokenizer *source,
                     const int *source_ids, int source_count, const Tokenizer *target, const int *target_ids,
                     int target_count) {
    if (o->kind == ALIGNMENT_SOFT) {
        write_soft(out, attention, target_count + 1, source_count + 1);
        return;
    }
    int *source_word = memory_alloc((size_t)source_count + 1, sizeof(int), "alignment");
    int *target_word = memory_alloc((size_t)target_count + 1, sizeof(int), "alignment");
    Pair *pair = memory_alloc((size_t)source_count * (size_t)target_count + 1, sizeof *pair, "alignment");
    if (o->pieces) {
        number_pieces(source_word, source_count);
        number_pieces(target_word, target_count);
    } else {
        alignment_words(source_word, source, source_ids, source_count);
        alignment_words(target_word, target, target_ids, target_count);
    }
    int pairs = find_pairs(pair, o, attention, source_word, source_count, target_word, target_count), written = 0;
    for (int p = 0; p < pairs; p++)
        if (p == 0 || in_order(&pair[p - 1], &pair[p]) != 0)
            fprintf(out, "%s%d-%d", written++ > 0 ? " " : "", pair[p].source, pair[p].target);
    memory_free(source_word);
    memory_free(target_word);
    memory_free(pair);
}
