"""HTTP requests, and the sending of responses."""

import os
import socket
import struct
import time

TYPES = {
    "wav": "audio/wav", "flac": "audio/flac", "mp3": "audio/mpeg", "ogg": "audio/ogg",
    "opus": "audio/ogg", "aiff": "audio/aiff", "caf": "audio/x-caf",
}


def pattern(count):
    """Returns bytes that depend on their offset."""
    block = bytes((i * 167 + (i >> 8) * 13) & 0xFF for i in range(65536))
    # Each block is the previous one with seven added to every byte.
    raised = bytes((value + 7) & 0xFF for value in range(256))
    parts = []
    for _ in range(-(-count // len(block))):
        parts.append(block)
        block = block.translate(raised)
    return b"".join(parts)[:count]


class Repeated:
    """The repeated bytes of a file, or a part of them, created on demand."""

    def __init__(self, piece, start, end):
        self.piece = piece
        self.start = start
        self.end = end

    def __len__(self):
        return max(0, self.end - self.start)

    def __getitem__(self, places):
        start, end, _ = places.indices(len(self))
        part = Repeated(self.piece, self.start + start, self.start + end)
        return part.bytes() if len(part) <= 65536 else part

    def bytes(self):
        first = self.start % len(self.piece)
        count = (first + len(self)) // len(self.piece) + 1
        return (self.piece * count)[first:first + len(self)]


class Gone(Exception):
    """The connection was closed by the client or by this server."""


class Exchange:
    """One request and its response."""

    def __init__(self, connection, server):
        self.connection = connection
        self.server = server
        self.sent = 0
        self.status = 0

    def read_request(self):
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.connection.recv(65536)
            if not more:
                raise Gone
            data += more
        lines = data.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        self.path = lines[0].split(" ")[1]
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        route, _, query = self.path.partition("?")
        self.parts = [part for part in route.split("/") if part]
        self.query = dict(item.partition("=")[::2] for item in query.split("&") if item)
        self.visit = self.server.visit(self.path)

    @property
    def start(self):
        """The first requested byte; None if no range was requested."""
        text = self.headers.get("range", "")
        return int(text[6:].split("-")[0]) if text.startswith("bytes=") else None

    @property
    def end(self):
        """The offset after the last requested byte; None for the end of the file."""
        text = self.headers.get("range", "").partition("-")[2]
        return int(text) + 1 if text else None

    def number(self, name, default):
        return int(self.query.get(name, default))

    @property
    def type(self):
        return TYPES.get(self.path.partition("?")[0].rpartition(".")[2], "audio/mpeg")

    def body(self):
        """Returns the file that the path names, or the pattern if there is no such file."""
        name = self.parts[-1] if self.parts else ""
        if self.server.directory and len(self.parts) > 1:
            path = os.path.join(self.server.directory, os.path.basename(name))
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    return file.read()
        return self.server.pattern(self.number("size", 300_000))

    def raw(self, data):
        try:
            self.connection.sendall(data)
        except OSError:
            raise Gone

    def head(self, status, *lines, version="HTTP/1.1"):
        self.status = status
        text = [f"{version} {status} Because", *lines, "Connection: close", "", ""]
        self.raw("\r\n".join(text).encode("latin-1"))

    def send(self, data, rate=None):
        """Sends a part of a body, no faster than the server's rate."""
        rate = rate or self.server.rate
        step = max(1, min(16384, rate // 20)) if rate else 16384
        for offset in range(0, len(data), step):
            piece = data[offset:offset + step]
            # The bytes are counted before they are sent, so that no client has uncounted bytes.
            self.sent += len(piece)
            self.server.count(self.path, len(piece))
            self.raw(piece)
            if rate:
                time.sleep(len(piece) / rate)

    def whole(self, *lines, body=None):
        """Sends the header of a 200, and returns the body."""
        body = self.body() if body is None else body
        self.head(200, f"Content-Type: {self.type}", f"Content-Length: {len(body)}", *lines)
        return body

    def part(self, *lines, tag='"one"', body=None, is_bounded=False, most=None):
        """Sends the header of a 206 for the requested range, or of a 200 without a range.

        Returns the rest of the body, at most `most` bytes of it.
        """
        body = self.body() if body is None else body
        common = [f"Content-Type: {self.type}", "Accept-Ranges: bytes"]
        common += [f"ETag: {tag}"] if tag else []
        condition = self.headers.get("if-range")
        start = self.start
        if start is None or (condition and condition != tag):
            return self.whole("Accept-Ranges: bytes", *([f"ETag: {tag}"] if tag else []), body=body)
        if start >= len(body):
            self.head(416, *common, f"Content-Range: bytes */{len(body)}", "Content-Length: 0")
            return b""
        end = min(self.end, len(body)) if is_bounded and self.end else len(body)
        end = min(end, start + most) if most else end
        self.head(
            206, *common, *lines, f"Content-Length: {end - start}",
            f"Content-Range: bytes {start}-{end - 1}/{len(body)}")
        return body[start:end]

    def reset(self):
        """Ends the connection at once, with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise Gone

    def stall(self):
        """Keeps the connection open and sends nothing more, until the client closes it."""
        try:
            while self.connection.recv(4096):
                pass
        except OSError:
            pass
        raise Gone
