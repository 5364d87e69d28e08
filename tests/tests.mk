# The tests, benchmarks and checks; included by the Makefile. tests/run counts and adds up.

#: make check       all tests, then most of them again under ASan and UBSan; the last line counts them
#: make quick       what a change is likely to break: unit programs of the touched sources, golden scripts on the host
#: make unit        the cmocka programs (also: style, includes, golden, errors, formats, text, parquet, arrow, cli, manual, documents,
#:                  drivers, faults, questions, terminal, differential)
#: make builds      what make check does not run, built and started once: clang, libedit, the fuzzers, the benchmark
#: make soak        every call of the statements of tests/faults.py fails, one by one (an hour; SOAK='--only csv' for some)
#: make soak-leaks  the same under AddressSanitizer, which finds leaks at the end
#: make asan        build/asan/rql, under AddressSanitizer and UndefinedBehaviorSanitizer
#: make tsan        build/tsan/rql, under ThreadSanitizer, and its tests (not in make check: which races it sees is chance)
#: make coverage    the lines and branches of each folder that all tests reach, no fewer than tests/coverage.floor (an hour;
#:                  COVERAGE_GROUPS=golden for some, without a floor)
#: make oclgrind    the kernels under Oclgrind, which checks bounds, data races and API calls
#: make fuzz-parse  the parser under libFuzzer (clang)
#: make fuzz-files  the readers of all file formats under libFuzzer (clang)
#: make fuzz-parquet  the reader of Parquet files under libFuzzer (clang); fuzz-arrow that of Arrow files
#: make fuzz-folders  names of folders, KEY=VALUE, under libFuzzer (clang)
#: make fuzz        random queries for a long time: make fuzz SECONDS=3600
#: make windows-duckdb  random windows and groups against DuckDB's window functions: PYTHON with duckdb, COUNT, SEED
#: make relations-duckdb  random pipelines of joins, groups and stages within groups against DuckDB: PYTHON with duckdb
#: make typed-duckdb  random pipelines over typed tables against DuckDB: PYTHON with duckdb and pyarrow, COUNT=10000, SEED
#: make words-random  random texts and typed pipelines in four modes, host and device, fused and not: COUNT=10000, SEED
#: make bench       rql against C by hand, DuckDB, ClickHouse, Polars, NumPy: MAX_ROWS=10000000 PYTHON=python3 with those
#: make bench-primitives  the other primitives against the same
#: make bench-files  reading CSV and Parquet files against DuckDB, Polars, pyarrow: FILE_ROWS=5000000
#: make bench-analysts  texts, times, regular expressions, deviations, gaps, windows, interval joins against DuckDB and Polars
#: make bench-json  JSONBench's questions to nested events against DuckDB: EVENTS=1000000
#: make bench-programs  loops and folds against NumPy, C on all threads and Numba: DEVICE=auto; BENCH_FLAGS as for the others
#: make bench-programs-gpu  the same on a GPU against CuPy and, with nvcc, CUDA: PYTHON with CuPy
#: make bench-gpu   on a GPU: the main query against what its memory does, then all against CuPy and CUB; GPU_ROWS=1000000000
#: make dialects    random expressions as SQL, run by each engine that PYTHON has: chdb, duckdb; COUNT=10000, SEED
#: make servers-random  random pipelines on a ClickHouse server and here: COUNT=10000, SEED, ENGINES=clickhouse-18,clickhouse (the second
#:                  with PYTHON that has chdb); make servers-texts: functions of text
#: make hints-expect  what DuckDB and pandas answer to the lines of tests/hints and tests/tasks: PYTHON with duckdb and pandas
#: make tpch        the 22 questions of TPC-H against DuckDB's answers: PYTHON with duckdb and duckdb-extension-tpch, SCALE=1
#: make db-benchmark  its ten groupby and five join questions against DuckDB: PYTHON with duckdb, NumPy, pyarrow; DB_ROWS=10000000
#: make clickbench  the 43 questions of ClickBench to random page views against DuckDB; HITS=10000000
#: make bench-relations  the first two timed, against DuckDB, Polars and ClickHouse: SCALE=1, BENCH_FLAGS=--threads 8
#: make bench-clickbench  the third
#: make interrupts  Ctrl-C within 100 ms at random moments of long queries, and the progress line: MOMENTS=200
#: make interop     Parquet and Arrow against other software: PYTHON with pyarrow, pandas, Polars, DuckDB; CORPUS and
#:                  ARROW_CORPUS copies of apache/parquet-testing and apache/arrow-testing
#: make jupyter     the kernel of contrib/jupyter runs a notebook: PYTHON of a virtual environment with nbclient
#: make deb-check   the package of make deb: lintian, installed into a bare Debian, removed; as root with debootstrap
#: make bare        bootstrap from a bare Debian, as root with debootstrap installed

