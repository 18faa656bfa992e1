# SPDX-License-Identifier: Apache-2.0
"""One real role alone, with the tests in the place of its neighbours."""
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import channels as ch
from belfry import BUILD, VARIANT, Case, status, wait_for

COLLECTOR, SYMBOLIZER, UPLOADER, STRANGER, GROUP = 61301, 61302, 61303, 61309, 61300


def killed_after(action):
    """Runs the action in a process of its own, which is killed right after it: the kernel closes what it held."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            action()
            os.write(w, b"x")
            time.sleep(60)
        finally:
            os._exit(1)
    os.close(w)
    try:
        return os.read(r, 1) == b"x"
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(r)


def evil_packets():
    """What breaks the rules of ipc/message_channel.h: (name, packets)."""
    def piece(total, offset, data):
        return struct.pack("<II", total, offset) + data

    whole = b"x" * ch.PIECE
    yield "one byte", [b"x"]
    yield "header cut", [b"\0" * 7]
    yield "no piece", [piece(10, 0, b"")]
    yield "no message", [piece(0, 0, b"")]
    yield "a message of nothing", [piece(0, 0, b"x")]
    yield "4 GiB less a byte", [piece(2 ** 32 - 1, 0, whole)]
    yield "64 MiB", [piece(64 << 20, 0, whole)]
    yield "begins in the middle", [piece(200000, ch.PIECE, whole)]
    yield "offset at the end of all offsets", [piece(100, 2 ** 32 - 1, b"x")]
    yield "piece longer than its message", [piece(3, 0, b"xxxx")]
    yield "short piece that is not the last", [piece(200000, 0, b"x" * 100)]
    yield "one byte at a time", [piece(100, i, b"x") for i in range(3)]
    yield "piece twice", [piece(131072 + 5, 0, whole)] * 2
    yield "piece left out", [piece(4 * ch.PIECE, 0, whole), piece(4 * ch.PIECE, 2 * ch.PIECE, whole)]
    yield "length changed under way", [piece(3 * ch.PIECE, 0, whole), piece(2 * ch.PIECE, ch.PIECE, whole)]
    yield "packet of 100 KB", [piece(100000, 0, b"x" * 100000)]


class RoleCase(Case):
    uid = None
    role = None

    def setUp(self):
        self.run = tempfile.mkdtemp(prefix="belfry-hostile.", dir="/run")
        os.chown(self.run, SYMBOLIZER, GROUP)
        os.chmod(self.run, 0o750)
        self.addCleanup(shutil.rmtree, self.run, ignore_errors=True)
        self.log = open(os.path.join(tempfile.gettempdir(), "belfry-hostile.%d.log" % os.getpid()), "w+b")
        self.addCleanup(lambda: (self.log.close(), os.unlink(self.log.name)))

    def path(self, name):
        return os.path.join(self.run, name)

    def start_role(self, *args):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "belfry-" + self.role), "--run-dir", self.run, "--user", str(self.uid), "--group",
             str(GROUP)] + [str(a) for a in args], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.addCleanup(self.stop_role)

    def stop_role(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            # A symbolizer waits longer than this for an uploader that is not there.
            return self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def confined(self):
        wait_for("%s is confined (%s)" % (self.role, self.said()), 20,
                 lambda: self.alive() and status(self.process.pid).get("Seccomp") == "2")

    def said(self):
        with open(self.log.name, "rb") as f:
            return f.read().decode("utf-8", "replace")[-3000:]

    def alive(self):
        self.assertIsNone(self.process.poll(), "%s has ended: %s" % (self.role, self.said()))
        return True

    def memory_is_bounded(self, mib=64):
        with open("/proc/%d/status" % self.process.pid) as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        # A sanitizer's shadow and quarantine come on top.
        limit = mib * 1024 * (6 if VARIANT == "asan" else 1)
        self.assertLess(peak, limit, "KiB of resident memory at its peak")

    def closed_by_role(self, s, seconds=5):
        """The role closes a connection; what it still sends before that is read."""
        end = time.monotonic() + seconds
        s.settimeout(seconds)
        while time.monotonic() < end:
            try:
                data, fds = ch.packet_receive(s)
            except BrokenPipeError:
                return True
            except socket.timeout:
                return False
            for fd in fds:
                os.close(fd)
            if not data:
                return True
        return False

    def evil_pieces(self, connection):
        """The role receives on these connections: each broken rule ends one, and nothing else."""
        fd = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for name, packets in evil_packets():
            with self.subTest(name):
                s = connection()
                try:
                    for p in packets:
                        s.send(p)
                except OSError:
                    pass
                self.assertTrue(self.closed_by_role(s), "closes at: " + name)
                s.close()
                self.alive()
        s = connection()
        socket.send_fds(s, [struct.pack("<II", 4, 0) + b"abcd"], [fd])
        self.assertTrue(self.closed_by_role(s), "closes at a descriptor")
        s.close()
        self.alive()
        self.assertIn("id=channel_rule_broken", self.said())
        self.memory_is_bounded()


class SampleReader(threading.Thread):
    """Takes the collector's batches as a symbolizer would; remembers the last counters and checks the numbering."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listener = ch.listen(path, SYMBOLIZER, GROUP)
        self.listener.settimeout(0.5)
        self.counters = {}
        self.samples = 0
        self.problems = []
        self.next_sample = None
        self.ended = False
        self.quit = False
        self.paused = False
        self.connections = 0
        self.records = {}

    def take(self, data):
        if len(data) > ch.BATCH_MAX:
            self.problems.append("batch of %d bytes" % len(data))
        header, records = ch.read_batch(data)
        if header["records"] != len(records):
            self.problems.append("%d records, %d announced" % (len(records), header["records"]))
        if self.next_sample is not None and header["first"] < self.next_sample:
            self.problems.append("sample numbers went back")
        self.next_sample = header["first"] + header["samples"]
        self.samples += header["samples"]
        for kind, body in records:
            self.records[kind] = self.records.get(kind, 0) + 1
            if kind == ch.COUNTERS:
                self.counters = ch.read_counters(body)
            self.ended |= kind == ch.END

    def run(self):
        while not self.quit:
            try:
                s, _ = self.listener.accept()
            except (socket.timeout, OSError):
                continue
            s.settimeout(1)
            self.connections += 1
            try:
                while not self.quit:
                    if self.paused:
                        time.sleep(0.05)
                        continue
                    try:
                        self.take(ch.message_receive(s))
                    except socket.timeout:
                        continue
            except (EOFError, OSError):
                pass
            s.close()

    def end(self):
        self.quit = True
        if self.ident:
            self.join(15)
        self.listener.close()
