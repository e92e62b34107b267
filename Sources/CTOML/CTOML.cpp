#include "CTOML.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

struct Visit {
  void *context;
  ctoml_visitor visitor;

  void operator()(std::string_view table, std::string_view key, const toml::node &node,
                  bool is_element) const {
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
    } else if (!node.is_table() && !node.is_array()) {
      kind = CTOML_DATE;
    }
    const ctoml_value value = {{table.data(), table.size()},
                               {key.data(), key.size()},
                               {text.data(), text.size()},
                               static_cast<unsigned>(node.source().begin.line),
                               kind,
                               is_element};
    visitor(context, &value);
  }

  void each(std::string_view table, const toml::table &values) const {
    for (const auto &[key, node] : values) {
      const auto *inner = node.as_table();
      const auto *array = node.as_array();
      if (inner && table.empty()) {
        each(key.str(), *inner);
      } else if (array) {
        for (const auto &element : *array) (*this)(table, key.str(), element, true);
      } else {
        (*this)(table, key.str(), node, false);
      }
    }
  }
};

}  // namespace

unsigned ctoml_read(ctoml_text document, void *context, ctoml_visitor visit, char *error,
                    size_t error_size) {
  const auto result = toml::parse(std::string_view(document.bytes, document.count));
  if (!result) {
    const auto description = result.error().description();
    const auto count = std::min(description.size(), error_size - 1);
    std::memcpy(error, description.data(), count);
    error[count] = 0;
    return std::max(1u, static_cast<unsigned>(result.error().source().begin.line));
  }
  Visit{context, visit}.each({}, result.table());
  return 0;
}
