#!/usr/bin/env python3
"""Writes DIR/hits.parquet: random page views of the shape of ClickBench's table, in its 105 columns. Needs NumPy, pyarrow.

    hits.py DIR [ROWS]     ROWS: 10 000 000 by default, written in row groups of a million, which is what is in memory

The figures that the shape is taken from are published with ClickBench: 17 % of the users, 18 % of the addresses and 10 %
of the titles are distinct, 87 % of the phrases are empty, most columns are nearly always 0 or empty, and a row group is in
the order of counters and days."""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1_000_000
COUNTER = 62
USER = 435090932899640449
REFERER_HASH = 3594120000172545465
URL_HASH = 2868770270353813622
FIRST_DAY = 15887  # 2013-07-01
DAYS = 31
SECOND = 1_000_000
WORDS = "news auto price map film photo shop game music sport travel weather cinema flat job market bank".split()
MODELS = ["iPad", "iPhone 2", "Lumia", "Galaxy Ace", "Galaxy Note", "Nexus 7", "Xperia", "Desire", "Optimus", "One X"]


def mixed(numbers, seed):
    """A number of 63 bits for each: that of the splitmix64 generator."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((x ^ (x >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


def texts(numbers, make):
    """make(number) of each number, once for equal ones."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return pa.array([make(int(number)) for number in distinct], pa.string()).take(pa.array(places))


def word(number):
    return WORDS[number % len(WORDS)]


def address(number):
    if number == 0:
        return ""
    hosts = 1 + int(number ** 0.6)
    site = f"{word(number % hosts)}{number % hosts % 997}.ru"
    if number % 1201 == 7:
        site = f"{word(number)}.google.com"
    return f"http://{'www.' if number % 3 == 0 else ''}{site}/{word(number // 7)}/{word(number // 11)}-{number % 8}/?id={number * 7919}"


def title(number):
    names = [WORDS[(number >> shift) % len(WORDS)] for shift in range(0, 5 * (2 + number % 4), 5)]
    if number % 997 == 5:
        names.append("Google")
    return f"{' '.join(names)} {number} - online" if number else ""


def phrase(number):
    return " ".join(WORDS[(number >> shift) % len(WORDS)] for shift in range(0, 4 * (1 + number % 5), 4)) + f" {number}" if number else ""


