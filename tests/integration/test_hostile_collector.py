# SPDX-License-Identifier: Apache-2.0
"""The symbolizer against a collector that has been taken over, and against files that are traps."""
import os
import random
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import channels as ch
import pprof
from belfry import wait_for, workload
from roles import COLLECTOR, GROUP, STRANGER, SYMBOLIZER, UPLOADER, RoleCase, evil_packets, killed_after

STREAM = 77


class HostileCollector(RoleCase):
    program = "belfry-symbolizer"
    role, uid = "symbolizer", SYMBOLIZER

    def setUp(self):
        super().setUp()
        self.start_role("--collector-uid", COLLECTOR, "--uploader-uid", UPLOADER, "--window", 1)
        for name in ("files.sock", "samples.sock", "profiles.sock"):
            wait_for("%s (%s)" % (name, self.said()), 10, lambda: self.alive() and os.path.exists(self.path(name)))
        self.confined()
        self.sequence = 0
        self.first = 0

    # -- the neighbours --------------------------------------------------------------------

    def files(self, hello=True, uid=COLLECTOR):
        s = ch.connect(self.path("files.sock"), uid, GROUP)
        self.addCleanup(s.close)
        if hello:
            ch.packet_send(s, ch.file_message(ch.HELLO, STREAM))
            data, _ = ch.packet_receive(s)
            self.assertEqual(struct.unpack_from("<I", data)[0], ch.HELLO)
        return s

    def samples(self, uid=COLLECTOR):
        s = ch.connect(self.path("samples.sock"), uid, GROUP)
        self.addCleanup(s.close)
        return s

    def pusher(self):
        return self.samples()

    def uploader(self):
        s = ch.connect(self.path("profiles.sock"), UPLOADER, GROUP)
        self.addCleanup(s.close)
        return s

    def push(self, s, records):
        n = sum(1 for kind, _ in records if kind == ch.SAMPLE)
        ch.message_send(s, ch.batch(records, stream=STREAM, sequence=self.sequence, first=self.first))
        self.sequence += 1
        self.first += n

    def messages(self, s, condition, seconds=15):
        """Messages to the uploader until one satisfies the condition; returns all."""
        out = []
        s.settimeout(seconds)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            out.append(ch.read_profile_message(ch.message_receive(s)))
            if condition(*out[-1]):
                return out
        raise AssertionError("not among %d messages" % len(out))

    def still_works(self, s=None, u=None):
        """A right batch yields a window and a profile that hold its samples."""
        self.alive()
        u = u or self.uploader()
        s = s or self.pusher()
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.push(s, [ch.process(), ch.mapping(), ch.sample(time=now), ch.sample(time=now + 1), ch.counters(taken=2, sent=2)])
        got = self.messages(u, lambda kind, a, labels, body: kind == ch.PPROF and labels.get("pid") == "4242")
        kind, a, labels, body = got[-1]
        p = pprof.Profile.parse(body)
        self.assertEqual(pprof.problems(p), [])
        self.assertEqual(p.total("samples"), 2)
        self.assertEqual(labels["comm"], "stub")
        return got

    # -- the file channel ------------------------------------------------------------------

    def test_every_wrong_packet_closes_the_connection(self):
        hello, kallsyms = ch.file_message(ch.HELLO, STREAM), ch.file_message(ch.KALLSYMS)
        opened = ch.file_message(ch.OPENED, 16, 1, 1, 1, 1)
        fd = os.open("/proc/self/exe", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        early = {"OPENED before HELLO": (opened, (fd,)), "KALLSYMS before HELLO": (kallsyms, (fd,)), "cut": (hello[:5], ()),
                 "longer": (hello + b"\0" * 8, ()), "60,000 bytes": (b"\1" * 60000, ()), "unknown": (ch.file_message(77, 1), ()),
                 "other version": (ch.file_message(ch.HELLO, 1, version=9), ()), "HELLO with a descriptor": (hello, (fd,))}
        late = {"HELLO again": (hello, ()), "OPENED without its descriptor": (opened, ()),
                "OPENED with two": (opened, (fd, fd)), "OPENED with twenty": (opened, (fd,) * 20),
                "OPENED of a reserved id": (ch.file_message(ch.OPENED, 2, 1, 1, 1, 1), (fd,)),
                "KALLSYMS without its descriptor": (kallsyms, ()), "DONE, the wrong way": (ch.file_message(ch.DONE, 16, 0), ()),
                "WANT, the wrong way": (ch.file_message(ch.WANT, 16), ()), "OPENED cut": (opened[:-1], (fd,))}
        for phase, attacks in ((False, early), (True, late)):
            for name, (data, fds) in attacks.items():
                with self.subTest(name):
                    s = self.files(hello=phase)
                    ch.packet_send(s, data, fds)
                    self.assertTrue(self.closed_by_role(s), name)
                    s.close()
                    self.alive()
        self.still_works()
        self.assertLess(len(os.listdir("/proc/%d/fd" % self.process.pid)), 128, "no descriptor is left over")

    def send_file(self, s, number, fd, identity=None):
        st = os.fstat(fd)
        ch.packet_send(s, ch.file_message(ch.OPENED, number, *(identity or (st.st_dev, st.st_ino, st.st_size, st.st_ctime_ns))),
                       (fd,))

    def done(self, s, number):
        while True:
            data, _ = ch.packet_receive(s)
            self.assertTrue(data, "closed instead of an answer")
            kind, = struct.unpack_from("<I", data)
            if kind == ch.DONE and struct.unpack_from("<Q", data, 8)[0] == number:
                return struct.unpack_from("<I", data, 16)[0]

    def trap_files(self):
        """Descriptors that are not what they say, and files that are made to hurt a parser."""
        d = tempfile.mkdtemp()
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", d]))
        with open(workload("chain"), "rb") as f:
            good = bytearray(f.read())

        def made(name, data):
            path = os.path.join(d, name)
            with open(path, "wb") as f:
                f.write(data)
            return os.open(path, os.O_RDONLY)

        def broken(name, *changes):
            data = bytearray(good)
            for at, value in changes:
                data[at:at + len(value)] = value
            return made(name, data)

        ones = b"\xff" * 8
        sections, = struct.unpack_from("<Q", good, 40)
        yield "empty", made("empty", b"")
        yield "four bytes", made("four", b"\x7fELF")
        yield "header alone", made("header", good[:64])
        yield "program headers far away", broken("phoff", (32, ones))
        yield "section headers far away", broken("shoff", (40, ones))
        yield "program headers of odd size", broken("phentsize", (54, b"\1\0"))
        yield "65,535 program headers", broken("phnum", (56, b"\xff\xff"))
        yield "65,535 section headers", broken("shnum", (60, b"\xff\xff"))
        yield "every section is huge", broken("sections", *((sections + 64 * i + 24 + k, ones)
                                              for i in range(30) for k in (0, 8) if sections + 64 * i + 40 < len(good)))
        yield "every section's entries have size 0", broken("entsize", *((sections + 64 * i + 56, b"\0" * 8)
                                                            for i in range(30) if sections + 64 * i + 64 <= len(good)))
        yield "cut in half", made("half", good[:len(good) // 2])
        yield "text", made("text", b"#!/bin/sh\n" * 100)
        sparse = os.path.join(d, "sparse")
        with open(sparse, "wb") as f:
            f.write(good[:4096])
            f.truncate(1 << 40)
        yield "a terabyte of nothing", os.open(sparse, os.O_RDONLY)
        r, w = os.pipe()
        os.close(w)
        yield "a pipe", r
        yield "a folder", os.open(d, os.O_RDONLY)
        yield "/dev/zero", os.open("/dev/zero", os.O_RDONLY)
        yield "write-only", os.open(os.path.join(d, "w"), os.O_WRONLY | os.O_CREAT)
        yield "a socket", socket.socket(socket.AF_UNIX).detach()

    def test_files_that_are_traps(self):
        s, u, push = self.files(), self.uploader(), self.pusher()
        s.settimeout(10)
        number = 100
        for name, fd in self.trap_files():
            with self.subTest(name):
                number += 1
                self.send_file(s, number, fd)
                os.close(fd)
                self.done(s, number)
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                tgid = 10000 + number
                self.push(push, [ch.process(tgid=tgid), ch.mapping(tgid=tgid, file_id=number, kind=1, path=b"/trap/" + name.encode()),
                                 ch.sample(tgid=tgid, tid=tgid, time=now)])
                got = self.messages(u, lambda kind, a, labels, body: kind == ch.PPROF and labels.get("pid") == str(tgid))
                p = pprof.Profile.parse(got[-1][3])
                self.assertEqual(p.total("samples"), 1, "a bad file costs names, not samples")
                self.assertEqual(pprof.problems(p), [])
                self.alive()
        self.still_works(push, u)
        self.memory_is_bounded(96)

    def test_another_file_than_announced(self):
        s = self.files()
        fd = os.open(workload("chain"), os.O_RDONLY)
        self.send_file(s, 200, fd, (1, 2, 3, 4))
        os.close(fd)
        s.settimeout(5)
        try:
            self.assertNotEqual(self.done(s, 200), 0)
        except AssertionError:
            pass  # closing is as good
        self.still_works()

    def test_kallsyms_that_is_none(self):
        for name, text in {"garbage": b"\xff" * 100000, "one endless line": b"f" * (1 << 20), "empty": b"",
                           "no end": b"ffffffff81000000 T x\n" * 200000}.items():
            with self.subTest(name), tempfile.TemporaryFile() as f:
                f.write(text)
                f.flush()
                s = self.files()
                ch.packet_send(s, ch.file_message(ch.KALLSYMS), (f.fileno(),))
                time.sleep(0.5)
                self.alive()
                s.close()
                time.sleep(0.3)
        self.still_works()

    def test_strangers_are_refused(self):
        s = ch.connect(self.path("files.sock"), STRANGER, GROUP)
        try:
            ch.packet_send(s, ch.file_message(ch.HELLO, 1))
        except OSError:
            pass
        self.assertTrue(self.closed_by_role(s))
        for uid in (STRANGER, UPLOADER):
            s = self.samples(uid=uid)
            try:
                ch.message_send(s, ch.batch([ch.process(), ch.sample()], stream=STREAM))
            except OSError:
                pass
            self.assertTrue(self.closed_by_role(s))
        self.assertIn("id=files_peer_refused", self.said())
        self.assertIn("id=channel_peer_refused", self.said())
        for kind, a, labels, _ in self.still_works():
            self.assertLessEqual(a["received"], 2, "of a stranger's samples none was taken")

    # -- the sample channel ----------------------------------------------------------------

    def test_pieces_that_lie(self):
        self.evil_pieces(self.samples)
        self.still_works()

    def test_second_collector_waits_until_the_first_is_gone(self):
        first = self.pusher()
        self.push(first, [ch.process()])
        s = self.samples()
        self.assertTrue(self.closed_by_role(s))
        self.assertIn("id=channel_peer_refused", self.said())
        u = self.uploader()
        self.still_works(first, u)
        first.close()
        self.still_works(self.samples(), u)

    def test_collector_that_says_nothing(self):
        silent = self.samples()
        time.sleep(2)
        self.alive()
        silent.close()
        self.still_works()

    def test_collector_killed_in_the_middle(self):
        def half():
            s = ch.connect(self.path("samples.sock"), COLLECTOR, GROUP)
            ch.message_send(s, ch.batch([ch.process(tgid=99), ch.sample(tgid=99)], stream=5))
            s.send(struct.pack("<II", ch.BATCH_MAX, 0))

        for _ in range(20):
            self.assertTrue(killed_after(half))
        self.alive()
        self.still_works()

    def test_two_hundred_connections(self):
        idle = [self.samples() for _ in range(200)]
        time.sleep(1)
        self.alive()
        for s in idle:
            s.close()
        time.sleep(0.5)
        self.still_works()

    def test_wrong_batches_are_refused_and_their_samples_counted_as_lost(self):
        u, s = self.uploader(), self.pusher()
        good = [ch.process(), ch.mapping(), ch.sample()]
        whole = ch.batch(good)
        attacks = {
            "empty": b"", "one byte": b"B", "header cut": whole[:40], "record cut": whole[:-1],
            "other magic": ch.batch(good, magic=1), "other version": ch.batch(good, version=9),
            "more samples than records": ch.batch(good, samples=9), "a billion records": ch.batch(good, count=10 ** 9),
            "fewer records than announced": ch.batch(good, count=7), "no frequency": ch.batch(good, frequency=0),
            "reserved field": ch.batch(good, reserved=1), "number at the end of all numbers": ch.batch(good, first=2 ** 64 - 1),
            "unknown record": ch.batch([(99, b"")]), "record type 0": ch.batch([(0, b"")]),
            "sample with 65,535 frames": ch.batch([ch.sample(user=[1] * 10, frames=b"")]),
            "sample with too many frames": ch.batch([ch.sample(user=[1] * 1025)]),
            "unknown status": ch.batch([ch.sample(status=77)]), "unknown flag": ch.batch([ch.sample(flags=0x80)]),
            "reversed mapping": ch.batch([ch.mapping(start=9, end=8)]), "empty mapping": ch.batch([ch.mapping(start=9, end=9)]),
            "unknown mapping kind": ch.batch([ch.mapping(kind=99)]), "path beyond its record": ch.batch([ch.mapping(path=b"/x", path_len=4000)]),
            "unknown reason": ch.batch([ch.process(reason=9)]), "END with a body": ch.batch([(ch.END, b"x")]),
            "short counters": ch.batch([(ch.COUNTERS, b"\0" * 8)]),
        }
        for name, data in attacks.items():
            with self.subTest(name):
                try:
                    ch.message_send(s, data)
                except OSError:
                    s = self.pusher()  # a closed connection is a good answer
                    ch.message_send(s, data)
                time.sleep(0.05)
                self.alive()
        s.close()
        time.sleep(0.6)
        self.still_works(u=u)

    def test_stream_that_makes_no_sense(self):
        """Each batch is well formed; together they contradict one another."""
        u, s = self.uploader(), self.pusher()
        for stream, sequence, first in ((5, 0, 0), (5, 0, 0), (5, 9, 500), (5, 3, 100), (6, 0, 0), (5, 10, 10), (6, 1, 2 ** 60)):
            ch.message_send(s, ch.batch([ch.process(), ch.sample()], stream=stream, sequence=sequence, first=first))
            time.sleep(0.2)
            self.alive()
        time.sleep(1.5)
        self.alive()
        # Whatever the sums are, each window's account obeys its own law, or the uploader would refuse it.
        self.first, self.sequence = 2 ** 40, 1000
        for kind, a, _, _ in self.still_works(s, u):
            self.assertEqual(a["received"], a["in_profiles"] + sum(a[n] for n in ch.LOSSES), a)
            self.assertLessEqual(a["received"], a["end"] - a["first"])

    def test_more_than_any_budget(self):
        """A thousand processes, mappings without end, stacks that are all different: bounded, and counted."""
        s, u = self.pusher(), self.uploader()
        for i in range(300):
            self.push(s, [ch.process(tgid=10 ** 6 + i)] + [ch.mapping(tgid=10 ** 6 + i, start=(j + 1) << 20, end=(j + 1 << 20) + 4096,
                                                                      path=b"/" + b"p" * 200) for j in range(100)])
        stacks = 0
        for i in range(300):
            self.push(s, [ch.sample(tgid=10 ** 6 + i, time=i * 100 + j, user=[(i * 100 + j) * 4096 + k for k in range(60)])
                          for j in range(100)])
            stacks += 100
        self.alive()
        received = lost = 0
        seen = set()
        while received < stacks:
            kind, a, _, _ = ch.read_profile_message(ch.message_receive(u))
            if a["window"] not in seen and a["stream"] == STREAM:
                seen.add(a["window"])
                received += a["received"]
                self.assertEqual(a["received"], a["in_profiles"] + sum(a[n] for n in ch.LOSSES), a)
                lost += sum(a[n] for n in ch.LOSSES)
        self.assertEqual(received, stacks)
        self.memory_is_bounded(160)

    def test_flood_of_files(self):
        s = self.files()
        fd = os.open(workload("chain"), os.O_RDONLY)
        self.addCleanup(os.close, fd)
        s.settimeout(0.2)
        try:
            for i in range(3000):
                self.send_file(s, 1000 + i, fd, (1, 10 ** 6 + i, 4096, 1))
        except OSError:
            pass
        self.alive()
        self.assertLess(len(os.listdir("/proc/%d/fd" % self.process.pid)), 1024)
        s.close()
        self.still_works()

    def test_uploader_that_never_reads(self):
        s = self.pusher()
        u = self.uploader()
        for i in range(30):
            self.push(s, [ch.process(), ch.sample(time=i)])
            time.sleep(0.1)
        self.alive()
        u.close()
        time.sleep(0.5)
        self.still_works(s)

    # -- the profile channel ---------------------------------------------------------------

    def test_uploader_that_talks_back(self):
        """The symbolizer only sends on this channel: whatever is said to it costs nothing."""
        s = self.pusher()
        fd = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for i, (name, packets) in enumerate([*evil_packets(), ("flood", [b"x" * 32768] * 2000)]):
            with self.subTest(name):
                self.push(s, [ch.process(tgid=99), ch.sample(tgid=99, time=i)])
                u = self.uploader()
                u.settimeout(0.2)
                try:
                    socket.send_fds(u, [b"abcd"], [fd])
                    for p in packets:
                        u.send(p)
                except OSError:
                    pass
                u.close()
                self.alive()
        self.still_works(s)
        self.memory_is_bounded()

    def test_stranger_gets_no_profile(self):
        s = self.pusher()
        self.push(s, [ch.process(tgid=99), ch.sample(tgid=99)])
        for uid in (STRANGER, COLLECTOR):
            u = ch.connect(self.path("profiles.sock"), uid, GROUP)
            with self.assertRaises((EOFError, ConnectionResetError)):
                ch.message_receive(u)
            u.close()
        self.assertIn("id=channel_peer_refused", self.said())
        self.still_works(s)

    def test_uploader_killed_in_the_middle_of_a_message(self):
        """What the old one has got in part, the next one gets whole."""
        r = random.Random(1)
        s = self.pusher()
        for i in range(10):
            self.push(s, [ch.process(tgid=99), ch.mapping(tgid=99, start=0, end=1 << 46)] +
                         [ch.sample(tgid=99, time=100 * i + j, user=[r.randrange(1 << 46) for _ in range(60)]) for j in range(100)])

        def half():
            u = ch.connect(self.path("profiles.sock"), UPLOADER, GROUP)
            u.settimeout(20)
            while len(u.recv(ch.PIECE + 8)) < ch.PIECE + 8:
                pass

        self.assertTrue(killed_after(half))
        u = self.uploader()
        kind, a, labels, body = self.messages(u, lambda *m: True)[-1]
        self.assertEqual((kind, labels.get("pid")), (ch.PPROF, "99"))
        p = pprof.Profile.parse(body)
        self.assertEqual(pprof.problems(p), [])
        self.assertEqual(p.total("samples"), a["in_profiles"])
        self.still_works(s, u)


if __name__ == "__main__":
    unittest.main()
