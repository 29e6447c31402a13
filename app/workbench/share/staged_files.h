// The files that a page carries, copied to a private folder and redacted.
#pragma once

#include "app/workbench/share/share.h"
#include "engine/process/temporary_folder.h"

namespace kerf::workbench {

struct StagedFiles {
  TemporaryFolder folder;
  std::vector<std::string> names;  ///< below the folder, sorted
  std::vector<std::string> removed, notes;
};

/// NotFound for what names nothing; TooLarge beyond 256 MiB; BadInput where redaction leaves nothing.
Result<StagedFiles> stageFiles(Workbench& bench, const ShareRequest& request, const Job& job);

}  // namespace kerf::workbench
