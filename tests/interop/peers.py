"""Files as pyarrow reads them, in the form in which build/dump_file prints them."""
import decimal
import math
import struct
import subprocess

import pyarrow as pa

MICROS = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": None}
DECIMALS = decimal.Context(prec=100)


def micros(array, unit):
    """Integers of a unit as whole microseconds, rounded down."""
    numbers = array.cast(pa.int64()) if not pa.types.is_time32(array.type) else array.cast(pa.int32())
    values = numbers.to_pylist()
    if unit == "ns":
        return [None if value is None else value // 1000 for value in values]
    return [None if value is None else value * MICROS[unit] for value in values]


def uuid_text(data):
    text = data.hex()
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def canonical(array):
    """The values of a column as dump_file would print them, None where missing; or None if it has no such values."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return [None if value is None else uuid_text(value.bytes).encode().hex() for value in array.to_pylist()]
        array, kind = pa.chunked_array([chunk.storage for chunk in array.chunks], kind.storage_type), kind.storage_type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = kind.value_type
    if pa.types.is_null(kind):
        return [None] * len(array)
    if pa.types.is_boolean(kind):
        return [None if value is None else int(value) for value in array.to_pylist()]
    if pa.types.is_integer(kind):
        return array.to_pylist()
    if pa.types.is_floating(kind):
        values = array.cast(pa.float32()) if pa.types.is_float16(kind) else array
        return [None if value is None else float(value) for value in values.to_pylist()]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return [None if value is None else value.encode().hex() for value in array.to_pylist()]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [None if value is None else value.hex() for value in array.to_pylist()]
    if pa.types.is_date32(kind):
        return array.cast(pa.int32()).to_pylist()
    if pa.types.is_date64(kind):
        return [None if value is None else value // 86_400_000 for value in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return micros(array, kind.unit)
    if pa.types.is_decimal(kind):
        return [None if value is None else int(value.scaleb(max(kind.scale, 0), DECIMALS)) for value in array.to_pylist()]
    return None


def dump(program, path):
    """The columns that dump_file reads, its errors and notes: ({name: (type, values)}, status, stderr)."""
    done = subprocess.run([program, path], capture_output=True, text=True, errors="replace", check=False)
    columns = {}
    values = None
    for line in done.stdout.splitlines():
        name, colon, kind = line.rpartition(": ")
        if colon:
            values = []
            columns[name] = (kind, values)
        else:
            values.append(line)
    return columns, done.returncode, done.stderr


def same(kind, ours, theirs):
    """What differs between values as printed and those of canonical(), or ""."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows instead of {len(theirs)}"
    is_float = kind.split()[0] in ("f32", "f64")
    for row, (mine, other) in enumerate(zip(ours, theirs)):
        if mine == "-" or other is None:
            equal = mine == "-" and other is None
        elif is_float:
            number = float(mine)
            equal = math.isnan(number) and math.isnan(other) or struct.pack("d", number) == struct.pack("d", other)
        else:
            equal = mine == str(other)
        if not equal:
            return f"row {row}: {mine} instead of {other}"
    return ""
