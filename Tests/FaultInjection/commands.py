"""The commands that run with a fault, the files that they start with, and those that they write."""

import os
import shutil
import subprocess

SECONDS = 2
FRAMES = SECONDS * 48000
NOISE = "sim:clock=free,noise=-20"
WIRE = "sim:clock=free,noise=-60"


class Command:
    """A run of the tool in a separate folder."""

    def __init__(self, arguments, target="", inputs=(), old=(), frames=FRAMES, extra=(), parts=False):
        self.arguments = arguments.split()
        # The sound file that it writes; with `parts`, a pattern of files whose lengths are added.
        self.target = target
        # The prepared files that it reads. They are copied into its folder and must not change.
        self.inputs = inputs
        # Existing files that it may replace only by better ones: (name, prepared file).
        self.old = old
        # The frames of the target after a run without a fault.
        self.frames = frames
        # Other files that it may write.
        self.extra = extra
        self.parts = parts


def record(extension, more=""):
    name = "take." + extension
    return Command(f"record -D {NOISE} -d {SECONDS} --json {more} {name}", name)


COMMANDS = {
    **{"record-" + kind: record(kind) for kind in
       "wav rf64 w64 aiff caf flac ogg opus mp3 raw".split()},
    # Long enough to allocate memory while it runs.
    **{name: Command(f"record -D {NOISE} -d 20 --json take.{kind}", "take." + kind, frames=960000)
       for name, kind in (("long", "wav"), ("long-flac", "flac"))},
    "split": Command(f"record -D {NOISE} -d {SECONDS} --split 0.5 --json take.wav", "take-*.wav",
                     parts=True),
    "split-flac": Command(f"record -D {NOISE} -d {SECONDS} --split 0.5 --json take.flac",
                          "take-*.flac", parts=True),
    "split-opus": Command(f"record -D {NOISE} -d {SECONDS} --split 0.5 --json take.opus",
                          "take-*.opus", parts=True),
    "with-raw": Command(
        f"record -D {NOISE} -d {SECONDS} --high-pass 80 --raw before.wav --json take.wav",
        "take.wav", extra=("before.wav",)),
    **{"overwrite-" + kind: Command(
        f"record -D {NOISE} -d {SECONDS} --overwrite --json take.{kind}", "take*." + kind,
        old=(("take." + kind, "song." + kind),)) for kind in "wav flac ogg opus aiff".split()},
    # Ends before an encoder has written a readable part.
    **{"brief-" + kind: Command(
        f"record -D {NOISE} -d 0.1 --overwrite --json take.{kind}", "take*." + kind, frames=4800,
        old=(("take." + kind, "song." + kind),)) for kind in "flac opus".split()},
    "monitor": Command(
        f"monitor -D {WIRE} --mix song.wav --record take.wav -d {SECONDS} --json", "take.wav",
        inputs=("song.wav",)),
    "monitor-flac": Command(
        f"monitor -D {WIRE} --mix song.flac --record take.flac -d {SECONDS} --json", "take.flac",
        inputs=("song.flac",)),
    "overdub": Command(
        f"overdub -D {WIRE} --latency 0 --json song.wav take.wav", "take.wav",
        inputs=("song.wav",)),
    "overdub-mix": Command(
        f"overdub -D {WIRE} --latency 0 --mix both.wav --json song.wav take.wav", "take.wav",
        inputs=("song.wav",), extra=("both.wav",)),
    **{"region-" + kind: Command(
        f"overdub -D {WIRE} --latency 0 --from 0.5 --to 1 --json song.wav take.{kind}",
        "take." + kind, inputs=("song.wav",), old=(("take." + kind, "song." + kind),),
        extra=("take*region*",)) for kind in "wav flac".split()},
    "region-new": Command(
        f"overdub -D {WIRE} --latency 0 --from 0.5 --to 1 --json song.wav take.wav", "take.wav",
        inputs=("song.wav",), extra=("take*region*",), frames=48000),
    **{"repair-" + kind: Command(
        f"repair --json torn.{kind}", f"torn-repaired.{kind}", inputs=("torn." + kind,),
        frames=None) for kind in "wav flac ogg".split()},
    **{"mend-" + kind: Command(
        f"repair --in-place --json torn.{kind}", "torn." + kind, frames=None,
        old=(("torn." + kind, "torn." + kind),)) for kind in "wav flac ogg".split()},
    "repair-over": Command(
        "repair --overwrite -o mended.wav --json torn.wav", "mended.wav", inputs=("torn.wav",),
        old=(("mended.wav", "song.wav"),), frames=None),
    **{"play-" + kind: Command(
        f"play -D sim:clock=free --json song.{kind}", inputs=("song." + kind,))
       for kind in "wav flac ogg opus mp3".split()},
    "play-two": Command(
        "play -D sim:clock=free --json song.wav song.flac", inputs=("song.wav", "song.flac"),
        frames=2 * FRAMES),
    "latency": Command(
        "latency -D sim:clock=free,delay=100,noise=-60 --repeat 1 --save --report trip.svg --json",
        extra=("trip.svg",), frames=None),
    "tune": Command(
        "tune -D sim:clock=free --seconds 0.1 --save --report tuned.html --json",
        extra=("tuned.html",), frames=None),
    "picture": Command("inspect --waveform wave.svg --json song.wav", inputs=("song.wav",),
                       extra=("wave.svg",), frames=None),
    # In real time, each half of a session has a thread.
    "threads-record": Command(
        "record -D sim:noise=-20 -d 0.2 --json take.wav", "take.wav", frames=9600),
    "threads-monitor": Command(
        "monitor -D sim:noise=-60 --record take.wav -d 0.2 --json", "take.wav", frames=9600),
    # ALSA's own plugins, which have no clock.
    "alsa-record": Command(
        f"record -D infile -r 48000 -c 2 -f S16_LE -d {SECONDS} --json take.wav", "take.wav",
        inputs=("in.raw",)),
    "alsa-plug": Command(
        f"record -D plugged -r 48000 -c 2 -d {SECONDS} --json take.wav", "take.wav",
        inputs=("in.raw",)),
    "alsa-leave": Command(
        f"record -D infile -r 48000 -c 2 -f S16_LE -d {SECONDS} --no-reconnect --json take.wav",
        "take.wav", inputs=("in.raw",)),
    "alsa-play": Command(
        "play -P outfile -r 48000 -c 2 -f S16_LE --json song.wav",
        inputs=("song.wav",), extra=("out.raw",)),
    "alsa-monitor": Command(
        f"monitor -C infile -P outfile -r 48000 -c 2 -f S16_LE -d {SECONDS} --no-reconnect"
        " --record take.wav --json", "take.wav", inputs=("in.raw",), extra=("out.raw",)),
    "alsa-duplex": Command(
        f"monitor -D plain -r 48000 -c 2 -f S16_LE -d {SECONDS} --no-reconnect --record take.wav"
        " --json", "take.wav"),
    "alsa-overdub": Command(
        "overdub -D plain -r 48000 -c 2 -f S16_LE --latency 0 --json song.wav"
        " take.wav", "take.wav", inputs=("song.wav",)),
    "alsa-devices": Command("devices --json", frames=None),
}

