// The page that people read: what the files hold, as tables and texts. Nothing in it is trusted.
#pragma once

#include "app/workbench/share/staged_files.h"

namespace kerf::workbench {

struct PageText {
  std::string html;  ///< whole, with the data in it
  std::int64_t captures = 0, graphs = 0;
  std::vector<std::string> notes;
};

/// `archive`: the files as a zip.
Result<PageText> pageText(const StagedFiles& staged, const std::string& title, std::string_view archive,
                          const Job& job);

}  // namespace kerf::workbench
