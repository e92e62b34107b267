"""Measures the cost of a program: processor time, peak memory, instructions."""
import os
import re
import shutil
import subprocess
import tempfile


class Cost:
    """The minimum of each figure over several runs."""

    def __init__(self):
        self.processor = self.memory = float("inf")

    def take(self, processor, memory):
        self.processor = min(self.processor, processor)
        self.memory = min(self.memory, memory)


def is_here(program):
    return shutil.which(program) is not None


def run(command):
    """Runs a command. Returns processor time in s and peak memory in MiB; None if it fails."""
    # The peak memory of a process includes that of the process that forked it. /usr/bin/time, a
    # small program, is therefore the parent.
    with tempfile.NamedTemporaryFile("r") as peak, \
            subprocess.Popen(["/usr/bin/time", "-o", peak.name, "-f", "%M", *command], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return None
        return usage.ru_utime + usage.ru_stime, int(peak.read()) / 1024


def interleaved(commands, runs):
    """Runs each of `commands` (name to words) `runs` times, alternately.

    Returns a dictionary from name to Cost, or to the reason why a command could not be measured.
    """
    costs = {name: Cost() if is_here(words[0]) else "not installed" for name, words in commands.items()}
    for _ in range(runs):
        for name, words in commands.items():
            if not isinstance(costs[name], Cost):
                continue
            figures = run(words)
            if figures is None:
                costs[name] = "does not run"
            else:
                costs[name].take(*figures)
    return costs


def instructions(command, patience=600):
    """Returns the user-space instructions of a run, counted by valgrind; None if it fails."""
    answer = subprocess.run(
        ["timeout", str(patience), "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    found = re.search(r"Collected : (\d+)", answer.stderr)
    return int(found[1]) if found and answer.returncode == 0 else None


def processor_model():
    """Returns the processor's name and the number of processors."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    return f"{len(names)} x {names[0]}" if names else os.uname().machine
