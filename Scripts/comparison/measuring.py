"""What a program costs: processor time, peak memory, instructions."""
import os
import re
import shutil
import subprocess
import tempfile


class Cost:
    """The least of each figure over several runs."""

    def __init__(self):
        self.processor = self.memory = float("inf")

    def take(self, processor, memory):
        self.processor = min(self.processor, processor)
        self.memory = min(self.memory, memory)


def is_here(program):
    return shutil.which(program) is not None


def run(command):
    """Runs a command to its end: seconds of processor time, MiB at most; None where it fails."""
    # A process counts the memory of the one that it was forked from as its own: a small one stands between.
    with tempfile.NamedTemporaryFile("r") as peak, \
            subprocess.Popen(["/usr/bin/time", "-o", peak.name, "-f", "%M", *command], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return None
        return usage.ru_utime + usage.ru_stime, int(peak.read()) / 1024


def interleaved(commands, runs):
    """Runs each of `commands`, name to words, `runs` times, in turn: name to Cost, or to what stands in the way."""
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
    """Instructions in user space of a whole run, counted by valgrind; None where it does not run."""
    answer = subprocess.run(
        ["timeout", str(patience), "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    found = re.search(r"Collected : (\d+)", answer.stderr)
    return int(found[1]) if found and answer.returncode == 0 else None


def processor_model():
    """The processor's name, and how many of them there are."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    return f"{len(names)} x {names[0]}" if names else os.uname().machine