class Part:
    """The random columns of `rows` rows, of `total` in the file."""

    def __init__(self, number, rows, total):
        self.rng = np.random.default_rng([7, number])
        self.number, self.rows, self.total = number, rows, total

    def few(self, values, often):
        """Small numbers below `values`, of which 0 has a share `often`."""
        some = self.rng.random(self.rows) >= often
        return np.where(some, 1 + self.rng.integers(0, max(1, values - 1), self.rows), 0)

    def of_pool(self, share, empty=0.0):
        """Numbers from 1 of which some `share` of the rows of the file has different ones; smaller ones come
        more often. A share `empty` is 0."""
        pool = max(2, int(self.total * share))
        drawn = (self.rng.random(self.rows) ** 1.8 * pool).astype(np.int64) + 1
        return np.where(self.rng.random(self.rows) < empty, 0, drawn)

    def columns(self):
        rng, rows = self.rng, self.rows
        counters = np.where(rng.random(rows) < 0.007, COUNTER, (rng.random(rows) ** 3 * 6500).astype(np.int64) + 1)
        days = rng.integers(0, DAYS, rows)
        order = np.lexsort((days, counters))
        counters, days = counters[order], days[order]
        times = (FIRST_DAY + days) * 86400 * SECOND + rng.integers(0, 86400, rows) * SECOND
        users = self.of_pool(0.17)
        user_ids = np.where(users == 1, USER, mixed(users, 1))
        urls, referers = self.of_pool(0.18), self.of_pool(0.19, 0.19)
        ips = (mixed(users + rng.integers(0, 2, rows), 2) >> 31).astype(np.int32)
        engines = self.few(90, 0.86)
        phrases = np.where(engines == 0, self.of_pool(0.06, 0.99), self.of_pool(0.06, 0.09))
        phones = self.few(90, 0.94)
        return {
            "WatchID": mixed(np.arange(rows) + self.number * PART, 3),
            "JavaEnable": self.few(2, 0.4), "Title": texts(self.of_pool(0.10, 0.15), title), "GoodEvent": np.ones(rows),
            "EventTime": times, "EventDate": FIRST_DAY + days, "CounterID": counters, "ClientIP": ips,
            "RegionID": (mixed(users, 4) % 229) ** 2 // 6 + 1, "UserID": user_ids, "OS": self.few(90, 0.02),
            "UserAgent": self.few(80, 0.03), "URL": texts(urls, address), "Referer": texts(referers, address),
            "IsRefresh": self.few(2, 0.86), "RefererCategoryID": self.few(200, 0.9), "RefererRegionID": self.few(3000, 0.6),
            "URLCategoryID": self.few(200, 0.8), "URLRegionID": self.few(3000, 0.4),
            "ResolutionWidth": np.array([1366, 1280, 1920, 1024, 1680, 1440, 1600, 0])[self.few(8, 0.25)],
            "ResolutionHeight": np.array([768, 1024, 1080, 900, 1050, 0])[self.few(6, 0.3)],
            "ResolutionDepth": np.array([32, 24, 16, 0])[self.few(4, 0.5)], "FlashMajor": self.few(12, 0.2),
            "FlashMinor": self.few(10, 0.3), "FlashMinor2": texts(self.few(900, 0.3), lambda n: f"{n % 300}.{n // 3}" if n else ""),
            "UserAgentMajor": self.few(60, 0.05), "UserAgentMinor": texts(self.few(80, 0.1), lambda n: f"{n % 80}" if n else ""),
            "CookieEnable": np.ones(rows), "JavascriptEnable": np.ones(rows), "IsMobile": phones > 0, "MobilePhone": phones,
            "MobilePhoneModel": texts(np.where(phones > 30, phones, 0), lambda n: MODELS[n % 10] + (f" {n}" if n > 60 else "") if n else ""),
            "Params": texts(self.of_pool(0.02, 0.95), lambda n: f"[{{\"{word(n)}\": {n}}}]" if n else ""),
            "IPNetworkID": self.few(4_000_000, 0.0), "TraficSourceID": self.few(9, 0.5) - 1, "SearchEngineID": engines,
            "SearchPhrase": texts(phrases, phrase), "AdvEngineID": self.few(60, 0.994), "WindowClientWidth": self.few(2000, 0.05),
            "WindowClientHeight": self.few(1200, 0.05), "ClientTimeZone": self.few(24, 0.5), "ClientEventTime": times + 3 * SECOND,
            "SilverlightVersion1": self.few(6, 0.5), "SilverlightVersion3": self.few(60_000, 0.5),
            "PageCharset": texts(self.few(8, 0.5), lambda n: ("utf-8", "windows-1251", "", "koi8-r", "cp1251")[n % 5]),
            "CodeVersion": self.few(1700, 0.1), "IsLink": self.few(2, 0.93), "IsDownload": self.few(2, 0.998),
            "IsNotBounce": self.few(2, 0.6), "FUniqID": np.where(rng.random(rows) < 0.3, 0, mixed(users, 5)),
            "OriginalURL": texts(self.of_pool(0.07, 0.6), address), "HID": rng.integers(0, 1 << 30, rows),
            "IsEvent": self.few(2, 0.97), "DontCountHits": self.few(2, 0.94), "HitColor": texts(self.few(4, 0.5), lambda n: "5ERT"[n]),
            "LocalEventTime": times + 4 * 3600 * SECOND, "Age": self.few(60, 0.6), "Sex": self.few(3, 0.6), "Income": self.few(4, 0.6),
            "Interests": self.few(30_000, 0.6), "Robotness": self.few(3, 0.9), "RemoteIP": (mixed(users, 6) >> 31).astype(np.int32),
            "WindowName": self.few(30_000, 0.7) - 1, "OpenerName": self.few(30_000, 0.9) - 1, "HistoryLength": self.few(100, 0.2),
            "BrowserLanguage": texts(self.few(6, 0.6), lambda n: ("ru", "uk", "en", "de", "be", "tr")[n]),
            "BrowserCountry": texts(self.few(8, 0.6), lambda n: ("RU", "UA", "US", "DE", "BY", "TR", "KZ", "")[n]),
            "SendTiming": self.few(900, 0.5), "DNSTiming": self.few(300, 0.6), "ConnectTiming": self.few(300, 0.6),
            "ResponseStartTiming": self.few(2000, 0.4), "ResponseEndTiming": self.few(3000, 0.4), "FetchTiming": self.few(900, 0.5),
            "RefererHash": np.where(referers == 1, REFERER_HASH, mixed(referers, 7)), "URLHash": np.where(urls == 1, URL_HASH, mixed(urls, 8)),
            "CLID": self.few(3000, 0.98),
        }


