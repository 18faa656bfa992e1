# SPDX-License-Identifier: Apache-2.0
"""The channels between the roles, spoken by hand: the other end of one may be anybody who has taken a role over.

SEQPACKET sockets all: the file channel with descriptors (ipc/file_channel.h), the others with messages cut into pieces
(ipc/message_channel.h): each packet is u32 length of the message, u32 offset of the piece, and at most 64 KiB of it.
"""
import array
import contextlib
import os
import socket
import struct
import time

PIECE = 64 * 1024

# ipc/file_channel.h
HELLO, OPENED, KALLSYMS, DONE, WANT = 1, 2, 3, 4, 5
FILE_ID_FIRST = 16
# ipc/sample_channel.h
BATCH_MAGIC, BATCH_HEADER, BATCH_MAX = 0x48435442, 48, 64 * 1024
SAMPLE, PROCESS, MAPPING, EXIT, COUNTERS, END = 1, 2, 3, 4, 5, 6
COUNTER_NAMES = ("taken", "ring_full", "queue_full", "invalid", "sent", "held", "events", "idle", "agent", "filtered",
                 "files_sent", "files_refused", "files_failed", "files_deferred", "sideband_lost", "sideband_bad",
                 "processes", "processes_gone", "peer_refused")
# ipc/profile_channel.h
PROFILE_MAGIC, PROFILE_MAX = 0x464F5250, 8 << 20
WINDOW, PPROF, PROFILE_END = 1, 2, 3
LOSSES = ("stacks_full", "bad_batch", "profile_too_large", "encoder_failed", "uploader_away")


