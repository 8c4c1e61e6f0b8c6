# make            the programs, at the repository root (float)
# make test       all fast tests; make test-long runs the others: mutations, kills, failing writes, whole trainings
# make test-soak  half an hour of kills on Multi30k; SOAK_MINUTES, SOAK_TEXT
# make test-browser    the pages in a real Chromium
# make asan ubsan tsan debug    all tests under a sanitizer, or with arenas filled with NaN; sanitize: all of these but tsan
# make fuzz       each fuzz target for a minute (clang-14; FUZZ_SECONDS=10 for less)
# make vectorised which inner loops gcc vectorises under these flags, and with which vectors
# make lint       format, layering, documentation that names code, the numbers of the course
# Variables: CC, MARCH (native; x86-64-v2 for any x86-64), WERROR=-Werror, V=1 (show the commands)

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

ifeq ($(origin CC),default)
CC = gcc
endif
MARCH ?= native
WERROR ?=
BUILD ?= build
EXTRA ?=
OBJCOPY ?= objcopy
V ?= 0
ifeq ($(V),0)
Q = @
endif

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wdouble-promotion \
           -Wvla -Wpointer-arith -Wwrite-strings $(WERROR)
# No -ffast-math: sums are reordered only where `omp simd reduction` says so. Contraction gives fused multiply-adds;
# without the other two -f flags gcc 12 vectorises neither sqrt nor the maximum of a row.
# Whole AVX-512 vectors where -march has them (compilers prefer half ones): docs/performance.md. Other targets lack the flag.
WIDE := $(shell $(CC) -mprefer-vector-width=512 -E -x c /dev/null >/dev/null 2>&1 && echo -mprefer-vector-width=512)
CFLAGS = -std=c11 -D_GNU_SOURCE -O3 -g -march=$(MARCH) $(WIDE) -fopenmp -ffp-contract=fast -fno-math-errno \
         -fno-trapping-math -I. $(WARNINGS) $(EXTRA)
LDLIBS = -lopenblas -lutf8proc -ljansson -lz -lm

