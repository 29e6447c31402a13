#include "engine/capture/text/log_lines.h"

#include <algorithm>
#include <array>

namespace kerf::inline capture {

bool hasDynamoLines(std::string_view text) {
  constexpr std::array<std::string_view, 15> marks = {"[__graph_breaks]",
                                                      "[__recompiles]",
                                                      "[__guards]",
                                                      "[__dynamic]",
                                                      "[__recompiles_verbose]",
                                                      "[__output_code]",
                                                      "[__perf_hints]",
                                                      "] create_symbol ",
                                                      "Graph break in user code at ",
                                                      "Graph break: ",
                                                      "Graph Break Reason: ",
                                                      "hit config.recompile_limit",
                                                      "hit config.cache_size_limit",
                                                      "Recompiling function ",
                                                      "TREE_GUARD_MANAGER"};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

}  // namespace kerf::inline capture
