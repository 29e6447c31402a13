#include "app/workbench/protocol/kept_comparison.h"

#include <fmt/format.h>

#include "engine/process/codec.h"
#include "engine/process/frame.h"

namespace kerf::workbench {
namespace {

std::string headerOfKept() { return fmt::format("kerf comparison {}\n", protocolVersion); }

}  // namespace

std::string keptBytes(const KeptComparison& kept) { return headerOfKept() + encode(kept); }

Result<KeptComparison> keptFrom(std::string_view bytes) {
  const std::string header = headerOfKept();
  if (!bytes.starts_with(header)) return fail(ErrorCode::BadInput, "no comparison that this Kerf has kept");
  auto kept = decode<KeptComparison>(bytes.substr(header.size()), "a kept comparison");
  if (!kept) return fail(ErrorCode::BadInput, "{}", kept.error().message);
  return kept;
}

}  // namespace kerf::workbench