GROUPS := style includes builds golden errors formats text parquet arrow cli manual documents drivers faults questions terminal differential \
    typed relations joins queries programs servers
SECONDS ?= 600
GPU_ROWS ?= 1000000000
FILE_ROWS ?= 5000000
EVENTS ?= 1000000
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
STYLE_FLAGS := $(STANDARD) $(WARNINGS) -Isrc -I$(B) -I$(B)/parser -Itests/unit
RUN_TESTS = B='$(B)' RQL='$(abspath $(B))/rql' STYLE_FLAGS='$(subst ','\'',$(STYLE_FLAGS))' tests/run

.PHONY: $(GROUPS) soak soak-leaks hints-expect coverage quick servers-random servers-texts dialects typed-duckdb words-random windows-duckdb relations-duckdb asan-build tsan oclgrind fuzz fuzz-build fuzz-programs fuzz-parse fuzz-files \
	fuzz-parquet fuzz-arrow fuzz-folders bare \
	bench-build bench-files bench-json bench-analysts bench-gpu bench-primitives bench-programs bench-programs-gpu interop interrupts jupyter deb-check tpch db-benchmark bench-relations clickbench bench-clickbench

# The longest first: tests/run starts them in this order.
check: all unit-programs asan-build data $(B)/dump_file $(B)/print_sql
	$(RUN_TESTS) golden asan:unit builds unit queries servers asan:servers style asan:golden asan:text asan:errors relations \
	    terminal programs asan:parquet text differential asan:differential joins errors parquet asan:arrow asan:faults typed \
	    asan:typed drivers formats questions faults cli manual includes arrow documents

# Of a file that most programs include, such as a table, all of those run.
quick: all $(B)/dump_file $(B)/print_sql
	$(MAKE) $(patsubst %,$(B)/tests/%,$(shell tests/touched.py))
	$(RUN_TESTS) quick

unit: unit-programs
	$(RUN_TESTS) unit

$(GROUPS): all $(B)/dump_file $(B)/print_sql
	$(RUN_TESTS) $@

soak: all
	RQL='$(abspath $(B))/rql' tests/faults.py --all $(SOAK)

# The same, and leaks after each.
soak-leaks: asan-build
	RQL='$(abspath $(B))/asan/rql' tests/faults.py --all $(SOAK)

# Some minutes for each program: OCLGRIND_TESTS=test_cl_sort for one.
oclgrind: $(filter $(B)/tests/test_cl_%,$(UNITS))
	$(RUN_TESTS) $@

questions documents: data

.PHONY: unit-programs
unit-programs: $(UNITS)

# The instrumented builds are builds like any other, in folders of their own. Reports need no more than lines (-g1).
asan asan-build:
	$(MAKE) B='$(B)/asan' CFLAGS='-O1 -g1 -DOPTIMISED_KERNELS=false $(SANITIZE)' LDFLAGS='$(SANITIZE)' all unit-programs '$(B)/asan/dump_file' '$(B)/asan/print_sql' \
	    '$(B)/asan/rql-faults'

# The calls of this rql go through tests/fault.c, which cannot be preloaded where a sanitizer has its own allocator: what it
# defines is renamed to what the linker's --wrap calls, and so are the allocator's functions that it calls.
$(B)/fault.o: tests/fault.c
	@mkdir -p $(@D)
	$(CC) -O1 -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -fno-builtin -c -o $@ $<

$(B)/fault_names: $(B)/fault.o
	nm --defined-only --extern-only $< | awk '{ print $$3 }' > $@

