extension ManualTexts {
  /// The examples in the pages of the tool and of the commands. A test parses each of them.
  static let examples = [
    "duplex": [
      Example("See the sound cards, and what to type after -D", "duplex devices"),
      Example("Record a note until Ctrl-C or q, and play it", "duplex record", "duplex play"),
      Example("Hear the microphone at low latency; wear headphones", "duplex monitor -p 64"),
      Example(
        "Measure the round trip over a cable once, then record a take that lines up with a song",
        "duplex latency --save", "duplex overdub song.wav take.wav"),
      Example(
        "Try it without a sound card: what is played comes back at the microphone",
        "duplex record -D sim -d 3 try.wav"),
    ],
    "record": [
      Example("Record a note in the current folder until Ctrl-C or q", "duplex record"),
      Example(
        "Record ten minutes of a USB microphone to FLAC", "duplex record -D usb -d 10m talk.flac"),
      Example(
        "Record an interview with two microphones, one on each channel, after a check of the level",
        "duplex record -c 2 --auto-gain-check 10s interview.wav"),
      Example(
        "Record inputs 3 and 4 of an interface at 96 kHz",
        "duplex record -D scarlett --capture-channels 3,4 -r 96k pair.wav"),
      Example(
        "Record day and night: a file every hour by its time, the last 24 hours kept",
        "duplex record -D usb --split 1h --keep 24h '%Y%m%d-%H%M%S.flac'"),
      Example(
        "Record only what is said, a file for each phrase, with the half second before it",
        "duplex record --voice-activated --pre-roll 0.5 --split silence a.flac"),
      Example(
        "Keep the last 30 seconds, and begin with them when space is pressed",
        "duplex record --pre-roll 30 idea.wav"),
      Example(
        "Write raw samples to another program", "duplex record -q -f cd - | lame -r - talk.mp3"),
    ],
    "monitor": [
      Example("Hear the microphone, 2.7 ms later at 48 kHz", "duplex monitor -D hw:1,0 -p 64"),
      Example(
        "Sing to a song, and record both",
        "duplex monitor --mix song.flac --record take.wav --record-what mix"),
      Example(
        "A USB microphone on the built-in headphones: two clocks, held together",
        "duplex monitor -C usb -P hw:0,0"),
      Example(
        "The same on headphones and on speakers", "duplex monitor -D hw:1,0 --also-play hw:0,0"),
    ],
    "play": [
      Example("Play the last note of this folder", "duplex play"),
      Example(
        "Play files and an address one after the other, without a gap",
        "duplex play one.wav two.flac https://example.org/three.mp3"),
      Example(
        "Practise: a passage over and over, slower",
        "duplex play --region 1:10,1:14 --loop forever --speed 0.75 solo.flac"),
      Example(
        "Compare two mixes in step; tab changes from one to the other",
        "duplex play --compare old.wav new.wav"),
      Example("Play a folder in random order", "duplex play --shuffle ~/Music"),
      Example(
        "Play samples without a header from standard input",
        "sox song.wav -t raw - | duplex play --raw S16_LE,44100,2 -"),
    ],
    "overdub": [
      Example(
        "Measure once over a cable, then record takes that line up to the frame",
        "duplex latency --save", "duplex overdub song.wav take.wav"),
      Example(
        "Count in four beats, and record three takes",
        "duplex overdub --count-in 4 --tempo 96 --takes 3 song.wav take.wav"),
      Example(
        "Record a region of a take again, and leave the rest as it is",
        "duplex overdub --from 1:02 --to 1:09.5 song.wav take.wav"),
      Example(
        "Remove a known round trip, and write the mix as well",
        "duplex overdub --latency 612f --mix mix.wav song.wav take.wav"),
    ],
    "latency": [
      Example("Measure over a cable, and keep the result for overdubs", "duplex latency --save"),
      Example("Measure through the air", "duplex latency --acoustic --level -6"),
      Example(
        "Ten measurements at each of five openings, and a report",
        "duplex latency --repeat 10 --reopen 5 --report latency.html"),
      Example(
        "Find the delay in a recording that was made elsewhere",
        "duplex latency --listen recorded.wav --reference played.wav"),
    ],
    "tune": [
      Example(
        "Find the lowest setting on a busy machine, and use it from now on",
        "duplex tune --load --save"),
      Example(
        "Be careful: long trials, half of each period unused",
        "duplex tune -D hw:1,0 --seconds 2m --margin 50"),
    ],
    "repair": [
      Example(
        "Repair what a power cut left; the copy is torn-repaired.wav", "duplex repair torn.wav"),
      Example("Repair the files themselves", "duplex repair --in-place torn-1.wav torn-2.wav"),
      Example(
        "Give a header to a WAV file whose header became zeros",
        "duplex repair -r 48000 -c 2 --sample-format s24 zeroed.wav"),
    ],
    "inspect": [
      Example("Length, format, tags, peaks, loudness, silence and gaps", "duplex inspect take.wav"),
      Example("A line for each sound file of a folder", "duplex inspect notes/"),
      Example(
        "Draw waveform and spectrogram",
        "duplex inspect song.flac --waveform song.png --spectrogram song.svg"),
      Example(
        "The loudness for a script",
        "duplex inspect --json take.wav | grep -o 'integratedLUFS\":[-0-9.]*'"),
    ],
    "devices": [
      Example("The devices, and what to type after -D", "duplex devices"),
      Example("Channels, rates, formats, buffers and mixer of each", "duplex devices -v"),
      Example("Follow plugging and unplugging", "duplex devices --watch"),
    ],
    "doctor": [
      Example("What stands between this machine and low latency", "duplex doctor"),
      Example("How late threads are woken up beside a busy machine", "duplex doctor --load"),
    ],
  ]
}
