# SPDX-License-Identifier: Apache-2.0
"""Runs the integration tests of this folder (or those named) one file after another; the last line is the sum."""
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Result(unittest.TestResult):
    """One line a test, so that a run that hangs says where."""

    def __init__(self):
        super().__init__()
        self.passed = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def say(self, word, test, text=""):
        print("%-4s %s (%.1f s)%s" % (word, test.id(), time.monotonic() - self.began, text), flush=True)

    def addSuccess(self, test):
        self.passed += 1
        self.say("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("FAIL", test, "\n" + self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        if not hasattr(self, "began"):
            self.began = time.monotonic()
        self.say("FAIL", test, "\n" + self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            which = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.say("FAIL", subtest, "\n" + which[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if not hasattr(self, "began"):
            self.began = time.monotonic()
        self.say("skip", test, ": " + reason)


def main(names):
    sys.path.insert(0, HERE)
    if not names:
        names = sorted(n[:-3] for n in os.listdir(HERE) if n.startswith("test_") and n.endswith(".py"))
    result = Result()
    unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
    failed = len(result.failures) + len(result.errors)
    print("integration: %d passed, %d failed, %d skipped" % (result.passed, failed, len(result.skipped)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
