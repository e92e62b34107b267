"""The rows measured on this machine: duplex and other programs alternate in the same run."""
import os
import subprocess

from measuring import Cost, instructions, interleaved, is_here
from table import Column, Section

runs = int(os.environ.get("BENCH_RUNS", "5"))


def sound(name, *words):
    """Makes a sound file with sox unless it exists, and returns its name."""
    if not os.path.exists(name):
        subprocess.run(["sox", "-R", "-n", *words], check=True, stdout=subprocess.DEVNULL)
    return name


def minutes_of_noise(count):
    return sound(f"noise-{count}.wav", "-r", "44100", "-c", "2", "-b", "16", f"noise-{count}.wav",
                 "synth", str(60 * count), "pinknoise", "vol", "0.4")


def encoded(wave, suffix, *words):
    name = wave.replace(".wav", suffix)
    if not os.path.exists(name):
        subprocess.run([*words, wave, *([name] if words[0] == "lame" else ["-o", name])], check=True)
    return name


def add_costs(section, costs, figures):
    for program, cost in costs.items():
        if isinstance(cost, Cost):
            section.add(program, figures(program, cost))
        else:
            section.miss(program, cost)


def startup(duplex, _):
    section = Section(
        "Start-up",
        f"The shortest run: help or version. Processor time and memory: the least of {3 * runs} runs in turn.",
        [Column("million instructions", 1,
                "a program of Swift starts the Swift runtime, and the tool builds its table of commands; arecord is C "
                "and prints a constant. To win, help would have to be printed before that table is built, and the "
                "runtime would have to start in a tenth of its instructions."),
         Column("processor time, ms", 1, "as with the instructions."),
         Column("peak memory, MiB", 1,
                "the Swift runtime and the libraries of all sound formats are linked in. To win, they would have to be "
                "loaded as they are needed.")])
    commands = {"duplex": [duplex, "--help"], "arecord": ["arecord", "--version"], "sox": ["sox", "--version"],
                "ffmpeg": ["ffmpeg", "-version"], "mpv": ["mpv", "--version"], "jackd": ["jackd", "--version"]}
    costs = interleaved(commands, 3 * runs)
    counts = {program: instructions(words) for program, words in commands.items() if is_here(words[0])}
    add_costs(section, costs,
              lambda program, cost: [counts[program] and counts[program] / 1e6, 1e3 * cost.processor, cost.memory])
    return section


def player_commands(duplex, file, rate):
    return {
        "duplex": [duplex, "play", "--no-config", "-q", "-P", "null", "-r", str(rate), file],
        "aplay": ["aplay", "-q", "-D", "null", file],
        "sox": ["sox", "-q", file, "-r", str(rate), "-t", "alsa", "null"],
        "ffmpeg": ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", file, "-ar", str(rate), "-f", "alsa", "null"],
        "mpv": ["mpv", "--no-config", "--really-quiet", "--no-video", "--ao=alsa", "--audio-device=alsa/null",
                f"--audio-samplerate={rate}", file],
    }


