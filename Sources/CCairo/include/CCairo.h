// The calls of Cairo that pictures need, from a library that is loaded with the first picture: who
// records or plays never pays for it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ccairo_canvas;

/// Loads the library; false where it is missing, or not the one known here.
bool ccairo_load(void);

/// A picture of that size, as SVG or else as PNG; null where memory is short.
struct ccairo_canvas *ccairo_open(bool is_svg, double width, double height);

/// Closes it, and frees its bytes.
void ccairo_close(struct ccairo_canvas *canvas);

void ccairo_set_colour(struct ccairo_canvas *canvas, double red, double green, double blue);
void ccairo_fill_rectangle(struct ccairo_canvas *canvas, double x, double y, double width, double height);
void ccairo_stroke(struct ccairo_canvas *canvas, double x, double y, double to_x, double to_y, double width);
/// Fills the shape of `count` corners, whose coordinates are in pairs.
void ccairo_fill_shape(struct ccairo_canvas *canvas, const double *corners, long count);
/// One line of text on the baseline through (x, y): `alignment` of it lies left of that. Turned to the
/// left by a quarter where it `is_upright`.
void ccairo_write(struct ccairo_canvas *canvas, const char *text, double x, double y, double size,
                  double alignment, bool is_upright);
/// An image of 32-bit pixels, row by row from the top, `0xRRGGBB` each, stretched over the rectangle.
void ccairo_draw_image(struct ccairo_canvas *canvas, const unsigned *pixels, int columns, int rows, double x,
                       double y, double width, double height);

/// Ends the picture. Its bytes live as long as the canvas; null where something failed.
const unsigned char *ccairo_finish(struct ccairo_canvas *canvas, size_t *count);
