# SPDX-License-Identifier: Apache-2.0
"""roles_cost.py SECONDS: memory and CPU of the roles that run now (their helper processes included), over so many seconds."""
import json
import os
import subprocess
import sys
import time

ROLES = ("collector", "symbolizer", "uploader")
TICKS = os.sysconf("SC_CLK_TCK")


def processes(role):
    out = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                if os.path.basename(os.readlink("/proc/%s/exe" % pid)) == "belfry-" + role:
                    out.append(int(pid))
            except OSError:
                pass
    return out


def memory(pid):
    """(resident, proportional, peak resident) KiB."""
    values = {}
    for name in ("smaps_rollup", "status"):
        with open("/proc/%d/%s" % (pid, name)) as f:
            for line in f:
                words = line.split()
                if words[0] in ("Rss:", "Pss:", "VmHWM:"):
                    values[words[0]] = int(words[1])
    return values["Rss:"], values["Pss:"], values["VmHWM:"]


def cpu(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (sum(int(x) for x in fields[11:15])) / TICKS


def maps_kib(pids):
    """Kernel memory of the BPF maps that the collector holds, as the kernel counts it."""
    shown = subprocess.run(["bpftool", "-j", "map", "show"], capture_output=True, text=True).stdout
    mine = [m for m in json.loads(shown or "[]") if any(p["pid"] in pids for p in m.get("pids", []))]
    if not mine:
        # This bpftool cannot tell whose a map is: read it off the descriptors.
        total = 0
        for pid in pids:
            try:
                fds = os.listdir("/proc/%d/fdinfo" % pid)
            except OSError:  # of another recording, which has ended
                continue
            for fd in fds:
                try:
                    with open("/proc/%d/fdinfo/%s" % (pid, fd)) as f:
                        info = dict(line.split(":", 1) for line in f if ":" in line)
                except OSError:
                    continue
                if "map_type" in info:
                    total += int(info["memlock"])
        return total // 1024
    return sum(int(m.get("bytes_memlock", 0)) for m in mine) // 1024


def main(seconds):
    pids = {role: processes(role) for role in ROLES}
    if not all(pids.values()):
        print("roles_cost: not all roles run: %s" % pids)
        return 1
    before = {p: cpu(p) for role in ROLES for p in pids[role]}
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    sums = [0, 0, 0, 0.0]
    for role in ROLES:
        role_sums = [0, 0, 0, 0.0]
        for pid in pids[role]:
            try:
                values = list(memory(pid)) + [100 * (cpu(pid) - before[pid]) / passed]
            except (OSError, KeyError):
                continue  # a worker that has ended
            role_sums = [a + b for a, b in zip(role_sums, values)]
        print("  %-10s %d processes, resident %6d KiB, proportional %6d KiB, peak %6d KiB, CPU %.2f %%" %
              (role, len(pids[role]), *role_sums))
        sums = [a + b for a, b in zip(sums, role_sums)]
    print("  together   resident %d KiB, proportional %d KiB, peak %d KiB (aim: 32768), CPU %.2f %% of one (aim: 0.3 at 19 Hz)" %
          tuple(sums))
    print("  BPF maps   %d KiB (aim: 24576)" % maps_kib(pids["collector"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
