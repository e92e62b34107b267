// The functions of Cairo that drawing needs. The library is loaded for the first picture, so
// recording and playback do not load it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ccairo_canvas;

/// Loads the library; returns false if it is missing or lacks one of the functions.
bool ccairo_load(void);

/// Creates a picture of the given size, as SVG or PNG; returns NULL if memory is short.
struct ccairo_canvas *ccairo_open(bool is_svg, double width, double height);

/// Destroys the picture and frees its bytes.
void ccairo_close(struct ccairo_canvas *canvas);

void ccairo_set_colour(struct ccairo_canvas *canvas, double red, double green, double blue);
void ccairo_fill_rectangle(struct ccairo_canvas *canvas, double x, double y, double width, double height);
void ccairo_stroke(struct ccairo_canvas *canvas, double x, double y, double to_x, double to_y, double width);
/// Fills a polygon of `count` corners, whose coordinates are in pairs.
void ccairo_fill_shape(struct ccairo_canvas *canvas, const double *corners, long count);
/// Writes one line of text with its baseline at (x, y). The fraction `alignment` of its width is
/// left of this point. The text is rotated by 90 degrees counterclockwise if it `is_upright`.
void ccairo_write(struct ccairo_canvas *canvas, const char *text, double x, double y, double size,
                  double alignment, bool is_upright);
/// Draws an image of 32-bit pixels, row by row from the top, `0xRRGGBB` each, scaled to the
/// rectangle.
void ccairo_draw_image(struct ccairo_canvas *canvas, const unsigned *pixels, int columns, int rows, double x,
                       double y, double width, double height);

/// Finishes the picture and returns its bytes, which are valid as long as the canvas; NULL on
/// failure.
const unsigned char *ccairo_finish(struct ccairo_canvas *canvas, size_t *count);
