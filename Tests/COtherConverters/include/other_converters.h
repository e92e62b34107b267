// Converters of other projects, for comparison. Their libraries are loaded at run time, so that
// none of them is needed to build.
#ifndef OTHER_CONVERTERS_H
#define OTHER_CONVERTERS_H

typedef struct other_converter other_converter;

// Opens libsamplerate's converter number `kind`, or speexdsp's resampler at `quality`; NULL if the
// library is not installed. speexdsp always converts from `input_rate` to `output_rate`.
other_converter *other_converter_samplerate(int kind, int channels);
other_converter *other_converter_speex(
    int quality, int channels, unsigned input_rate, unsigned output_rate);
// Opens libsoxr's converter by recipe number: 4 is HQ, 6 is VHQ.
other_converter *other_converter_soxr(
    int recipe, int channels, unsigned input_rate, unsigned output_rate);

// Opens ffmpeg's libswresample with default options, for one or two channels.
other_converter *other_converter_swresample(
    int channels, unsigned input_rate, unsigned output_rate);

void other_converter_close(other_converter *converter);

// Converts up to `frames` frames into up to `room` frames. With libsamplerate the ratio changes to
// `output_per_input` during the call. Returns the number of output frames, negative on failure, and
// stores the number of input frames used in `used`.
long other_converter_convert(
    other_converter *converter, const float *input, long frames, long *used, float *output,
    long room, double output_per_input);

#endif
