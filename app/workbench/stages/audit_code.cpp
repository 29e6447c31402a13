// perform(AuditRequest): output code of a capture, or a file of it, claim by claim.
#include "app/workbench/captures/audited_code.h"

namespace kerf::workbench {

Result<std::vector<AuditedProgram>> perform(Workbench& bench, const AuditRequest& request, const Job& job) {
  if (auto program = auditedFile(request.capture, job)) return std::vector{std::move(*program)};
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  return auditedPrograms(request.capture, source->capture, AuditLimits(), job);
}

}  // namespace kerf::workbench
