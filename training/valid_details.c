#include "training/valid_details.h"

#include "base/memory.h"
#include "run/json_text.h"

/* The longest source of each bucket; the last one takes any length. */
static const int LONGEST[] = {10, 20, 30, 50, 80};
enum { BOUNDED = sizeof LONGEST / sizeof LONGEST[0], BUCKETS = BOUNDED + 1 };

typedef struct Bucket {
    int pairs;
    int64_t tokens;
    double nll;
} Bucket;

static int bucket_of(int length) {
    int b = 0;
    while (b < BOUNDED && length > LONGEST[b]) b++;
    return b;
}

static json_t *bucket_json(const Bucket *bucket, int b) {
    json_t *object = json_object();
    json_object_set_new(object, "from", json_integer(b > 0 ? LONGEST[b - 1] + 1 : 1));
    json_object_set_new(object, "to", b < BOUNDED ? json_integer(LONGEST[b]) : json_null());
    json_object_set_new(object, "pairs", json_integer(bucket->pairs));
    json_object_set_new(object, "tokens", json_integer(bucket->tokens));
    double nll = bucket->nll / (double)bucket->tokens;
    json_object_set_new(object, "nll", isfinite(nll) ? json_real(nll) : json_null());
    return object;
}

static char *text_of(json_t *list) {
    size_t length;
    char *text = json_line(list, &length);
    json_decref(list);
    return text;
}

char *valid_buckets(const Corpus *corpus, const double *nll) {
    Bucket bucket[BUCKETS] = {{0}};
    for (int pair = 0; pair < corpus->pairs; pair++) {
        Bucket *b = &bucket[bucket_of(corpus_length(&corpus->source, pair))];
        b->pairs++;
        b->tokens += corpus_length(&corpus->target, pair) + 1;
        b->nll += nll[pair];
    }
    json_t *list = json_array();
    for (int b = 0; b < BUCKETS; b++)
        if (bucket[b].pairs > 0) json_array_append_new(list, bucket_json(&bucket[b], b));
    return text_of(list);
}

int valid_sample_line(int k, int samples, int lines) {
    return (int)((int64_t)k * lines / (samples < lines ? samples : lines));
}

char *valid_samples(const ParallelText *text, const Translation *translation, int samples) {
    int lines = (int)text->source.count;
    json_t *list = json_array();
    for (int k = 0; k < samples && k < lines; k++) {
        int i = valid_sample_line(k, samples, lines);
        Line source = text->source.line[i], reference = text->target.line[i];
        json_t *object = json_object();
        json_object_set_new(object, "line", json_integer(i + 1));
        json_object_set_new(object, "source", json_text(source.text, source.length));
        json_object_set_new(object, "reference", json_text(reference.text, reference.length));
        json_object_set_new(object, "hypothesis", json_text(translation[i].text, translation[i].length));
        json_array_append_new(list, object);
    }
    return text_of(list);
}
