/* Parsing: the syntax tree of every language construct, and where statements end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parser/automaton.h"
#include "parser/grammar.h"
#include "parser/parse.h"
#include "tree_text.h"

#include <stdlib.h>
#include <string.h>

/* A test case: the text and its expected tree in the notation of tree_text.h, NULL if there must be one error. */
struct row {
    const char *text;
    const char *tree;
};

struct parsed {
    struct source source;
    struct arena *arena;
    struct diags diags;
    struct stmt *first;
    enum parse_result result;
};

static void parsed_free(struct parsed *parsed)
{
    arena_free(parsed->arena);
    free(parsed);
}

static struct parsed *parsed_new(const char *text, size_t length, enum parse_mode mode)
{
    struct parsed *parsed = calloc(1, sizeof *parsed);
    assert_non_null(parsed);
    parsed->source = (struct source){"test.rql", text, length};
    parsed->arena = arena_new();
    diags_init(&parsed->diags, parsed->arena);
    parsed->result = parse(&parsed->source, mode, parsed->arena, &parsed->diags, &parsed->first);
    return parsed;
}

static void expect_wrong(const char *text, enum parse_mode mode)
{
    struct parsed *parsed = parsed_new(text, strlen(text), mode);
    if (parsed->result != PARSE_FAILED || parsed->diags.count != 1)
        fail_msg("`%s`: %zu errors", text, parsed->diags.count);
    parsed_free(parsed);
}

static void expect(const struct row *row, enum parse_mode mode)
{
    if (!row->tree) {
        expect_wrong(row->text, mode);
        return;
    }
    struct parsed *parsed = parsed_new(row->text, strlen(row->text), mode);
    struct strbuf tree = {0};
    strbuf_puts(&tree, "");
    add_statements(&tree, parsed->first);
    if (parsed->result != PARSE_OK || parsed->diags.count)
        fail_msg("`%s`: %s", row->text, parsed->diags.count ? parsed->diags.at[0].message : "incomplete");
    if (strcmp(tree.text, row->tree) != 0)
        fail_msg("`%s` became\n%s, not\n%s", row->text, tree.text, row->tree);
    strbuf_free(&tree);
    parsed_free(parsed);
}

static void expect_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&rows[i], PARSE_SCRIPT);
}

#define EXPECT_ALL(rows) expect_all(rows, sizeof(rows) / sizeof *(rows))

