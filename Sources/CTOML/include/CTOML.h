// A TOML document as a list of its values, read by toml++.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ctoml_kind {
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_FLOAT,
  CTOML_BOOLEAN,
  // A time of day.
  CTOML_TIME,
  // A date, with or without a time.
  CTOML_DATE,
  // A table in a table, or a table or an array in an array.
  CTOML_NESTED,
};

// Some bytes of UTF-8, valid during the call that gets them.
struct ctoml_text {
  const char *bytes;
  size_t count;
};

// One value. `table` is empty for what stands before the first table. An element of an array has its
// key and `is_element`; an empty array comes as one value that is nested. `text` is the value as TOML would write it, a
// string without its quotes. The table's name is on `table_line`, 0 before the first table.
struct ctoml_value {
  struct ctoml_text table, key, text;
  unsigned line, table_line;
  int kind;
  int is_element;
};

typedef void (*ctoml_visitor)(void *context, const struct ctoml_value *value);

// Calls `visit` for each value of the document. Returns 0, or where the document is none the line of
// the error, with a description in `error`.
unsigned ctoml_read(struct ctoml_text document, void *context, ctoml_visitor visit, char *error,
                    size_t error_size);

#ifdef __cplusplus
}
#endif
