#include "app/workbench/output_file.h"

#include "engine/tensor/atomic_file.h"

namespace kerf::workbench {

Result<void> writeText(std::string_view text, const std::filesystem::path& path) {
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  return writeFileAtomically(path, pieces);
}

}  // namespace kerf::workbench
