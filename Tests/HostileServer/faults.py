"""Each function is one behaviour of a server. Its name, with dashes, is the first part of the path.

Numbers in the query are its parameters: `?at=1000`, `?size=300000`.
"""

import gzip
import time

from responses import Gone, Repeated

FAULTS = {}


def fault(function):
    FAULTS[function.__name__.replace("_", "-")] = function
    return function


# Servers without faults.

@fault
def ok(x):
    # Some servers ignore the end of a range, as the other functions do.
    x.send(x.part(is_bounded=True))


@fault
def no_range(x):
    x.send(x.whole('ETag: "one"'))


@fault
def no_length(x):
    x.head(200, f"Content-Type: {x.type}")
    x.send(x.body())


@fault
def chunked(x):
    send_chunks(x, x.body())
    x.raw(b"0\r\n\r\n")


@fault
def chunked_with_trailer(x):
    send_chunks(x, x.body())
    x.raw(b"0\r\nX-Checksum: 7\r\n\r\n")


@fault
def http_1_0(x):
    x.head(200, f"Content-Type: {x.type}", version="HTTP/1.0")
    x.send(x.body())


@fault
def no_type(x):
    body = x.body()
    x.head(200, f"Content-Length: {len(body)}")
    x.send(body)


@fault
def modified(x):
    # A proxy on the way has changed the file (RFC 9110, 15.3.4).
    body = x.body()
    x.head(203, f"Content-Type: {x.type}", f"Content-Length: {len(body)}")
    x.send(body)


@fault
def interim(x):
    x.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    x.send(x.part())


@fault
def by_date(x):
    body = x.body()
    date = "Last-Modified: Sat, 01 Jan 2022 00:00:00 GMT"
    start = x.start
    if start and x.headers.get("if-range") != date.partition(": ")[2]:
        return x.head(400)
    cut = body[start:] if start is not None else body
    x.head(
        206, date, f"Content-Type: {x.type}", f"Content-Length: {len(cut)}",
        f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}")
    x.send(cut if x.visit > 1 else cut[:x.number("at", 100_000)])


@fault
def large(x):
    """`?size=` bytes of the repeated file, with support of ranges unless `?ranges=0` is given."""
    body = Repeated(x.body(), 0, x.number("size", 300_000_000))
    x.send(x.part(body=body, is_bounded=True) if x.number("ranges", 1) else x.whole(body=body))


@fault
def type(x):
    body = x.body()
    x.head(200, f"Content-Type: {x.query.get('is', 'text/html')}", f"Content-Length: {len(body)}")
    x.send(body)


# Interrupted transfers.

@fault
def stall(x):
    x.send(x.part()[:x.number("at", 100_000)])
    x.stall()


@fault
def stall_once(x):
    rest = x.part()
    if x.visit > 1:
        return x.send(rest)
    x.send(rest[:x.number("at", 100_000)])
    x.stall()


@fault
def drop_once(x):
    rest = x.part()
    x.send(rest if x.visit > 1 else rest[:x.number("at", 100_000)])


@fault
def drop_often(x):
    x.send(x.part()[:x.number("at", 40_000)])


@fault
def drop_at(x):
    rest = x.part()
    x.send(rest[:max(0, x.number("at", 100_000) - (x.start or 0))])


@fault
def drop_always(x):
    x.part()


@fault
def drop_with_reset(x):
    rest = x.part()
    if x.visit > 1:
        return x.send(rest)
    x.send(rest[:x.number("at", 100_000)])
    x.reset()


@fault
def drop_no_range(x):
    body = x.whole('ETag: "one"')
    x.send(body if x.visit > 1 else body[:x.number("at", 100_000)])


@fault
def drop_no_range_always(x):
    x.send(x.whole('ETag: "one"')[:x.number("at", 100_000)])


@fault
def truncated_chunk(x):
    send_chunks(x, x.body()[:x.number("at", 100_000)])
    x.raw(b"4000\r\n")


