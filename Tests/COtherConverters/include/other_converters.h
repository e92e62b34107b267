// Converters of other projects, to be compared with: found at run time, so that nothing of them is
// needed to build.
#ifndef OTHER_CONVERTERS_H
#define OTHER_CONVERTERS_H

typedef struct other_converter other_converter;

// libsamplerate's converter number `kind`, or speexdsp's at `quality`; NULL where the library is
// not there. speexdsp goes at `input_rate` to `output_rate` for ever.
other_converter *other_converter_samplerate(int kind, int channels);
other_converter *other_converter_speex(
    int quality, int channels, unsigned input_rate, unsigned output_rate);
// libsoxr's, by the number of a recipe: 4 is HQ, 6 VHQ.
other_converter *other_converter_soxr(
    int recipe, int channels, unsigned input_rate, unsigned output_rate);

// ffmpeg's libswresample as it is without options; one or two channels.
other_converter *other_converter_swresample(
    int channels, unsigned input_rate, unsigned output_rate);

void other_converter_close(other_converter *converter);

// Converts up to `frames` frames into up to `room` frames. Of libsamplerate the ratio moves to
// `output_per_input` meanwhile. Returns how many frames came out, less than 0 on failure, and in
// `used` how many went in.
long other_converter_convert(
    other_converter *converter, const float *input, long frames, long *used, float *output,
    long room, double output_per_input);

#endif
