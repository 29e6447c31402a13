// perform(PatternsRequest): the shipped patterns, or those of a file, on one graph.
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/patterns.h"
#include "engine/patterns/attention_patterns.h"
#include "engine/patterns/matcher_input.h"
#include "engine/patterns/precompiled_patterns.h"
#include "engine/patterns/shipped_patterns.h"
#include "engine/patterns/user_patterns.h"

namespace kerf::workbench {

namespace {

Result<PatternMatcherPass> matcherFor(const PatternsRequest& request) {
  if (request.file.empty()) return shippedMatcher();
  KERF_TRY(PatternFileContent content, readPatternFile(request.file));
  return std::move(content.matcher);
}

}  // namespace

Result<PatternsReport> perform(Workbench& bench, const PatternsRequest& request, const Job& job) {
  PatternsReport report;
  if (request.regenerate) {
    KERF_TRY(report.generated, precompile(attentionRules()));
    return report;
  }
  KERF_TRY(const PatternMatcherPass matcher, matcherFor(request));
  if (request.graph.text.empty()) {
    for (const PatternEntry& entry : matcher.entries()) report.patterns.emplace_back(entry.name, entry.description);
    return report;
  }
  KERF_TRY(GraphSource found, resolveGraph(bench, request.graph, job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  KERF_TRY(GraphModule module, matcherInput(source.graph().module));
  if (!request.why.empty()) {
    KERF_TRY(const auto miss, matcher.explain(module, request.why));
    if (miss)
      report.misses.push_back({miss->pattern, miss->result, miss->node, miss->reason, std::int64_t(miss->matched),
                               std::int64_t(miss->calls)});
  }
  KERF_TRY(auto matches, matcher.apply(module));
  for (ReplacedMatch& match : matches)
    report.matches.push_back({std::move(match.pattern), std::move(match.result), std::move(match.nodes),
                              std::move(match.arguments), std::move(match.replacements)});
  return report;
}

}  // namespace kerf::workbench
