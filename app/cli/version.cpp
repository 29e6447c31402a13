#include "app/cli/version.h"

#include <array>

#include <fmt/format.h>

#include "app/cli/components.h"
#include "storage/migrations/migrations.h"

namespace kerf::cli {

std::string versionText() {
  std::string text = fmt::format("kerf {}, store schema {}\n", KERF_VERSION, newestSchema());
  for (const auto& component : components) text += fmt::format("  {:<10} {}\n", component.name, component.state);
  text.pop_back();
  return text;
}

}  // namespace kerf::cli
