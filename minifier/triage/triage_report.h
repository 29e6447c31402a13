// The report of a triage: report.html and report.txt, and a folder for each cluster.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "minifier/triage/triage.h"

namespace kerf::inline minifier::inline triage {

/// "fails", "passes", "cannot be tested", "not opened", "fails otherwise", "not reached".
std::string_view stateName(TriagedGraph::State state);
/// "c/repro.py", or "trace.log#graph" where the capture has names for its graphs.
std::string rowName(const TriagedGraph& row);

/// For people who read text. No control characters of the captures' own.
std::string triageText(const TriageOutcome& triage);
/// One page without scripts that loads nothing; whatever came from files is escaped.
std::string triageHtml(const TriageOutcome& triage);

/// Writes both, and "cluster-N" with members.txt and what lies in the cluster's repro's folder, which `repro` then
/// names. Clusters of an earlier report go. Environment where something cannot be written.
Result<void> writeTriage(TriageOutcome& triage, const std::filesystem::path& folder);

}  // namespace kerf::inline minifier::inline triage
