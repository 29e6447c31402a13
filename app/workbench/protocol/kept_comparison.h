// A comparison as a file keeps it, so that its tables are there again when a window comes back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/workbench/protocol/runs.h"
#include "engine/support/result.h"

namespace kerf::workbench {

struct KeptComparison {
  std::string kerf;           ///< version of the Kerf that compared
  std::string graph;          ///< content hash of what was compared
  std::int64_t modified = 0;  ///< when its file was last written, in milliseconds since 1970; 0: it is the store's
  std::string backend;        ///< of the compiled side
  Comparison comparison;

  KERF_FIELDS(kerf, graph, modified, backend, comparison)
};

std::string keptBytes(const KeptComparison& kept);
/// BadInput for other bytes, and for those of a Kerf that writes comparisons in another way.
Result<KeptComparison> keptFrom(std::string_view bytes);

}  // namespace kerf::workbench
