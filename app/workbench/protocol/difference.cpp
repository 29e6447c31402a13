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

}  // namespace kerf::workbench
