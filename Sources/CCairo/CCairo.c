#include "CCairo.h"

#include <CLibraryLoading.h>
#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(each)                                                                        \
  each(create) each(destroy) each(status) each(set_source_rgb) each(rectangle) each(fill)  \
  each(move_to) each(line_to) each(close_path) each(stroke) each(set_line_width)           \
  each(select_font_face) each(set_font_size) each(text_extents) each(show_text) each(save) \
  each(restore) each(translate) each(rotate) each(scale) each(set_source_surface)          \
  each(get_source) each(pattern_set_filter) each(paint) each(image_surface_create)         \
  each(image_surface_create_for_data) each(svg_surface_create_for_stream)                  \
  each(surface_destroy) each(surface_finish) each(surface_status) each(surface_write_to_png_stream)

#define DECLARE(name) __typeof__(&cairo_##name) name;
static struct {
  CALLS(DECLARE)
} lib;

struct ccairo_canvas {
  cairo_surface_t *surface;
  cairo_t *context;
  unsigned char *bytes;
  size_t count, room;
  bool is_svg;
};

bool ccairo_load(void) {
  static bool is_loaded;
  if (is_loaded) return true;
  const char *const names[] = {"libcairo.so.2", NULL};
#define FUNCTION(name) {"cairo_" #name, &lib.name},
  const struct library_function functions[] = {CALLS(FUNCTION) {NULL, NULL}};
  is_loaded = library_load(names, functions);
  return is_loaded;
}

static cairo_status_t keep(void *closure, const unsigned char *bytes, unsigned count) {
  struct ccairo_canvas *canvas = closure;
  if (canvas->count + count > canvas->room) {
    size_t room = 2 * (canvas->count + count);
    unsigned char *grown = realloc(canvas->bytes, room);
    if (!grown) return CAIRO_STATUS_NO_MEMORY;
    canvas->bytes = grown;
    canvas->room = room;
  }
  memcpy(canvas->bytes + canvas->count, bytes, count);
  canvas->count += count;
  return CAIRO_STATUS_SUCCESS;
}

struct ccairo_canvas *ccairo_open(bool is_svg, double width, double height) {
  struct ccairo_canvas *canvas = calloc(1, sizeof *canvas);
  if (!canvas) return NULL;
  canvas->is_svg = is_svg;
  canvas->surface = is_svg ? lib.svg_surface_create_for_stream(keep, canvas, width, height)
                           : lib.image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  canvas->context = lib.create(canvas->surface);
  lib.select_font_face(canvas->context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  return canvas;
}

void ccairo_close(struct ccairo_canvas *canvas) {
  lib.destroy(canvas->context);
  lib.surface_destroy(canvas->surface);
  free(canvas->bytes);
  free(canvas);
}

void ccairo_set_colour(struct ccairo_canvas *canvas, double red, double green, double blue) {
  lib.set_source_rgb(canvas->context, red, green, blue);
}

void ccairo_fill_rectangle(struct ccairo_canvas *canvas, double x, double y, double width, double height) {
  lib.rectangle(canvas->context, x, y, width, height);
  lib.fill(canvas->context);
}

void ccairo_stroke(struct ccairo_canvas *canvas, double x, double y, double to_x, double to_y, double width) {
  lib.set_line_width(canvas->context, width);
  lib.move_to(canvas->context, x, y);
  lib.line_to(canvas->context, to_x, to_y);
  lib.stroke(canvas->context);
}

void ccairo_fill_shape(struct ccairo_canvas *canvas, const double *corners, long count) {
  for (long index = 0; index < count; ++index)
    (index == 0 ? lib.move_to : lib.line_to)(canvas->context, corners[2 * index], corners[2 * index + 1]);
  lib.close_path(canvas->context);
  lib.fill(canvas->context);
}

void ccairo_write(struct ccairo_canvas *canvas, const char *text, double x, double y, double size,
                  double alignment, bool is_upright) {
  cairo_text_extents_t extents;
  lib.set_font_size(canvas->context, size);
  lib.text_extents(canvas->context, text, &extents);
  lib.save(canvas->context);
  lib.translate(canvas->context, x, y);
  if (is_upright) lib.rotate(canvas->context, -M_PI / 2);
  lib.move_to(canvas->context, -alignment * extents.x_advance, 0);
  lib.show_text(canvas->context, text);
  lib.restore(canvas->context);
}

void ccairo_draw_image(struct ccairo_canvas *canvas, const unsigned *pixels, int columns, int rows, double x,
                       double y, double width, double height) {
  cairo_surface_t *image = lib.image_surface_create_for_data(
      (unsigned char *)pixels, CAIRO_FORMAT_RGB24, columns, rows, columns * (int)sizeof *pixels);
  lib.save(canvas->context);
  lib.translate(canvas->context, x, y);
  lib.scale(canvas->context, width / columns, height / rows);
  lib.set_source_surface(canvas->context, image, 0, 0);
  lib.pattern_set_filter(lib.get_source(canvas->context), CAIRO_FILTER_NEAREST);
  lib.rectangle(canvas->context, 0, 0, columns, rows);
  lib.fill(canvas->context);
  lib.restore(canvas->context);
  // An SVG surface keeps its images until it is finished; finishing the image makes it copy the
  // pixels.
  lib.surface_finish(image);
  lib.surface_destroy(image);
}

const unsigned char *ccairo_finish(struct ccairo_canvas *canvas, size_t *count) {
  if (lib.status(canvas->context) != CAIRO_STATUS_SUCCESS) return NULL;
  if (canvas->is_svg) {
    lib.surface_finish(canvas->surface);
  } else if (lib.surface_write_to_png_stream(canvas->surface, keep, canvas) != CAIRO_STATUS_SUCCESS) {
    return NULL;
  }
  if (lib.surface_status(canvas->surface) != CAIRO_STATUS_SUCCESS) return NULL;
  *count = canvas->count;
  return canvas->bytes;
}
