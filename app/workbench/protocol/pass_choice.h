// PassChoice: what a request says of the passes that run.
#pragma once

#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

struct PassChoice {
  std::vector<std::string> only;      ///< exactly these, in this order; empty: the usual ones
  std::vector<std::string> disabled;  ///< names
  std::vector<std::string> settings;  ///< "constant_folding.max_bytes=65536"

  bool usual() const { return only.empty() && disabled.empty() && settings.empty(); }

  KERF_FIELDS(only, disabled, settings)
};

}  // namespace kerf::workbench
