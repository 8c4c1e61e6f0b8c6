#include "decoding/translation_writer.h"

#include "base/memory.h"

static void write_pieces(FILE *out, const Tokenizer *tokenizer, const Hypothesis *h) {
    for (int i = 0; i < h->count; i++) fprintf(out, "%s%s", i > 0 ? " " : "", tokenizer_piece(tokenizer, h->ids[i]));
}

static void write_text(FILE *out, const Translator *t, const TranslateOptions *o, const Hypothesis *h) {
    if (o->pieces) {
        write_pieces(out, t->target, h);
        return;
    }
    size_t length;
    char *text = tokenizer_decode(t->target, h->ids, h->count, &length);
    fwrite(text, 1, length, out);
    memory_free(text);
}

static void write_word_scores(FILE *out, const Hypothesis *h) {
    fputs(" ||| WordScores=", out);
    for (int i = 0; i <= h->count; i++) fprintf(out, " %.6f", h->token_log_p != NULL ? h->token_log_p[i] : 0.0);
}

/* What stands behind a text, where it was asked for. */
static void write_details(FILE *out, const Translator *t, const TranslateOptions *o, const int *source_ids,
                          const Hypothesis *h) {
    if (o->alignment.kind != ALIGNMENT_NONE) fputs(" ||| ", out);
    if (h->attention != NULL)
        alignment_write(out, &o->alignment, h->attention, t->source, source_ids, h->source_length - 1, t->target,
                        h->ids, h->count);
    if (o->word_scores) write_word_scores(out, h);
}

void translation_write(FILE *out, const Translator *t, const TranslateOptions *o, long number,
                       const Translation *translation) {
    const Hypothesis none = {0};
    const Hypothesis *h = translation->hypothesis;
    if (o->n_best > 0) {
        for (int k = 0; k < o->n_best && (k == 0 || (h != NULL && h[k].ids != NULL)); k++) {
            const Hypothesis *h_k = h != NULL ? &h[k] : &none;
            fprintf(out, "%ld ||| ", number);
            write_text(out, t, o, h_k);
            write_details(out, t, o, translation->source_ids, h_k);
            fprintf(out, " ||| F0= %.6f ||| %.6f\n", h_k->log_p, h_k->score);
        }
        return;
    }
    if (o->scores) fprintf(out, "%.6f ||| ", h != NULL ? h->score : 0.0);
    if (o->pieces)
        write_pieces(out, t->target, h != NULL ? h : &none);
    else
        fwrite(translation->text, 1, translation->length, out);
    write_details(out, t, o, translation->source_ids, h != NULL ? h : &none);
    fputc('\n', out);
}

void translation_write_score(FILE *out, const Translator *t, const TranslateOptions *o,
                             const Translation *translation) {
    const Hypothesis none = {0};
    const Hypothesis *h = translation->hypothesis != NULL ? translation->hypothesis : &none;
    fprintf(out, "%.6f", o->normalize ? h->score : h->log_p);
    write_details(out, t, o, translation->source_ids, h);
    fputc('\n', out);
}
