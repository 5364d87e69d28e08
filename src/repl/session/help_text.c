#include "repl/session/help_text.h"

static const char start[] = "Examples to type. ids.bin holds the account of each transaction, amounts.bin the\n"
                            "sum paid in (above 0) or out (below 0). The files in data/sample have 1000 rows\n"
                            "(type .cd data/sample first), those of `make data` in data 10 million.\n"
                            "What is in a file? How many of its values are 42?\n"
                            "  load ids.bin | describe\n"
                            "  load ids.bin | count 42\n"
                            "Zip two files and name the result. The columns are ids and amounts.\n"
                            "  let t = load ids.bin | zip amounts.bin\n"
                            "  t | show 3\n"
                            "Count all rows, then the rows for which a condition holds.\n"
                            "  t | count\n"
                            "  t | count ids == 42 && amounts > 0       && and, || or, ! not\n"
                            "Sum and average the rows that select keeps.\n"
                            "  t | select ids == 42 | sum amounts\n"
                            "  t | select ids == 42 && amounts < 0 | mean amounts\n"
                            "Use remainders and functions.\n"
                            "  t | count ids % 10 == 0 && even(amounts)  multiples of 10, even amounts\n"
                            "Group by id and show the three largest totals.\n"
                            "  t | group ids: sum(amounts) as total, count() as n | sort total desc | take 3\n"
                            "A line that begins with | continues from the last relation.\n"
                            "  t | select ids == 42\n"
                            "  | snds | max\n"
                            ".help names explains names, .help stages lists what can follow a |.\n";

static const char names[] = "A column is named after its file: load ids.bin returns ids. `as` renames it.\n"
                            "  load ids.bin as who | zip amounts.bin as money | take 2\n"
                            "Names are exact. At the prompt the beginning of a name or of one of its words\n"
                            "stands for the only column that it fits, and a note tells which.\n"
                            "  load ids.bin | zip amounts.bin | sum amounts\n"
                            "x is the only column, where there is one.\n"
                            "  load numbers.txt | select x > 5\n"
                            "fst and snd are the first and second column, $1, $2, ... any column by position;\n"
                            "row is the row number, from 0; pi is 3.14159...\n"
                            "  load ids.bin | zip amounts.bin | select $1 == 42 | map row, snd | take 2\n"
                            "let names a result, def a function of its parameters and let values. $NAME is\n"
                            "the value of let NAME or --arg NAME=VALUE, never a column.\n"
                            "  let who = 42\n"
                            "  def paid(user, amount) = user == who && amount > 0\n"
                            "  load ids.bin | zip amounts.bin | count paid(ids, amounts)\n"
                            "  load ids.bin | count ids == $who\n"
                            "def with stages defines a stage; its arguments may be relations, too.\n"
                            "  def largest(n) = | sort x desc | take n\n"
                            "  load amounts.bin | largest(3)\n"
                            "Within an expression let names values for the part after the colon.\n"
                            "  load numbers.txt | map let half = x / 2.0, rest = x - half: half * rest\n"
                            ".tables lists all names.\n";

static const char values[] = "Numbers: 42, 1_000_000, 0xff, 0b101, 3.5, 1e6. true and false are conditions.\n"
                             "Text is in quotes; in double quotes \\\" \\\\ \\n \\t and \\u{e9} are escapes.\n"
                             "  \"AAPL\" < \"MSFT\"\n"
                             "  'C:\\new' == \"C:\\\\new\"\n"
                             "Dates have four, two and two digits, without spaces; timestamps have a T and may\n"
                             "have seconds, a fraction and a zone.\n"
                             "  2024-03-01 - 2024-02-01\n"
                             "  2024-01-31T09:30 < 2024-01-31T10:00:00.25\n"
                             "Durations: 10us 250ms 90s 15min 4h 2d 1w. Calendar steps: 1mo 2q 1y.\n"
                             "  90min + 15s\n"
                             "A missing value is `missing`; `is` tests for it and ?? replaces it.\n"
                             "  missing is missing\n"
                             "  missing ?? 0\n"
                             "(PIPELINE) in an expression is the value that it ends in.\n"
                             "  (load ids.bin | count) / 2\n"
                             "Reserved words and names with other characters are in backquotes.\n"
                             "  load ids.bin as `the id` | select `the id` == 42 | count\n";

