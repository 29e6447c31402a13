// auditOutputCode(): what Inductor generated, proved or refuted without running it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/audit/audit_claim.h"
#include "engine/ir/graph_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline audit {

/// The graph that the program was generated from, and inputs to run both on. The graph must outlive the audit.
struct AuditGraph {
  const GraphModule* module = nullptr;
  /// One for each placeholder. Asked for where the graph is run.
  std::function<Result<ValueList>()> inputs;
  double mostElements = 1.5e9;  ///< of all its nodes together: a larger graph is not run
};

struct AuditOptions {
  std::size_t mostBytes = std::size_t{64} << 20;
  /// Told how much is done (0 to 1); false stops.
  std::function<bool(double)> progress;
  AuditGraph graph{};  ///< without one, what kernels compute is not compared
};

/// Whether `text` has a wrapper in C++, as AOTInductor and `cpp_wrapper` write it.
bool hasCppWrapper(std::string_view text);

/// Values that the program's own example inputs give symbols: {"s33", 4}.
std::map<std::string, std::int64_t, std::less<>> exampleSizes(std::string_view text);

/// BadInput for a text that is no output code: it has no `call`. TooLarge beyond `mostBytes`. Of a wrapper in C++ nothing is
/// known.
Result<AuditReport> auditOutputCode(std::string_view text, const AuditOptions& options = {});

}  // namespace kerf::inline audit
