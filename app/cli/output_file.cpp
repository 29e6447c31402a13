#include "app/cli/output_file.h"

#include <cstdio>

#include "app/workbench/output_file.h"

namespace kerf::cli {

Result<void> emit(std::string_view text, const std::string& path) {
  if (!path.empty()) return workbench::writeText(text, path);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return fail(ErrorCode::Environment, "cannot write to standard output");
}

}  // namespace kerf::cli