$(B)/fault_wraps.o: $(B)/fault.o $(B)/fault_names
	sed 's/.*/& __wrap_&/' $(B)/fault_names > $(B)/fault_renamed
	printf '__libc_%s\n' 'malloc __real_malloc' 'calloc __real_calloc' 'realloc __real_realloc' 'memalign memalign' >> $(B)/fault_renamed
	objcopy --redefine-syms=$(B)/fault_renamed $< $@

$(B)/rql-faults: $(MAIN) $(B)/fault_wraps.o $(B)/librql.a
	$(CC) $(CFLAGS) $(ALL_LDFLAGS) $$(sed 's/^/-Wl,--wrap=/' $(B)/fault_names) -o $@ $^ $(LIBS)

# CI only starts the builds of the fuzzers, and asks for them quickly: OPTIMISE=-O0.
OPTIMISE ?= -O1

TSAN := $(MAKE) B='$(B)/tsan' CFLAGS='$(OPTIMISE) -g -fsanitize=thread' LDFLAGS='-fsanitize=thread'

tsan:
	$(TSAN) all unit-programs
	$(RUN_TESTS) tsan:unit tsan:golden

# Counts of former runs are removed, or they would be added to.
COVERAGE := $(B)/coverage
COVERAGE_GROUPS ?= golden unit errors cli terminal drivers differential typed relations joins queries programs formats text parquet \
    arrow servers questions manual documents

coverage: data
	$(MAKE) B='$(COVERAGE)' CFLAGS='-O0 -g -DOPTIMISED_KERNELS=false --coverage' LDFLAGS=--coverage all unit-programs \
	    '$(COVERAGE)/dump_file' '$(COVERAGE)/print_sql'
	find '$(COVERAGE)' -name '*.gcda' -delete
	-B='$(COVERAGE)' RQL='$(abspath $(COVERAGE))/rql' tests/run $(COVERAGE_GROUPS)
	/usr/bin/env python3 tests/coverage.py '$(COVERAGE)' $(if $(filter file,$(origin COVERAGE_GROUPS)),--floor tests/coverage.floor)

fuzz: all
	DIFFERENTIAL='--seconds $(SECONDS)' $(RUN_TESTS) differential

# libFuzzer targets: make fuzz-parse SECONDS=600. Inputs that fail stay in build/fuzz. The build is clang's, with libedit.
FUZZ := $(B)/fuzz
RUN_FUZZER := ASAN_OPTIONS=quarantine_size_mb=1:allocator_release_to_os_interval_ms=-1:max_malloc_fill_size=0

fuzz-build:
	$(MAKE) B='$(FUZZ)' CC=clang EDITOR_LIB=edit \
	    CFLAGS='$(OPTIMISE) -g -DTEXT_CHUNK_BYTES=16 $(SANITIZE) -fsanitize=fuzzer-no-link' \
	    LDFLAGS='$(SANITIZE)' all fuzz-programs

fuzz-programs: $(B)/fuzz_parse $(B)/fuzz_files $(B)/fuzz_parquet $(B)/fuzz_arrow $(B)/fuzz_folders

$(B)/fuzz_parquet: ALL_LDFLAGS += -Wl,--wrap=column_reserve_from

$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/librql.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

fuzz-parse: fuzz-build
	@mkdir -p $(FUZZ)/corpus
	sed -n 's/^WORD("\([^"]*\)".*/"\1"/p' src/parser/words.def > $(FUZZ)/words.dict
	$(RUN_FUZZER) $(FUZZ)/fuzz_parse -dict=$(FUZZ)/words.dict -max_len=400 -max_total_time=$(SECONDS) -timeout=5 \
	    -artifact_prefix=$(FUZZ)/ $(FUZZ)/corpus tests/golden tests/errors

fuzz-files: fuzz-build
	@mkdir -p $(FUZZ)/files
	$(RUN_FUZZER) $(FUZZ)/fuzz_files -max_len=4096 -max_total_time=$(SECONDS) -timeout=10 \
	    -artifact_prefix=$(FUZZ)/ $(FUZZ)/files

fuzz-parquet: fuzz-build
	@mkdir -p $(FUZZ)/parquet
	$(RUN_FUZZER) $(FUZZ)/fuzz_parquet -max_len=65536 -max_total_time=$(SECONDS) -timeout=10 \
	    -artifact_prefix=$(FUZZ)/ $(FUZZ)/parquet tests/parquet

