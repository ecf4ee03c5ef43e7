"""
Exchanges as WARC files with CDX lines, for the tools of web archives.

    <14 digits>-<number>.warc.gz        one member of gzip a record: warcinfo, then each request and its answer
    <14 digits>-<number>.cdx            one line an answer, sorted
    <14 digits>-<number>.warc.gz.open   the file that is being written
    <14 digits>-<number>.cdx.open       its lines, in the order in which they came

An answer whose payload stands in one of the last files is a revisit record. An answer that was cut off has
WARC-Truncated, and no revisit record refers to it.

Source: ISO 28500:2017 (WARC 1.1); IIPC, "The WARC Format 1.1".
"""