static const char groups[] = "A window is an aggregate of the rows around each: from A to B rows away. at is\n"
                             "a value in another row.\n"
                             "  load amounts.bin | derive total = sum(x) over ..0 | take 3\n"
                             "  load amounts.bin | derive smooth = mean(x) over -4..0 | take 3\n"
                             "  load amounts.bin | derive change = x - at(x, -1) | take 3\n"
                             "per runs stages within each group of rows with equal keys. Rows stay in place\n"
                             "unless a stage orders them. A running total, and the share of a total:\n"
                             "  let t = load ids.bin | zip amounts.bin as amt\n"
                             "  t | per ids: derive total = sum(amt) over ..0 | take 3\n"
                             "  t | per ids: derive part = amt / float(sum(amt)) | take 3\n"
                             "The largest three of each, the first of each, all rows above the average:\n"
                             "  t | per ids: top 3 by amt | take 6\n"
                             "  t | per ids: take 1 | take 3\n"
                             "  t | per ids: select amt > mean(amt) | count\n"
                             "A place within the group, and the last value that is not missing:\n"
                             "  t | per ids: derive place = rank(amt, desc) | take 3\n"
                             "  t | derive known = amt > 0 ? amt : missing\n"
                             "  | derive filled = last(known) over ..0 | take 5\n";

static const char loops[] = "repeat runs stages on the rows, then on their result, round after round: so many\n"
                            "times, each row while its condition holds, or until one of aggregates does.\n"
                            "  range 1..3 | repeat 4: map x * 2\n"
                            "  let n = range 1..9 | map x as n\n"
                            "  n | repeat while n < 100: derive n = n * 3\n"
                            "  n | repeat until sum(n) > 1000: derive n = n * 2\n"
                            "step is the number of the round, from 0; before(x) is a column before the round.\n"
                            "  n | repeat 3: derive n = n + step\n"
                            "  n | map n + 0.5 as u\n"
                            "  | repeat 50 until max(abs(u - before(u))) < 0.1: derive u = u / 2\n"
                            "as names the rows before the round; the stages may then have any source.\n"
                            "  n | repeat 2 as c: (c | append (c | take 1)) | count\n"
                            "def names stages, and explain shows the tasks of a round.\n"
                            "  def grow(k) = | derive n = n * k\n"
                            "  n | repeat 5: grow(3)\n"
                            "  explain n | repeat 5: grow(3)\n"
                            "In an expression, sum(k in A..B: E) is the sum of E for every integer k from A to B;\n"
                            "product min max mean count any all argmin argmax are written likewise.\n"
                            "  range 0..5 | map sum(k in 0..x: k * k) as squares\n"
                            "  range 2..9 | select not any(k in 2..x - 1: x % k == 0)\n"
                            "  let a = range 0..9 | map (x * 7) % 10\n"
                            "  range 0..7 | map max(k in 0..2: a[row + k]), argmax(k in 0..2: a[row + k])\n"
                            "  range 0..3 | map sum(i in -1..1, j in -1..i: i * j + x)\n";

static const char keys[] = "Tab          complete stages, functions, files, names and columns\n"
                           "Up, Ctrl-R   recall earlier queries, search them; .history lists them\n"
                           "|            at the start of a line: continue from the last relation\n"
                           "_            the last result\n"
                           "Ctrl-C       cancel the query or the line; names and relations stay\n"
                           "Ctrl-D       quit, like .quit\n"
                           ".edit        open the last query in $VISUAL or $EDITOR\n"
                           "q            leave the pager, which shows what exceeds the screen\n"
                           "A line that ends in an operator, | or an open bracket continues on the next.\n";

