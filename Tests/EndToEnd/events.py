"""Checks that the --json output of a command conforms to the schema of events and has the right
order, and evaluates expressions of it.

events.py FILE '': prints one line for each error; nothing if there is none.
events.py FILE EXPRESSION: prints a Python expression of the summary s and the events e.
events.py PIPE PROCESS ANSWERS: answers such questions until the process ends. A question is the
path of a pipe for the answer, the current folder, FILE and EXPRESSION, each with a NUL at its end;
an answer is = and what would be printed, or ! and an error, with a NUL at its end. An empty answer
to the pipe ANSWERS says that questions are read now.
"""
import json
import os
import pathlib
import re
import select
import sys
import unicodedata

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "Sources/duplex/Terminal/events.schema.json"


TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool,
         "null": type(None)}
# The keywords that the schema uses: any other keyword stops the check.
KEYWORDS = {"$ref", "additionalProperties", "allOf", "anyOf", "const", "description", "enum", "items", "maxItems",
            "maximum", "minItems", "minLength", "minimum", "pattern", "properties", "required", "type",
            "unevaluatedProperties"}


def definitions():
    return json.loads(SCHEMA.read_text())["$defs"]


def is_of(kind, value):
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind]) or kind == "integer" and isinstance(value, float) and value.is_integer()


def judge(value, schema, defs, place=""):
    """Returns the errors in a value, and the names of its members that the schema covers.

    It implements the part of JSON Schema that the schema of events uses: a complete library takes
    longer to load than most checks take. Tests/EndToEnd/event-schema compares the two.
    """
    if schema is True or schema is False:
        return ([] if schema else [f"{place} must not be there"]), set()
    unknown = schema.keys() - KEYWORDS
    assert not unknown, f"events.py does not know {unknown}"
    wrong, seen = [], set()

    def within(inner, its_schema, name):
        found, _ = judge(inner, its_schema, defs, f"{place}.{name}" if place else str(name))
        wrong.extend(found)

    if "$ref" in schema:
        found, known = judge(value, defs[schema["$ref"].rpartition("/")[2]], defs, place)
        wrong += found
        seen |= known
    for part in schema.get("allOf", []):
        found, known = judge(value, part, defs, place)
        wrong += found
        seen |= known
    if "anyOf" in schema:
        verdicts = [judge(value, part, defs, place) for part in schema["anyOf"]]
        fitting = [known for found, known in verdicts if not found]
        if not fitting:
            wrong.append(f"{place}: {value!r} is none of what it may be: {verdicts[0][0]}")
        seen |= set().union(*fitting)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_of(kind, value) for kind in kinds):
        wrong.append(f"{place}: {value!r} is not of type {kinds}")
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None and value not in choices:
        wrong.append(f"{place}: {value!r} is not one of {choices}")
    if isinstance(value, dict):
        wrong += [f"{place}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                seen.add(name)
                within(value[name], inner, name)
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in schema:
                evaluated = seen if keyword[0] == "u" else schema.get("properties", {}).keys()
                for name in value.keys() - evaluated:
                    within(value[name], schema[keyword], name)
                seen |= value.keys()
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            wrong.append(f"{place} has {len(value)} items")
        if "items" in schema:
            for number, inner in enumerate(value):
                within(inner, schema["items"], number)
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            wrong.append(f"{place} is shorter than {schema['minLength']}")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            wrong.append(f"{place}: {value!r} is not of the form {schema['pattern']}")
    if is_of("number", value):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            wrong.append(f"{place}: {value} is out of range")
    return wrong, seen


def members(value):
    """Yields the name of each member within a value."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from members(inner)


def shows(character):
    """Returns whether a character may appear unescaped in an event."""
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
    for error in judge(event, known[name], known)[0]:
        yield f"{kind} {event.get('command', '')} {error[:300]}"
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
    known = definitions()
    events = []
    for line in text.split("\n")[:-1]:
        # A printable text is made of characters that may appear.
        hidden = [] if line.isprintable() else [character for character in line if not shows(character)]
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


def answer(path, expression):
    """Returns what the question asks for, without the last line break."""
    if not expression:
        with open(path, "rb") as file:
            return "\n".join(list(dict.fromkeys(check(file.read())))[:10])
    with open(path, encoding="utf-8") as file:
        e = [json.loads(line) for line in file]
    s = next((x for x in e if x["event"] == "summary"), {})
    return str(eval(f"({expression})", {"e": e, "s": s, "json": json, "sys": sys}))


def send(said, pipe):
    """Writes an answer, if somebody reads it: not if the suite was stopped."""
    try:
        words = os.fsencode(said)
    except UnicodeError:
        words = said.encode(errors="backslashreplace")
    try:
        channel = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(channel, True)
        with open(channel, "wb") as file:
            file.write(words.replace(b"\0", b"\\0") + b"\0")
    except OSError:
        pass


def answer_all(pipe, process, answers):
    """Answers the questions in a pipe. The suite's other pipes must not be kept open."""
    os.closerange(3, 256)
    questions = os.open(pipe, os.O_RDWR)
    send("", answers)
    rest = b""
    while os.path.exists(f"/proc/{process}"):
        if not select.select([questions], [], [], 5)[0]:
            continue
        rest += os.read(questions, 1 << 16)
        while rest.count(b"\0") >= 4:
            *question, rest = rest.split(b"\0", 4)
            place, folder, path, expression = (os.fsdecode(word) for word in question)
            try:
                os.chdir(folder)
                send("=" + answer(path, expression), place)
            except Exception as error:
                send(f"!{type(error).__name__}: {error}", place)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        answer_all(*sys.argv[1:])
    else:
        print(answer(*sys.argv[1:]))