fuzz-arrow: fuzz-build
	@mkdir -p $(FUZZ)/arrow
	$(RUN_FUZZER) $(FUZZ)/fuzz_arrow -max_len=65536 -max_total_time=$(SECONDS) -timeout=10 \
	    -artifact_prefix=$(FUZZ)/ $(FUZZ)/arrow tests/arrow

fuzz-folders: fuzz-build
	@mkdir -p $(FUZZ)/folders
	$(RUN_FUZZER) $(FUZZ)/fuzz_folders -max_len=400 -max_total_time=$(SECONDS) -timeout=10 \
	    -artifact_prefix=$(FUZZ)/ $(FUZZ)/folders

# PYTHON is one that has the peers to be measured: NumPy, DuckDB, Polars, chdb. DUCKDB names its command line, if any.
# From 10^3 rows on, up to MAX_ROWS, which take 150 bytes each of memory: some ten minutes for 10^7, an hour for 10^8.
PYTHON ?= /usr/bin/python3
MAX_ROWS ?= 10000000
BENCH := $(PYTHON) tests/bench/bench.py --build $(B) --max-rows $(MAX_ROWS)

# Without SEED another one each time; it is printed.
COUNT ?= 10000

windows-duckdb: all
	RQL=$(B)/rql $(PYTHON) tests/relations/windows_duckdb.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

relations-duckdb: all
	RQL=$(B)/rql $(PYTHON) tests/relations/pipelines_duckdb.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

dialects: all $(B)/print_sql
	RQL=$(B)/rql $(PYTHON) tests/sql/dialects.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

servers-random: all
	RQL=$(abspath $(B))/rql $(PYTHON) tests/sql/random_pipelines.py --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(if $(ENGINES),--engines $(ENGINES))

servers-texts: all
	RQL=$(abspath $(B))/rql $(PYTHON) tests/sql/texts.py --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(if $(ENGINES),--engines $(ENGINES))

typed-duckdb: all
	RQL=$(B)/rql $(PYTHON) tests/typed/typed.py --duckdb --count $(COUNT) --modes host,host-unfused,host-kept \
	    $(if $(SEED),--seed $(SEED)) $(TYPED_FLAGS)

# A shape of a pipeline runs on many tables, as a device has to build its programs: half a second each with PoCL.
FOUR_MODES := --modes host,host-unfused,device,unfused --device-share 1 $(if $(SEED),--seed $(SEED))

words-random: all
	RQL=$(abspath $(B))/rql $(PYTHON) tests/typed/text_fuzz.py --count $(COUNT) $(FOUR_MODES)
	RQL=$(abspath $(B))/rql $(PYTHON) tests/typed/typed.py --count $(COUNT) --repeat 100 --large-share 0 $(FOUR_MODES)

# Tables are made once: remove build/tpch, build/db-benchmark or build/clickbench to make others.
SCALE ?= 1
DB_ROWS ?= 10000000

$(B)/tpch/lineitem.parquet:
	$(PYTHON) tests/tpch/tables.py $(B)/tpch $(SCALE)

$(B)/db-benchmark/x.parquet:
	$(PYTHON) tests/db-benchmark/tables.py $(B)/db-benchmark $(DB_ROWS)

HITS ?= 10000000

$(B)/clickbench/hits.parquet:
	$(PYTHON) tests/clickbench/hits.py $(B)/clickbench $(HITS)

hints-expect:
	$(PYTHON) tests/hints/expect.py
	$(PYTHON) tests/tasks/expect.py

tpch: all $(B)/tpch/lineitem.parquet
	RQL=$(B)/rql $(PYTHON) tests/tpch/run.py $(B)/tpch

db-benchmark: all $(B)/db-benchmark/x.parquet
	RQL=$(B)/rql $(PYTHON) tests/db-benchmark/run.py $(B)/db-benchmark

bench-relations: all $(B)/tpch/lineitem.parquet $(B)/db-benchmark/x.parquet
	$(PYTHON) tests/bench/relations.py --rql $(B)/rql --tpch $(B)/tpch --db-benchmark $(B)/db-benchmark $(BENCH_FLAGS)

clickbench: all $(B)/clickbench/hits.parquet
	RQL=$(B)/rql $(PYTHON) tests/clickbench/run.py $(B)/clickbench

