#include "CTOML.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

// toml++ 3.3 asserts conditions that external text can violate. For example, an unquoted table name
// that begins with a non-ASCII letter would end the program.
struct broken_assertion {};

}  // namespace

#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>((expression) || (throw broken_assertion{}, false))
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

struct Visit {
  void *context;
  ctoml_visitor visitor;

  void operator()(std::string_view table, unsigned table_line, std::string_view key,
                  const toml::node &node, bool is_element) const {
    std::string text;
    int kind = CTOML_NESTED;
    if (const auto *string = node.as_string()) {
      kind = CTOML_STRING;
      text = string->get();
    } else if (const auto *integer = node.as_integer()) {
      kind = CTOML_INTEGER;
      text = std::to_string(integer->get());
    } else if (const auto *number = node.as_floating_point()) {
      kind = CTOML_FLOAT;
      char digits[64];
      auto end = std::to_chars(digits, digits + sizeof digits, number->get()).ptr;
      text.assign(digits, end);
    } else if (const auto *boolean = node.as_boolean()) {
      kind = CTOML_BOOLEAN;
      text = boolean->get() ? "true" : "false";
    } else if (const auto *time = node.as_time()) {
      kind = CTOML_TIME;
      const toml::time &value = time->get();
      char digits[64];
      std::snprintf(digits, sizeof digits, "%u:%02u:%02u.%09u", value.hour, value.minute,
                    value.second, value.nanosecond);
      text = digits;
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    } else if (!node.is_table() && !node.is_array()) {
      kind = CTOML_DATE;
      // A date with a time has several forms: none is the text for certain.
      if (const auto *date = node.as_date()) {
        const toml::date &value = date->get();
        char digits[16];
        std::snprintf(digits, sizeof digits, "%04u-%02u-%02u", value.year, value.month, value.day);
        text = digits;
      }
    }
    const ctoml_value value = {{table.data(), table.size()},
                               {key.data(), key.size()},
                               {text.data(), text.size()},
                               static_cast<unsigned>(node.source().begin.line),
                               table_line,
                               kind,
                               is_element};
    visitor(context, &value);
  }

  void each(std::string_view table, unsigned table_line, const toml::table &values) const {
    for (const auto &[key, node] : values) {
      const auto *inner = node.as_table();
      const auto *array = node.as_array();
      if (inner && table.empty()) {
        each(key.str(), static_cast<unsigned>(inner->source().begin.line), *inner);
      } else if (array && !array->empty()) {
        for (const auto &element : *array) (*this)(table, table_line, key.str(), element, true);
      } else {
        (*this)(table, table_line, key.str(), node, false);
      }
    }
  }
};

bool breaks_assertion(std::string_view text) {
  try {
    (void)toml::parse(text);
    return false;
  } catch (const broken_assertion &) {
    return true;
  }
}

// Returns the line at which an assertion fails, counted from 1: the last line of the shortest
// prefix of whole lines that violates it.
unsigned line_of_assertion(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1))
    ends.push_back(end);
  const auto line = std::partition_point(ends.begin(), ends.end(), [&](size_t end) {
    return !breaks_assertion(text.substr(0, end));
  });
  return static_cast<unsigned>(line - ends.begin()) + 1;
}

unsigned fail(unsigned line, std::string_view description, char *error, size_t error_size) {
  const auto count = std::min(description.size(), error_size - 1);
  std::memcpy(error, description.data(), count);
  error[count] = 0;
  return std::max(1u, line);
}

}  // namespace

unsigned ctoml_read(ctoml_text document, void *context, ctoml_visitor visit, char *error,
                    size_t error_size) {
  const std::string_view text(document.bytes, document.count);
  try {
    const auto result = toml::parse(text);
    if (!result) {
      const auto &failure = result.error();
      return fail(static_cast<unsigned>(failure.source().begin.line), failure.description(), error,
                  error_size);
    }
    Visit{context, visit}.each({}, 0, result.table());
    return 0;
  } catch (const broken_assertion &) {
    return fail(line_of_assertion(text),
                "Names that begin with another character than A to Z, a to z, 0 to 9, - and _ stand "
                "in quotes",
                error, error_size);
  }
}