const struct help_text help_texts[] = {
    {"start", "examples, step by step", start},
    {"names", "how names are resolved", names},
    {"values", "how values are written", values},
    {"groups", "windows, and stages within groups", groups},
    {"loops", "stages again and again, with step and before(x); folds over an index", loops},
    {"keys", "keys at the prompt", keys},
    {"recipes", "common tasks, a line each", help_recipes},
    {"sql", "coming from SQL", help_from_sql},
    {"pandas", "coming from pandas", help_from_pandas},
    {"q", "coming from q", help_from_q},
    {"dplyr", "coming from dplyr", help_from_dplyr},
    {"kql", "coming from KQL", help_from_kql},
};
const size_t help_text_count = sizeof help_texts / sizeof *help_texts;

const struct operator_help operator_table[] = {
    {"?:", "C ? A : B", "A if C holds, else B", "3 > 2 ? 10 : 20", "10"},
    {"??", "A ?? B", "B where A is missing, else A", "missing ?? 3", "3"},
    {"or", "C or D", "true if either condition holds", "1 > 2 or 3 > 2", "true"},
    {"||", "C || D", "same as or", "1 > 2 || 3 > 2", "true"},
    {"and", "C and D", "true if both conditions hold", "1 > 2 and 3 > 2", "false"},
    {"&&", "C && D", "same as and", "1 > 2 && 3 > 2", "false"},
    {"not", "not C", "true if the condition does not hold; not x > 3 is not (x > 3)", "not 1 > 2", "true"},
    {"==", "A == B", "equal", "6 * 7 == 42", "true"},
    {"!=", "A != B", "not equal", "6 * 7 != 42", "false"},
    {"in", "E [not] in A..B, E [not] in [A, B, ...]", "one of these values; A..B includes both ends", "5 in 1..5",
     "true"},
    {"is", "A is [not] B", "equality that holds between two missing values, too", "missing is missing", "true"},
    {"<", "A < B", "less than", "2 < 3", "true"},
    {"<=", "A <= B", "less than or equal", "3 <= 3", "true"},
    {">", "A > B", "greater than", "2 > 3", "false"},
    {">=", "A >= B", "greater than or equal", "3 >= 3", "true"},
    {"^", "N ^ M", "bitwise exclusive or", "5 ^ 1", "4"},
    {"&", "N & M", "bitwise and; bitwise or is | in parentheses, or bitor(N, M)", "6 & 3", "2"},
    {"<<", "N << M", "N shifted left by M bits", "1 << 10", "1024"},
    {">>", "N >> M", "N shifted right by M bits, keeping the sign", "-8 >> 1", "-4"},
    {"+", "A + B", "the sum; a result beyond 64 bits is an error", "2 + 3", "5"},
    {"-", "A - B, -A", "the difference; the negation", "2 - 3", "-1"},
    {"*", "A * B", "the product", "6 * 7", "42"},
    {"/", "A / B", "the quotient; of integers, truncated towards 0", "-7 / 2", "-3"},
    {"//", "N // M", "the quotient of integers, truncated towards 0", "7 // 2", "3"},
    {"/?", "A /? B", "the quotient; missing where B is 0", "7 /? 0", "missing"},
    {"%", "A % B", "the remainder, with the sign of A", "-7 % 2", "-1"},
    {"!", "!C", "not, binding tighter than comparisons: !x > 3 is (!x) > 3", "!(1 > 2)", "true"},
    {"~", "~N", "bitwise not", "~5", "-6"},
};
const size_t operator_count = sizeof operator_table / sizeof *operator_table;

const struct name_help name_table[] = {
    {"row", "row", "the number of the row, from 0; after shape, of its row", "range 1..3 | map x * row"},
    {"col", "col", "after shape R C, the column of the value, from 0", "range 1..6 | shape 2 3 | map x * col"},
    {"step", "step", "in repeat, the number of the round, from 0", "range 1..3 | repeat 4: map x + step"},
    {"before", "before(x)", "in the condition after until, a column before the round",
     "range 1..3 | repeat until max(abs(x - before(x))) == 0: map x / 2"},
};
const size_t name_count = sizeof name_table / sizeof *name_table;
