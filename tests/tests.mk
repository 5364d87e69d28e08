# The tests, benchmarks and checks; included by the Makefile. tests/run counts and adds up.

#: make check       all tests, then most of them again under ASan and UBSan; the last line counts them
#: make unit        the cmocka programs (also: golden, errors, formats, ways, manual, drivers, questions,
#:                  terminal, differential, includes)
#: make asan        build/asan/rql, under AddressSanitizer and UndefinedBehaviorSanitizer
#: make tsan        build/tsan/rql, under ThreadSanitizer, and its tests (not part of make check: what it sees is chance)
#: make oclgrind    the kernels under Oclgrind, which checks bounds, races and calls
#: make fuzz-parse  the parser under libFuzzer (clang)
#: make fuzz-files  the readers of all file formats under libFuzzer (clang)
#: make fuzz        random queries for a long time: make fuzz SECONDS=3600
#: make bench       rql against C by hand, DuckDB, ClickHouse, Polars, NumPy: MAX_ROWS=10000000 PYTHON=python3 with those
#: make bench-primitives  the other primitives against the same
#: make bench-gpu   on a GPU: the main query against what its memory does, then all against CuPy and CUB; GPU_ROWS=1000000000
#: make bare        bootstrap from a bare Debian, as root with debootstrap installed

GROUPS := includes golden errors formats ways manual drivers questions terminal differential
SECONDS ?= 600
GPU_ROWS ?= 1000000000
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
RUN_TESTS := B='$(B)' RQL='$(abspath $(B))/rql' tests/run

.PHONY: $(GROUPS) asan-build tsan oclgrind fuzz fuzz-parse fuzz-files bare bench-gpu bench-primitives

check: all $(UNITS) asan-build data
	$(RUN_TESTS) unit $(GROUPS) asan:unit asan:golden asan:errors asan:differential

unit: $(UNITS)
	$(RUN_TESTS) unit

$(GROUPS): all
	$(RUN_TESTS) $@

# Some minutes for each program: OCLGRIND_TESTS=test_cl_sort for one.
oclgrind: $(filter $(B)/tests/test_cl_%,$(UNITS))
	$(RUN_TESTS) $@

questions: data

# The instrumented build is a build like any other, in a folder of its own.
asan asan-build:
	$(MAKE) B='$(B)/asan' CFLAGS='-O1 -g $(SANITIZE)' LDFLAGS='$(SANITIZE)' all unit-programs

tsan:
	$(MAKE) B='$(B)/tsan' CFLAGS='-O1 -g -fsanitize=thread' LDFLAGS='-fsanitize=thread' all unit-programs
	$(RUN_TESTS) tsan:unit tsan:golden

.PHONY: unit-programs
unit-programs: $(UNITS)

fuzz: all
	DIFFERENTIAL='--seconds $(SECONDS)' $(RUN_TESTS) differential

# The parser alone, under libFuzzer: make fuzz-parse SECONDS=600. What it finds stays in build/fuzz.
FUZZ_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_SOURCES := $(wildcard src/base/*.c src/parser/*.c) $(B)/parser/grammar.c $(B)/parser/lexer.c

fuzz-parse: $(B)/fuzz/fuzz_parse
	@mkdir -p $(B)/fuzz/corpus
	sed -n 's/^WORD("\([^"]*\)".*/"\1"/p' src/parser/words.def > $(B)/fuzz/words.dict
	ASAN_OPTIONS=quarantine_size_mb=1:allocator_release_to_os_interval_ms=-1:max_malloc_fill_size=0 \
	$< -dict=$(B)/fuzz/words.dict -max_len=400 -max_total_time=$(SECONDS) -timeout=5 -artifact_prefix=$(B)/fuzz/ \
	    $(B)/fuzz/corpus tests/golden tests/errors

$(B)/fuzz/fuzz_parse: tests/fuzz/fuzz_parse.c $(FUZZ_SOURCES)
	@mkdir -p $(@D)
	clang $(STANDARD) -Isrc -Isrc/parser -I$(B) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_SOURCES)

# The readers of files, the same way: make fuzz-files SECONDS=60.
FILE_SOURCES := $(wildcard src/base/*.c src/engine/*/*.c src/parser/*.c) $(B)/parser/grammar.c $(B)/parser/lexer.c

fuzz-files: $(B)/fuzz/fuzz_files
	@mkdir -p $(B)/fuzz/files
	$< -max_len=4096 -max_total_time=$(SECONDS) -timeout=10 -artifact_prefix=$(B)/fuzz/ $(B)/fuzz/files

$(B)/fuzz/fuzz_files: tests/fuzz/fuzz_files.c $(FILE_SOURCES)
	@mkdir -p $(@D)
	clang $(STANDARD) -Isrc -Isrc/parser -I$(B) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(FILE_SOURCES) \
	    -lz -lzstd -lm -lpthread

# PYTHON is one that has the peers to be measured: NumPy, DuckDB, Polars, chdb. DUCKDB names its command line, if any.
# From 10^3 rows on, up to MAX_ROWS, which take 150 bytes each of memory: some ten minutes for 10^7, an hour for 10^8.
PYTHON ?= /usr/bin/python3
MAX_ROWS ?= 10000000
BENCH := $(PYTHON) tests/bench/bench.py --build $(B) --max-rows $(MAX_ROWS)

bench: all $(B)/generate $(B)/hand
	$(BENCH) $(BENCH_FLAGS)

bench-primitives: all $(B)/generate $(B)/hand
	$(BENCH) --groups primitives --no-cold $(BENCH_FLAGS)

$(B)/hand: tests/bench/hand.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -O3 -march=native $(WARNINGS) -o $@ $< -lpthread

# CUB takes part where there is an nvcc, CuPy where PYTHON has it.
NVCC ?= $(shell command -v nvcc)

bench-gpu: all $(B)/generate $(B)/hand $(B)/bench_memory $(if $(NVCC),$(B)/cub)
	@mkdir -p $(B)/gpu-data
	$(B)/generate --rows $(GPU_ROWS) --dir $(B)/gpu-data
	RQL=$(B)/rql MEMORY=$(B)/bench_memory tests/bench/bench_gpu.sh $(B)/gpu-data
	rm -r $(B)/gpu-data
	$(PYTHON) tests/bench/bench.py --gpu --build $(B) --max-rows $(GPU_ROWS) $(BENCH_FLAGS)

$(B)/bench_memory: tests/bench/bench_memory.c
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(WARNINGS) -O2 -o $@ $< -lOpenCL

$(B)/cub: tests/bench/cub.cu
	@mkdir -p $(@D)
	$(NVCC) -O3 -std=c++17 -arch=native -o $@ $<

bare:
	tests/bare-debian.sh
