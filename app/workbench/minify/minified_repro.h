// What a search leaves for people: repro.py, checked in a fresh process and by PyTorch, and issue.md beside it.
#pragma once

#include <filesystem>
#include <string>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/minify/issue.h"
#include "minifier/core/failure_match.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

/// The search that it came out of. Nothing is owned.
struct SearchedFailure {
  Workbench& bench;
  const GraphSource& source;
  const MinifyRequest& request;
  const Job& job;
  Oracle& oracle;
  const FailureMatch& match;
  int startNodes = 0;
};

/// Writes the candidate, with the capture's header and accuracy= as the failure is. The path of repro.py.
Result<std::filesystem::path> writeMinified(const SearchedFailure& searched, const MinifyResult& result,
                                            const std::filesystem::path& folder);

/// The fingerprint that a fresh process finds in it; empty, with a note, when the job was stopped before it answered.
/// Different where that is another failure than `found.fingerprint`, or none.
Result<std::string> checkMinified(const SearchedFailure& searched, const Minified& found, const GraphModule& module,
                                  const std::filesystem::path& repro);

/// What the user's PyTorch makes of it, in words. It is no error that it does not fail: the fault may be Kerf's.
Result<std::string> confirmMinified(const SearchedFailure& searched, const std::filesystem::path& repro);

/// Writes issue.md beside it. `confirmed` as confirmMinified() says it; empty: not asked.
Result<void> writeIssueOf(const SearchedFailure& searched, const MinifyResult& result, VerdictCache& verdicts,
                          const std::string& confirmed, const std::filesystem::path& repro);

}  // namespace kerf::workbench
