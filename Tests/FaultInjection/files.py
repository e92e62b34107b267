"""Whether a sound file can be read to its end by other programs, and how long it is."""

import os
import re
import subprocess

# Formats whose encoders put frames in front of the sound, or hold some back.
LOSSY = {"ogg", "opus", "mp3"}
# Bare samples: two channels of 32 bits, as the simulated device delivers them.
RAW_FRAME_BYTES = 8


def frames_of(path, is_torn=False):
    """Frames in the file, and what is wrong with it. One that `is_torn`, whose writer came to a sudden
    end, may hold a little more than its head tells of."""
    extension = path.rpartition(".")[2]
    size = os.path.getsize(path)
    if extension == "raw":
        rest = size % RAW_FRAME_BYTES
        return size // RAW_FRAME_BYTES, f"{rest} bytes too many" if rest else ""
    if extension == "mp3":
        return decoded(path)
    done = subprocess.run(["sndfile-info", path], capture_output=True, text=True, errors="replace")
    words = done.stdout + done.stderr
    found = re.search(r"(?m)^Frames\s*:\s*(\d+)", words)
    if done.returncode != 0 or not found or "rror" in words.replace("Error : no error", ""):
        return 0, " ".join(words.split())[-200:]
    frames = int(found[1])
    if extension in ("flac", "ogg", "opus"):
        there, complaint = decoded(path)
        if complaint:
            return 0, complaint
        if extension == "flac" and there != frames and not (is_torn and there > frames):
            return there, f"its head tells {frames} frames, and {there} are there"
    return frames, ""


def decoded(path):
    """Frames that ffmpeg finds, and what it says."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "2", "-"], capture_output=True)
    words = done.stderr.decode(errors="replace").strip()
    return len(done.stdout) // 4, words if done.returncode != 0 or words else ""
