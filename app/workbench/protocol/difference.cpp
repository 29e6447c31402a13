#include "app/workbench/protocol/difference.h"

#include <algorithm>

namespace kerf::workbench {

bool CompileDifference::same() const {
  const auto isSame = [](const StageDifference& stage) {
    return !stage.onlyBefore && !stage.onlyAfter && stage.failure.empty() && stage.difference.same;
  };
  return !before.empty() && !after.empty() && statusBefore == statusAfter && guards.empty() && kernels.empty() &&
         std::ranges::all_of(stages, isSame);
}

std::string_view findingKindName(CaptureFinding::Kind kind) {
  constexpr std::string_view names[] = {"status", "compilation", "pattern", "input", "decomposition",
                                        "fusion", "saved",       "guard",   "time"};
  return names[std::size_t(kind)];
}

}  // namespace kerf::workbench
