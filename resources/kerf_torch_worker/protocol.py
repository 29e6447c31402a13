# The protocol: lines of JSON and the bytes that they announce.
import contextlib
import hashlib
import json
import socket


def send_line(connection, value):
    data = json.dumps(value, allow_nan=True).encode("utf-8", "replace") + b"\n"
    with contextlib.suppress(OSError):
        connection.setblocking(True)
        connection.sendall(data)


def read_exactly(connection, count):
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(min(count - len(data), 1 << 20))
        if not piece:
            raise OSError("the other end is gone")
        data += piece
    return data


def read_line(connection):
    line = bytearray()
    while True:
        piece = connection.recv(1 << 16, socket.MSG_PEEK)
        if not piece:
            return b""
        end = piece.find(b"\n")
        taken = connection.recv(len(piece) if end < 0 else end + 1)
        line += taken
        if end >= 0:
            return bytes(line)


def receive(connection, storages):
    """A query with its source; storages that came along are kept. None at the end."""
    line = read_line(connection)
    if not line:
        return None
    query = json.loads(line)
    query["source"] = read_exactly(connection, query.pop("source_bytes", 0)).decode("utf-8")
    for name, size in query.pop("sent", []):
        data = read_exactly(connection, size)
        if hashlib.sha1(data).hexdigest() != name:
            raise ValueError("the bytes of %s are others" % name)
        storages[name] = bytes(data)
    return query
