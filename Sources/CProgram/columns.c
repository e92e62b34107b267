#define _GNU_SOURCE
#include "CProgram.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

static locale_t unicode;

static void find_unicode(void) { unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int cprogram_columns(unsigned int scalar) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_unicode);
  if (!unicode) return 1;
  // wcwidth uses the locale of the thread, and the program has set none.
  const locale_t previous = uselocale(unicode);
  const int columns = wcwidth((wchar_t)scalar);
  uselocale(previous);
  return columns < 0 ? 0 : columns;
}