static void expressions(void **state)
{
    static const struct row rows[] = {
        {"42", "42"},
        {"1_000", "1000"},
        {"0xff", "255"},
        {"0b101", "5"},
        {"3.5", "3.5"},
        {"1e6", "1000000."},
        {"1_000.25e-2", "10.0025"},
        {"-7", "(neg 7)"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"- 0x8000_0000_0000_0000", "-9223372036854775808"},
        {"1 - -9223372036854775808", "(- 1 -9223372036854775808)"},
        {"$1 + $12", "(+ $1 $12)"},
        {"a + `strange name`", "(+ a strange name)"},
        {"`in` + `and`", "(+ in and)"},
        {"1 + f()", "(+ 1 (f))"},
        {"max(a, b + 1, -c)", "(max a (+ b 1) (neg c))"},
        {"t[i + 1]", "(at t (+ i 1))"},
        {"f(g(t[h(1)]))", "(f (g (at t (h 1))))"},
        {"not a or b and c", "(|| (! a) (&& b c))"},
        {"!a == ~b", "(== (! a) (~ b))"},
        {"- - ~!-x", "(neg (neg (~ (! (neg x)))))"},
        {"not not x", "(! (! x))"},
        {"not x > 3", "(! (> x 3))"},
        {"!x > 3", "(> (! x) 3)"},
        {"not x == not y", "(! (== x (! y)))"},
        {"not x in [1] and not !y", "(&& (! (in x [1])) (! (! y)))"},
        {"not a ? b : c", "(? (! a) b c)"},
        {"a ? b : c ? d : e", "(? a b (? c d e))"},
        {"a ? b ? 1 : 2 : 3", "(? a (? b 1 2) 3)"},
        {"a || b ? c + 1 : d || e", "(? (|| a b) (+ c 1) (|| d e))"},
        {"x in 1..3", "(in x 1 3)"},
        {"x + 1 in a - 1..b << 1", "(in (+ x 1) (- a 1) (<< b 1))"},
        {"x in [1, 2, y]", "(in x [1 2 y])"},
        {"x in []", "(in x [])"},
        {"x in t", "(in:t x)"},
        {"x not in (t | take 1)", "(! (in:() x))"},
        {"x not in [1]", "(! (in x [1]))"},
        {"x not  in 1..2 && y", "(&& (! (in x 1 2)) y)"},
        {"x in 1..2 == 1", "(== (in x 1 2) 1)"},
        {"(a + 1 | b)", "(| (+ a 1) b)"},
        {"(1 | a | b & c)", "(| (| 1 a) (& b c))"},
        {"(1 | a ? b : c)", "(| 1 (? a b c))"},
        {"f(a | b, c) + t[a | b]", "(+ (f (| a b) c) (at t (| a b)))"},
        {"1 + (a | b)", "(+ 1 (| a b))"},
        {"1 in [a | b]", "(in 1 [(| a b)])"},
        {"((1)) + ((a))", "(+ 1 a)"},
        {"1 // 2", "(// 1 2)"},
        {"\"a\\u{1}b\" == 'a\\tb'", "(== \"a^Ab\" \"a\\tb\")"},
        {"f(\"\")", "(f \"\")"},
        {"2024-01-31 - 2024-01-30", "(- date:19753 date:19752)"},
        {"t in 2024-01-31T09:30..2024-01-31T10:00Z", "(in t time:1706693400000000 utc:1706695200000000)"},
        {"-90s + 1mo", "(+ (neg us:90000000) months:1)"},
        {"a ? true : false", "(? a true false)"},
        {"missing", "missing"},
        {"missing(a + 1) and b is missing", "(&& (missing (+ a 1)) (is b missing))"},
        {"`missing` + `true`", "(+ missing true)"},
        {"a ?? b ?? c || d ? e ?? f : g", "(? (?? (?? a b) (|| c d)) (?? e f) g)"},
        {"a is not b", "(! (is a b))"},
        {"a is not not b", "(! (is a (! b)))"},
        {"a is (not b)", "(is a (! b))"},
        {"a is not b == c", "(== (! (is a b)) c)"},
        {"a is not b + 1 && c", "(&& (! (is a (+ b 1))) c)"},
        {"a is not b < c", "(! (is a (< b c)))"},
        {"s like \"A%\" and s not like 'B_'", "(&& (like s \"A%\") (! (like s \"B_\")))"},
        {"a + b not like c + d", "(! (like (+ a b) (+ c d)))"},
        {"a == b not like c", "(! (like (== a b) c))"},
        {"a not like b == c", "(== (! (like a b)) c)"},
        {"not a not like b", "(! (! (like a b)))"},
        {"a ? b : c not like d", "(? a b (! (like c d)))"},
        {"s ~ 're' || s !~ 'x'", "(|| (=~ s \"re\") (! (=~ s \"x\")))"},
        {"a + b ~ c + d", "(=~ (+ a b) (+ c d))"},
        {"~a ~ ~b", "(=~ (~ a) (~ b))"},
        {"-a !~ !~b", "(! (=~ (neg a) (! (~ b))))"},
        {"!~a", "(! (~ a))"},
        {"is is is", "(is is is)"},
        {"like like is like like", "(like (like like is) like)"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

/* Every pair of operators groups as documented in docs/language.md. */
static void precedence(void **state)
{
    static const struct {
        const char *text, *name;
        int level;
    } ops[] = {
        {"??", "??", 2},  {"is", "is", 6}, {"like", "like", 6}, {"~", "=~", 6},  {"//", "//", 12}, {"||", "||", 3},
        {"or", "||", 3},  {"&&", "&&", 4}, {"and", "&&", 4},    {"==", "==", 6}, {"!=", "!=", 6},  {"<", "<", 7},
        {"<=", "<=", 7},  {">", ">", 7},   {">=", ">=", 7},     {"^", "^", 8},   {"&", "&", 9},    {"<<", "<<", 10},
        {">>", ">>", 10}, {"+", "+", 11},  {"-", "-", 11},      {"*", "*", 12},  {"/", "/", 12},   {"%", "%", 12},
    };
    enum { COUNT = sizeof ops / sizeof *ops };
    static const struct {
        const char *text, *tree;
        int level;
    } prefixes[] = {{"-", "neg", 13}, {"~", "~", 13}, {"!", "!", 13}, {"not ", "!", 5}};

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            struct strbuf text = {0}, tree = {0};
            strbuf_printf(&text, "a %s b %s c", ops[i].text, ops[j].text);
            if (ops[i].level >= ops[j].level)
                strbuf_printf(&tree, "(%s (%s a b) c)", ops[j].name, ops[i].name);
            else
                strbuf_printf(&tree, "(%s a (%s b c))", ops[i].name, ops[j].name);
            expect(&(struct row){text.text, tree.text}, PARSE_SCRIPT);
            strbuf_free(&text);
            strbuf_free(&tree);
        }
        for (size_t j = 0; j < sizeof prefixes / sizeof *prefixes; j++) {
            /* `is not` is one operator. */
            if (strcmp(ops[i].text, "is") == 0 && prefixes[j].level == 5)
                continue;
            struct strbuf text = {0}, tree = {0};
            strbuf_printf(&text, "%sa %s %sb", prefixes[j].text, ops[i].text, prefixes[j].text);
            if (ops[i].level > prefixes[j].level)
                strbuf_printf(&tree, "(%s (%s a (%s b)))", prefixes[j].tree, ops[i].name, prefixes[j].tree);
            else
                strbuf_printf(&tree, "(%s (%s a) (%s b))", ops[i].name, prefixes[j].tree, prefixes[j].tree);
            expect(&(struct row){text.text, tree.text}, PARSE_SCRIPT);
            strbuf_free(&text);
            strbuf_free(&tree);
        }
        struct strbuf text = {0}, tree = {0};
        strbuf_printf(&text, "x in 1..a %s b", ops[i].text);
        if (ops[i].level > 6)
            strbuf_printf(&tree, "(in x 1 (%s a b))", ops[i].name);
        else
            strbuf_printf(&tree, "(%s (in x 1 a) b)", ops[i].name);
        expect(&(struct row){text.text, tree.text}, PARSE_SCRIPT);
        strbuf_free(&text);
        strbuf_free(&tree);
    }
}

static void sources(void **state)
{
    static const struct row rows[] = {
        {"load ids.bin", "{load ids.bin}"},
        {"load ids", "{load ids}"},
        {"load a-b/../c+d.x=1", "{load a-b/../c+d.x=1}"},
        {"load a.bin as x", "{load a.bin as x}"},
        {"load a.dat u16", "{load a.dat u16}"},
        {"load a.dat as x u16, b.dat u8 as y", "{load a.dat as x u16, b.dat as y u8}"},
        {"load \"a b.bin\", 'c,d'", "{load a b.bin, c,d}"},
        {"load \"q\\\"b\\\\s\\n\"", "{load q\"b\\s\\n}"},
        {"load dir/", "{load dir/}"},
        {"trades.csv | count", "{load trades.csv} | count"},
        {"trades.csv", "{load trades.csv}"},
        {"old.dat as t csv\n | count", "{load old.dat as t csv} | count"},
        {"'a b.csv' | count", "{load a b.csv} | count"},
        {"'a b.csv' csv", "{load a b.csv csv}"},
        {"\"a.csv\" as b", "{load a.csv as b}"},
        {"'a.csv'\n# c\n | count", "{load a.csv} | count"},
        {"'a.csv'\nx", "\"a.csv\"; {x}"},
        {"'a.csv' == x", "(== \"a.csv\" x)"},
        {"'a' is missing", "(is \"a\" missing)"},
        {"let t = trades.csv | take 1", "let t = {load trades.csv} | take 1"},
        {"let t = 'trades.csv'", "let t = \"trades.csv\""},
        {"let t = 'trades.csv' | take 1", "let t = {load trades.csv} | take 1"},
        {"explain './a' | count; race a.b", "explain {load ./a} | count; race {load a.b}"},
        {"x | zip (a.csv | take 1), ('b' | take 1)", "{x} | zip {({load a.csv} | take 1)}, {({load b} | take 1)}"},
        {"(a.csv | count) 1", NULL},
        {"1.5 + 2", "(+ 1.5 2)"},
        {"x/2.5", "(/ x 2.5)"},
        {"(x/2.5)", "(/ x 2.5)"},
        {"load ids, amounts", "{load ids, amounts}"},
        {"load - | count", "{load -} | count"},
        {"load - csv", "{load - csv}"},
        {"load trades-*.parquet, a?[0-9].csv, 'x *.csv'", "{load trades-*.parquet, a?[0-9].csv, x *.csv}"},
        {"load t.csv price decimal(2), id text, when timestamp missing \"x\", 'y'",
         "{load t.csv (price decimal 2) (id text) (when timestamp) missing \"x\" \"y\"}"},
        {"load t.csv missing \"\" | count", "{load t.csv missing \"\"} | count"},
        {"load t.dat csv price decimal(2)", "{load t.dat csv (price decimal 2)}"},
        {"load t.dat as t csv price decimal(2), a.csv, b", "{load t.dat as t csv (price decimal 2), a.csv, b}"},
        {"load t.dat csv as t price decimal(2), a.csv b text",
         "{load t.dat as t csv (price decimal 2), a.csv (b text)}"},
        {"load t.dat as t price decimal(2)", "{load t.dat as t (price decimal 2)}"},
        {"load t.csv a text, b date, 'u v.csv' c text missing '-', '?', ./x, y.csv csv missing '!', z.csv",
         "{load t.csv (a text) (b date), u v.csv (c text) missing \"-\" \"?\", ./x, y.csv csv missing \"!\", z.csv}"},
        {"load t.csv count i64, `b c` text,\n first date\n | count",
         "{load t.csv (count i64) (b c text) (first date)} | count"},
        {"load t.csv missing 'a', b.csv missing 'c', 'd'", "{load t.csv missing \"a\", b.csv missing \"c\" \"d\"}"},
        {"load into into into", "{load into (into into)}"},
        {"(load a.csv b text | count)", "{({load a.csv (b text)} | count)}"},
        {"x | zip (load a.csv b text)", "{x} | zip {({load a.csv (b text)})}"},
        {"load a.csv b text, c", NULL},
        {"load a.csv b text missing", NULL},
        {"load a.csv b decimal(x)", NULL},
        {"load a.csv missing x", NULL},
        {"load a.csv missing \"\\u{0}\"", NULL},
        {"x | zip a.csv b text", NULL},
        {"['a', \"b\\n\"]", "{[\"a\" \"b^J\"]}"},
        {"load größe.i32", "{load größe.i32}"},
        {"load select.bin as select | select select > 0", "{load select.bin as select} | select (> select 0)"},
        {"range 1..10", "{range 1 10}"},
        {"range a..b * 2 by -3", "{range a (* b 2) (neg 3)}"},
        {"range 0x1..0b11", "{range 1 3}"},
        {"range by..by by by", "{range by by by}"},
        {"[3, -1, x]", "{[3 (neg 1) x]}"},
        {"[]", "{[]}"},
        {"x", "{x}"},
        {"(x)", "{x}"},
        {"`my data`", "{my data}"},
        {"(load a.bin)", "{({load a.bin})}"},
        {"((x | count))", "{({({x} | count)})}"},
        {"load a.bin|zip b.bin|count", "{load a.bin} | zip {load b.bin} | count"},
        {"load a.bin # with a comment", "{load a.bin}"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

static void stages(void **state)
{
    static const struct row rows[] = {
        {"load ids.bin | zip amounts.bin | select id==42 && amt>0 | snds | sum",
         "{load ids.bin} | zip {load amounts.bin} | select (&& (== id 42) (> amt 0)) | snds | sum"},
        {"x | zip y", "{x} | zip {y}"},
        {"x | zip y as z, 'f' u8, (y | take 2) as w, [1, 2], range 1..2 as r",
         "{x} | zip {y as z}, {load f u8}, {({y} | take 2) as w}, {[1 2]}, {range 1 2 as r}"},
        {"x | zip a.bin as b i64", "{x} | zip {load a.bin as b i64}"},
        {"x | filter a | where b | reject c", "{x} | select a | select b | reject c"},
        {"x | select |a, b| a < b", "{x} | select |a,b| (< a b)"},
        {"x | map |a| a, a + 1 as b", "{x} | map |a| a, (+ a 1) as b"},
        {"x | map\n|count,\nmin| count * min", "{x} | map |count,min| (* count min)"},
        {"x | derive a = 1, b = a ? 2 : 3", "{x} | derive 1 as a, (? a 2 3) as b"},
        {"x | derive |a| b = a | count", "{x} | derive |a| a as b | count"},
        {"x | extend a = 1 | mutate b = 2", "{x} | derive 1 as a | derive 2 as b"},
        {"x | pick a*, *_b, a*b", "{x} | pick (set a*), (set *_b), (set a*b)"},
        {"x | drop a..b but (c, d*)", "{x} | drop (set a..b but (c, d*))"},
        {"x | map a*b, a* b, a* / 2, a* - 1, a* -1",
         "{x} | map (* a b), (* a b), (/ (set a*) 2), (- (set a*) 1), (* a (neg 1))"},
        {"x | group a*: sum(*), count(*)", "{x} | group (set a*): (sum (set *)), (count)"},
        {"x | map a /? b / c, 1 + a /? 2", "{x} | map (/ (/? a b) c), (+ 1 (/? a 2))"},
        {"x | sort a* desc, a..b", "{x} | sort (set a*) desc, (set a..b)"},
        {"x | braid a + b | combine |a, b| a * b as c", "{x} | braid (+ a b) | braid |a,b| (* a b) as c"},
        {"x | fsts | snds | nth 2", "{x} | fsts | snds | nth 2"},
        {"x | pick b, $1, a | project a | cols `a b`", "{x} | pick b, $1, a | pick a | pick a b"},
        {"x | pick a as b, $1 as c, d", "{x} | pick a as b, $1 as c, d"},
        {"x | drop a, $2, `b c` | rename a as b, $1 as c", "{x} | drop a, $2, b c | rename a as b, $1 as c"},
        {"x | drop a as b", NULL},
        {"x | rename a", NULL},
        {"x | hist | hist 5 | hist n * 2 | hist a 5 | hist $1 n | hist a $n | hist (a) | hist hist hist",
         "{x} | hist | hist 5 | hist (* n 2) | hist a, 5 | hist $1, n | hist a, $n | hist a | hist hist, hist"},
        {"x | hist a + 1 5", NULL},
        {"x | take 1 | head n | limit 2 * 3 | first 1 | skip 4 | tail 5",
         "{x} | take 1 | take n | take (* 2 3) | take 1 | skip 4 | tail 5"},
        {"x | count | length", "{x} | count | count"},
        {"x | count 42 | count x > 1", "{x} | count 42 | count (> x 1)"},
        {"x | count -5", "{x} | count (neg 5)"},
        {"x | sum a | product (a | b) | min a, b", NULL},
        {"x | sum a | product (a | b) | min -a | max | mean a * 2 | avg",
         "{x} | sum a | product (| a b) | min (neg a) | max | mean (* a 2) | mean"},
        {"x | min |i, a| a - i | show", "{x} | min |i,a| (- a i) | show"},
        {"x | sum |a| a * a", "{x} | sum |a| (* a a)"},
        {"x | sum |count, a| a", "{x} | sum |count,a| a"},
        {"x | show | count | show 5", "{x} | show | count | show 5"},
        {"x | scan + | scan * exclusive | scan min from 3 | scan max exclusive from a + 1",
         "{x} | scan + | scan * exclusive | scan min from 3 | scan max exclusive from (+ a 1)"},
        {"x | scan & | scan ^ | scan bitor | scan or | scan || | scan desc",
         "{x} | scan & | scan ^ | scan bitor | scan or | scan || | scan desc"},
        {"x | scan |a, b| a + b exclusive from 2 along rows", "{x} | scan |a,b| (+ a b) exclusive from 2 along rows"},
        {"x | scan |a, count| a | count", "{x} | scan |a,count| a | count"},
        {"x | scan + along cols", "{x} | scan + along cols"},
        {"x | scan + from 1 exclusive", NULL},
        {"x | scan - | count", NULL},
        {"x | fold + | reduce min from -1 | fold |a, b| a * b from 1 along cols",
         "{x} | reduce + | reduce min from (neg 1) | reduce |a,b| (* a b) from 1 along cols"},
        {"x | reduce |a, b| (a | b)", "{x} | reduce |a,b| (| a b)"},
        {"x | fold + exclusive", NULL},
        {"x | sort | order a | sort a desc, b + 1 asc, c", "{x} | sort | sort a | sort a desc, (+ b 1), c"},
        {"x | sort |desc, asc| desc desc, asc asc", "{x} | sort |desc,asc| desc desc, asc"},
        {"x | sort a ? b : c desc", "{x} | sort (? a b c) desc"},
        {"x | group a", "{x} | group a"},
        {"x | group a, b % 2 as odd: sum(c) as total, count()",
         "{x} | group a, (% b 2) as odd: (sum c) as total, (count)"},
        {"x | group a ? b : c: max(d)", "{x} | group (? a b c): (max d)"},
        {"x | group |k, v| k: mean(v)", "{x} | group |k,v| k: (mean v)"},
        {"x | distinct | reverse | hist | hist 20", "{x} | distinct | reverse | hist | hist 20"},
        {"x | stencil -1..1 else 0: at(-1) + at(1)", "{x} | stencil (neg 1)..1 else 0: (+ (at (neg 1)) (at 1))"},
        {"x | stencil -a..b + 1 else a ? b : c: |y, z| at(y, 0) as s, z",
         "{x} | stencil |y,z| (neg a)..(+ b 1) else (? a b c): (at y 0) as s, z"},
        {"x | stencil [-1..1, 0..c] else -1: at(0, 1)", "{x} | stencil (neg 1)..1, 0..c else (neg 1): (at 0 1)"},
        {"x | stencil [-1..1] else 0: at(0)", "{x} | stencil (neg 1)..1 else 0: (at 0)"},
        {"x | stencil [0..1, -1..c, 0..0] else 0: at(0, 0, 0)",
         "{x} | stencil 0..1, (neg 1)..c, 0..0 else 0: (at 0 0 0)"},
        {"x | stencil [] else 0: 1", NULL},
        {"x | gather y | gather a.bin | gather [1, 2] | gather (y | sort)",
         "{x} | gather {y} | gather {load a.bin} | gather {[1 2]} | gather {({y} | sort)}"},
        {"x | gather y, z", NULL},
        {"x | scatter y | scatter a.bin u16 into 5 * n | scatter into into into",
         "{x} | scatter {y} | scatter {load a.bin u16} into (* 5 n) | scatter {into} into into"},
        {"x | scatter a.bin into 5 | scatter 'b' as p into 5 | scatter b.bin as p u8 into into",
         "{x} | scatter {load a.bin} into 5 | scatter {load b as p} into 5 | scatter {load b.bin as p u8} into into"},
        {"load a.bin into as b", "{load a.bin as b into}"},
        {"x | shape 2 3 | shape r c | shape (a * 2) (b) | shape n (m)",
         "{x} | shape 2, 3 | shape r, c | shape (* a 2), b | shape n, m"},
        {"x | shape 2 | shape n | shape 2 3 4 (n) | shape 2, n",
         "{x} | shape 2 | shape n | shape 2, 3, 4, n | shape 2, n"},
        {"x | shape i 2, j (n), 4 | shape n n, n n", "{x} | shape 2 as i, n as j, 4 | shape n as n, n as n"},
        {"x | shape", NULL},
        {"x | shape 2 -3", NULL},
        {"x | shape 2,", NULL},
        {"x | sum along rows | max a along cols | count a > 1 along rows | mean |a| a along cols",
         "{x} | sum along rows | max a along cols | count (> a 1) along rows | mean |a| a along cols"},
        {"x | sum along | sum along + rows | sum rows along rows | sum along along cols",
         "{x} | sum along | sum (+ along rows) | sum rows along rows | sum along along cols"},
        {"x | sum along i | scan + along j | shape along n | hist along n | sort along desc",
         "{x} | sum along i | scan + along j | shape along, n | hist along, n | sort along desc"},
        {"x | map from, into, else, desc, asc, exclusive, along",
         "{x} | map from, into, else, desc, asc, exclusive, along"},
        {"x | show | map | take | take 3", NULL},
        {"x | save out.i32", "{x} | save out.i32"},
        {"x | save out", "{x} | save out"},
        {"x | save \"my file.tsv\" | count", "{x} | save my file.tsv | count"},
        {"x | map 1 as count, count as min | count min", "{x} | map 1 as count, count as min | count min"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

static void statements(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {" \t\r\n # nothing\n;;", ""},
        {"\xef\xbb\xbf"
         "1",
         "1"},
        {"let a = 1 + 2", "let a = (+ 1 2)"},
        {"let a = b", "let a = {b}"},
        {"let a = b + 1", "let a = (+ b 1)"},
        {"let a = (b | count)", "let a = {({b} | count)}"},
        {"let a = load x.bin | take 1", "let a = {load x.bin} | take 1"},
        {"let count = let + 1", "let count = (+ let 1)"},
        {"def f() = 1", "def f() = 1"},
        {"def f(x, count) = x ? count : f", "def f(x,count) = (? x count f)"},
        {"explain x | count", "explain {x} | count"},
        {"explain kernel x | count", "explain kernel {x} | count"},
        {"explain sql x | count", "explain sql {x} | count"},
        {"explain sql --dialect clickhouse x | count", "explain sql --dialect=clickhouse {x} | count"},
        {"explain sql --dialect\tduckdb load x.bin", "explain sql --dialect=duckdb {load x.bin}"},
        {"let sql = 1 --dialect", "let sql = (- 1 (neg dialect))"},
        {".help", ".help"},
        {"  .set fusion off ; on  \r\n1", ".set fusion off ; on; 1"},
        {"1; .quit", "1; .quit"},
        {"1;2\n3\r\n;4 # five", "1; 2; 3; 4"},
        {"into + from; along | count; let into = else", "(+ into from); {along} | count; let into = {else}"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

/* A newline is white space wherever the statement cannot end, and before a `|`. */
static void lines(void **state)
{
    static const struct row rows[] = {
        {"1 +\n\n# c\n 2", "(+ 1 2)"},
        {"(1\n+ 2\n)\n* 3", "(* (+ 1 2) 3)"},
        {"f(\n1,\n2\n)", "(f 1 2)"},
        {"a ?\nb\n:\nc", "(? a b c)"},
        {"(a ?\nb\n:\nc\n)", "(? a b c)"},
        {"load\na.bin,\nb.bin\n|\ncount", "{load a.bin, b.bin} | count"},
        {"x\n| count\n\n  # c\n\n | show\n1", "{x} | count | show; 1"},
        {"x | count # a\n | show", "{x} | count | show"},
        {"x | scan +\n1", "{x} | scan +; 1"},
        {"x | fold or\nx | fold *\n | show", "{x} | reduce or; {x} | reduce * | show"},
        {"x | scan\n+", "{x} | scan +"},
        {"x | sort\na", "{x} | sort; {a}"},
        {"x | sum along\nrows", "{x} | sum along; {rows}"},
        {"x | group a:\nsum(b),\ncount()", "{x} | group a: (sum b), (count)"},
        {"1 + 2\n* 3", "(+ 1 (* 2 3))"},
        {"1 + 2\n- 3", "(+ 1 2); (neg 3)"},
        {"x | select a > 1\n# c\n&& b\n|| c", "{x} | select (|| (&& (> a 1) b) c)"},
        {"x | map a\n, b", "{x} | map a, b"},
        {"x | count(*)", "{x} | count"},
        {"x | group by a: count(*)", "{x} | group a: (count)"},
        {"x | sort by a | sort by", "{x} | sort a | sort by"},
        {"x | count;\n| show", NULL},
        {"let a =\n 1\nlet b = 2", "let a = 1; let b = 2"},
        {"let\na\n=\n1", "let a = 1"},
        {"x | select not\n a", "{x} | select (! a)"},
    };
    (void)state;
    EXPECT_ALL(rows);
}

static void at_the_prompt(void **state)
{
    static const struct row rows[] = {
        {"| count", "{last} | count"},
        {"# c\n\n | take 3\n | count", "{last} | take 3 | count"},
        {"x | count", "{x} | count"},
    };
    /* Incomplete text and its open delimiters. */
    static const struct row incomplete[] = {
        {"x |", "|"},        {"x | # c\n", "|"},   {"1 +", ""},
        {"(1 in [2", "(["},  {"f((1)", "("},       {"load", ""},
        {"load a.bin,", ""}, {"let a =", ""},      {"1; x | zip (y |\n", "(|"},
        {"x | map |a,", ""}, {"| map 1 ? 2", ""},  {"explain", ""},
        {"def f(a,", "("},   {"x | derive a", ""}, {"x | zip (load", "("},
    };
    static const char *const wrong[] = {"x | )",  "1; | count", "x | select |", "x | select | count",
                                        "1 + 1)", "load \"a"};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(&rows[i], PARSE_PROMPT);
    for (size_t i = 0; i < sizeof incomplete / sizeof *incomplete; i++) {
        struct parsed *parsed = parsed_new(incomplete[i].text, strlen(incomplete[i].text), PARSE_PROMPT);
        if (parsed->result != PARSE_INCOMPLETE || parsed->diags.count)
            fail_msg("`%s` is not incomplete", incomplete[i].text);
        char open[8];
        parse_open_delimiters(&parsed->source, open, sizeof open);
        assert_string_equal(open, incomplete[i].tree);
        parsed_free(parsed);

        expect_wrong(incomplete[i].text, PARSE_SCRIPT);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_wrong(wrong[i], PARSE_PROMPT);
}

/* Only the innermost delimiters are shown if not all fit. */
static void open_delimiters(void **state)
{
    char many[1002], open[4];
    memset(many, '(', sizeof many - 2);
    strcpy(many + sizeof many - 2, "[");
    struct source source = {"", many, strlen(many)};
    (void)state;
    parse_open_delimiters(&source, open, sizeof open);
    assert_int_equal(strlen(open), sizeof open - 1);
    source = (struct source){"", "(([|", 4};
    parse_open_delimiters(&source, open, sizeof open);
    assert_string_equal(open, "([|");
    parse_open_delimiters(&source, open, 1);
    assert_string_equal(open, "");
}

/* The text under a span. */
static void assert_span(struct span span, const char *text)
{
    assert_int_equal(span.end - span.begin, strlen(text));
    assert_memory_equal(span.source->text + span.begin, text, strlen(text));
}

static void spans(void **state)
{
    const char *text = "  let r = load a.bin as x | select |a| (a + 1) not in [2] | zip (y) as z";
    struct parsed *parsed = parsed_new(text, strlen(text), PARSE_SCRIPT);
    (void)state;
    assert_int_equal(parsed->result, PARSE_OK);
    const struct pipeline *pipeline = parsed->first->pipeline;
    const struct stage *select = &pipeline->stages[0];
    const struct expr *in = select->items[0].expr->args[0];
    assert_span(parsed->first->span, text + 2);
    assert_span(parsed->first->name.span, "r");
    assert_span(pipeline->span, strstr(text, "load"));
    assert_span(pipeline->source.span, "load a.bin as x");
    assert_span(pipeline->source.paths[0].path.span, "a.bin");
    assert_span(select->span, "select |a| (a + 1) not in [2]");
    assert_span(select->word_span, "select");
    assert_span(select->head->span, "|a|");
    assert_span(select->items[0].span, "(a + 1) not in [2]");
    assert_span(in->op_span, "not in");
    assert_span(in->args[0]->span, "(a + 1)");
    assert_span(in->args[0]->op_span, "+");
    assert_span(pipeline->stages[1].sources[0].span, "(y) as z");
    assert_span(pipeline->stages[1].sources[0].as.span, "z");
    parsed_free(parsed);
}

/* automaton_accepts agrees with automaton_feed, along random walks through the grammar. */
static void accepts_is_true(void **state)
{
    /* TOKEN_FALSE is the grammar's last token. */
    enum { WALKS = 330, STEPS = 40, KINDS = TOKEN_FALSE + 1 };
    bool seen[KINDS] = {[TOKEN_BARE] = true, [TOKEN_SIGN] = true}; /* precedences, not tokens */
    struct arena *arena = arena_new();
    struct diags diags;
    struct source source = {"", "word", 4};
    struct token token = {.begin = 0, .end = 4, .word = word_find("take", 4), .value.text = "word"};
    unsigned long refused = 0, taken = 0;

    (void)state;
    diags_init(&diags, arena);
    struct tree tree = {.source = &source, .arena = arena, .diags = &diags};
    struct automaton *automaton = automaton_new(&tree);
    uint32_t random = 54321;
    /* Walks rarely come here. */
    automaton_feed(automaton, TOKEN_EXPLAIN, token);
    automaton_feed(automaton, TOKEN_SQL, token);
    seen[TOKEN_DIALECT] = automaton_accepts(automaton, TOKEN_DIALECT);
    for (int walk = 0; walk < WALKS; walk++) {
        int path[STEPS];
        for (int length = 0; length < STEPS;) {
            int candidates[KINDS], count = 0;
            for (int kind = 0; kind < KINDS; kind++) {
                /* Replay the path, then feed the token, accepted or not. */
                automaton_reset(automaton);
                tree.unexpected = false;
                for (int i = 0; i < length; i++)
                    automaton_feed(automaton, path[i], token);
                assert_false(tree.unexpected);
                bool accepted = automaton_accepts(automaton, kind);
                assert_true(accepted || !automaton_expects(automaton, kind));
                automaton_feed(automaton, kind, token);
                assert_int_equal(tree.unexpected, !accepted);
                if (accepted && kind != 0)
                    candidates[count++] = kind;
                seen[kind] = seen[kind] || accepted;
                taken += accepted;
                refused += !accepted;
            }
            if (count == 0)
                break;
            random = random * 1664525u + 1013904223u;
            path[length++] = candidates[(random >> 8) % (uint32_t)count];
        }
    }
    assert_true(taken > 10000 && refused > 10000);
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(seen[kind]);
    automaton_free(automaton);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),     cmocka_unit_test(precedence),      cmocka_unit_test(sources),
        cmocka_unit_test(stages),          cmocka_unit_test(statements),      cmocka_unit_test(lines),
        cmocka_unit_test(at_the_prompt),   cmocka_unit_test(open_delimiters), cmocka_unit_test(spans),
        cmocka_unit_test(accepts_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
