// StoreId: the short names of what the store holds: "c3", "c3/g1", "c3/r17", "c3/g1@pass:cse", "m2@step:4",
// "m2/slip1", "p4".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kerf::workbench {

struct StoreId {
  char kind = 'c';  ///< c capture, m reduction, p repro
  std::int64_t number = 0;
  int graph = 0;                ///< of a capture; 0: not given
  int record = 0;               ///< of a capture; 0: not given
  int slip = 0;                 ///< of a reduction; 0: not given
  std::string selector, value;  ///< "pass" / "step" and what follows

  /// "c3" and nothing more.
  bool isWholeCapture() const { return kind == 'c' && graph == 0 && record == 0 && selector.empty(); }
};

/// Nothing when the text is no store id.
std::optional<StoreId> parseStoreId(const std::string& text);

}  // namespace kerf::workbench
