"""Makes sections from the output of the sound lab's suites peers, recorders and monitor-record."""
import os
import subprocess

from table import Column, Section

names = {
    "duplex": "duplex monitor", "duplex-plain": "duplex monitor, limiter and feedback suppressor off",
    "duplex-headroom-1": "duplex monitor --headroom 1", "arecord-aplay": "arecord \\| aplay", "portaudio": "PortAudio",
    "rtaudio": "RtAudio", "zita-alsa-pcmi": "zita-alsa-pcmi (alsa_loopback)", "jack2": "JACK2",
    "zita-a2j": "zita-a2j -S (zita-ajbridge) to JACK2",
}
wires = list(names) + ["alsaloop"]
recorder_names = {"duplex-levels-off": "duplex, --levels off"}
recorders = ["duplex", "duplex-levels-off", "arecord", "sox", "ffmpeg", "jack_capture"]


def read(path):
    """Returns the printed figures: (row, program, period) to text; None if it is missing."""
    figures = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            word, *words = line.split()[:5] or [""]
            if word == "figure":
                figures[tuple(words[:3])] = words[3] if len(words) > 3 else None
    return figures


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def why_missing(figures, program):
    there = any(program == measured for _, measured, _ in figures)
    return "let no frame through" if there else "is not installed"


def wire_section(figures):
    section = Section(
        "From microphone to headphones",
        "In the sound lab (`Scripts/soundlab peers`): Debian's kernel and its loopback card, a clock that counts guest "
        "instructions, stereo, 16 bits, 48 kHz, numbered frames as sound, with peaks at -12 dBFS, and for the last two "
        "columns white noise at full scale, which the limiter lowers. Their settings stand in the suite. Processor time of all threads and processes, a period of P frames; frames lost, doubled "
        "and altered in five seconds (zita-a2j's begin 16 s after its first sound, when it has found its delay).",
        [Column("in to out, frames, P = 64", 0), Column("P = 16", 0),
         Column("processor, us a period, P = 64", 2, "limiter and feedback suppressor look at every frame."),
         Column("P = 16", 2, "limiter and feedback suppressor look at every frame."),
         Column("lost / doubled / altered, P = 64", 0), Column("P = 16", 0),
         Column("processor with noise at full scale, P = 64", 2, "the limiter lowers every frame."),
         Column("P = 16", 2, "the limiter lowers every frame."),
         Column("peak memory, MiB", 1, "the code of the Swift runtime and of the libraries of all sound formats is 11 MiB, and "
                "locked in memory; to win, a program would have to be without either: the bare start of duplex takes "
                "12.6 MiB.")])
    for program in wires:
        values = []
        for row in ("latency", "cpu", "lost"):
            for period in ("64", "16"):
                value = figures.get((row, program, period))
                values.append(value if row == "lost" else number(value))
        values += [number(figures.get(("noise", program, period))) for period in ("64", "16")]
        values.append(number(figures.get(("memory", program, "64"))))
        # A program that lets no frame through has no latency.
        if values[0] is None and values[1] is None:
            section.miss(names.get(program, program), why_missing(figures, program))
        else:
            section.add(names.get(program, program), values)
    return section


def frames_on_disk(path):
    """Returns the number of 16-bit stereo frames after the header, not the length it states."""
    with open(path, "rb") as file:
        head = file.read(4096)
    return (os.path.getsize(path) - head.index(b"data") - 8) // 4


def frames_claimed(command, path, pattern):
    answer = subprocess.run([*command, path], capture_output=True, text=True)
    for line in answer.stdout.splitlines():
        if line.startswith(pattern):
            return int(line.removeprefix(pattern).strip(" :") or 0)
    return None


def readable(path):
    """Returns the percentages of the frames on disk that sox and libsndfile read."""
    there = frames_on_disk(path)
    words = []
    for name, claimed in (("sox", frames_claimed(["soxi", "-s"], path, "")),
                          ("libsndfile", frames_claimed(["sndfile-info"], path, "Frames"))):
        words.append(f"{name} {'nothing' if not claimed else f'{100 * min(claimed, there) / there:.1f} %'}"
                     + (", a wrong length" if claimed and claimed > there else ""))
    return "; ".join(words)


def recorder_section(figures, kept):
    section = Section(
        "Recording, and kill -9",
        "In the sound lab (`Scripts/soundlab recorders`): five seconds of numbered frames, stereo, 16 bits, 48 kHz, "
        "to WAV, P = 256, then kill -9 for all processes. Processor share of all threads and processes, jackd's as "
        "well; what came before the kill and is not in the file, to a period of 5.3 ms; what others read of the "
        "file. duplex measures loudness and true peak meanwhile, as none of the others do, unless with `--levels off`.",
        [Column("processor, % of a core", 2, "a thread that no disk can stop hands the sound to a second "
                "one, which keeps the header up to date; with levels, loudness and true peak of this sound, in whose "
                "noise each block may have the highest peak, are some 0.3 %. To win, it would have to write to the "
                "disk from the audio thread."),
         Column("peak memory, MiB", 1, "the Swift runtime and the libraries of all sound formats, as above, and a ring "
                "for twelve seconds of sound; `--ring 1s` takes 1.4 MiB less, and only a program without the runtime "
                "would win."),
         Column("missing after kill -9, ms", 1, "the disk thread writes twenty times a second where nobody asks for "
                "levels, and so up to 50 ms late. To win, it would have to write every period, which costs "
                "processor time."),
         Column("lost / doubled / altered within", 0), Column("read afterwards", 0)])
    for program in recorders:
        values = [number(figures.get((row, program, "256")))
                  for row in ("record-cpu", "record-memory", "record-missing")]
        # The last period may arrive between the reading of the clock and the kill.
        if values[2] is not None:
            values[2] = max(0, values[2])
        file = os.path.join(kept, f"{program}.wav")
        if all(value is None for value in values):
            section.miss(program, why_missing(figures, program))
            continue
        section.add(recorder_names.get(program, program),
                    values + [figures.get(("record-lost", program, "256")),
                              readable(file) if os.path.exists(file) else None])
    return section


def both_section(figures):
    section = Section(
        "Monitoring and recording at once",
        "In the sound lab (`Scripts/soundlab monitor-record`): the microphone to the headphones and to a WAV file, "
        "stereo, 16 bits, 48 kHz. Processor time of all threads, a period of P frames. duplex keeps its limiter and "
        "feedback suppressor on, and measures loudness and true peak, except with `--levels off`: of numbered frames, "
        "whose peaks between samples are the hardest to search, and of pink noise 6 dB below full scale. alsaloop and "
        "arecord, which measure nothing, were run one after the other and added up.",
        [Column("processor, us a period, P = 256", 2), Column("P = 64", 2)])
    for program, name in (("duplex-noise", "duplex monitor --record, pink noise"),
                          ("duplex", "duplex monitor --record, numbered frames"),
                          ("duplex-levels-off", "duplex monitor --record --levels off"),
                          ("alsaloop-arecord", "alsaloop and arecord")):
        section.add(name, [number(figures.get(("monitor-record", program, period))) for period in ("256", "64")])
    return section


def sections(output, kept):
    figures = read(output)
    found = []
    if any(row == "latency" for row, _, _ in figures):
        found.append(wire_section(figures))
    if any(row == "record-cpu" for row, _, _ in figures):
        found.append(recorder_section(figures, kept))
    if any(row == "monitor-record" for row, _, _ in figures):
        found.append(both_section(figures))
    return found
