# SPDX-License-Identifier: Apache-2.0
"""The collector against a symbolizer that has been taken over: it samples on, counts, and closes what breaks a rule."""
import os
import socket
import struct
import time
import unittest

import channels as ch
from belfry import wait_for, workload
from roles import COLLECTOR, GROUP, SYMBOLIZER, RoleCase, SampleReader, evil_packets


class HostileSymbolizer(RoleCase):
    program = "belfry-collector"
    role, uid = "collector", COLLECTOR

    def setUp(self):
        super().setUp()
        self.background(workload("chain"), 6, 300)
        self.files = ch.listen(self.path("files.sock"), SYMBOLIZER, GROUP)
        self.addCleanup(self.files.close)
        self.reader = SampleReader(self.path("samples.sock"))
        self.addCleanup(self.reader.end)

    def go(self):
        self.reader.start()
        self.start_role("--symbolizer-uid", SYMBOLIZER, "--frequency", 199)
        self.confined()

    def accept(self, hello=True):
        s, _ = self.files.accept()
        self.addCleanup(s.close)
        s.settimeout(5)
        data, fds = ch.packet_receive(s)
        self.assertEqual((data[:8], fds), (ch.file_message(ch.HELLO)[:8], []), "the collector says HELLO first")
        if hello:
            ch.packet_send(s, ch.file_message(ch.HELLO, 0))
        return s

    def next_file(self, s):
        """The next FILE_OPENED: its id; its descriptor is closed."""
        while True:
            data, fds = ch.packet_receive(s)
            kind, = struct.unpack_from("<I", data)
            for fd in fds:
                os.close(fd)
            if kind == ch.OPENED:
                self.assertEqual(len(fds), 1)
                return struct.unpack_from("<Q", data, 8)[0]

    def goes_on(self):
        """Alive, and still sampling."""
        self.alive()
        before = self.reader.samples
        wait_for("more samples (%s)" % self.said(), 10, lambda: self.reader.samples > before)
        self.assertEqual(self.reader.problems, [])

    def test_every_wrong_packet_closes_the_connection_and_is_counted(self):
        self.go()
        hello, done = ch.file_message(ch.HELLO, 0), ch.file_message(ch.DONE, 10 ** 9, 0)
        want = ch.file_message(ch.WANT, 10 ** 9)
        devnull = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, devnull)
        early = {"DONE before HELLO": (done, ()), "WANT before HELLO": (want, ()), "truncated": (hello[:3], ()),
                 "one byte": (b"\1", ()), "HELLO cut": (hello[:-1], ()), "HELLO longer": (hello + b"\0", ()),
                 "129 bytes": (b"\0" * 129, ()), "60,000 bytes": (b"\1" * 60000, ()),
                 "unknown type": (ch.file_message(99, 0), ()), "other version": (ch.file_message(ch.HELLO, 0, version=2), ()),
                 "HELLO with a descriptor": (hello, (devnull,)), "type 0": (ch.file_message(0, 0), ())}
        late = {"HELLO again": (hello, ()), "OPENED, the wrong way": (ch.file_message(ch.OPENED, 16, 1, 1, 1, 1), ()),
                "KALLSYMS with a descriptor": (ch.file_message(ch.KALLSYMS), (devnull,)),
                "DONE of a reserved id": (ch.file_message(ch.DONE, 3, 0), ()),
                "DONE with an unknown result": (ch.file_message(ch.DONE, 16, 99), ()),
                "DONE with its reserved field set": (done[:-4] + b"\1\0\0\0", ()),
                "DONE of a file never sent": (done, ()), "DONE with a descriptor": (done, (devnull,)),
                "three descriptors": (want, (devnull, devnull, devnull)), "WANT cut": (want[:-2], ())}
        cases = 0
        for phase, attacks in ((False, early), (True, late)):
            for name, (data, fds) in attacks.items():
                with self.subTest(name):
                    s = self.accept(hello=phase)
                    ch.packet_send(s, data, fds)
                    self.assertTrue(self.closed_by_role(s), name)
                    self.alive()
                    cases += 1
        self.goes_on()
        wait_for("each is counted: %s of %d" % (self.reader.counters.get("peer_refused"), cases), 10,
                 lambda: self.reader.counters.get("peer_refused", 0) >= cases)
        self.memory_is_bounded()

    def test_answer_given_twice(self):
        self.go()
        s = self.accept()
        one = self.next_file(s)
        ch.packet_send(s, ch.file_message(ch.DONE, one, 0))
        ch.packet_send(s, ch.file_message(ch.DONE, one, 0))
        self.assertTrue(self.closed_by_role(s))
        self.goes_on()

    def test_right_answers_are_taken(self):
        self.go()
        s = self.accept()
        for _ in range(3):
            ch.packet_send(s, ch.file_message(ch.DONE, self.next_file(s), 0))
        one = self.next_file(s)
        ch.packet_send(s, ch.file_message(ch.DONE, one, 1))
        self.goes_on()
        self.assertEqual(self.reader.counters.get("peer_refused", 0), 0)

    def test_file_asked_for_again_and_again(self):
        self.go()
        s = self.accept()
        one = self.next_file(s)
        ch.packet_send(s, ch.file_message(ch.DONE, one, 0))
        for _ in range(500):
            try:
                ch.packet_send(s, ch.file_message(ch.WANT, one))
            except OSError:
                break
        self.goes_on()
        self.memory_is_bounded()
        self.assertLess(len(os.listdir("/proc/%d/fd" % self.process.pid)), 256)

    def test_symbolizer_that_never_answers(self):
        self.go()
        s, _ = self.files.accept()
        self.addCleanup(s.close)
        time.sleep(4)
        self.goes_on()

    def test_symbolizer_that_never_reads(self):
        self.go()
        self.accept()
        for _ in range(20):
            self.background(workload("short-lived"), 2, 20)
        time.sleep(3)
        self.goes_on()
        self.assertLess(len(os.listdir("/proc/%d/fd" % self.process.pid)), 512)

    def test_flood(self):
        self.go()
        s = self.accept()
        for _ in range(20000):
            try:
                ch.packet_send(s, ch.file_message(ch.WANT, 10 ** 9))
            except OSError:
                break
        self.goes_on()

    def test_drip_and_hang_up(self):
        self.go()
        s = self.accept()
        for byte in ch.file_message(ch.DONE, 16, 0)[:3]:
            try:
                ch.packet_send(s, bytes((byte,)))
            except OSError:
                break
            time.sleep(0.2)
        self.assertTrue(self.closed_by_role(s))
        for _ in range(3):
            self.accept().close()
        self.goes_on()

    def test_samples_that_nobody_takes_are_counted(self):
        self.background(workload("threads"), 60)
        self.go()
        self.accept()
        wait_for("samples", 10, lambda: self.reader.samples > 10)
        self.reader.paused = True
        time.sleep(6)
        self.alive()
        self.reader.paused = False
        self.goes_on()
        self.process.terminate()
        self.assertEqual(self.process.wait(15), 0, self.said())
        wait_for("END", 5, lambda: self.reader.ended)
        c = self.reader.counters
        self.assertEqual(c["taken"], c["ring_full"] + c["queue_full"] + c["invalid"] + c["sent"] + c["held"], c)
        self.assertEqual(c["sent"], self.reader.next_sample)
        self.assertEqual(self.reader.samples, c["sent"])
        self.assertEqual(c["events"], c["idle"] + c["agent"] + c["filtered"] + c["taken"], c)

    def test_words_the_wrong_way_are_not_listened_to(self):
        """The collector only sends on this channel: whatever is said to it costs nothing, and it still sends."""
        self.start_role("--symbolizer-uid", SYMBOLIZER, "--frequency", 199)
        self.confined()
        self.reader.listener.settimeout(12)
        fd = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for name, packets in [*evil_packets(), ("flood", [b"x" * 32768] * 2000)]:
            with self.subTest(name):
                s, _ = self.reader.listener.accept()
                s.settimeout(0.3)
                try:
                    socket.send_fds(s, [b"abcd"], [fd])
                    for p in packets:
                        s.send(p)
                except OSError:
                    pass
                s.close()
                self.alive()
        self.reader.listener.settimeout(0.5)
        self.reader.start()
        self.goes_on()
        self.memory_is_bounded()

    def test_listener_of_another_user_is_not_talked_to(self):
        self.files.close()
        self.files = ch.listen(self.path("files.sock"), 0, 0)
        os.chown(self.path("files.sock"), SYMBOLIZER, GROUP)
        self.reader.listener.close()
        self.reader.listener = ch.listen(self.path("samples.sock"), 0, 0)
        os.chown(self.path("samples.sock"), SYMBOLIZER, GROUP)
        self.start_role("--symbolizer-uid", SYMBOLIZER, "--frequency", 199)
        self.confined()
        s, _ = self.files.accept()
        s.settimeout(3)
        try:
            self.assertEqual(ch.packet_receive(s), (b"", []), "it hangs up without a word")
        except socket.timeout:
            self.fail("it stays connected to a stranger")
        s, _ = self.reader.listener.accept()
        s.settimeout(3)
        try:
            self.assertEqual(s.recv(100), b"")
        except socket.timeout:
            self.fail("it stays connected to a stranger")
        except OSError:
            pass
        self.alive()
        self.assertIn("id=file_peer_refused", self.said())
        self.assertIn("id=channel_peer_refused", self.said())

    def test_starts_and_samples_without_a_symbolizer(self):
        self.files.close()
        os.unlink(self.path("files.sock"))
        self.reader.listener.close()
        os.unlink(self.path("samples.sock"))
        self.start_role("--symbolizer-uid", SYMBOLIZER, "--frequency", 199)
        self.confined()
        time.sleep(2)
        self.alive()
        self.reader = SampleReader(self.path("samples.sock"))
        self.addCleanup(self.reader.end)
        self.reader.start()
        wait_for("samples after a late start", 15, lambda: self.reader.counters.get("taken", 0) > 100)


if __name__ == "__main__":
    unittest.main()
