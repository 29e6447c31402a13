// RanksPlace: the folder of ranks that an address means: the folder itself, a stored capture with traces of several, or the
// captures of a program that ran as several.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/workbench/captures/capture_source.h"

namespace kerf::workbench {

struct RanksPlace {
  std::string text;  ///< "folder#graph", as splitRanksAddress() takes apart
  std::string name;  ///< as the user wrote it
  std::shared_ptr<const void> keeps =
      {};                           ///< files from the store are there as long as this; null: they were there before
  std::filesystem::path root = {};  ///< of those files

  /// An error, or a path, that names the capture in place of its private folder.
  std::string named(std::string text) const;
  Error named(Error error) const;
};

/// "c3" and "c3#aot_forward_graph" where c3 holds several ranks, or is the first rank's of a program; any other address as it is.
/// NotFound for a capture that is not in the store.
Result<RanksPlace> ranksPlace(Workbench& bench, const std::string& address, const Job& job);

}  // namespace kerf::workbench
