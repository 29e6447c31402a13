// The words that a node query is made of, and small readings of a node's texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::workbench {

/// `not:users>=2k` → negated, field "users", relation ">=", value "2k"; of a plain word only the value.
struct QueryToken {
  bool negated = false;
  std::string field, relation, value;
  bool quoted = false;  ///< the value stood between quotation marks: nothing in it means more than itself
};
/// BadUsage where a quotation mark is not closed, or nothing stands behind a "not:".
Result<std::vector<QueryToken>> queryTokens(std::string_view text);

/// ASCII letters in lower case.
std::string lowered(std::string_view text);
/// Of an empty text: nothing.
std::vector<std::string> splitAt(std::string_view text, std::string_view separator);
/// Whether all of `text` is what `pattern` describes; "*" stands for any letters, "?" for one.
bool globMatches(std::string_view pattern, std::string_view text);
/// "1.5k", "2M", "16", "4KiB" with what a thousand is.
std::optional<double> parseFigure(std::string_view text, double thousand);

/// "[16, 32]" → "16x32"; "[]" → "scalar".
std::string crossed(std::string_view shape);
/// Of "[16, 32]": 512; nothing where a size is symbolic.
std::optional<std::int64_t> product(std::string_view shape);
/// "bf16" → "bfloat16", "f8e4m3fn" → "float8_e4m3fn".
std::string longDtype(std::string_view code);
/// 0: no code of a dtype.
int dtypeBytes(std::string_view code);

}  // namespace kerf::workbench
