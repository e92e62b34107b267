"""Runs the tool with one fault at a time, and checks its messages and its files. See Scripts/faults."""

import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from commands import COMMANDS, make_stock
from files import LOSSY, frames_of

# A run that takes longer than this is stuck without a report.
PATIENCE = 20
CRASHES = {-4, -5, -6, -11}
STATUSES = {0, 1, 65, 66, 69, 73, 77}
# The number of frames that an encoder may hold back or add at the start.
LOSSY_FRAMES = 5000
# The number of frames that are written to the disk at once.
DISK_FRAMES = 4096


class Case:
    """One command with one fault."""

    def __init__(self, command, call, error, place, path, statuses):
        self.command, self.call, self.error, self.place = command, call, error, place
        self.path, self.statuses = path, statuses
        self.name = f"{command}/{call}/{error}/{place}" + (f"/{path}" if path else "")

    @property
    def fault(self):
        """The settings of the shim."""
        at, _, more = self.place.partition("+")
        times = 0 if self.place.endswith("+") else int(more or 1)
        words = [f"call={self.call}", f"at={at}", f"times={times}"]
        for word in self.error.split(":"):
            words.append(word if "=" in word else f"errno={word}")
        if self.path:
            words.append(f"size={self.path[1:]}" if self.path[0] == ">" else f"path={self.path}")
        return ",".join(words)


def read_table(path):
    """Every case of the table: each command with each call, error and place of its line."""
    cases = []
    for line in open(path):
        columns = line.split("#")[0].split()
        if not columns:
            continue
        statuses = None
        if columns[-1].startswith("="):
            words = columns.pop()[1:].split(",")
            statuses = {int(word) for word in words if word != "crash"}
            # Without memory the runtime ends the program, by one signal or another.
            statuses |= CRASHES if "crash" in words else set()
        if not 4 <= len(columns) <= 5:
            sys.exit(f"faults: the table's line is not understood: {line.strip()}")
        commands, calls, errors, places, path = (columns + [""])[:5]
        for pattern in commands.split(","):
            names = [name for name in COMMANDS if fnmatch.fnmatchcase(name, pattern)]
            if not names:
                sys.exit(f"faults: there is no command {pattern}")
            cases += [
                Case(name, call, error, place, path, statuses) for name in names
                for call in calls.split(",") for error in errors.split(",")
                for place in places.split(",")]
    return cases


