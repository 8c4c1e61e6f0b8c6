#include "decoding/translate_lines.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "decoding/text_files.h"
#include "decoding/translation_writer.h"

enum { MOST_WARNINGS = 5 };
enum { FIRST_WINDOW = 256, LARGEST_WINDOW = 4096, WINDOW_BYTES = 1 << 22 }; /* lines, and bytes of text */

/* Lines that are translated together. */
typedef struct Window {
    Line *line; /* [count] copies, from memory_text */
    int count;
    IdList forced; /* how their translations begin: line i with forced.ids[offset[i]] .. */
    int *offset;   /* [count+1] */
} Window;

typedef struct Job {
    Translator *t;
    const TranslateOptions *o;
    int long_line;
    TextInput in, side; /* side: a line for each line of in, where asked for */
    bool has_side;
    TextEncoder *encoder; /* of the side's lines */
    FILE *out;
    long lines, long_lines; /* done; of these, over-long ones */
    double start;
    double log_p; /* of all given targets, and their tokens with </s> */
    int64_t tokens;
} Job;

/* The ids of pieces with spaces between them. */
static bool read_pieces(IdList *ids, const Job *job, Line line, long number, Error *error) {
    for (size_t at = 0, end; at < line.length; at = end + 1) {
        const char *space = memchr(line.text + at, ' ', line.length - at);
        end = space != NULL ? (size_t)(space - line.text) : line.length;
        if (end == at) continue;
        char *piece = memory_text(line.text + at, end - at);
        int id = tokenizer_id(job->t->target, piece);
        if (id < 0)
            error_set(error, "%s:%ld: \"%.60s\" is no piece of the run's vocabulary; give what --pieces prints",
                      job->side.name, number, piece);
        memory_free(piece);
        if (id < 0) return false;
        id_list_push(ids, id);
    }
    return true;
}

/* The side's line that belongs to the newest line of the window. */
static bool read_side(Window *w, Job *job, Error *error) {
    Line line;
    if (!line_reader_next(&job->side.lines, &line))
        return error_set(error, "%s has only %ld lines, but the input goes on; they must belong together line by line",
                         job->side.name, job->lines + w->count - 1);
    if (!job->o->score_ids)
        tokenizer_encode(job->encoder, line.text, line.length, &w->forced);
    else if (!read_pieces(&w->forced, job, line, job->lines + w->count, error))
        return false;
    w->offset[w->count] = (int)w->forced.count;
    return true;
}

/* As many lines as are there, so that a pipe that waits for an answer gets it; at most `most`. */
static bool read_window(Window *w, Job *job, int most, Error *error) {
    LineReader *in = &job->in.lines;
    size_t bytes = 0;
    Line line;
    w->count = 0;
    w->forced.count = 0;
    while (w->count < most && bytes < WINDOW_BYTES) {
        if (w->count > 0 && !line_reader_ready(in)) break;
        if (!line_reader_next(in, &line)) break;
        w->line[w->count++] = (Line){memory_text(line.text, line.length), line.length};
        bytes += line.length;
        if (job->has_side && !read_side(w, job, error)) return false;
    }
    return true;
}

static void forget_window(Window *w) {
    for (int i = 0; i < w->count; i++) memory_free((void *)w->line[i].text);
    w->count = 0;
}

/* The first few by number, the others counted at the end. */
static void warn_of_long_line(Job *job, int i, int tokens) {
    if (tokens > job->long_line && ++job->long_lines <= MOST_WARNINGS)
        fprintf(stderr,
                "translate: line %ld: %d tokens, where training knew at most %d; it is translated whole, but splitting "
                "it would read better\n",
                job->lines + i + 1, tokens, job->long_line);
}

static void take_score(Job *job, const Translation *translation) {
    if (translation->hypothesis != NULL) {
        job->log_p += translation->hypothesis->log_p;
        job->tokens += translation->hypothesis->count + 1;
    }
    if (job->o->summary == SUMMARY_NONE) translation_write_score(job->out, job->t, job->o, translation);
}

static void write_summary(Job *job) {
    double cross_entropy = job->tokens > 0 ? -job->log_p / (double)job->tokens : 0;
    if (job->o->summary == SUMMARY_CROSS_ENTROPY) fprintf(job->out, "%.6f\n", cross_entropy);
    if (job->o->summary == SUMMARY_PERPLEXITY) fprintf(job->out, "%.6f\n", exp(cross_entropy));
}

