"""Whether what a command printed with --json is as the schema of events says, and in the right order.

events.py FILE: prints what is wrong with it, a line each; nothing where all is well.
"""
import json
import os
import pathlib
import re
import sys
import unicodedata

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "Sources/duplex/Terminal/events.schema.json"


def validators():
    """A validator for each event and for the summary of each command, by its name in the schema."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return {
        name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
        for name in schema["$defs"] if name.startswith(("event", "summaryOf"))
    }


def members(value):
    """The name of each member within."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from members(inner)


def shows(character):
    """Whether a character may stand in an event as it is."""
    return character in "\u200c\u200d" or unicodedata.category(character) not in (
        "Cc", "Cf", "Zl", "Zp")


def decimals(text):
    whole, _, exponent = text.lower().partition("e")
    behind = len(whole.partition(".")[2])
    return behind - int(exponent or 0)


def capitalised(word):
    return word[:1].upper() + word[1:]


def check_event(event, known):
    kind = event["event"]
    name = "event" + capitalised(kind)
    if kind == "summary":
        name = "summaryOf" + capitalised(str(event.get("command")))
    if name not in known:
        yield f"the schema does not know the event {kind} {event.get('command', '')}"
        return
    for error in known[name].iter_errors(event):
        place = ".".join(str(part) for part in error.absolute_path)
        yield f"{kind} {event.get('command', '')} {place}: {error.message[:300]}"
    if kind != "summary":
        return
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
    known = validators()
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
        for name in members(event):
            if not re.fullmatch(r"[a-z][A-Za-z0-9]*", name):
                yield f"{name} is not lowerCamelCase"
        yield from check_event(event, known)
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