@fault
def bad_chunk(x):
    send_chunks(x, x.body()[:x.number("at", 100_000)])
    x.raw(b"thirteen\r\n")


@fault
def drip(x):
    x.send(x.part(), rate=x.number("rate", 1))


@fault
def reset(x):
    x.reset()


@fault
def reset_twice(x):
    x.send(x.part()) if x.visit > 2 else x.reset()


@fault
def close(x):
    raise Gone


@fault
def silence(x):
    x.stall()


@fault
def short_body(x):
    body = x.body()
    x.head(200, f"Content-Type: {x.type}", f"Content-Length: {len(body) + 1000}", 'ETag: "one"')
    x.send(body)


@fault
def claims(x):
    """Announces 2^40 bytes and sends the file."""
    size, body, start = x.number("size", 1 << 40), x.body(), x.start or 0
    x.head(
        206, f"Content-Type: {x.type}", f"Content-Length: {size - start}", 'ETag: "one"',
        f"Content-Range: bytes {start}-{size - 1}/{size}")
    x.send(body[start:])


@fault
def long_body(x):
    body = x.whole()
    x.send(body)
    x.raw(b"more than was said" * 1000)


# Refusals.

@fault
def status(x):
    x.head(x.number("is", 404), "Content-Type: text/html", "Content-Length: 9")
    x.raw(b"<p>No</p>")


@fault
def unavailable_twice(x):
    if x.visit > 2:
        return x.send(x.part())
    x.head(503, "Content-Length: 0", "Retry-After: 1")


@fault
def gone_on_resume(x):
    if x.visit > 1:
        return x.head(404, "Content-Length: 0")
    x.send(x.part()[:x.number("at", 100_000)])


@fault
def silence_on_resume(x):
    if x.visit > 1:
        x.stall()
    x.send(x.part()[:x.number("at", 100_000)])


@fault
def unavailable_on_resume(x):
    if x.visit in (2, 3):
        return x.head(503, "Content-Length: 0")
    rest = x.part()
    x.send(rest if x.visit > 1 else rest[:x.number("at", 100_000)])


@fault
def no_ranges_416(x):
    if x.start is not None:
        return x.head(416, "Content-Length: 0")
    x.send(x.whole())


@fault
def short_ranges(x):
    """Sends fewer bytes than requested, as a server may do (RFC 9110, 15.3.7)."""
    x.send(x.part(most=10_000))


# Redirects.

@fault
def redirect_to_short_ranges(x):
    x.head(302, f"Location: /short-ranges/{x.parts[-1]}", "Content-Length: 0")


@fault
def redirect(x):
    left = x.number("hops", 5)
    target = f"/redirect/x.wav?hops={left - 1}" if left > 1 else "/ok/x.wav"
    x.head(302, f"Location: {target}", "Content-Length: 0")


@fault
def redirect_loop(x):
    x.head(301, f"Location: {x.path}", "Content-Length: 0")


@fault
def redirect_to(x):
    targets = {
        "file": "file:///etc/passwd", "ftp": "ftp://127.0.0.1/x.wav", "nothing": "http://",
        "list": "/ok/near.m3u", "long": "/status/" + "y" * 60_000,
    }
    x.head(302, f"Location: {targets[x.query['what']]}", "Content-Length: 0")


@fault
def redirect_nowhere(x):
    x.head(302, "Content-Length: 0")


@fault
def redirect_expires(x):
    """Redirects first to an address that no longer exists at the second request."""
    place = "gone-on-resume" if x.visit == 1 else "ok"
    x.head(307, f"Location: /{place}/x.wav?of={x.query.get('id', '')}", "Content-Length: 0")


# Headers.

@fault
def garbage(x):
    x.raw(b"\x00\x01SSH-2.0-not HTTP\r\n" * 20)


@fault
def long_header(x):
    x.raw(b"HTTP/1.1 200 OK\r\n" + b"".join(
        b"X-%d: %s\r\n" % (line, b"y" * 1000) for line in range(100)) + b"\r\n")


