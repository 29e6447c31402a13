#include "app/cli/output_file.h"

#include <cstdio>

#include "app/cli/terminal.h"
#include "engine/support/atomic_file.h"

namespace kerf::cli {

Result<void> emit(std::string_view text, const std::string& path, EmitKind kind) {
  if (!path.empty()) return writeTextFile(text, path);
  if (kind == EmitKind::Picture) {
    if (printTrusted(stdout, text)) return {};
    return fail(ErrorCode::Environment, "cannot write to standard output");
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return fail(ErrorCode::Environment, "cannot write to standard output");
}

}  // namespace kerf::cli
