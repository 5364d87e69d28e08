#!/usr/bin/env python3
"""Prints tests/unit/text_cases.def: random texts and what Python makes of them, the reference of test_text_functions."""
import random
import re

SPACES = '\t \n\u00a0\u2003\u3000'
ALPHABET = 'aAbBzZ01 _%\\/-,' + 'ßäÄéΣσςπЖжñ€ıİǅԱաႠꭰⱥȺ𝄞😀𐐨𐐀' + SPACES
PATTERNS = [r'a', r'^a', r'b$', r'[0-9]+', r'^.$', r'(?i)ä', r'\w\s', r'(a|b)(z|Z)', r'^\S*$', r'^$', r'[^\x00-\x7f]{2}']


def escaped(text):
    """A C string literal of the text's UTF-8."""
    out = ''
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        out += chr(byte) if plain else f'\\{byte:03o}'
    return f'"{out}"'


def simple(text, change):
    """Each code point alone: those that become several stay (except for what only has a simple mapping)."""
    out = ''
    for char in text:
        changed = 'i' if char == 'İ' and change is str.lower else change(char)
        out += changed if len(changed) == 1 else char
    return out


def like(text, pattern):
    expression, k = '', 0
    while k < len(pattern):
        char = pattern[k]
        if char == '\\':
            k += 1
            expression += re.escape(pattern[k])
        else:
            expression += {'%': '.*', '_': '.'}.get(char, re.escape(char))
        k += 1
    return re.fullmatch(expression, text, re.DOTALL) is not None


def substr(text, start, count):
    first = start if start >= 0 else start + len(text)
    return ''.join(char for k, char in enumerate(text) if first <= k < first + count)


def split(text, separator, part):
    parts = text.split(separator)
    return parts[part] if -len(parts) <= part < len(parts) else None


def number(text, kind):
    try:
        return kind(text) if re.fullmatch(r'[-+]?[0-9.e]+', text, re.ASCII) else None
    except ValueError:
        return None


def case(name, text, result, a='', b='', i=0, k=0):
    missing = result is None
    integer = 0 if missing or isinstance(result, (str, float)) else int(result)
    real = result if isinstance(result, float) else 0
    string = escaped(result) if isinstance(result, str) else '""'
    print(f'TEXT_CASE("{name}", {escaped(text)}, {escaped(a)}, {escaped(b)}, {i}, {k}, {str(not missing).lower()}, '
          f'{integer}, {real!r}, {string})')


def random_text(rng, most):
    return ''.join(rng.choice(ALPHABET) for _ in range(rng.randrange(most)))


def part_of(rng, text):
    """Mostly a part of the text, so that it is found."""
    begin = rng.randrange(len(text) + 1)
    part = text[begin:begin + rng.randrange(1, 4)]
    return part if part and rng.random() < 0.8 else rng.choice(ALPHABET)


def like_pattern(rng, text):
    out = ''
    for char in text:
        choice = rng.random()
        if choice < 0.15:
            out += '%'
        elif choice < 0.3:
            out += '_'
        elif choice < 0.4:
            pass
        else:
            out += '\\' + char if char in '%_\\' or choice > 0.95 else char
    return out + rng.choice(['', '', '%', '_'])


def main():
    rng = random.Random(5)
    print('/* Made by tests/unit/text_cases.py: TEXT_CASE(function, text, two texts, two integers as arguments, present,')
    print(' * integer, float, text). */')
    for _ in range(25):
        text = random_text(rng, 14)
        case('len', text, len(text))
        case('bytes', text, len(text.encode()))
        case('upper', text, simple(text, str.upper))
        case('lower', text, simple(text, str.lower))
        spaced = rng.choice(SPACES) + text + rng.choice(SPACES)
        case('trim', spaced, spaced.strip())
        start, count = rng.randrange(-16, 16), rng.randrange(8)
        case('substr', text, substr(text, start, count), i=start, k=count)
        part, other = part_of(rng, text), random_text(rng, 4)
        case('replace', text, text.replace(part, other), a=part, b=other)
        where = rng.randrange(-3, 3)
        case('split', text, split(text, part, where), a=part, i=where)
        case('+', text, text + other, a=other)
        case('starts', text, text.startswith(text[:3]), a=text[:3])
        case('starts', text, text.startswith(part), a=part)
        case('ends', text, text.endswith(text[-2:]), a=text[-2:])
        case('ends', text, text.endswith(part), a=part)
        case('contains', text, other in text, a=other)
        case('contains', text, part in text, a=part)
        pattern = like_pattern(rng, text)
        case('like', text, like(text, pattern), a=pattern)
        pattern = rng.choice(PATTERNS)
        case('~', text, re.search(pattern, text) is not None, a=pattern)
    for text in ['0', '-7', '42', '1e3', '', '4 2', '99999', 'x', '7.25', '-.5', '1.5e10', '--1']:
        case('int', text, number(text, int))
        case('float', text, number(text, float))


main()
