// One page to attach: a capture, reduction or report as a single HTML file that holds the data too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/workbench.h"

namespace kerf::workbench {

struct Shared {
  std::string path;
  std::int64_t bytes = 0, files = 0, captures = 0, graphs = 0;
  std::vector<std::string> removed;  ///< what redaction took away, and how often
  std::vector<std::string> notes;    ///< what is not in the page

  KERF_FIELDS(path, bytes, files, captures, graphs, removed, notes)
};

/// What is taken out of texts and files before they are shared.
struct Redaction {
  bool paths = false;    ///< folders, and names of users in them
  bool weights = false;  ///< stored tensors and recorded values
  bool code = false;     ///< lines of the user's source

  bool any() const { return paths || weights || code; }
};

struct ShareRequest {
  std::string what;   ///< a path, a folder of a report, "c3", "c3/g1", "m2"
  std::string place;  ///< the page to write
  Redaction redaction;
};

/// Everything appears whole or not at all. TooLarge where the files have more than 256 MiB.
Result<Shared> share(Workbench& bench, const ShareRequest& request, const Job& job);

}  // namespace kerf::workbench