CONFIGURATION = """\
</usr/share/alsa/alsa.conf>
pcm.infile { type file slave.pcm null infile "in.raw" file "/dev/null" format "raw" }
pcm.outfile { type file slave.pcm null file "out.raw" format "raw" truncate true }
pcm.plain { type null }
pcm.plugged { type plug slave { pcm infile format S16_LE } }
"""


def make_stock(folder, tool):
    """Makes the files that commands start with."""
    def call(*words):
        subprocess.run(words, check=True, capture_output=True)

    def path(name):
        return os.path.join(folder, name)

    for kind in "wav flac ogg opus mp3 aiff".split():
        call(tool, "record", "-q", "-D", NOISE, "-d", str(SECONDS), "--sample-format", "s16",
             path("song." + kind)) if kind in ("wav", "flac", "aiff") else call(
                 tool, "record", "-q", "-D", NOISE, "-d", str(SECONDS), path("song." + kind))
    for kind in "wav flac ogg".split():
        shutil.copy(path("song." + kind), path("torn." + kind))
        size = os.path.getsize(path("torn." + kind))
        os.truncate(path("torn." + kind), size * 2 // 3 + 1)
    call("sox", path("song.wav"), "-t", "raw", "-e", "signed", "-b", "16", path("in.raw"),
         "repeat", "3")
    with open(path("asound.conf"), "w") as file:
        file.write(CONFIGURATION)
