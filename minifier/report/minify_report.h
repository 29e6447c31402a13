// What a minification came to: the repro to hand on, and a report for people.
#pragma once

#include "engine/capture/common/capture.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline report {

/// How the result was found, as far as MinifyResult does not say.
struct MinifyReportContext {
  std::string source;          ///< "minifier_launcher.py", "c3/g1"
  std::string fault;           ///< FaultPlan::text(), empty if nothing was planted
  std::string oracle;          ///< Oracle::identity()
  std::string matchRule = {};  ///< FailureMatch::rule(), empty if nothing is to be said of it
  int startNodes = 0;  ///< of the graph that was minified, where an earlier search had begun; 0: as the result says
};

/// Whether a fingerprint is of a difference that only shows in what inputs and buffers are left with.
bool failsInMutation(std::string_view fingerprint);
/// What the written repro fails with: there, mutated inputs are outputs.
std::string fingerprintOfRepro(std::string_view fingerprint);

/// The minified graph inside `like`'s environment and runner, with a comment on how it was found at the top: nothing
/// that differs when the same search is made again, as times and what the cache knew do. One that fails in a mutated
/// input returns that input too, which is what PyTorch's run_repro compares.
Result<Capture> minifiedCapture(const MinifyResult& result, const Capture& like, std::size_t graphIndex,
                                const MinifyReportContext& context);

/// "87 → 3 nodes in 0.84 s, 12 tests (4 from the cache): accuracy:magnitude; 1-minimal".
std::string minifySummary(const MinifyResult& result);
/// Markdown: summary, table of accepted steps, the graph.
std::string minifyReport(const MinifyResult& result, const MinifyReportContext& context);

}  // namespace kerf::inline minifier::inline report
