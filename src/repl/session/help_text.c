#include "repl/session/help_text.h"

static const char start[] = "Questions and answers, one after another. ids.bin tells who, amounts.bin how\n"
                            "much was paid in (above 0) or out (below 0). They are in data/sample (1000 rows;\n"
                            ".cd data/sample goes there) and, after `make data`, in data (10 million).\n"
                            "What does a file hold? How many of its values are 42?\n"
                            "  load ids.bin | describe\n"
                            "  load ids.bin | count 42\n"
                            "Two files side by side, under a name. The columns are called ids and amounts.\n"
                            "  let t = load ids.bin | zip amounts.bin\n"
                            "  t | show 3\n"
                            "How many rows are there, and for how many does a condition hold?\n"
                            "  t | count\n"
                            "  t | count ids == 42 && amounts > 0       && and, || or, ! not\n"
                            "A total and an average, over the rows that select keeps.\n"
                            "  t | select ids == 42 | sum amounts\n"
                            "  t | select ids == 42 && amounts < 0 | mean amounts\n"
                            "Remainders and functions; id and amt are short for ids and amounts.\n"
                            "  t | count id % 10 == 0 && even(amt)      multiples of 10, even amounts\n"
                            "A row for each id, and those with the largest totals.\n"
                            "  t | group id: sum(amt) as total, count() as n | sort total desc | take 3\n"
                            "A line that begins with | goes on from the last relation.\n"
                            "  t | select id == 42\n"
                            "  | snds | max\n"
                            ".help names tells what names mean, .help stages what can stand between the |.\n";

static const char names[] = "Columns are called after their files: load ids.bin gives ids. `as` changes that.\n"
                            "  load ids.bin as who | zip amounts.bin as money | take 2\n"
                            "An abbreviation that fits one column only means that column: its first letter,\n"
                            "and others of its letters in their order.\n"
                            "  load ids.bin | zip amounts.bin | sum amt\n"
                            "Where there is one column, any name that nothing else has means it.\n"
                            "  load numbers.txt | select x > 5\n"
                            "fst and snd are the first and the second column, $1, $2, ... each by its place;\n"
                            "row is the row's number, from 0.\n"
                            "  load ids.bin | zip amounts.bin | select $1 == 42 | map row, snd | take 2\n"
                            "let names a result, def a function of its parameters and let values. $NAME is\n"
                            "what let, or --arg on the command line, gave that name, and never a column.\n"
                            "  let who = 42\n"
                            "  def paid(user, amount) = user == who && amount > 0\n"
                            "  load ids.bin | zip amounts.bin | count paid(ids, amounts)\n"
                            "  load ids.bin | count ids == $who\n"
                            ".tables lists what has been named.\n";

static const char keys[] = "Tab          completes stages, functions, files, names and the columns so far\n"
                           "Up, Ctrl-R   earlier queries, each whole, and a search in them\n"
                           "|            at the beginning of a line goes on from the last relation\n"
                           "_            names the last result\n"
                           "Ctrl-C       ends the query, or drops the line; rql and its relations stay\n"
                           "Ctrl-D       leaves, as .quit does\n"
                           ".edit        opens the last query in $VISUAL or $EDITOR\n"
                           "A line that ends in an operator, | or an open bracket goes on below.\n";

const struct help_text help_texts[] = {
    {"start", "questions answered, step by step", start},
    {"names", "what a name may mean", names},
    {"keys", "what keys do at the prompt", keys},
};
const size_t help_text_count = sizeof help_texts / sizeof *help_texts;

const struct operator_help operator_table[] = {
    {"?:", "C ? A : B", "A where C holds, else B", "3 > 2 ? 10 : 20", "10"},
    {"or", "C or D", "whether one of two conditions holds, or both", "1 > 2 or 3 > 2", "1"},
    {"||", "C || D", "the same as or", "1 > 2 || 3 > 2", "1"},
    {"and", "C and D", "whether both conditions hold", "1 > 2 and 3 > 2", "0"},
    {"&&", "C && D", "the same as and", "1 > 2 && 3 > 2", "0"},
    {"not", "not C", "whether the condition does not hold; not x > 3 is not (x > 3)", "not 1 > 2", "1"},
    {"==", "A == B", "equal", "6 * 7 == 42", "1"},
    {"!=", "A != B", "not equal", "6 * 7 != 42", "0"},
    {"in", "E [not] in A..B, E [not] in [A, B, ...]", "among others; A..B includes both ends", "5 in 1..5", "1"},
    {"<", "A < B", "less", "2 < 3", "1"},
    {"<=", "A <= B", "less or equal", "3 <= 3", "1"},
    {">", "A > B", "greater", "2 > 3", "0"},
    {">=", "A >= B", "greater or equal", "3 >= 3", "1"},
    {"^", "N ^ M", "bitwise exclusive or", "5 ^ 1", "4"},
    {"&", "N & M", "bitwise and; bitwise or is | in parentheses, or bitor(N, M)", "6 & 3", "2"},
    {"<<", "N << M", "shifted to the left by M bits", "1 << 10", "1024"},
    {">>", "N >> M", "shifted to the right by M bits, the sign kept", "-8 >> 1", "-4"},
    {"+", "A + B", "the sum; a result beyond 64 bits is an error", "2 + 3", "5"},
    {"-", "A - B, -A", "the difference; the negative", "2 - 3", "-1"},
    {"*", "A * B", "the product", "6 * 7", "42"},
    {"/", "A / B", "the quotient, of integers cut off towards 0", "-7 / 2", "-3"},
    {"%", "A % B", "the remainder, with the sign of A", "-7 % 2", "-1"},
    {"!", "!C", "not, tighter than a comparison: !x > 3 is (!x) > 3", "!(1 > 2)", "1"},
    {"~", "~N", "all bits turned over", "~5", "-6"},
};
const size_t operator_count = sizeof operator_table / sizeof *operator_table;