class Run:
    """A case that ran, and the errors found in its messages and files."""

    def __init__(self, case, tool, shim, stock):
        self.case = case
        self.command = COMMANDS[case.command]
        self.tool, self.stock = tool, stock
        self.complaints = []
        self.folder = tempfile.mkdtemp(prefix="fault-")
        self.before = {}
        for name in self.command.inputs:
            self.put(name, name)
        for name, original in self.command.old:
            self.put(name, original)
        log = os.path.join(self.folder, ".faults")
        environment = dict(
            os.environ, LD_PRELOAD=shim, FAULT=case.fault, FAULT_LOG=log, LC_ALL="C.UTF-8",
            HOME=self.folder + "/.home", XDG_CONFIG_HOME=self.folder + "/.settings",
            ALSA_CONFIG_PATH=os.path.join(stock, "asound.conf"))
        for name in ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DUPLEX_DEVICE"):
            environment.pop(name, None)
        process = subprocess.Popen(
            [tool] + self.command.arguments, cwd=self.folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.hangs = False
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.hangs = True
            process.kill()
            out, err = process.communicate()
        self.status = process.returncode
        self.words = err.decode(errors="replace")
        self.events = []
        for line in out.decode(errors="replace").splitlines():
            try:
                self.events.append(json.loads(line))
            except ValueError:
                self.complain(f"no JSON: {line[:80]}")
        self.count = len(open(log).readlines()) if os.path.exists(log) else 0
        self.summary = next((e for e in self.events if e.get("event") == "summary"), {})
        self.errors = [e for e in self.events if e.get("event") == "error"]
        self.check()
        if not self.complaints:
            shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, name, original):
        path = os.path.join(self.folder, name)
        shutil.copy(os.path.join(self.stock, original), path)
        self.before[name] = open(path, "rb").read()

    def complain(self, words):
        self.complaints.append(words)

    def check(self):
        if self.hangs:
            return self.complain(f"still ran after {PATIENCE} s")
        if self.status in CRASHES & (self.case.statuses or set()):
            return self.check_sound()
        if self.status not in STATUSES | (self.case.statuses or set()):
            return self.complain(f"status {self.status}: {self.words[-300:]}")
        if self.case.statuses and self.status not in self.case.statuses:
            self.complain(f"status {self.status}, not one of {sorted(self.case.statuses)}")
        self.check_words()
        self.check_names()
        self.check_inputs()
        self.check_sound()

    def check_words(self):
        """Checks that a failure is reported in one sentence, and that nothing else is printed."""
        if re.search(r"Fatal error|Backtrace|crashed|Stack dump|ssertion|\w+\.swift:\d", self.words):
            self.complain("a trace: " + self.words[:200])
        lines = self.words.splitlines()
        if len(set(lines)) != len(lines):
            self.complain("printed twice: " + self.words[:300])
        if self.status == 0:
            if self.errors:
                self.complain(f"status 0 with an error: {self.errors[0]['message']}")
            return
        if not re.search(r"(?m)^duplex: [A-Z/'\"a-z].*\.", self.words):
            self.complain(f"no sentence: {self.words[:200]!r}")
        # A failure of standard output cannot be reported on it.
        if not self.errors and self.case.path != "stdout" and self.events:
            self.complain("no error among the events")
        if any(not e.get("message") or not e.get("code") for e in self.errors):
            self.complain("an error without a message or a code")

    def check_names(self):
        """Checks that no draft and no unrequested file is left."""
        wanted = {*self.before, *self.command.extra, self.command.target}
        for name in os.listdir(self.folder):
            if name in (".faults", ".home", ".settings"):
                continue
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted if pattern):
                self.complain(f"left behind: {name}")
        for folder, _, names in os.walk(os.path.join(self.folder, ".settings")):
            for name in names:
                if not name.endswith(".json"):
                    self.complain(f"left behind: {name}")

    def check_inputs(self):
        """Checks that the inputs are unchanged."""
        for name in self.command.inputs:
            if open(os.path.join(self.folder, name), "rb").read() != self.before[name]:
                self.complain(f"{name} was changed")

    def check_sound(self):
        """Checks that the files are complete as far as the summary says, and that an existing file
        is only replaced by a readable one."""
        if self.command.arguments[0] == "play":
            return self.check_played()
        total = 0
        paths = sorted(glob.glob(os.path.join(self.folder, self.command.target or ".none")))
        for path in paths:
            name = os.path.basename(path)
            frames, complaint = frames_of(path, is_torn=self.status in CRASHES)
            untouched = self.before.get(name) == open(path, "rb").read()
            if complaint and not untouched and self.is_repaired_later(path):
                continue
            # The program crashed while it started.
            if complaint and self.status in CRASHES and not self.events:
                continue
            if complaint and not untouched:
                self.complain(f"{name} is unreadable: {complaint}")
                continue
            if name in self.before and not untouched and frames == 0:
                self.complain(f"{name} was lost")
            # A file that cannot be replaced is kept, and the recording gets a number in its name.
            if (untouched and self.status == 0 and len(paths) == 1
                    and self.case.command[:4] != "mend"):
                self.complain(f"status 0, and {name} is the old one")
            if name not in self.before and frames == 0 and self.status not in CRASHES:
                self.complain(f"{name} is empty")
            total += 0 if untouched else frames
        for name, _ in self.command.old:
            if not os.path.exists(os.path.join(self.folder, name)):
                self.complain(f"{name} is gone")
        for pattern in self.command.extra:
            for path in glob.glob(os.path.join(self.folder, pattern)):
                if path.endswith(".wav") and (found := frames_of(path))[1]:
                    self.complain(f"{os.path.basename(path)} is unreadable: {found[1]}")
        self.check_frames(total, paths)

    def is_repaired_later(self, path):
        """Returns whether a second repair in place completes a truncated file whose first repair was
        interrupted."""
        if self.case.command[:4] != "mend" or self.status == 0:
            return False
        done = subprocess.run([self.tool, "repair", "--in-place", path], capture_output=True)
        frames, complaint = frames_of(path)
        return done.returncode == 0 and frames > 0 and not complaint

    def check_frames(self, total, paths):
        """Checks that the files have the frames of the summary, and with status 0 all frames."""
        wanted = self.summary.get("recordedFrames", self.summary.get("frames"))
        slack = LOSSY_FRAMES * max(1, len(paths)) if (
            self.command.target.rpartition(".")[2] in LOSSY) else 0
        if self.status == 0 and self.command.frames is not None:
            if wanted is None:
                return self.complain("status 0 without a summary")
            least = self.command.frames
            if self.case.command.startswith("alsa") and not self.command.target:
                least = 0
            if self.command.target and total < least - slack:
                self.complain(f"status 0 with {total} frames of {least}")
        if self.command.arguments[0] not in ("record", "monitor") or not self.command.target:
            return
        # Frames of a failed write may have reached the disk nevertheless.
        more = slack + (DISK_FRAMES if self.status == 1 else 0)
        if wanted is not None and not wanted - slack <= total <= wanted + more:
            self.complain(f"{total} frames in the files, {wanted} reported")

    def check_played(self):
        """Checks that with status 0 all frames were played."""
        reported = sum(t["frames"] for t in self.summary.get("tracks", []))
        if self.status == 0 and reported != self.command.frames:
            self.complain(f"status 0 with {reported} frames played of {self.command.frames}")
        out = os.path.join(self.folder, "out.raw")
        if self.status == 0 and "out.raw" in self.command.extra:
            played, song = (open(path, "rb").read() for path in (
                out, os.path.join(self.stock, "in.raw")))
            if len(played) < self.command.frames * 4:
                self.complain(f"status 0 with {len(played) // 4} frames at the output")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("shim")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_intermixed_args()
    cases = read_table(os.path.join(os.path.dirname(__file__), "table"))
    if options.patterns and options.patterns != ["all"]:
        cases = [c for c in cases if any(fnmatch.fnmatchcase(c.name, p) for p in options.patterns)]
    cases = cases[::options.every]
    if options.list:
        return print("\n".join(case.name for case in cases))
    stock = tempfile.mkdtemp(prefix="faults-")
    failed = missed = 0
    try:
        make_stock(stock, options.tool)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = pool.map(lambda case: Run(case, options.tool, options.shim, stock), cases)
            for run in runs:
                missed += run.count == 0
                note = f" status {run.status}, {run.count} faults"
                if run.complaints:
                    failed += 1
                    print(f"not ok - {run.case.name}:{note}; see {run.folder}")
                    for words in run.complaints:
                        print("#   " + words.replace("\n", " ")[:400])
                elif options.verbose:
                    said = run.words.strip().splitlines()
                    print(f"ok - {run.case.name}:{note}: {said[-1] if said else ''}")
                sys.stdout.flush()
    finally:
        shutil.rmtree(stock, ignore_errors=True)
    print(f"# {len(cases)} cases, {failed} failed, {missed} without a fault")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
