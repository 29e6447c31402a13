// auditHtml(): what an audit of a trace's output code says, as a part of a page.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/captures/audited_code.h"

namespace kerf::workbench {

/// A row for each program, and each claim that is refuted; empty without programs.
std::string auditHtml(const std::vector<AuditedProgram>& programs);

}  // namespace kerf::workbench
