#include "base/utf8.h"

#include <string.h>

size_t utf8_decode(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t value;
    uint32_t least; /* the smallest code point of this length */
    size_t size;
    if (length == 0)
        return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    if ((s[0] & 0xe0) == 0xc0) {
        size = 2, value = s[0] & 0x1fu, least = 0x80;
    } else if ((s[0] & 0xf0) == 0xe0) {
        size = 3, value = s[0] & 0x0fu, least = 0x800;
    } else if ((s[0] & 0xf8) == 0xf0) {
        size = 4, value = s[0] & 0x07u, least = 0x10000;
    } else {
        return 0;
    }
    if (size > length)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (s[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return size;
}

bool utf8_is_valid(const char *text, size_t length)
{
    static const uint64_t high_bits = UINT64_C(0x8080808080808080);
    const char *end = text + length;
    while (text < end) {
        uint64_t word = high_bits;
        if ((size_t)(end - text) >= sizeof word)
            memcpy(&word, text, sizeof word);
        if ((word & high_bits) == 0) { /* eight bytes of ASCII */
            text += sizeof word;
            continue;
        }
        uint32_t code;
        const size_t size = utf8_decode(text, (size_t)(end - text), &code);
        if (size == 0)
            return false;
        text += size;
    }
    return true;
}

size_t utf8_encode(uint32_t code, char *text)
{
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    const unsigned tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text[0] = (char)(leads[tail] | code >> (6 * tail));
    for (unsigned i = 1; i <= tail; i++)
        text[i] = (char)(0x80 | (code >> (6 * (tail - i)) & 0x3f));
    return 1 + tail;
}

bool utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x061c || code == 0x200b || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2064) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

struct range {
    uint32_t first, last;
};

/* From the Unicode tables, neighbouring blocks joined: categories Mn and Me and the joiners. */
static const struct range combining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x06d6, 0x06dc},
    {0x06df, 0x06e4}, {0x0730, 0x074a}, {0x07a6, 0x07b0}, {0x0816, 0x082d}, {0x08d3, 0x0902},   {0x093c, 0x093c},
    {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0x302a, 0x302d},   {0x3099, 0x309a},
    {0xa66f, 0xa672}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1d167, 0x1d169}, {0xe0100, 0xe01ef},
};

/* East Asian Width W and F, and emoji that terminals draw wide. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec}, {0x2614, 0x2615}, {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x26bd, 0x26be},   {0x2705, 0x2705},   {0x274c, 0x274c}, {0x2753, 0x2755}, {0x2795, 0x2797},   {0x2b50, 0x2b50},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool within(const struct range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low].first;
}

unsigned utf8_cells(uint32_t code)
{
    if (code < 0x300)
        return 1;
    if (within(combining, sizeof combining / sizeof *combining, code))
        return 0;
    return within(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}
