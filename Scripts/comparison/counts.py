"""Counts instructions and compares them with the kept counts.

    python3 counts.py DUPLEX BENCHMARKS [--keep]
"""
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from measuring import instructions

repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
kept_file = os.path.join(repository, "Tests", "Benchmarks", "instructions.txt")
tolerance = 0.03


def first_line(*words):
    answer = subprocess.run(words, capture_output=True, text=True)
    return (answer.stdout + answer.stderr).split("\n")[0].strip()


def toolchain():
    """Returns the other things on which instruction counts depend: compilers and libraries."""
    system = platform.freedesktop_os_release()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        vectors = "avx2" if " avx2" in file.read() else "no avx2"
    return "; ".join([first_line("swift", "--version"), f"{system['ID']} {system.get('VERSION_ID', '')}",
                      " ".join(platform.libc_ver()), first_line("valgrind", "--version"), platform.machine(), vectors])


def make_sounds():
    subprocess.run("sox -R -n -r 48000 -b 16 -c 2 mic.wav synth 5 pinknoise vol 0.3 && "
                   "sox -R -n -r 48000 -b 16 -c 2 loud.wav synth 5 whitenoise && "
                   "sox -R -n -r 48000 -b 16 -c 2 swells.wav synth 5 pinknoise tremolo 4 95 vol 0.3 && "
                   "sox -R -n -r 44100 -b 16 -c 2 song.wav synth 5 pinknoise vol 0.4 && flac --silent song.wav",
                   shell=True, check=True)


def rows(duplex, benchmarks):
    """Returns the rows: name to (function from seconds to a command, units per second).

    The count of one unit is the difference of a run of four seconds and a run of one second,
    divided by the units in three seconds.
    """
    # The simulated input plays a file; gain=-200 keeps the output out of it.
    def device(sound):
        return f"sim:clock=free,mic={sound},gain=-200"

    def monitor(name):
        return lambda seconds: [duplex, "monitor", "--no-config", "-q", "-D", name, "-f", "S16_LE", "-p", "64", "-d",
                                seconds]

    # A low sample rate, because the simulation of the wire is slow.
    two_clocks = "sim:clock=free,rate=16000,noise=-20,gain=-200,drift=80,batch=48,jitter=1"

    def record(seconds):
        return [duplex, "record", "--no-config", "-q", "--overwrite", "-D", device("mic.wav"), "-f", "S16_LE", "-d",
                seconds, f"take-{seconds}.wav"]

    def play(file, rate):
        return lambda seconds: [duplex, "play", "--no-config", "-q", "-P", "null", "-r", rate, "-d", seconds, file]

    return {
        "a cycle of monitor, 64 frames": (monitor(device("mic.wav")), 750),
        "a cycle of monitor, 64 frames, noise above the limit": (monitor(device("loud.wav")), 750),
        "a cycle of monitor, 64 frames, noise that swells": (monitor(device("swells.wav")), 750),
        "a cycle of monitor with two clocks, 64 frames, the simulated wire included":
            (monitor(two_clocks), 250),
        "a cycle of an engine, 64 frames": (lambda seconds: [benchmarks, "engine", seconds], 750),
        "a second of record, WAV": (record, 1),
        "a second of play, WAV": (play("song.wav", "44100"), 1),
        "a second of play, FLAC": (play("song.flac", "44100"), 1),
        "a second of play, WAV from 44.1 to 48 kHz": (play("song.wav", "48000"), 1),
    }


def measure(duplex, benchmarks):
    """Measures all rows, with as many runs at a time as there are processors."""
    make_sounds()
    stripped = []
    for program in (duplex, benchmarks):
        # Valgrind 3.19 cannot read the debug information that the compiler writes.
        stripped.append(os.path.join(os.getcwd(), os.path.basename(program)))
        subprocess.run(["strip", "-g", "-o", stripped[-1], program], check=True)
    commands = {("the help", 0): [stripped[0], "--help"]}
    for name, (command, _) in rows(*stripped).items():
        commands |= {(name, seconds): command(str(seconds)) for seconds in (1, 4)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip(commands, pool.map(instructions, commands.values())))
    broken = [name for (name, _), count in counted.items() if count is None]
    if broken:
        sys.exit(f"bench: this does not run under valgrind: {broken[0]}")
    figures = {"the help": counted["the help", 0],
               "the start of a recording, and its first second": counted["a second of record, WAV", 1]}
    for name, (_, units) in rows(*stripped).items():
        figures[name] = round((counted[name, 4] - counted[name, 1]) / (3 * units))
    return figures


def read_kept():
    """Returns the toolchain of the kept counts, and a dictionary from name to count."""
    with open(kept_file, encoding="utf-8") as file:
        heads, *lines = file.read().splitlines()
    kept = {}
    for line in lines:
        count, name = line.split(maxsplit=1)
        kept[name] = int(count)
    return heads.removeprefix("# "), kept


def keep(figures):
    with open(kept_file, "w", encoding="utf-8") as file:
        file.write(f"# {toolchain()}\n")
        for name, count in figures.items():
            file.write(f"{count:12} {name}\n")


def compare(figures):
    """Prints each count with its change. Returns a sentence for each count above the tolerance."""
    heads, kept = read_kept()
    # Differences caused by other compilers or libraries are not the fault of the sources.
    comparable = heads == toolchain()
    worse = []
    for name, count in figures.items():
        before = kept.get(name)
        change = f"{100 * (count / before - 1):+.1f} %" if before else "new"
        print(f"{count:12} {name} ({change})")
        if before and count > before * (1 + tolerance):
            worse.append(f"{name} takes {count:,} instructions where {before:,} are kept")
    if not comparable:
        print(f"bench: not compared: what was kept was measured with {heads}, this with {toolchain()}")
        return []
    return worse


def main():
    duplex, benchmarks = (os.path.realpath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        figures = measure(duplex, benchmarks)
        os.chdir(repository)
    if "--keep" in sys.argv:
        keep(figures)
        print(f"{len(figures)} counts are in {os.path.relpath(kept_file)}")
        return
    worse = compare(figures)
    if worse:
        sys.exit("bench: " + "; ".join(worse) + ". Mend it, or keep the new counts: Scripts/bench counts --keep")


if __name__ == "__main__":
    main()
