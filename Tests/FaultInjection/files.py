"""Whether a sound file can be read to its end by other programs, and how long it is."""

import os
import re
import subprocess

# Formats whose encoders add frames at the start, or write some frames late.
LOSSY = {"ogg", "opus", "mp3"}
# Samples without a header: two channels of 32 bits, as the simulated device delivers them.
RAW_FRAME_BYTES = 8


def frames_of(path, is_torn=False):
    """Returns the number of frames in the file, and the error in it or an empty string. With
    `is_torn`, its writer was interrupted, and it may hold more frames than its header states."""
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
            return there, f"its header states {frames} frames, and it holds {there}"
    return frames, ""


def decoded(path):
    """Returns the number of frames that ffmpeg decodes, and its error message, if any."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "2", "-"], capture_output=True)
    words = done.stderr.decode(errors="replace").strip()
    return len(done.stdout) // 4, words if done.returncode != 0 or words else ""
