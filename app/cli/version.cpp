#include "app/cli/version.h"

#include <array>

#include <fmt/format.h>

#include "app/cli/components.h"
#include "app/workbench/cuda_state.h"
#include "app/workbench/workbench.h"

namespace kerf::cli {

std::string versionNumber() { return KERF_VERSION; }

std::string versionText() {
  std::string text = fmt::format("kerf {}, store schema {}\n", KERF_VERSION, workbench::storeSchema());
  for (const auto& component : components) text += fmt::format("  {:<10} {}\n", component.name, component.state);
  return text + fmt::format("  {:<10} {}", "CUDA", workbench::cudaState());
}

}  // namespace kerf::cli
