// auditOutputCode(): what Inductor generated, proved or refuted without running it.
#pragma once

#include <functional>
#include <string_view>

#include "engine/audit/audit_claim.h"
#include "engine/support/result.h"

namespace kerf::inline audit {

struct AuditOptions {
  std::size_t mostBytes = std::size_t{64} << 20;
  /// Told how much is done (0 to 1); false stops.
  std::function<bool(double)> progress;
};

/// BadInput for a text that is no output code: it has no `call`. TooLarge beyond `mostBytes`.
Result<AuditReport> auditOutputCode(std::string_view text, const AuditOptions& options = {});

}  // namespace kerf::inline audit
