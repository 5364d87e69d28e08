"""Parquet files with lists as older writers have them, made here: for tests/parquet.py."""
import struct

INT32, REQUIRED, OPTIONAL, REPEATED, MAP, MAP_KEY_VALUE, LIST = 1, 0, 1, 2, 1, 2, 3
I32, I64, BINARY, LIST_TYPE, STRUCT = 5, 6, 8, 9, 12


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def value(kind, item):
    """A value in the compact protocol of Thrift: integers, bytes, structs as {id: (type, value)}, lists as (type, [...])."""
    if kind in (I32, I64):
        return varint(item * 2 if item >= 0 else -item * 2 - 1)
    if kind == BINARY:
        return varint(len(item)) + item
    if kind == LIST_TYPE:
        element, items = item
        return bytes([0xf0 | element]) + varint(len(items)) + b"".join(value(element, one) for one in items)
    out, last = b"", 0
    for field, (field_kind, field_value) in sorted(item.items()):
        out += bytes([(field - last) << 4 | field_kind]) + value(field_kind, field_value)
        last = field
    return out + b"\0"


def levels(numbers):
    """Runs of one each, behind their length."""
    runs = b"".join(bytes([2, number]) for number in numbers)
    return struct.pack("<I", len(runs)) + runs


def group(name, repetition, children, converted=None):
    element = {3: (I32, repetition), 4: (BINARY, name.encode()), 5: (I32, children)}
    return element if converted is None else {**element, 6: (I32, converted)}


def leaf(name, repetition):
    return {1: (I32, INT32), 3: (I32, repetition), 4: (BINARY, name.encode())}


def parquet_file(elements, rows, columns):
    """`columns`: of each leaf its repetition and definition levels, and the values of the highest definition."""
    data, chunks = b"PAR1", []
    for repetitions, definitions, values in columns:
        page = levels(repetitions) + levels(definitions) + struct.pack(f"<{len(values)}i", *values)
        header = value(STRUCT, {1: (I32, 0), 2: (I32, len(page)), 3: (I32, len(page)), 5: (STRUCT, {
            1: (I32, len(definitions)), 2: (I32, 0), 3: (I32, 3), 4: (I32, 3)})})
        metadata = {1: (I32, INT32), 2: (LIST_TYPE, (I32, [0, 3])), 3: (LIST_TYPE, (BINARY, [b"x"])), 4: (I32, 0),
                    5: (I64, len(definitions)), 6: (I64, len(page)), 7: (I64, len(page)), 9: (I64, len(data))}
        chunks.append({2: (I64, len(data)), 3: (STRUCT, metadata)})
        data += header + page
    footer = value(STRUCT, {1: (I32, 1), 2: (LIST_TYPE, (STRUCT, elements)), 3: (I64, rows), 4: (LIST_TYPE, (STRUCT, [{
        1: (LIST_TYPE, (STRUCT, chunks)), 2: (I64, len(data)), 3: (I64, rows)}]))})
    return data + footer + struct.pack("<I", len(footer)) + b"PAR1"


# The rows [1,2], [], missing, [3] of a list that may be missing, and of a repeated field, which has no missing ones.
MAY_BE_MISSING = ([0, 1, 0, 0, 0], [2, 2, 1, 0, 2], [1, 2, 3])
REPEATED_FIELD = ([0, 1, 0, 0, 0], [1, 1, 0, 0, 1], [1, 2, 3])
IN_TWO = ([0, 2, 1, 0, 0, 0], [3, 3, 2, 1, 0, 3], [1, 2, 3])  # [[1,2],[]], [], missing, [[3]]

# The elements below the root, the columns' levels, and the values that are read.
CASES = {
    "two levels": ([group("l", OPTIONAL, 1, LIST), leaf("array", REPEATED)], [MAY_BE_MISSING],
                   {"l": "[1,2] [] - [3]"}),
    "a group of two": ([group("l", OPTIONAL, 1, LIST), group("list", REPEATED, 2), leaf("x", REQUIRED), leaf("y", REQUIRED)],
                       [MAY_BE_MISSING] * 2, {"l": '[{"x":1,"y":1},{"x":2,"y":2}] [] - [{"x":3,"y":3}]'}),
    "array": ([group("l", OPTIONAL, 1, LIST), group("array", REPEATED, 1), leaf("x", REQUIRED)], [MAY_BE_MISSING],
              {"l": '[{"x":1},{"x":2}] [] - [{"x":3}]'}),
    "tuple": ([group("l", OPTIONAL, 1, LIST), group("l_tuple", REPEATED, 1), leaf("x", REQUIRED)], [MAY_BE_MISSING],
              {"l": '[{"x":1},{"x":2}] [] - [{"x":3}]'}),
    "three levels": ([group("l", OPTIONAL, 1, LIST), group("bag", REPEATED, 1), leaf("array_element", REQUIRED)],
                     [MAY_BE_MISSING], {"l": "[1,2] [] - [3]"}),
    "lists in two levels": ([group("l", OPTIONAL, 1, LIST), group("array", REPEATED, 1, LIST), leaf("array", REPEATED)],
                            [IN_TWO], {"l": "[[1,2],[]] [] - [[3]]"}),
    "repeated": ([leaf("r", REPEATED)], [REPEATED_FIELD], {"r": "[1,2] [] [] [3]"}),
    "repeated group": ([group("r", REPEATED, 1), leaf("x", REQUIRED)], [REPEATED_FIELD],
                       {"r": '[{"x":1},{"x":2}] [] [] [{"x":3}]'}),
    "repeated in a struct": ([group("s", OPTIONAL, 1), leaf("r", REPEATED)], [MAY_BE_MISSING], {"s.r": "[1,2] [] - [3]"}),
    "key and value": ([group("m", OPTIONAL, 1, MAP_KEY_VALUE), group("map", REPEATED, 2, MAP_KEY_VALUE),
                       leaf("k", REQUIRED), leaf("v", REQUIRED)], [MAY_BE_MISSING] * 2,
                      {"m": '{"1":1,"2":2} {} - {"3":3}'}),
    "keys alone": ([group("m", OPTIONAL, 1, MAP), group("map", REPEATED, 1), leaf("key", REQUIRED)], [MAY_BE_MISSING],
                   {"m": "[1,2] [] - [3]"}),
}

# Levels that do not fit each other, and lists beside each other that are not the same.
WRONG = {
    "a list goes on in an empty one": ([leaf("r", REPEATED)], [([0, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 2])]),
    "no first value": ([leaf("r", REPEATED)], [([1, 1, 0, 0, 0], [1, 1, 0, 0, 1], [1, 2, 3])]),
    "more rows": ([leaf("r", REPEATED)], [([0, 0, 0, 0, 0], [1, 1, 0, 0, 1], [1, 2, 3])]),
    "a level too high": ([leaf("r", REPEATED)], [([0, 1, 0, 0, 0], [1, 3, 0, 0, 1], [1, 2, 3])]),
    "not the same lists": ([group("r", REPEATED, 2), leaf("x", REQUIRED), leaf("y", REQUIRED)],
                           [REPEATED_FIELD, ([0, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 1], [1, 2, 3, 4])]),
}


def case_file(elements, columns):
    roots, left = 0, 0
    for element in elements:
        roots += left == 0
        left += (element[5][1] if 5 in element else 0) - (left > 0)
    return parquet_file([group("schema", REQUIRED, roots), *elements], 4, columns)
