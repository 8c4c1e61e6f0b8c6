/* ./evaluate HYP REF [REF...]: BLEU and chrF as sacreBLEU computes and prints them, exact match, length ratio. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/version.h"
#include "data/text_file.h"
#include "scores/evaluation_json.h"
#include "scores/evaluation_options.h"
#include "scores/tags.h"
#include "tokenizer/text_report.h"

enum { TOKENIZED_LINES = 100 };

typedef struct Texts {
    Lines hypothesis, other, tags, *reference; /* [references] */
    const Line **reference_line;               /* [references] their lines */
    int references;
} Texts;

/* sacreBLEU's warning, from as many lines on: whoever scores tokenized text gets figures that nobody can compare. */
static void note_tokenized(const Lines *lines, const char *path) {
    const Line *line = lines->line;
    size_t found = 0;
    for (size_t i = 0; i < lines->count; i++)
        found += line[i].length >= 2 && memcmp(line[i].text + line[i].length - 2, " .", 2) == 0;
    if (found < TOKENIZED_LINES) return;
    fprintf(stderr, "evaluate: note: %s: %zu lines end in \" .\"; score plain text, or say --tokenize none\n", path,
            found);
}

/* The lines of a file that belongs line by line to one that is read already (NULL for the first). */
static bool read_lines(Lines *lines, const char *path, const Lines *like, const char *like_path, Error *error) {
    char report[TEXT_REPORT_BYTES];
    if (!text_read_once(lines, path, error)) return false;
    if (text_report_invalid(report, path, lines))
        fprintf(stderr, "evaluate: note: %s; what is wrong is read as U+FFFD\n", report);
    if (like == NULL || lines->count == like->count) return true;
    return error_set(error, "%s has %zu lines but %s has %zu; they must belong together line by line", like_path,
                     like->count, path, lines->count);
}

static bool read_texts(Texts *t, const EvaluationOptions *o, Error *error) {
    const char *path = o->file[0];
    size_t files = (size_t)o->files;
    *t = (Texts){.references = o->files - 1};
    t->reference = memory_alloc(files, sizeof *t->reference, "references");
    t->reference_line = memory_alloc(files, sizeof *t->reference_line, "references");
    if (!read_lines(&t->hypothesis, path, NULL, NULL, error)) return false;
    if (o->wanted[FIGURE_BLEU] && o->bleu.tokenizer != BLEU_NONE) note_tokenized(&t->hypothesis, path);
    for (int r = 0; r < t->references; r++) {
        if (!read_lines(&t->reference[r], o->file[r + 1], &t->hypothesis, path, error)) return false;
        t->reference_line[r] = t->reference[r].line;
    }
    return (o->compare == NULL || read_lines(&t->other, o->compare, &t->hypothesis, path, error)) &&
           (o->tags == NULL || read_lines(&t->tags, o->tags, &t->hypothesis, path, error));
}

static void free_texts(Texts *t) {
    lines_free(&t->hypothesis);
    lines_free(&t->other);
    lines_free(&t->tags);
    for (int r = 0; r < t->references; r++) lines_free(&t->reference[r]);
    memory_free(t->reference);
    memory_free(t->reference_line);
}

static void print_tags(const EvaluationOptions *o, const Texts *t) {
    TagCounts counts = tags_count(t->hypothesis.line, t->reference_line, t->references, &t->tags);
    int width = o->width < 0 ? 2 : o->width;
    for (int i = 0; i < counts.count; i++) {
        const TagCount *c = &counts.tag[i];
        printf("  %-28.*s %*.*f (%d of %d)\n", (int)c->tag.length, c->tag.text, width + 4, width,
               100.0 * c->exact / c->lines, c->exact, c->lines);
    }
    tags_free(&counts);
}

static void evaluate_corpus(const EvaluationOptions *o, const Texts *t) {
    Evaluation e[FIGURES];
    Setting setting = evaluation_options_setting(o);
    int count = 0;
    for (int figure = 0; figure < FIGURES; figure++) {
        if (!o->wanted[figure]) continue;
        Metric m = evaluation_options_metric(o, (Figure)figure);
        evaluation_run(&e[count], &m, t->hypothesis.line, o->compare ? t->other.line : NULL, t->reference_line,
                       (int)t->hypothesis.count, &setting);
        if (!o->json) evaluation_print(&e[count], o->compare, o->width, o->score_only);
        if (o->tags != NULL && figure == FIGURE_EXACT_MATCH) print_tags(o, t);
        count++;
    }
    if (o->json && o->compare != NULL)
        evaluations_print_compared_json(e, count, o->file[0], o->compare);
    else if (o->json)
        evaluations_print_json(e, count, o->width);
}

/* A line for each line, of the one metric that is wanted. */
static void evaluate_sentences(const EvaluationOptions *o, const Texts *t) {
    Figure figure = 0;
    while (!o->wanted[figure]) figure++;
    Metric m = evaluation_options_metric(o, figure);
    Setting setting = evaluation_options_setting(o);
    Counts counts;
    Evaluation e;
    evaluation_begin(&e, &m, &setting);
    counts_collect(&counts, &m, t->hypothesis.line, t->reference_line, t->references, (int)t->hypothesis.count);
    for (int i = 0; i < counts.sentences; i++) {
        e.hypothesis.score = counts_sentence_score(&counts, i);
        if (o->json)
            evaluation_print_json_line(&e, o->width);
        else
            evaluation_print(&e, NULL, o->width, o->score_only);
    }
    counts_free(&counts);
}

static int fail(int status, const Error *error) {
    fprintf(stderr, "evaluate: %s\n", error->text);
    return status;
}

int main(int argc, char **argv) {
    Error error = {""};
    EvaluationOptions o;
    Texts texts;
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, which says so */
    if (!evaluation_options_parse(&o, argc, argv, &error)) return fail(2, &error);
    if (o.help) evaluation_options_print_help(stdout);
    if (o.version) puts("evaluate (Tandem) " TANDEM_VERSION);
    if (o.help || o.version) return options_finish("evaluate");
    bool good = read_texts(&texts, &o, &error);
    if (good && o.sentence)
        evaluate_sentences(&o, &texts);
    else if (good)
        evaluate_corpus(&o, &texts);
    free_texts(&texts);
    return good ? options_finish("evaluate") : fail(1, &error);
}
