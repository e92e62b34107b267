"""Whether what a command printed with --json is as the events are documented.

events.py FILE: prints what is wrong with it, a line each; nothing where all is well.
"""
import json
import os
import re
import sys
import unicodedata

FIELDS = {
    "started": "captureDevice playbackDevice sampleRate captureChannels playbackChannels"
    " captureFormat playbackFormat periodFrames periods headroomFrames realtimePriority linked"
    " resampling",
    "meter": "seconds peakDBFS rmsDBFS xruns lostFrames",
    "xrun": "direction frame frames",
    "track": "index source state",
    "device": "state device frame",
    "pause": "state frame timelineFrame frames",
    "progress": "done what",
    "warning": "code message hint",
    "notice": "code message hint",
    "inspect": "path format frames seconds sampleRate channels tags peakDBFS truePeakDBTP integratedLUFS"
    " clippedSamples dcOffset silence gaps pictures",
    "finding": "weight code message hint",
    "error": "code message hint",
    "summary": "command",
}
SESSION = "seconds frames sampleRate xruns lostFrames gaps load stoppedBy"
SUMMARIES = {
    "record": SESSION + " paths fileFormat sampleFormat channels peakDBFS integratedLUFS",
    "monitor": SESSION + " periodFrames headroomFrames latencyFrames",
    "play": SESSION + " tracks starvedFrames",
    "overdub": SESSION + " alignmentFrames paths",
    "latency": SESSION + " roundTripFrames roundTripMilliseconds standardDeviationFrames"
    " measurements rejected signalToNoiseDB polarity bufferFrames externalFrames paths",
    "tune": SESSION + " periodFrames headroomFrames roundTripFrames trials paths",
    "repair": "frames seconds paths files",
    "devices": "cards pcms",
    "inspect": "frames seconds files paths",
    "doctor": "seconds checks problems warnings notices wakeUps",
}
STATES = (
    "decodingStarted decodingComplete decodingCanceled renderingWillStart renderingStarted"
    " renderingComplete endOfAudio failed refused waiting resumed titled"
).split()
TIME = re.compile(r"\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d")


def members(value, name=""):
    """Every value within, under its name."""
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from members(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, name)


def shows(character):
    """Whether a character may stand in an event as it is."""
    return character in "\u200c\u200d" or unicodedata.category(character) not in (
        "Cc", "Cf", "Zl", "Zp")


def missing(event, names):
    gone = [name for name in names.split() if name not in event]
    return [f"{event['event']} lacks {' '.join(gone)}"] if gone else []


def decimals(text):
    whole, _, exponent = text.lower().partition("e")
    behind = len(whole.partition(".")[2])
    return behind - int(exponent or 0)


def check_member(name, value):
    if name and not re.fullmatch(r"[a-z][A-Za-z0-9]*", name):
        yield f"{name} is not lowerCamelCase"
    if name == "xruns" and not (
        isinstance(value, dict) and set(value) == {"capture", "playback"}
        and all(isinstance(count, int) for count in value.values())
    ):
        yield f"xruns is {value}"
    if name == "start" and not TIME.fullmatch(str(value)):
        yield f"start is {value}, which is no time of RFC 3339"


def check_event(event):
    kind = event["event"]
    yield from missing(event, FIELDS.get(kind, ""))
    if kind == "track" and event.get("state") not in STATES:
        yield f"the state of a track is {event.get('state')}"
    if kind == "progress" and not 0 <= event.get("done", -1) <= 1:
        yield f"done is {event.get('done')}"
    if kind in ("error", "warning") and not (event.get("code") and event.get("message")):
        yield f"{kind} says nothing"
    if kind != "summary":
        return
    yield from missing(event, SUMMARIES.get(event.get("command"), "nothing"))
    paths = event.get("paths", [])
    for path in paths + [event[name] for name in ("path", "rawPath", "mixPath") if event.get(name)]:
        if not os.path.exists(path) and "files" not in event:
            yield f"the summary names {path}, which is not there"
    if event.get("command") == "record" and len(paths) == 1 and event.get("path") != paths[0]:
        yield "the summary has one path, and path is another"


def check(data):
    text = data.decode("utf-8")  # strictly
    if text and not text.endswith("\n"):
        yield "the last line has no end"
    events = []
    for line in text.split("\n")[:-1]:
        hidden = [character for character in line if not shows(character)]
        if hidden:
            yield f"{hidden} stands in a line as it is"
        long = []
        event = json.loads(
            line, parse_float=lambda text: (long.append(text) if decimals(text) > 6 else None)
            or float(text))
        if not isinstance(event, dict) or next(iter(event), None) != "event":
            yield f"no event: {line[:80]}"
            continue
        if long:
            yield f"{event['event']} has more than six decimals: {long}"
        for name, value in members(event):
            yield from check_member(name, value)
        yield from check_event(event)
        events.append(event)
    kinds = [event["event"] for event in events]
    if not kinds:
        yield "there is no event"
    elif kinds[-1] not in ("summary", "error"):
        yield f"the last event is {kinds[-1]}"
    elif "started" in kinds and kinds[-1] != "summary":
        yield "what was started has no summary"
    if kinds.count("summary") > 1:
        yield "there is more than one summary"


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        for complaint in list(dict.fromkeys(check(file.read())))[:10]:
            print(complaint)