def playing(duplex, _):
    wave = minutes_of_noise(5)
    files = {"WAV": wave, "FLAC": encoded(wave, ".flac", "flac", "--silent"),
             "MP3": encoded(wave, ".mp3", "lame", "--quiet", "-b", "128")}
    columns, figures = [], {}
    for rate, way in ((44100, ""), (48000, ", to 48 kHz")):
        # Decoding costs the same at any output rate: one format is enough to show the cost of
        # conversion.
        for kind, file in files.items() if not way else [("FLAC", files["FLAC"])]:
            columns.append(Column(
                f"{kind}{way}, s", 2,
                "duplex counts clipped frames, measures the true peak and hands samples from thread to thread "
                "in small blocks; the other does not. To win, it would have to measure nothing." if not way else
                "ffmpeg converts with a filter of 32 coefficients, and measures nothing. To win, one would have to "
                "convert as coarsely."))
            commands = player_commands(duplex, file, rate)
            # aplay plays WAV only, and does not convert rates.
            if kind != "WAV" or way:
                del commands["aplay"]
            for program, cost in interleaved(commands, runs).items():
                figures.setdefault(program, {})[columns[-1].heading] = cost
    columns.append(Column(
        "peak memory, MiB", 1,
        "the Swift runtime, and the libraries of all formats, are linked in. To win, they would have to be loaded as "
        "they are needed."))
    section = Section(
        "Playing",
        "Five minutes of stereo noise at 44.1 kHz, 16 bits, to ALSA's null: processor time, user and system, the "
        f"least of {runs} runs in turn, and the most memory of all of them. duplex measures the true peak meanwhile.",
        columns)
    for program, costs in figures.items():
        values = [costs.get(column.heading) for column in columns[:-1]]
        if not any(isinstance(cost, Cost) for cost in values):
            section.miss(program, next(cost for cost in values if cost))
            continue
        seconds = [cost.processor if isinstance(cost, Cost) else None for cost in values]
        section.add(program, seconds + [max(cost.memory for cost in values if isinstance(cost, Cost))])
    return section


def spectrogram(duplex, _):
    wave = minutes_of_noise(10)
    commands = {
        "duplex": [duplex, "inspect", "--no-config", "-q", "--overwrite", "--spectrogram", "duplex.png", wave],
        "sox": ["sox", wave, "-n", "spectrogram", "-o", "sox.png"],
        "ffmpeg": ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", wave, "-lavfi",
                   "showspectrumpic=s=1024x512", "ffmpeg.png"],
    }
    section = Section(
        "Spectrograms",
        "Ten minutes of stereo noise at 44.1 kHz. duplex measures levels, loudness and true peak in the same pass, "
        f"and draws 1600 x 680 pixels, sox 944 x 593, ffmpeg 1024 x 512. The least of {runs} runs in turn.",
        [Column("processor time, s", 2,
                "it measures loudness and true peak as well. To win, these would have to be left out."),
         Column("peak memory, MiB", 1,
                "Cairo and the Swift runtime are in it, and a larger picture. To win, it would have to draw without a "
                "library.")])
    add_costs(section, interleaved(commands, runs), lambda _, cost: [cost.processor, cost.memory])
    return section


def loudness(duplex, _):
    wave = minutes_of_noise(10)
    commands = {
        "duplex": [duplex, "inspect", "--no-config", "-q", wave],
        "ffmpeg": ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", wave, "-af", "ebur128=peak=true", "-f", "null",
                   "-"],
    }
    section = Section(
        "Loudness and true peak of a file",
        f"Ten minutes of stereo noise at 44.1 kHz, EBU R 128. The least of {runs} runs in turn.",
        [Column("processor time, s"), Column("peak memory, MiB", 1)])
    add_costs(section, interleaved(commands, runs), lambda _, cost: [cost.processor, cost.memory])
    return section


class Tables:
    """A section with tables that another program prints."""

    def __init__(self, heading, how, text):
        self.heading, self.how, self.text = heading, how, text

    def markdown(self):
        return f"## {self.heading}\n\n{self.how}\n\n{self.text.strip()}\n"


def conversion(_, benchmarks):
    # Less is better in each column: the level of everything except the sine in decibels, and the
    # time.
    answer = subprocess.run([benchmarks, "purity"], check=True, capture_output=True, text=True)
    return Tables("Conversion of rates that move",
                  "`Benchmarks purity`: a sine at -1 dBFS while the ratio wanders by 100 ppm, all in one run. Quick, "
                  "standard and fine are duplex's qualities; standard is what two clocks are held together with.",
                  answer.stdout)


def denoising(duplex, _):
    # Imported here because it needs numpy, which the other rows do not need.
    import voices
    return voices.denoising(duplex)


def dereverberation(duplex, _):
    import voices
    return voices.dereverberation(duplex)


rows = {"startup": startup, "playing": playing, "spectrogram": spectrogram, "loudness": loudness,
        "conversion": conversion, "denoising": denoising, "dereverberation": dereverberation}
