#include "app/cli/output_file.h"

#include <cstdio>

#include "engine/tensor/atomic_file.h"

namespace kerf::cli {

Result<void> emit(std::string_view text, const std::string& path) {
  if (!path.empty()) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    return writeFileAtomically(path, pieces);
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return fail(ErrorCode::Environment, "cannot write to standard output");
}

}  // namespace kerf::cli
