// The request for the backends that there are, and whether this machine runs their code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/fields.h"

namespace kerf::workbench {

struct BackendDoc {
  std::string name, description;  ///< "llvm"; one sentence
  bool runs = true;               ///< its code, here
  std::string why;                ///< it does not

  KERF_FIELDS(name, description, runs, why)
};

/// All of them, the default first.
struct BackendsRequest {
  using Answer = std::vector<BackendDoc>;
  static constexpr std::string_view name = "backends";
  int version = 1;

  KERF_FIELDS(version)

  static constexpr std::string_view usual = "llvm";
};

}  // namespace kerf::workbench
