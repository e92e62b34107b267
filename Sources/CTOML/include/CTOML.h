// Reads a TOML document as a list of its values, with toml++.
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
  // A table in a table, a table or an array in an array, or an empty array.
  CTOML_NESTED,
};

// UTF-8 bytes, valid during the call that passes them.
struct ctoml_text {
  const char *bytes;
  size_t count;
};

// A value of the document. `table` is empty for values before the first table. Each element of an
// array is a value with the array's key and `is_element`; an empty array is one value of kind
// CTOML_NESTED. `text` is the value in TOML notation, a string without its quotes. `table_line` is
// the line of the table's name, 0 before the first table.
struct ctoml_value {
  struct ctoml_text table, key, text;
  unsigned line, table_line;
  int kind;
  int is_element;
};

typedef void (*ctoml_visitor)(void *context, const struct ctoml_value *value);

// Calls `visit` for each value of the document. Returns 0, or the line of the error if the document
// is not valid TOML, with a description in `error`.
unsigned ctoml_read(struct ctoml_text document, void *context, ctoml_visitor visit, char *error,
                    size_t error_size);

#ifdef __cplusplus
}
#endif
