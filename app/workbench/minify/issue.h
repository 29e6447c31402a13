// issue.md: what a minification came to, as an issue for PyTorch's tracker.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/workbench/captures/graph_source.h"
#include "minifier/core/minify.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/report/closest_passing.h"
#include "minifier/report/issue_text.h"

namespace kerf::workbench {

/// Facts of a finished search; `known` has verdicts by key. What the oracle has not said of neighbours is asked, a few
/// times at most. An oracle that ends with an error leaves the difference out.
struct SearchedIssue {
  const MinifyResult& result;
  Oracle& oracle;
  VerdictCache& known;
  JudgingRule rule = {};
};
IssueFacts issueFacts(const SearchedIssue& searched, std::stop_token stop);

/// Facts of a reduction in the store ("m3") or of its repro ("p4"); none for other graphs. Only verdicts that the store
/// has say which neighbours pass.
Result<std::optional<IssueFacts>> storedIssueFacts(Workbench& bench, const GraphSource& source, const Job& job);

/// A graph that is known to pass, one edit away from a stored one that fails.
struct StoredNeighbour {
  GraphModule failing;
  std::optional<PassingNeighbour> passing;  ///< none: no verdict of the store names one
};
/// Of a reduction ("m3") or its repro ("p4"); NotFound for other graphs. Nothing is asked of an oracle.
Result<StoredNeighbour> storedNeighbour(Workbench& bench, const GraphSource& source, const Job& job);

/// The text around `repro`, the text of a repro.py, of which environment and versions are taken. Errors: those of
/// reading it.
Result<std::string> issueAround(IssueFacts facts, const std::string& repro);

/// Writes that beside the written repro.py, as issue.md. Errors: those of reading and writing too.
Result<void> writeIssueBeside(IssueFacts facts, const std::filesystem::path& repro);

}  // namespace kerf::workbench
