// The report of a triage: report.html and report.txt, and a folder for each cluster.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/workbench/protocol/triage.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// "fails", "passes", "cannot be tested", "not opened", "fails otherwise", "not reached".
std::string_view stateName(TriageRow::State state);
/// "c/repro.py", or "trace.log#graph" where the capture has names for its graphs.
std::string rowName(const TriageRow& row);

/// For people who read text. No control characters of the captures' own.
std::string triageText(const Triage& triage);
/// One page without scripts that loads nothing; whatever came from files is escaped.
std::string triageHtml(const Triage& triage);

/// Writes both, and "cluster-N" with members.txt and what lies in the cluster's repro's folder, which `repro` then
/// names. Clusters of an earlier report go. Environment where something cannot be written.
Result<void> writeTriage(Triage& triage, const std::filesystem::path& folder);

}  // namespace kerf::workbench
