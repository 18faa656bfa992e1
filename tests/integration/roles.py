# SPDX-License-Identifier: Apache-2.0
"""One real role alone, with the tests in the place of its neighbours."""
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import channels as ch
from belfry import BUILD, Case, status, wait_for

COLLECTOR, SYMBOLIZER, UPLOADER, STRANGER, GROUP = 61301, 61302, 61303, 61309, 61300

# What a greeting and a length may say to a reader that trusts them.
EVIL_LENGTHS = (2 ** 64 - 1, 2 ** 64 - 16, 2 ** 63, 2 ** 40, 2 ** 33, 2 ** 31, 64 << 20)


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
            return self.process.wait(10)
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
        self.assertLess(peak, mib * 1024, "KiB of resident memory at its peak")

    def closed_by_role(self, s, seconds=5):
        """The role closes a connection; what it still sends before that is read."""
        end = time.monotonic() + seconds
        s.settimeout(seconds)
        while time.monotonic() < end:
            try:
                if s.type == socket.SOCK_SEQPACKET:
                    data, fds = ch.packet_receive(s)
                    for fd in fds:
                        os.close(fd)
                else:
                    data = s.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                return True
            except socket.timeout:
                return False
            if not data:
                return True
        return False

    def evil_framing(self, accept_or_connect, protocol):
        """Greets as it should, then announces lengths that no reader can hold; then greets as something else."""
        for length in EVIL_LENGTHS:
            with self.subTest(length=length):
                s = accept_or_connect()
                ch.greet(s, protocol)
                try:
                    ch.sp_send(s, b"x" * 100, length)
                except OSError:
                    pass
                self.assertTrue(self.closed_by_role(s), "closes at a length of %d" % length)
                s.close()
                self.alive()
        for bad in (b"\0SP\0\x00\x10\0\0", b"\0SP\1\x00\x51\0\0", b"GET / HT", b"\xff" * 8):
            with self.subTest(greeting=bad):
                s = accept_or_connect()
                s.sendall(bad)
                self.assertTrue(self.closed_by_role(s, 12))
                s.close()
                self.alive()
        self.memory_is_bounded()


class SampleReader(threading.Thread):
    """Takes the collector's batches as a symbolizer would; remembers the last counters and checks the numbering."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listener = ch.listen(path, socket.SOCK_STREAM, SYMBOLIZER, GROUP)
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
                ch.greet(s, ch.PAIR)
                while not self.quit:
                    if self.paused:
                        time.sleep(0.05)
                        continue
                    s.settimeout(1)
                    try:
                        first = s.recv(1)
                    except socket.timeout:
                        continue
                    if not first:
                        break
                    s.settimeout(20)
                    length = int.from_bytes(ch.receive_exactly(s, 8), "big")
                    self.take(ch.receive_exactly(s, length))
            except (EOFError, OSError):
                pass
            s.close()

    def end(self):
        self.quit = True
        if self.ident:
            self.join(15)
        self.listener.close()
