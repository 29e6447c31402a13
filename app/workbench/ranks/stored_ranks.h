// RanksPlace: the folder of ranks that an address means: the folder itself, or a stored capture with traces of several.
#pragma once

#include "app/workbench/captures/capture_source.h"

namespace kerf::workbench {

struct RanksPlace {
  std::string text;        ///< "folder#graph", as splitRanksAddress() takes apart
  std::string name;        ///< as the user wrote it
  CaptureSourcePtr keeps;  ///< the files of a stored capture are there as long as this; null: they were there before

  /// An error, or a path, that names the capture in place of its private folder.
  std::string named(std::string text) const;
  Error named(Error error) const;
};

/// "c3" and "c3#aot_forward_graph" where c3 holds several ranks; any other address as it is. NotFound for a capture that
/// is not in the store.
Result<RanksPlace> ranksPlace(Workbench& bench, const std::string& address, const Job& job);

}  // namespace kerf::workbench