static bool translate_window(Job *job, const Window *w, Error *error) {
    Translator *t = job->t;
    Translation *translation = memory_alloc((size_t)w->count, sizeof *translation, "translations");
    ForcedTargets forced = {w->forced.ids, w->offset, job->o->score != NULL};
    t->first_line = job->lines;
    translator_translate_forced(translation, t, w->line, w->count, job->has_side ? &forced : NULL);
    for (int i = 0; i < w->count; i++) {
        warn_of_long_line(job, i, translation[i].source_tokens);
        if (job->o->score != NULL)
            take_score(job, &translation[i]);
        else
            translation_write(job->out, t, job->o, job->lines + i, &translation[i]);
    }
    bool good = text_output_flush(job->out, job->o->output, error);
    translations_free(translation, w->count, t->beam.n_best);
    memory_free(translation);
    job->lines += w->count;
    return good;
}

/* For whoever waits for a file to be done; a terminal sees it grow. */
static void show_progress(const Job *job, bool last) {
    if (!job->in.is_file || job->o->quiet || !(last || isatty(STDERR_FILENO))) return;
    double seconds = clock_seconds() - job->start;
    fprintf(stderr, "%stranslate: %ld lines in %.1f s, %.1f lines/s%s", isatty(STDERR_FILENO) ? "\r" : "", job->lines,
            seconds, seconds > 0 ? (double)job->lines / seconds : 0, last ? "\n" : "");
}

static bool translate_all(Job *job, Error *error) {
    Window w = {.line = memory_alloc(LARGEST_WINDOW, sizeof *w.line, "lines to translate"),
                .offset = memory_alloc(LARGEST_WINDOW + 1, sizeof *w.offset, "lines to translate")};
    bool good = true, one_by_one = job->o->stream || job->in.is_terminal;
    for (int most = one_by_one ? 1 : FIRST_WINDOW; good;) {
        if (job->in.is_terminal) fputs("> ", stderr);
        good = read_window(&w, job, most, error);
        if (w.count == 0) break;
        if (good) good = translate_window(job, &w, error);
        forget_window(&w);
        show_progress(job, false);
        if (!one_by_one && most < LARGEST_WINDOW) most *= 2;
    }
    if (job->in.is_terminal) fputc('\n', stderr);
    Line rest;
    if (good && job->has_side && line_reader_next(&job->side.lines, &rest))
        good = error_set(error, "%s has more lines than the input's %ld; they must belong together line by line",
                         job->side.name, job->lines);
    if (good) write_summary(job);
    if (job->long_lines > MOST_WARNINGS)
        fprintf(stderr, "translate: %ld more lines were longer than %d tokens\n", job->long_lines - MOST_WARNINGS,
                job->long_line);
    show_progress(job, true);
    memory_free(w.line);
    memory_free(w.offset);
    id_list_free(&w.forced);
    return good;
}

/* A failed read is the cause of whatever else went wrong, such as lines that are missing. */
static bool close_input(TextInput *in, bool good, Error *error) {
    Error unread = {""};
    if (text_input_close(in, &unread)) return good;
    *error = unread;
    return false;
}

/* With the inputs open: opens the output, unless that would empty one of them. */
static bool run_to_output(Job *job, Error *error) {
    const char *path = job->o->output;
    const TextInput *inputs[] = {&job->in, &job->side};
    for (int i = 0; i < 1 + job->has_side; i++)
        if (path != NULL && text_input_is(inputs[i], path))
            return error_set(error, "%s is both input and output; give another --output", path);
    job->out = text_output_open(path, error);
    if (job->out == NULL) return false;
    bool good = translate_all(job, error);
    Error later = {""};
    return text_output_close(job->out, path, good ? error : &later) && good;
}

static bool run_with_side(Job *job, const char *path, Error *error) {
    job->has_side = path != NULL;
    if (!job->has_side) return run_to_output(job, error);
    if (!text_input_open(&job->side, path, error)) return false;
    job->encoder = text_encoder_new(job->t->target);
    bool good = run_to_output(job, error);
    text_encoder_free(job->encoder);
    return close_input(&job->side, good, error);
}

bool translate_lines(Translator *t, const TranslateOptions *o, int long_line, Error *error) {
    Job job = {.t = t, .o = o, .long_line = long_line, .start = clock_seconds()};
    if (!text_input_open(&job.in, o->input, error)) return false;
    bool good = run_with_side(&job, o->score != NULL ? o->score : o->prefix, error);
    return close_input(&job.in, good, error);
}