@contextlib.contextmanager
def acting_as(uid, gid):
    """The peer's credentials are those at listen() or connect()."""
    os.setegid(gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def listen(path, uid, gid):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with acting_as(uid, gid):
        s.bind(path)
        os.chmod(path, 0o660)
        s.listen(16)
    s.settimeout(12)
    return s


def connect(path, uid, gid):
    """Tries again while the listener has as many waiting as it wants."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(12)
    end = time.monotonic() + 12
    while True:
        try:
            with acting_as(uid, gid):
                s.connect(path)
            return s
        except BlockingIOError:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def message_send(s, data):
    for at in range(0, len(data), PIECE) if data else (0,):
        s.send(struct.pack("<II", len(data), at) + data[at:at + PIECE])


def message_receive(s):
    """One message; EOFError when the other end has closed."""
    data, total = b"", None
    while total is None or len(data) < total:
        packet = s.recv(PIECE + 9)
        if not packet:
            raise EOFError("the other end closed")
        length, offset = struct.unpack_from("<II", packet)
        if offset != len(data) or (total is not None and length != total) or len(packet) - 8 > PIECE:
            raise ValueError("piece at %d of %d, where %d of %s are there" % (offset, length, len(data), total))
        total = length
        data += packet[8:]
    return data


def packet_receive(s):
    """One packet and the descriptors that came with it. b"" when the other end has closed."""
    fds = array.array("i")
    try:
        data, control, _, _ = s.recvmsg(4096, socket.CMSG_SPACE(8 * fds.itemsize))
    except ConnectionResetError:
        return b"", []
    for level, kind, value in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(value[:len(value) - len(value) % fds.itemsize])
    return data, list(fds)


def packet_send(s, data, fds=()):
    if fds:
        socket.send_fds(s, [data], list(fds))
    else:
        s.send(data)


def file_message(kind, *fields, version=1):
    """HELLO stream; OPENED id device inode size ctime; DONE id result; WANT id."""
    data = struct.pack("<II", kind, version)
    if kind == DONE:
        return data + struct.pack("<QII", fields[0], fields[1], 0)
    return data + struct.pack("<%dQ" % len(fields), *fields)


def batch(records, stream=1, sequence=0, first=0, samples=None, count=None, frequency=99, magic=BATCH_MAGIC, version=1,
          reserved=0):
    """Of (type, bytes) pairs."""
    if samples is None:
        samples = sum(1 for kind, _ in records if kind == SAMPLE)
    header = struct.pack("<IIQQQIIII", magic, version, stream, sequence, first, samples,
                         len(records) if count is None else count, frequency, reserved)
    return header + b"".join(struct.pack("<II", kind, len(body)) + body for kind, body in records)


def sample(tgid=4242, tid=4242, start_time=10 ** 9, time=0, user=(0x401000,), kernel=(), status=0, flags=0, comm=b"stub",
           frames=None):
    header = struct.pack("<QQQIIIIHHHHHBBI16s16s", time, start_time, 1, tgid, tid, 0, 1000, len(kernel), len(user), 0,
                         len(user), 0, status, flags, 0, comm, comm)
    return SAMPLE, header + (struct.pack("<%dQ" % (len(kernel) + len(user)), *kernel, *user) if frames is None else frames)


def process(tgid=4242, start_time=10 ** 9, reason=1, comm=b"stub", cgroup=b"0::/stub\n", time=0):
    return PROCESS, struct.pack("<QQQIIII16sH", time, start_time, 1, tgid, 1, 1000, reason, comm, len(cgroup)) + cgroup


def mapping(tgid=4242, start_time=10 ** 9, start=0x400000, end=0x500000, offset=0, file_id=0, kind=2, path=b"", time=0,
            path_len=None):
    return MAPPING, struct.pack("<QQQQQQIIH", time, start_time, start, end, offset, file_id, tgid, kind,
                                len(path) if path_len is None else path_len) + path


def counters(**values):
    return COUNTERS, struct.pack("<%dQ" % len(COUNTER_NAMES), *(values.get(n, 0) for n in COUNTER_NAMES))


def read_batch(data):
    """A batch as (header dict, [(type, bytes)])."""
    names = ("magic", "version", "stream", "sequence", "first", "samples", "records", "frequency", "reserved")
    header = dict(zip(names, struct.unpack_from("<IIQQQIIII", data)))
    records, at = [], BATCH_HEADER
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        records.append((kind, data[at + 8:at + 8 + length]))
        at += 8 + length
    return header, records


def read_counters(body):
    return dict(zip(COUNTER_NAMES, struct.unpack("<%dQ" % len(COUNTER_NAMES), body)))


ACCOUNT = "<9Q%dQI%dQ" % (len(LOSSES), len(COUNTER_NAMES))
ACCOUNT_NAMES = ("stream", "symbolizer", "window", "start_time", "duration", "first", "end", "received", "in_profiles",
                 *LOSSES, "profiles", *COUNTER_NAMES)


def account(**values):
    """A window's account that obeys its own law unless told otherwise."""
    n = values.pop("samples", 5)
    base = {"stream": 7, "symbolizer": 9, "window": 0, "start_time": 1_700_000_000 * 10 ** 9, "duration": 10 ** 9,
            "first": 0, "end": n, "received": n, "in_profiles": n, "profiles": 1, "taken": n, "sent": n, "events": n}
    base.update(values)
    return base


def profile_message(kind, sequence=0, magic=PROFILE_MAGIC, version=1, index=0, samples=None, labels=(), pprof=b"",
                    pprof_len=None, label_count=None, **values):
    a = account(**values)
    data = struct.pack("<IHHQ", magic, version, kind, sequence)
    data += struct.pack(ACCOUNT, *(a.get(n, 0) for n in ACCOUNT_NAMES))
    if kind == PPROF:
        data += struct.pack("<IQI", index, a["in_profiles"] if samples is None else samples,
                            len(labels) if label_count is None else label_count)
        for name, value in labels:
            data += struct.pack("<H", len(name)) + name + struct.pack("<H", len(value)) + value
        data += struct.pack("<I", len(pprof) if pprof_len is None else pprof_len) + pprof
    return data


def read_profile_message(data):
    """(type, account dict, labels dict, pprof bytes)."""
    _, _, kind, _ = struct.unpack_from("<IHHQ", data)
    a = dict(zip(ACCOUNT_NAMES, struct.unpack_from(ACCOUNT, data, 16)))
    at = 16 + struct.calcsize(ACCOUNT)
    labels, body = {}, b""
    if kind == PPROF:
        _, _, count = struct.unpack_from("<IQI", data, at)
        at += 16
        for _ in range(count):
            pair = []
            for _ in range(2):
                n, = struct.unpack_from("<H", data, at)
                pair.append(data[at + 2:at + 2 + n])
                at += 2 + n
            labels[pair[0].decode()] = pair[1].decode("utf-8", "replace")
        n, = struct.unpack_from("<I", data, at)
        body = data[at + 4:at + 4 + n]
    return kind, a, labels, body
