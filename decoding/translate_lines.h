/* What ./translate does with its input: window by window it is read, translated and written, so that memory stays
 * bounded and output starts early. */
#ifndef DECODING_TRANSLATE_LINES_H
#define DECODING_TRANSLATE_LINES_H

#include "decoding/translate_options.h"

/* Opens the files and goes through all lines. long_line: source tokens from which on a line earns a warning. */
bool translate_lines(Translator *t, const TranslateOptions *o, int long_line, Error *error);

#endif
