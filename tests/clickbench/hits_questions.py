"""The 43 questions that ClickBench asks of its table `hits`, in rql's language and in SQL, for the table of hits.py.

An answer of the first rows of an order that is not total may have others of equal keys: then KEYS has the places of the
columns of the order, and these are compared. None: rows in no order, of which only the number is compared."""

from hits import COUNTER, REFERER_HASH, URL_HASH, USER

TEN = "order by c desc limit 10"
PERIOD = f'CounterID == {COUNTER} && EventDate >= 2013-07-01 && EventDate <= 2013-07-31'
SQL_PERIOD = f"CounterID = {COUNTER} and EventDate >= date '2013-07-01' and EventDate <= date '2013-07-31'"
SHOWN = f"{PERIOD} && DontCountHits == 0 && IsRefresh == 0"
SQL_SHOWN = f"{SQL_PERIOD} and DontCountHits = 0 and IsRefresh = 0"
SITE = r"^https?://(?:www\.)?([^/]+)/.*$"
SUMS = ", ".join(f"sum(ResolutionWidth + {k})" for k in range(90))


def questions(rows):
    """Of each its rql behind `load hits.parquet`, its SQL, and KEYS."""
    often = rows // 1000
    return (
        ("count", "select count(*) from hits", ()),
        ("select AdvEngineID != 0 | count", "select count(*) from hits where AdvEngineID <> 0", ()),
        ("group : sum(AdvEngineID), count(), mean(ResolutionWidth)", "select sum(AdvEngineID), count(*), avg(ResolutionWidth) from hits", ()),
        ("mean UserID", "select avg(UserID) from hits", ()),
        ("group : distinct(UserID)", "select count(distinct UserID) from hits", ()),
        ("group : distinct(SearchPhrase)", "select count(distinct SearchPhrase) from hits", ()),
        ("group : min(EventDate), max(EventDate)", "select min(EventDate), max(EventDate) from hits", ()),
        ("select AdvEngineID != 0 | group AdvEngineID: count() as c | sort c desc",
         "select AdvEngineID, count(*) as c from hits where AdvEngineID <> 0 group by AdvEngineID order by c desc", (1,)),
        ("group RegionID: distinct(UserID) as c | top 10 by c", f"select RegionID, count(distinct UserID) as c from hits group by RegionID {TEN}", (1,)),
        ("group RegionID: sum(AdvEngineID), count() as c, mean(ResolutionWidth), distinct(UserID) | top 10 by c",
         "select RegionID, sum(AdvEngineID), count(*) as c, avg(ResolutionWidth), count(distinct UserID) from hits "
         f"group by RegionID {TEN}", (2,)),
        ('select MobilePhoneModel != "" | group MobilePhoneModel: distinct(UserID) as c | top 10 by c',
         "select MobilePhoneModel, count(distinct UserID) as c from hits where MobilePhoneModel <> '' "
         f"group by MobilePhoneModel {TEN}", (1,)),
        ('select MobilePhoneModel != "" | group MobilePhone, MobilePhoneModel: distinct(UserID) as c | top 10 by c',
         "select MobilePhone, MobilePhoneModel, count(distinct UserID) as c from hits where MobilePhoneModel <> '' "
         f"group by MobilePhone, MobilePhoneModel {TEN}", (2,)),
        ('select SearchPhrase != "" | group SearchPhrase: count() as c | top 10 by c',
         f"select SearchPhrase, count(*) as c from hits where SearchPhrase <> '' group by SearchPhrase {TEN}", (1,)),
        ('select SearchPhrase != "" | group SearchPhrase: distinct(UserID) as c | top 10 by c',
         f"select SearchPhrase, count(distinct UserID) as c from hits where SearchPhrase <> '' group by SearchPhrase {TEN}", (1,)),
        ('select SearchPhrase != "" | group SearchEngineID, SearchPhrase: count() as c | top 10 by c',
         "select SearchEngineID, SearchPhrase, count(*) as c from hits where SearchPhrase <> '' "
         f"group by SearchEngineID, SearchPhrase {TEN}", (2,)),
        ("group UserID: count() as c | top 10 by c", f"select UserID, count(*) as c from hits group by UserID {TEN}", (1,)),
        ("group UserID, SearchPhrase: count() as c | top 10 by c",
         f"select UserID, SearchPhrase, count(*) as c from hits group by UserID, SearchPhrase {TEN}", (2,)),
        ("group UserID, SearchPhrase: count() as c | take 10",
         "select UserID, SearchPhrase, count(*) as c from hits group by UserID, SearchPhrase limit 10", None),
        ("group UserID, minute(EventTime) as m, SearchPhrase: count() as c | top 10 by c",
         "select UserID, minute(EventTime) as m, SearchPhrase, count(*) as c from hits "
         f"group by UserID, m, SearchPhrase {TEN}", (3,)),
        (f"select UserID == {USER} | pick UserID", f"select UserID from hits where UserID = {USER}", ()),
        ('select URL like "%google%" | count', "select count(*) from hits where URL like '%google%'", ()),
        ('select URL like "%google%" && SearchPhrase != "" | group SearchPhrase: min(URL), count() as c | top 10 by c',
         "select SearchPhrase, min(URL), count(*) as c from hits where URL like '%google%' and SearchPhrase <> '' "
         f"group by SearchPhrase {TEN}", (2,)),
        ('select Title like "%Google%" && URL not like "%.google.%" && SearchPhrase != "" | '
         "group SearchPhrase: min(URL), min(Title), count() as c, distinct(UserID) | top 10 by c",
         "select SearchPhrase, min(URL), min(Title), count(*) as c, count(distinct UserID) from hits where Title like '%Google%' "
         f"and URL not like '%.google.%' and SearchPhrase <> '' group by SearchPhrase {TEN}", (3,)),
        ('select URL like "%google%" | sort EventTime | take 10',
         "select * from hits where URL like '%google%' order by EventTime limit 10", (4,)),
        ('select SearchPhrase != "" | sort EventTime | take 10 | pick EventTime, SearchPhrase',
         "select EventTime, SearchPhrase from hits where SearchPhrase <> '' order by EventTime limit 10", (0,)),
        ('select SearchPhrase != "" | sort SearchPhrase | take 10 | pick SearchPhrase',
         "select SearchPhrase from hits where SearchPhrase <> '' order by SearchPhrase limit 10", ()),
        ('select SearchPhrase != "" | sort EventTime, SearchPhrase | take 10 | pick SearchPhrase',
         "select SearchPhrase from hits where SearchPhrase <> '' order by EventTime, SearchPhrase limit 10", ()),
        (f'select URL != "" | group CounterID: mean(len(URL)) as l, count() as c | select c > {often} | top 25 by l',
         "select CounterID, avg(length(URL)) as l, count(*) as c from hits where URL <> '' group by CounterID "
         f"having count(*) > {often} order by l desc limit 25", (1,)),
        (f'select Referer != "" | group replace_regex(Referer, "{SITE}", "\\\\1") as k: mean(len(Referer)) as l, count() as c, '
         f"min(Referer) | select c > {often} | top 25 by l".replace(r"\.", r"\\."),
         f"select regexp_replace(Referer, '{SITE}', '\\1') as k, avg(length(Referer)) as l, count(*) as c, min(Referer) from hits "
         f"where Referer <> '' group by k having count(*) > {often} order by l desc limit 25", (1,)),
        (f"group : {SUMS}", f"select {SUMS} from hits", ()),
        ('select SearchPhrase != "" | group SearchEngineID, ClientIP: count() as c, sum(IsRefresh), mean(ResolutionWidth) | top 10 by c',
         "select SearchEngineID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth) from hits where SearchPhrase <> '' "
         f"group by SearchEngineID, ClientIP {TEN}", (2,)),
        ('select SearchPhrase != "" | group WatchID, ClientIP: count() as c, sum(IsRefresh), mean(ResolutionWidth) | top 10 by c',
         "select WatchID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth) from hits where SearchPhrase <> '' "
         f"group by WatchID, ClientIP {TEN}", (2,)),
        ("group WatchID, ClientIP: count() as c, sum(IsRefresh), mean(ResolutionWidth) | top 10 by c",
         f"select WatchID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth) from hits group by WatchID, ClientIP {TEN}", (2,)),
        ("group URL: count() as c | top 10 by c", f"select URL, count(*) as c from hits group by URL {TEN}", (1,)),
        ("group 1 as one, URL: count() as c | top 10 by c", f"select 1 as one, URL, count(*) as c from hits group by one, URL {TEN}", (2,)),
        ("group ClientIP, ClientIP - 1 as a, ClientIP - 2 as b, ClientIP - 3 as d: count() as c | top 10 by c",
         f"select ClientIP, ClientIP - 1 as a, ClientIP - 2 as b, ClientIP - 3 as d, count(*) as c from hits group by ClientIP, a, b, d {TEN}", (4,)),
        (f'select {SHOWN} && URL != "" | group URL: count() as c | top 10 by c',
         f"select URL, count(*) as c from hits where {SQL_SHOWN} and URL <> '' group by URL {TEN}", (1,)),
        (f'select {SHOWN} && Title != "" | group Title: count() as c | top 10 by c',
         f"select Title, count(*) as c from hits where {SQL_SHOWN} and Title <> '' group by Title {TEN}", (1,)),
        (f"select {PERIOD} && IsRefresh == 0 && IsLink != 0 && IsDownload == 0 | group URL: count() as c | top 1010 by c | skip 1000",
         f"select URL, count(*) as c from hits where {SQL_PERIOD} and IsRefresh = 0 and IsLink <> 0 and IsDownload = 0 "
         f"group by URL {TEN} offset 1000", (1,)),
        (f"select {PERIOD} && IsRefresh == 0 | group TraficSourceID, SearchEngineID, AdvEngineID, "
         '(SearchEngineID == 0 && AdvEngineID == 0 ? Referer : "") as source, URL: count() as c | top 1010 by c | skip 1000',
         "select TraficSourceID, SearchEngineID, AdvEngineID, case when SearchEngineID = 0 and AdvEngineID = 0 then Referer else '' end "
         f"as source, URL, count(*) as c from hits where {SQL_PERIOD} and IsRefresh = 0 "
         f"group by TraficSourceID, SearchEngineID, AdvEngineID, source, URL {TEN} offset 1000", (5,)),
        (f"select {PERIOD} && IsRefresh == 0 && TraficSourceID in [-1, 6] && RefererHash == {REFERER_HASH} | "
         "group URLHash, EventDate: count() as c | top 110 by c | skip 100",
         f"select URLHash, EventDate, count(*) as c from hits where {SQL_PERIOD} and IsRefresh = 0 and TraficSourceID in (-1, 6) "
         f"and RefererHash = {REFERER_HASH} group by URLHash, EventDate {TEN} offset 100", (2,)),
        (f"select {SHOWN} && URLHash == {URL_HASH} | group WindowClientWidth, WindowClientHeight: count() as c | top 10010 by c | skip 10000",
         f"select WindowClientWidth, WindowClientHeight, count(*) as c from hits where {SQL_SHOWN} and URLHash = {URL_HASH} "
         f"group by WindowClientWidth, WindowClientHeight {TEN} offset 10000", (2,)),
        (f"select CounterID == {COUNTER} && EventDate >= 2013-07-14 && EventDate <= 2013-07-15 && IsRefresh == 0 && DontCountHits == 0 | "
         "group trunc(EventTime, minute) as m: count() as c | sort m | skip 1000 | take 10",
         f"select date_trunc('minute', EventTime) as m, count(*) as c from hits where CounterID = {COUNTER} and EventDate >= date '2013-07-14' "
         "and EventDate <= date '2013-07-15' and IsRefresh = 0 and DontCountHits = 0 group by m order by m limit 10 offset 1000", ()),
    )
