# rql: an interactive shell for columnar data. `make help` lists the targets.

CC ?= cc
# At -O2 gcc hardly vectorises loops, and the evaluator is made of them. Other flags, without -DNDEBUG, are those of test
# builds, which check assertions.
CFLAGS ?= -O3 -g -DNDEBUG
LDFLAGS ?=
PREFIX ?= /usr/local
LEMON ?= lemon
RE2C ?= re2c
ROWS ?= 10000000
# Which line editor the prompt uses: readline or edit (libedit offers the same interface).
EDITOR_LIB ?= readline
EDITOR_FLAGS_edit := -DRQL_LIBEDIT
# Everything generated goes here; make asan uses a folder of its own inside it.
B ?= build

VERSION := $(shell cat VERSION)

# Libraries that the build can do without, each with its header and what is linked: src/engine/compression/codec_NAME.c uses
# it, and defines block_functions_NAME.
OPTIONAL := lz4 brotli
HEADER_lz4 := lz4frame.h
HEADER_brotli := brotli/encode.h
LINK_lz4 := -llz4
LINK_brotli := -lbrotlidec -lbrotlienc
FUNCTIONS_lz4 := lz4 lz4_frame
FUNCTIONS_brotli := brotli
has_header = $(shell $(CC) $(CFLAGS) -E -include $(1) -x c /dev/null >/dev/null 2>&1 && echo yes)
FOUND := $(foreach name,$(OPTIONAL),$(if $(call has_header,$(HEADER_$(name))),$(name)))
LACKING := $(filter-out $(FOUND),$(OPTIONAL))
# For regular expressions; src/engine/text_functions/regex.c looks for its header too.
LINK_pcre2 := $(if $(call has_header,pcre2posix.h),-lpcre2-8)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	$(WERROR)
# No fused multiply-add where it is not asked for: it would round differently from machine to machine.
STANDARD := -std=c11 -ffp-contract=off -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -DRQL_VERSION='"$(VERSION)"' \
	$(EDITOR_FLAGS_$(EDITOR_LIB)) \
	$(foreach name,$(LACKING),$(FUNCTIONS_$(name):%=-Dblock_functions_%=block_functions_missing))
ALL_CFLAGS := $(STANDARD) $(WARNINGS) -Isrc -I$(B) $(CFLAGS)
ALL_LDFLAGS := $(LDFLAGS)
LIBS := -lOpenCL -l$(EDITOR_LIB) -lz -lzstd $(foreach name,$(FOUND),$(LINK_$(name))) $(LINK_pcre2) -lm -lpthread