MODULES  = base tokenizer scores data model run decoding training study measuring
SOURCES  = $(foreach m,$(MODULES),$(wildcard $(m)/*.c))
PAGES    = $(foreach m,$(MODULES),$(wildcard $(m)/*.html))
PROGRAMS = $(patsubst %.c,%,$(wildcard train.c translate.c evaluate.c tokenize.c gradcheck.c inspect.c bench.c))

# tests/gradient_*.c need double, tests/test_*.c float; tests/both_*.c run in each.
# tests/support/ is linked into all of them.
SUPPORT      = $(wildcard tests/support/*.c)
TESTS_FLOAT  = $(patsubst %.c,%,$(wildcard tests/test_*.c tests/both_*.c))
TESTS_DOUBLE = $(patsubst %.c,%,$(wildcard tests/gradient_*.c tests/both_*.c))

.PHONY: all tests test test-browser test-long test-soak asan ubsan sanitize tsan debug fuzz fuzzers vectorised lint format clean FORCE
all: $(PROGRAMS)

# A change of compiler or flags rebuilds everything.
FLAGS = $(CC) $(CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

$(BUILD)/float/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'CC  $@'
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/double/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'CC  $@'
	$(Q)$(CC) $(CFLAGS) -DTANDEM_DOUBLE -MMD -MP -c -o $@ $<

# A page becomes an array of bytes. Its parts stand beside it.
$(BUILD)/pages/%.html.c: %.html scripts/page_to_c.sh $(wildcard $(MODULES:%=%/*.css) $(MODULES:%=%/*.js))
	@mkdir -p $(@D)
	$(Q)scripts/page_to_c.sh $< >$@
$(BUILD)/float/%.html.o: $(BUILD)/pages/%.html.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<
$(BUILD)/double/%.html.o: $(BUILD)/pages/%.html.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

$(BUILD)/float/libtandem.a: $(SOURCES:%.c=$(BUILD)/float/%.o) $(PAGES:%=$(BUILD)/float/%.o)
	@rm -f $@
	@echo 'AR  $@'
	$(Q)ar rcs $@ $^
$(BUILD)/double/libtandem.a: $(SOURCES:%.c=$(BUILD)/double/%.o) $(PAGES:%=$(BUILD)/double/%.o)
	@rm -f $@
	@echo 'AR  $@'
	$(Q)ar rcs $@ $^

# The programs are float; a sanitizer build (BUILD elsewhere) leaves those at the root alone.
ifeq ($(BUILD),build)
$(filter-out gradcheck,$(PROGRAMS)): %: build/float/%.o build/float/libtandem.a
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
endif
$(BUILD)/programs/%: $(BUILD)/float/%.o $(BUILD)/float/libtandem.a
	@mkdir -p $(@D)
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/float/tests/%: $(BUILD)/float/tests/%.o $(SUPPORT:%.c=$(BUILD)/float/%.o) $(BUILD)/float/libtandem.a
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) -lcmocka
$(BUILD)/double/tests/%: $(BUILD)/double/tests/%.o $(SUPPORT:%.c=$(BUILD)/double/%.o) $(BUILD)/double/libtandem.a
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# gradcheck is double, with a float twin of its engine inside: one object, all of whose names are local but one.
$(BUILD)/gradcheck_float.o: $(BUILD)/float/libtandem.a
	@echo 'LD  $@'
	$(Q)$(LD) -r -u gradcheck_run -o $@ $<
	$(Q)$(OBJCOPY) --redefine-sym gradcheck_run=gradcheck_run_in_float --keep-global-symbol=gradcheck_run_in_float $@
GRADCHECK_PARTS = $(addprefix $(BUILD)/,double/gradcheck.o gradcheck_float.o double/libtandem.a)
$(BUILD)/programs/gradcheck $(if $(filter build,$(BUILD)),gradcheck): $(GRADCHECK_PARTS)
	@mkdir -p $(@D)
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# Fuzz targets: with a plain driver among the tests, with libFuzzer in $(BUILD)/fuzzers.
FUZZ_TARGETS = $(patsubst %.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_PARTS   = $(addprefix $(BUILD)/float/tests/,fuzz/fuzz.o support/scratch.o) $(BUILD)/float/libtandem.a
$(FUZZ_TARGETS:%=$(BUILD)/float/%): %: %.o $(BUILD)/float/tests/fuzz/driver.o $(FUZZ_PARTS)
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/fuzzers/%: $(BUILD)/float/tests/fuzz/%.o $(FUZZ_PARTS)
	@mkdir -p $(@D)
	@echo 'LD  $@'
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# Loaded before a program by tests/cli_failing_writes.sh.
$(BUILD)/failing_writes.so: tests/faults/failing_writes.c $(BUILD)/flags
	@echo 'LD  $@'
	$(Q)$(CC) -std=c11 -O2 $(WARNINGS) -shared -fPIC -o $@ $< -ldl

TEST_PROGRAMS = $(TESTS_DOUBLE:%=$(BUILD)/double/%) $(TESTS_FLOAT:%=$(BUILD)/float/%) $(FUZZ_TARGETS:%=$(BUILD)/float/%)
tests: $(TEST_PROGRAMS) $(PROGRAMS:%=$(BUILD)/programs/%) $(BUILD)/failing_writes.so

# Every test program and every tests/cli_*.sh script runs from the repository root; the summary counts them.
TESTS_CLI = $(wildcard tests/cli_*.sh)
test: tests
	scripts/run_tests.sh $(BUILD) $(TEST_PROGRAMS) $(TESTS_CLI)
test-long: tests
	scripts/run_tests.sh $(BUILD) tests/long_mutations.sh $(filter-out %_mutations.sh,$(wildcard tests/long_*.sh)) # the longest first

# Training that is killed at random for half an hour; SOAK_MINUTES=3 for less.
test-soak: tests
	scripts/run_tests.sh $(BUILD) tests/soak.sh

# What pages show and do, in a real browser (Debian's chromium, chromium-driver, python3-selenium).
PYTHON ?= /usr/bin/python3
test-browser: all
	$(Q)set -e; for test in $(wildcard tests/browser_*.py); do echo "$$test"; $(PYTHON) $$test; done

# -O1: half the time to compile, and accesses that -O3 would have optimised away are still checked.
asan:
	ASAN_OPTIONS=detect_leaks=1 $(MAKE) test BUILD=build/asan EXTRA="-O1 -fsanitize=address -fno-omit-frame-pointer"
ubsan:
	$(MAKE) test BUILD=build/ubsan EXTRA="-O1 -fsanitize=undefined -fno-sanitize-recover=all"
# Without test_learning, minutes of arithmetic: make debug runs it with the NaNs, and test_training does some of the same here.
sanitize:
	ASAN_OPTIONS=detect_leaks=1 $(MAKE) test BUILD=build/sanitize TESTS_FLOAT="$(filter-out tests/test_learning,$(TESTS_FLOAT))" \
	    EXTRA="-DTANDEM_DEBUG -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
# Only what runs threads: the rest is serial, and twenty times slower under this sanitizer.
tsan:
	OMP_TOOL_LIBRARIES=libarcher.so TSAN_OPTIONS=ignore_noninstrumented_modules=1 \
	$(MAKE) test CC=clang-14 BUILD=build/tsan EXTRA="-fsanitize=thread" TESTS_DOUBLE= FUZZ_TARGETS= \
	    PROGRAMS="$(filter-out gradcheck,$(PROGRAMS))" \
	    TESTS_FLOAT="$(addprefix tests/,both_lanes both_rdrop both_decoding both_beam test_training test_average test_norms)" \
	    TESTS_CLI="$(patsubst %,tests/cli_%.sh,bench log objective report resume search train translate trouble)"
debug:
	$(MAKE) test BUILD=build/debug EXTRA="-DTANDEM_DEBUG -O1"

# What libFuzzer finds worth keeping gathers in build/fuzz/found/; an input that breaks something is named at the end.
FUZZ_SECONDS ?= 60
fuzzers: $(FUZZ_TARGETS:tests/fuzz/%=$(BUILD)/fuzzers/%)
fuzz:
	$(MAKE) fuzzers CC=clang-14 BUILD=build/fuzz \
	    EXTRA="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-pass-failed"
	scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS) $(notdir $(FUZZ_TARGETS))

C_FILES = $(SOURCES) $(PROGRAMS:%=%.c) $(wildcard $(MODULES:%=%/*.h) tests/*.[ch] tests/support/*.[ch] tests/fuzz/*.[ch] tests/faults/*.c)
vectorised:
	$(Q)scripts/check_vectorised.sh $(CC) $(CFLAGS)
# The course's numbers are computed anew; then the rules that need no compiler.
COURSE = $(patsubst %.c,$(BUILD)/double/%,$(wildcard tests/both_course_*.c))
lint: $(COURSE)
	$(Q)for test in $(COURSE); do $$test >$(BUILD)/course.log 2>&1 || { grep 'page says' $(BUILD)/course.log; exit 1; }; done
	$(Q)scripts/lint.sh $(C_FILES)
format:
	$(Q)clang-format -i $(C_FILES)
clean:
	rm -rf build $(PROGRAMS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
