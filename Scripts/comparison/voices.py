"""Measures the residue beside a voice after denoising or dereverberation.

duplex, ffmpeg and RNNoise are measured in the same run.

The voices are those of espeak-ng in languages that were not used to tune duplex; noises and rooms
are synthesized here.
"""
import subprocess
import wave

import numpy
from table import Column, Section

rate = 48000
sentences = {
    "pl+f4": "Dzisiaj jest piękna pogoda. Jutro pojedziemy pociągiem do Krakowa. Dzieci bawią się w ogrodzie.",
    "it+m7": "Il gatto dorme sul divano. Domani andiamo al mare con gli amici. Il treno parte alle otto.",
    "es+m5": "El perro corre por el parque todos los días. Mañana vamos a la playa con los niños.",
    "en-us+f3": "The boy was there when the sun rose. A rod is used to catch pink salmon. Kick the ball straight.",
}
seconds = 12


def read(name):
    with wave.open(name) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


def write(name, samples):
    words = numpy.round(numpy.clip(samples, -1, 32767 / 32768) * 32768).astype("<i2")
    with wave.open(name, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(words.tobytes())


def voice(name):
    """Returns twelve seconds of the voice `name`; its speech has a level of -26 dBFS."""
    subprocess.run(["espeak-ng", "-v", name, "-w", "spoken.wav", sentences[name]], check=True)
    subprocess.run(["sox", "-R", "spoken.wav", "-r", str(rate), "-b", "16", "-c", "1", "voice.wav"], check=True)
    samples = numpy.resize(numpy.append(read("voice.wav"), numpy.zeros(rate // 3)), seconds * rate)
    power = numpy.convolve(samples**2, numpy.ones(960) / 960, "same")
    return samples * 0.05 / numpy.sqrt(numpy.mean(samples[power > 0.003 * power.max()] ** 2))


def noise(kind, seed):
    """Returns noise with a standard deviation of 1: `pink` falls by 3 dB an octave above 20 Hz."""
    count = seconds * rate
    spectrum = numpy.fft.rfft(numpy.random.default_rng(seed).standard_normal(count))
    if kind == "pink":
        spectrum /= numpy.sqrt(numpy.maximum(numpy.arange(len(spectrum)) / seconds, 20))
    samples = numpy.fft.irfft(spectrum, count)
    return samples / samples.std()


def room(seed):
    """Returns the impulse response of a room.

    It consists of the direct sound and, from 2 ms on, noise that decays by 60 dB in 0.6 s and has
    the same energy as the direct sound.
    """
    count = int(0.72 * rate)
    decay = numpy.random.default_rng(seed).standard_normal(count) * 10 ** (-3 * numpy.arange(count) / (0.6 * rate))
    decay[:rate // 500] = 0
    decay /= numpy.sqrt(numpy.sum(decay**2))
    decay[0] = 1
    return decay


def convolved(samples, response):
    size = 1 << (len(samples) + len(response)).bit_length()
    product = numpy.fft.rfft(samples, size) * numpy.fft.rfft(response, size)
    return numpy.fft.irfft(product, size)[:len(samples)]


def rest(samples, wanted, first=0):
    """Returns the level of everything except the wanted signal, in dB relative to it.

    Counts from frame `first` on. The gain does not matter (SI-SDR with opposite sign: Le Roux,
    Wisdom, Erdogan, Hershey, "SDR - half-baked or well done?", ICASSP 2019). The delay between the
    two is removed first.
    """
    size = 2 * len(wanted)
    match = numpy.fft.irfft(
        numpy.fft.rfft(samples, size) * numpy.conj(numpy.fft.rfft(wanted, size)), size)
    delay = int(numpy.argmax(match[:rate // 5]))
    samples, wanted = samples[delay + first:], wanted[first:]
    count = min(len(samples), len(wanted))
    samples, wanted = samples[:count], wanted[:count]
    signal = wanted * (samples @ wanted) / (wanted @ wanted)
    return 10 * numpy.log10(numpy.sum((samples - signal) ** 2) / numpy.sum(signal**2))


def recorded(duplex, samples, option):
    write("microphone.wav", samples)
    subprocess.run(
        [duplex, "record", "--no-config", "-q", "--levels", "off", "-D",
         "sim:clock=free,gain=-200,mic=microphone.wav", "-c", "1", "-f", "s16", "-d", str(seconds), option,
         "--overwrite", "recorded.wav"], check=True)
    return read("recorded.wav")


def filtered(samples):
    write("microphone.wav", samples)
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "microphone.wav", "-af", "afftdn=nr=24:nf=-40:tn=1",
                    "filtered.wav"], check=True)
    return read("filtered.wav")


def neural(samples):
    from pyrnnoise.rnnoise import create, process_mono_frame
    words = numpy.round(numpy.clip(samples, -1, 32767 / 32768) * 32768).astype(numpy.int16)
    state = create()
    blocks = [numpy.asarray(process_mono_frame(state, words[first:first + 480])[0]).ravel()
              for first in range(0, len(words) - 479, 480)]
    return numpy.concatenate(blocks) / 32768


def denoising(duplex):
    cases = [(kind, ratio) for kind in ("white", "pink") for ratio in (15, 5, 0)]
    section = Section(
        "Voices in steady noise",
        "What is left beside a voice, noise and what the voice lost, in dB of the voice, for noise that is 15, 5 and 0 dB "
        "below it: the mean of four voices of espeak-ng over 12 s, the first second included.",
        [Column(f"{kind}, {ratio} dB", 1,
                "a recurrent network that was trained with voices knows them better. To win, one would have to be trained.")
         for kind, ratio in cases])
    voices = [voice(name) for name in sentences]
    noises = {kind: [noise(kind, seed) for seed in range(len(voices))] for kind in ("white", "pink")}
    mixtures = [[(samples, samples + sound * samples.std() * 10 ** (-ratio / 20))
                 for samples, sound in zip(voices, noises[kind])] for kind, ratio in cases]
    programs = {"nothing": lambda samples: samples,
                "duplex --denoise": lambda samples: recorded(duplex, samples, "--denoise"),
                "ffmpeg afftdn": filtered, "RNNoise": neural}
    for program, clean in programs.items():
        try:
            section.add(program, [float(numpy.mean([rest(clean(noisy), samples) for samples, noisy in case]))
                                  for case in mixtures])
        except (ImportError, FileNotFoundError) as failure:
            section.miss(program, f"cannot be run here ({failure})")
    return section


def dereverberation(duplex):
    section = Section(
        "Voices in a room",
        "What is left beside a voice in a room whose sound decays by 60 dB in 0.6 s, in dB of the direct sound, and of "
        "the sound up to 50 ms after it, from 2 s on: the mean of four voices of espeak-ng in a room each.",
        [Column("direct sound", 1), Column("and 50 ms", 1)])
    figures = {"nothing": [], "duplex --dereverb": []}
    for seed, name in enumerate(sentences):
        samples, response = voice(name), room(seed)
        heard = convolved(samples, response)
        wanted = [convolved(samples, response[:count]) for count in (rate // 400, rate // 20)]
        for program, cleaned in (("nothing", heard), ("duplex --dereverb", recorded(duplex, heard, "--dereverb"))):
            figures[program].append([rest(cleaned, sound, 2 * rate) for sound in wanted])
    for program, values in figures.items():
        section.add(program, [float(figure) for figure in numpy.mean(values, axis=0)])
    return section