I16, I32, I64, TEXT = pa.int16(), pa.int32(), pa.int64(), pa.string()
TYPES = (
    (I64, "WatchID"), (I16, "JavaEnable"), (TEXT, "Title"), (I16, "GoodEvent"), (pa.timestamp("us"), "EventTime"),
    (pa.date32(), "EventDate"), (I32, "CounterID ClientIP RegionID"), (I64, "UserID"), (I16, "CounterClass OS UserAgent"),
    (TEXT, "URL Referer"), (I16, "IsRefresh RefererCategoryID"), (I32, "RefererRegionID"), (I16, "URLCategoryID"),
    (I32, "URLRegionID"), (I16, "ResolutionWidth ResolutionHeight ResolutionDepth FlashMajor FlashMinor"), (TEXT, "FlashMinor2"),
    (I16, "NetMajor NetMinor UserAgentMajor"), (TEXT, "UserAgentMinor"), (I16, "CookieEnable JavascriptEnable IsMobile MobilePhone"),
    (TEXT, "MobilePhoneModel Params"), (I32, "IPNetworkID"), (I16, "TraficSourceID SearchEngineID"), (TEXT, "SearchPhrase"),
    (I16, "AdvEngineID IsArtifical WindowClientWidth WindowClientHeight ClientTimeZone"), (pa.timestamp("us"), "ClientEventTime"),
    (I16, "SilverlightVersion1 SilverlightVersion2"), (I32, "SilverlightVersion3"), (I16, "SilverlightVersion4"),
    (TEXT, "PageCharset"), (I32, "CodeVersion"), (I16, "IsLink IsDownload IsNotBounce"), (I64, "FUniqID"), (TEXT, "OriginalURL"),
    (I32, "HID"), (I16, "IsOldCounter IsEvent IsParameter DontCountHits WithHash"), (TEXT, "HitColor"),
    (pa.timestamp("us"), "LocalEventTime"), (I16, "Age Sex Income Interests Robotness"), (I32, "RemoteIP WindowName OpenerName"),
    (I16, "HistoryLength"), (TEXT, "BrowserLanguage BrowserCountry SocialNetwork SocialAction"), (I16, "HTTPError"),
    (I32, "SendTiming DNSTiming ConnectTiming ResponseStartTiming ResponseEndTiming FetchTiming"), (I16, "SocialSourceNetworkID"),
    (TEXT, "SocialSourcePage"), (I64, "ParamPrice"), (TEXT, "ParamOrderID ParamCurrency"), (I16, "ParamCurrencyID"),
    (TEXT, "OpenstatServiceName OpenstatCampaignID OpenstatAdID OpenstatSourceID UTMSource UTMMedium UTMCampaign UTMContent UTMTerm FromTag"),
    (I16, "HasGCLID"), (I64, "RefererHash URLHash"), (I32, "CLID"),
)
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for kind, names in TYPES for name in names.split()])


def part_of(number, rows, total):
    made = Part(number, rows, total).columns()
    arrays = []
    for field in SCHEMA:
        column = made.pop(field.name, None)
        if column is None:  # one that is nearly always 0 or empty
            column = pa.array(["" if field.type == TEXT else 0] * rows, TEXT if field.type == TEXT else field.type)
        elif isinstance(column, np.ndarray):
            integers = pa.array(column.astype(np.int64))
            column = pa.array(column.astype(np.int32)).cast(field.type) if field.type == pa.date32() else integers.cast(field.type)
        arrays.append(column)
    assert not made, made.keys()
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def main():
    folder = sys.argv[1]
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "hits.parquet")
    with pq.ParquetWriter(path + ".part", SCHEMA) as writer:
        for number, begin in enumerate(range(0, total, PART)):
            writer.write_table(part_of(number, min(PART, total - begin), total), row_group_size=PART)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
