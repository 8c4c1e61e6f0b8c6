#include "data/batches.h"

#include "base/memory.h"
#include "base/rng.h"

static void shuffle_epoch(Batcher *b) {
    Rng rng = {hash_fold(hash64(b->seed), (uint64_t)b->epoch)};
    for (int i = 0; i < b->corpus->pairs; i++) b->order[i] = i;
    rng_shuffle(&rng, b->order, b->corpus->pairs);
}

void batcher_init(Batcher *b, const Corpus *corpus, uint64_t seed, int epoch, int next) {
    *b = (Batcher){.corpus = corpus, .seed = seed, .epoch = epoch, .next = next};
    b->order = memory_alloc((size_t)corpus->pairs, sizeof(int), "order of an epoch");
    shuffle_epoch(b);
}

void batcher_free(Batcher *b) { memory_free(b->order); }

bool batcher_at_epoch_start(const Batcher *b) { return b->next == 0; }

static int target_rows(const Corpus *corpus, int pair) { return corpus_length(&corpus->target, pair) + 1; }

static int pieces_for(int64_t rows, int pairs, int piece_rows, int lanes) {
    int64_t pieces = (rows + piece_rows - 1) / piece_rows;
    pieces = (pieces + lanes - 1) / lanes * lanes;
    return (int)(pieces < pairs ? pieces : pairs);
}

/* Piece i ends at the sentence end that brings the rows so far nearest to (i+1)/pieces of all rows, leaving at least one
 * sentence for each piece to come. */
static void cut(Update *u, const Corpus *corpus, const int *pair, Arena *arena) {
    int place = 0;
    int64_t rows = 0;
    for (int i = 0; i < u->pieces; i++) {
        int start = place;
        int64_t goal = u->target_tokens * (i + 1) / u->pieces;
        while (place < u->pairs - (u->pieces - 1 - i)) {
            int more = target_rows(corpus, pair[place]);
            if (place > start && i + 1 < u->pieces && rows + more / 2 > goal) break;
            rows += more;
            place++;
        }
        u->piece[i] = corpus_batch(corpus, pair + start, place - start, arena);
    }
}

Update batcher_next(Batcher *b, EncodingDropout *dropout, int64_t budget, int piece_rows, int lanes, Arena *arena) {
    Update u = {0};
    const int *pair = b->order + b->next, pairs = b->corpus->pairs, left = pairs - b->next;
    const Corpus *corpus = dropout ? &dropout->drawn : b->corpus;
    while (u.pairs < left) {
        int place = dropout ? encoding_dropout_draw(dropout, b->corpus, pair[u.pairs]) : pair[u.pairs];
        int rows = target_rows(corpus, place);
        if (u.pairs > 0 && u.target_tokens + rows > budget) break;
        u.target_tokens += rows;
        u.source_tokens += corpus_length(&corpus->source, place) + 1;
        u.pairs++;
    }
    u.pieces = pieces_for(u.target_tokens, u.pairs, piece_rows, lanes);
    u.piece = arena_array(arena, Batch, "pieces", u.pieces);
    cut(&u, corpus, dropout ? dropout->place : pair, arena);
    b->next += u.pairs;
    if (b->next == pairs) {
        b->epoch++;
        b->next = 0;
        shuffle_epoch(b);
    }
    return u;
}