@fault
def headers(x):
    """Sends `?count=` header lines named `?name=`, of `?length=` bytes each."""
    line = x.query.get("name", "X-Line").encode() + b": " + b"y" * x.number("length", 100) + b"\r\n"
    x.raw(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\n")
    for _ in range(x.number("count", 100_000)):
        x.raw(line)
    body = x.body()
    x.raw(f"Content-Length: {len(body)}\r\n\r\n".encode())
    x.send(body)


@fault
def endless_header(x):
    x.raw(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        x.raw(b"y" * 65536)


@fault
def interim_for_ever(x):
    while True:
        x.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000)


@fault
def slow_header(x):
    x.raw(b"HTTP/1.1 200 OK\r\n")
    while True:
        x.raw(b"X-Wait: a while\r\n")
        time.sleep(0.05)


@fault
def empty(x):
    x.part(body=b"")


@fault
def empty_200(x):
    x.whole(body=b"")


@fault
def packed(x):
    body = gzip.compress(x.body(), 1)
    x.head(200, f"Content-Type: {x.type}", "Content-Encoding: gzip", f"Content-Length: {len(body)}")
    x.send(body)


@fault
def garbage_body(x):
    x.send(x.part(body=b"This is not sound at all. " * 4000))


# Other ranges than requested.

@fault
def other_range(x):
    """Sends a 206 with another first byte than requested, and states it."""
    body = x.body()
    start = (x.start or 0) + 500
    if x.start is None:
        return x.send(x.whole())
    x.head(
        206, f"Content-Type: {x.type}", f"Content-Length: {len(body) - start}",
        f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}")
    x.send(body[start:])


@fault
def other_range_on_resume(x):
    if x.visit > 1:
        return other_range(x)
    x.send(x.part()[:x.number("at", 100_000)])


@fault
def garbled_range(x):
    if x.start is None:
        return x.send(x.whole())
    body = x.body()
    x.head(
        206, f"Content-Type: {x.type}", f"Content-Length: {len(body)}",
        "Content-Range: bytes all/of-it")
    x.send(body)


@fault
def changed_tag(x):
    rest = x.part(tag=f'"{x.visit}"')
    x.send(rest if x.visit > 1 else rest[:x.number("at", 100_000)])


@fault
def changed_tag_ignored(x):
    """Sends a changed file and ignores If-Range."""
    x.headers.pop("if-range", None)
    changed_tag(x)


@fault
def changed_length(x):
    body = x.body() + b"x" * (x.visit - 1)
    rest = x.part(body=body, tag=None)
    x.send(rest if x.visit > 1 else rest[:x.number("at", 100_000)])


@fault
def shrunk(x):
    """Sends a shorter file from the second request on."""
    body = x.body() if x.visit == 1 else x.body()[:1000]
    x.send(x.part(body=body)[:x.number("at", 100_000)])


@fault
def forgets_ranges(x):
    """Supports ranges at the first request only, and then sends the whole file."""
    if x.visit > 1:
        return x.send(x.whole('ETag: "one"'))
    x.send(x.part()[:x.number("at", 100_000)])


# Radio.

def announce(title):
    text = f"StreamTitle='{title}';StreamUrl='';".encode("latin-1")
    text += b"\0" * (-len(text) % 16)
    return bytes([len(text) // 16]) + text


def broadcast(x, body, interval=16000):
    titles = ["First", "It's Second", "Third", ""]
    for turn, offset in enumerate(range(0, len(body), interval)):
        piece = body[offset:offset + interval]
        x.send(piece)
        if len(piece) == interval:
            x.raw(announce(titles[turn]) if turn < len(titles) and titles[turn] else b"\0")


@fault
def announces(x):
    """Sends 4080 bytes of metadata after each byte of sound."""
    x.head(200, f"Content-Type: {x.type}", "icy-metaint: 1", "icy-name: Radio Hostile")
    for byte in x.body():
        x.raw(bytes([byte, 255]) + b"StreamTitle='".ljust(4078, b"x") + b"';")


@fault
def station(x):
    x.head(
        200, "Content-Type: audio/mpeg", "icy-metaint: 16000", "icy-br: 128,128",
        "icy-name: Radio Hostile", version=x.query.get("as", "HTTP/1.0"))
    broadcast(x, x.body())
    x.stall()


@fault
def station_drops(x):
    """Disconnects every `?at=` bytes, and continues there at the next request."""
    size = x.number("at", 50_000)
    body = x.body()
    x.head(200, "Content-Type: audio/mpeg", "icy-metaint: 16000", "icy-name: Radio Hostile")
    start = (x.visit - 1) * size
    if start >= len(body):
        x.stall()
    broadcast(x, body[start:start + size])


@fault
def station_endless(x):
    x.head(200, "Content-Type: audio/mpeg", "icy-name: Radio Endless")
    body = x.body()
    while True:
        x.send(body)


@fault
def station_restarts(x):
    """Sends its file from the beginning at each request, and disconnects."""
    x.head(200, f"Content-Type: {x.type}", "icy-name: Radio Again")
    x.send(x.body())


def send_chunks(x, body):
    x.head(200, f"Content-Type: {x.type}", "Transfer-Encoding: chunked")
    for offset in range(0, len(body), 10_000):
        piece = body[offset:offset + 10_000]
        x.raw(b"%x\r\n" % len(piece))
        x.send(piece)
        x.raw(b"\r\n")


# Endless responses.

def endless(x, piece):
    """Sends the same bytes endlessly, whatever range was requested."""
    piece *= 65536 // len(piece)
    while True:
        x.send(piece)


@fault
def huge_range(x):
    """Sends a part of a file that is announced with nearly 2^62 bytes."""
    body = x.body()
    start = x.start or 0
    x.head(
        206, f"Content-Type: {x.type}", f"Content-Range: bytes {start}-{len(body) - 1}/{2**62 - 1}")
    x.send(body[start:])


@fault
def large_range(x):
    """Announces the largest accepted number of bytes, and sends zeros after the file."""
    body = x.body()
    start = x.start or 0
    end = min(x.end or 2**53, start + 65536)
    x.head(206, f"Content-Type: {x.type}", f"Content-Range: bytes {start}-{end - 1}/{2**53}")
    x.send(body[start:end].ljust(end - start, b"\0"))


@fault
def large_rate(x):
    """Sends a short sound as a file whose length means gigabits per second."""
    body = x.body()
    start, end = x.start or 0, min(x.end or 2**31, 2**31)
    x.head(206, f"Content-Type: {x.type}", f"Content-Range: bytes {start}-{end - 1}/{2**31}")
    while start < end:
        place = start % len(body)
        piece = body[place:place + end - start]
        x.send(piece)
        start += len(piece)


@fault
def endless_tags(x):
    """Sends empty ID3 tags endlessly."""
    x.head(200, f"Content-Type: {x.type}")
    endless(x, b"ID3\4\0\0\0\0\0\0")


@fault
def endless_noise(x):
    """Sends the audio of a station that announces metadata after every byte."""
    x.head(200, "Content-Type: audio/mpeg", "icy-metaint: 1", "icy-name: Radio Noise")
    endless(x, bytes((i * 167 + (i >> 8) * 13) & 0xFF for i in range(65536)))


@fault
def endless_comment(x):
    """Sends an Ogg page, followed by endless pages of a comment."""
    x.head(200, f"Content-Type: {x.type}")
    endless(x, b"OggS" + bytes(22) + b"\xff" + b"\xff" * 255 + bytes(65025))


@fault
def endless_names(x):
    """Sends an endless playlist."""
    x.head(200, "Content-Type: audio/x-mpegurl")
    endless(x, b"song.mp3\n")


@fault
def playlist_of_itself(x):
    body = b"list.m3u\nother.m3u\n"
    x.head(200, "Content-Type: audio/x-mpegurl", f"Content-Length: {len(body)}")
    x.send(body)