SOURCES := $(filter-out $(LACKING:%=src/engine/compression/codec_%.c),$(wildcard src/*/*.c src/*/*/*.c))
KERNELS := $(wildcard src/cl/kernels/*.cl)
OBJECTS := $(SOURCES:src/%.c=$(B)/%.o) $(B)/parser/grammar.o $(B)/parser/lexer.o $(KERNELS:src/%.cl=$(B)/%.o)
MAIN := $(B)/repl/main.o
LIBRARY := $(filter-out $(MAIN),$(OBJECTS))
UNITS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))

.PHONY: all check unit asan data bench editors install uninstall deb clean format help
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/rql

help:
	@sed -n 's/^#: //p' Makefile tests/tests.mk

#: make             build/rql
$(B)/rql: $(MAIN) $(B)/librql.a
	$(CC) $(CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# All but main, for the tests too. Made anew, or what has been renamed would stay in it.
$(B)/librql.a: $(LIBRARY)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/%.o: src/%.c Makefile VERSION | $(B)/parser/grammar.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Lemon reads one file. It leaves an unchanged header untouched, so it is touched here, or make would run lemon for ever.
$(B)/parser/grammar.y: src/parser/grammar.y src/parser/grammar_expressions.y src/parser/grammar_automaton.y
	@mkdir -p $(@D)
	cat $^ > $@

$(B)/parser/grammar.c $(B)/parser/grammar.h &: $(B)/parser/grammar.y
	$(LEMON) -q -d$(B)/parser $<
	@touch $(B)/parser/grammar.h $(B)/parser/grammar.c

$(B)/parser/lexer.c: src/parser/lexer.re
	@mkdir -p $(@D)
	$(RE2C) -W -Werror --no-generation-date --depfile $@.d -o $@ $<

$(B)/parser/%.o: $(B)/parser/%.c Makefile VERSION | $(B)/parser/grammar.h
	$(CC) $(ALL_CFLAGS) -Isrc/parser -MMD -MP -c -o $@ $<

# A kernel template becomes a C string: cl/kernels/scatter.cl defines `const char kernel_scatter[]`.
$(B)/cl/kernels/%.c: src/cl/kernels/%.cl
	@mkdir -p $(@D)
	@{ printf 'extern const char kernel_$*[];\nconst char kernel_$*[] = {'; \
	   od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; printf '0};\n'; } > $@

$(B)/cl/kernels/%.o: $(B)/cl/kernels/%.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/tests/%: tests/unit/%.c $(B)/librql.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(B)/librql.a $(LIBS) -lcmocka

$(B)/generate: data/generate.c Makefile
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

#: make data        data/ids.bin and data/amounts.bin, ROWS=10000000 of them, always the same
data: $(B)/generate
	$(B)/generate --rows $(ROWS) --dir data

# Syntax files, made from the tables of the language.
EDITORS := $(B)/editors
SYNTAX := $(EDITORS)/vim/syntax/rql.vim $(EDITORS)/vscode/rql.tmLanguage.json

$(B)/syntax: contrib/editors/syntax.c $(B)/librql.a
	$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(B)/librql.a $(LIBS)

$(EDITORS)/vim/syntax/rql.vim: $(B)/syntax
	@mkdir -p $(@D)
	$< vim > $@

$(EDITORS)/vscode/rql.tmLanguage.json: $(B)/syntax
	@mkdir -p $(@D)
	$< vscode > $@

#: make editors     syntax files for vim and VS Code in build/editors; make install installs them
editors: $(SYNTAX)
	cp -r contrib/editors/vim contrib/editors/vscode $(EDITORS)

MANUAL := share/man/man1
BASH_WORDS := share/bash-completion/completions
ZSH_WORDS := share/zsh/site-functions
SAMPLE := share/rql/sample
VIM := share/vim/vimfiles
VSCODE := share/rql/vscode

#: make install     the program, its manual page, completions and sample data, under PREFIX=/usr/local
install: $(B)/rql editors
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(B)/rql $(DESTDIR)$(PREFIX)/bin/rql
	install -d $(DESTDIR)$(PREFIX)/$(MANUAL) $(DESTDIR)$(PREFIX)/$(BASH_WORDS) $(DESTDIR)$(PREFIX)/$(ZSH_WORDS) \
	    $(DESTDIR)$(PREFIX)/$(SAMPLE) $(DESTDIR)$(PREFIX)/$(VIM)/syntax $(DESTDIR)$(PREFIX)/$(VIM)/ftdetect \
	    $(DESTDIR)$(PREFIX)/$(VSCODE)
	install -m 644 $(EDITORS)/vim/syntax/rql.vim $(DESTDIR)$(PREFIX)/$(VIM)/syntax/rql.vim
	install -m 644 $(EDITORS)/vim/ftdetect/rql.vim $(DESTDIR)$(PREFIX)/$(VIM)/ftdetect/rql.vim
	install -m 644 $(wildcard contrib/editors/vscode/*) $(EDITORS)/vscode/rql.tmLanguage.json $(DESTDIR)$(PREFIX)/$(VSCODE)
	install -m 644 docs/rql.1 $(DESTDIR)$(PREFIX)/$(MANUAL)/rql.1
	install -m 644 completions/rql.bash $(DESTDIR)$(PREFIX)/$(BASH_WORDS)/rql
	install -m 644 completions/_rql $(DESTDIR)$(PREFIX)/$(ZSH_WORDS)/_rql
	install -m 644 $(wildcard data/sample/*) $(DESTDIR)$(PREFIX)/$(SAMPLE)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/rql $(DESTDIR)$(PREFIX)/$(MANUAL)/rql.1
	rm -f $(DESTDIR)$(PREFIX)/$(BASH_WORDS)/rql $(DESTDIR)$(PREFIX)/$(ZSH_WORDS)/_rql
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/$(SAMPLE)/,$(notdir $(wildcard data/sample/*)))
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/$(VIM)/,syntax/rql.vim ftdetect/rql.vim)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/$(VSCODE)/,$(notdir $(wildcard contrib/editors/vscode/*)) rql.tmLanguage.json)
	rmdir $(DESTDIR)$(PREFIX)/$(VSCODE) $(DESTDIR)$(PREFIX)/$(SAMPLE) $(DESTDIR)$(PREFIX)/share/rql 2>/dev/null || true

DEB := $(B)/deb
DEB_TREE := $(DEB)/rql-$(VERSION)

#: make deb         a Debian package in build/deb, of this tree as it is; needs dpkg-dev and debhelper
deb:
	@test '$(VERSION)' = "$$(dpkg-parsechangelog -S Version)" || { echo 'VERSION and debian/changelog differ' >&2; exit 1; }
	rm -rf $(DEB)
	mkdir -p $(DEB_TREE)
	tar -c --exclude=./.git --exclude=./build --exclude=./data/ids.bin --exclude=./data/amounts.bin . | tar -x -C $(DEB_TREE)
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS dpkg-buildpackage -b -us -uc -j$$(nproc)

#: make clean       removes what was built, and nothing else
clean:
	rm -rf $(B)

#: make format      all C files, by clang-format
format:
	clang-format -i $(wildcard src/*/*.[ch] src/*/*/*.[ch] data/*.c contrib/*/*.c tests/*/*.[ch])

include tests/tests.mk

-include $(OBJECTS:.o=.d) $(UNITS:=.d) $(B)/parser/lexer.c.d $(B)/syntax.d