bench-clickbench: all $(B)/clickbench/hits.parquet
	$(PYTHON) tests/bench/relations.py --rql $(B)/rql --clickbench $(B)/clickbench $(BENCH_FLAGS)

bench-build: all $(B)/generate $(B)/hand $(B)/bench_memory

bench: bench-build
	$(BENCH) $(BENCH_FLAGS)

bench-primitives: bench-build
	$(BENCH) --groups primitives --no-cold $(BENCH_FLAGS)

bench-files: all
	$(PYTHON) tests/bench/bench_files.py --build $(B) --rows $(FILE_ROWS) $(BENCH_FLAGS)

DEVICE ?= auto

bench-analysts: all
	$(PYTHON) tests/bench/bench_analysts.py --build $(B) --rows $(MAX_ROWS) $(BENCH_FLAGS)

bench-json: all
	$(PYTHON) tests/bench/bench_json.py --build $(B) --events $(EVENTS) $(BENCH_FLAGS)

bench-programs: all $(B)/programs.so
	$(PYTHON) tests/bench/programs.py --build $(B) --device $(DEVICE) $(BENCH_FLAGS)

$(B)/programs.so: tests/bench/programs.c tests/bench/programs_ikra.c tests/bench/programs.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -O3 -march=native -fopenmp -shared -fPIC $(WARNINGS) -o $@ $(filter %.c,$^) -lm

$(B)/hand: tests/bench/hand.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -O3 -march=native $(WARNINGS) -o $@ $< -lpthread

# CUB takes part where there is an nvcc, CuPy where PYTHON has it.
NVCC ?= $(shell command -v nvcc)

bench-programs-gpu: all $(if $(NVCC),$(B)/programs_cuda.so)
	$(PYTHON) tests/bench/programs_gpu.py --build $(B) $(BENCH_FLAGS)

$(B)/programs_cuda.so: tests/bench/programs.cu
	@mkdir -p $(@D)
	$(NVCC) -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o $@ $<

bench-gpu: bench-build $(if $(NVCC),$(B)/cub)
	@mkdir -p $(B)/gpu-data
	$(B)/generate --rows $(GPU_ROWS) --dir $(B)/gpu-data
	RQL=$(B)/rql MEMORY=$(B)/bench_memory tests/bench/bench_gpu.sh $(B)/gpu-data
	rm -r $(B)/gpu-data
	$(PYTHON) tests/bench/bench.py --gpu --build $(B) --max-rows $(GPU_ROWS) $(BENCH_FLAGS)

# Prints the columns of a file, for tests.
$(B)/dump_file: tests/dump_file.c $(B)/librql.a
	$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(B)/librql.a $(LIBS)

# Prints typed code as SQL, for tests.
$(B)/print_sql: tests/sql/print_sql.c $(B)/librql.a
	$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(B)/librql.a $(LIBS)

$(B)/bench_memory: tests/bench/bench_memory.c
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(WARNINGS) -O2 -o $@ $< -lOpenCL

$(B)/cub: tests/bench/cub.cu
	@mkdir -p $(@D)
	$(NVCC) -O3 -std=c++17 -arch=native -o $@ $<

CORPUS ?= parquet-testing
ARROW_CORPUS ?= arrow-testing

MOMENTS ?= 200

interrupts: all
	RQL='$(abspath $(B))/rql' $(PYTHON) tests/terminal/interrupts.py --moments $(MOMENTS)

interop: $(B)/dump_file
	$(PYTHON) tests/interop/corpus.py $(CORPUS) --dump $(B)/dump_file
	$(PYTHON) tests/interop/matrix.py --dump $(B)/dump_file
	$(PYTHON) tests/interop/filters.py --rql $(B)/rql
	$(PYTHON) tests/interop/round_trip.py --dump $(B)/dump_file
	$(PYTHON) tests/interop/text.py --dump $(B)/dump_file
	$(PYTHON) tests/interop/nested.py --dump $(B)/dump_file
	$(PYTHON) tests/interop/arrow.py --corpus $(ARROW_CORPUS) --dump $(B)/dump_file

jupyter: all
	RQL=$(abspath $(B))/rql $(PYTHON) tests/jupyter/notebook.py

deb-check:
	tests/debian-package.sh

bare:
	tests/bare-debian.sh
