#include "engine/diff/correspondence.h"

namespace kerf::inline diff {

namespace {

std::string_view howPaired(const NodeDelta& delta) {
  if (delta.given) return "given";
  if (delta.callChanged) return "changed";
  return delta.renamed ? "renamed" : "same";
}

}  // namespace

std::string_view rewriteKindName(FoundRewrite::Kind kind) {
  constexpr std::string_view names[] = {"rewritten", "merged", "duplicated"};
  return names[std::size_t(kind)];
}

Correspondence::Correspondence(const GraphDiff& diff) {
  for (const NodeDelta& delta : diff.nodes)
    if (delta.before.valid() && delta.after.valid() && !delta.rewritten())
      add(delta.before, delta.after, howPaired(delta));
  for (const Rewrite& rewrite : diff.rewrites)
    for (const NodeId before : rewrite.before)
      for (const NodeId after : rewrite.after) add(before, after, rewriteKindName(rewrite.kind));
}

const std::vector<Correspondence::Link>& Correspondence::find(const Links& links, NodeId node) {
  static const std::vector<Link> none;
  const auto found = links.find(node);
  return found == links.end() ? none : found->second;
}

void Correspondence::add(NodeId before, NodeId after, std::string_view how) {
  m_after[before].push_back({after, how});
  m_before[after].push_back({before, how});
}

}  // namespace kerf::inline diff
