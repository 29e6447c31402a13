// Kernels that hold other nodes than before, and ops that become other calls.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "app/workbench/stages/capture_findings.h"
#include "engine/diff/compared_graph.h"
#include "engine/diff/correspondence.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostCalls = 16, mostForms = 4;

/// Names of calls in the order of a graph: "var_mean, getitem ×2".
std::string callsText(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::pair<std::string, int>> runs;
  for (const NodeId id : nodes) {
    std::string name = baseName(graph.node(id));
    if (!runs.empty() && runs.back().first == name)
      ++runs.back().second;
    else
      runs.emplace_back(std::move(name), 1);
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : runs) parts.push_back(count == 1 ? name : fmt::format("{} ×{}", name, count));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

/// What each op became, and how often.
using Decompositions = std::map<std::string, std::map<std::string, int>>;

Decompositions decompositionsOf(const GraphModule& module, const GraphModule& lowered) {
  Decompositions found;
  for (const auto& [path, diff] : diffModules(module, lowered)) {
    const Graph &mine = graphAt(module, path), &theirs = graphAt(lowered, path);
    for (const Rewrite& rewrite : diff.rewrites)
      if (rewrite.kind == FoundRewrite::Kind::Rewritten && !rewrite.before.empty())
        ++found[callsText(mine, rewrite.before)][callsText(theirs, rewrite.after)];
    for (const NodeDelta& delta : diff.nodes)
      if (delta.before.valid() && delta.after.valid() && !delta.rewritten() && !delta.given &&
          mine.node(delta.before).op() == Opcode::CallFunction)
        ++found[baseName(mine.node(delta.before))][baseName(theirs.node(delta.after))];
  }
  return found;
}

/// "sigmoid, mul (12×)" of a long list of calls its begin.
std::string shortForm(const std::string& form, int count) {
  std::size_t end = 0, calls = 0;
  while (end != std::string::npos && calls < mostCalls) {
    end = form.find(", ", end + 1);
    ++calls;
  }
  std::string text = end == std::string::npos ? form : form.substr(0, end) + ", …";
  return count == 1 ? text : fmt::format("{} ({}×)", text, count);
}

/// The forms that the other side has not, else all.
std::string formsText(const std::map<std::string, int>& forms, const std::map<std::string, int>& others) {
  std::vector<std::string> own, all;
  for (const auto& [form, count] : forms) {
    all.push_back(shortForm(form, count));
    if (!others.contains(form)) own.push_back(all.back());
  }
  auto& told = own.empty() ? all : own;
  if (told.size() > mostForms) {
    const std::size_t left = told.size() - mostForms;
    told.resize(mostForms);
    told.push_back(fmt::format("{} other forms", left));
  }
  return fmt::format("{}", fmt::join(told, " or "));
}

bool sameForms(const std::map<std::string, int>& a, const std::map<std::string, int>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.first == y.first; });
}

int totalOf(const std::map<std::string, int>& forms) {
  return std::accumulate(forms.begin(), forms.end(), 0, [](int sum, const auto& form) { return sum + form.second; });
}

/// "triton_poi_fused_add" of "triton_poi_fused_add_3:2".
std::string kernelName(std::string_view name) {
  name = name.substr(0, name.find(':'));
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool numbered = end != std::string_view::npos && end > 0 && end + 1 < name.size() && name[end] == '_';
  return std::string(numbered ? name.substr(0, end) : name);
}

/// Kernels of both sides that share nodes, directly or through others.
class KernelClusters {
 public:
  KernelClusters(const ModuleComparison& comparison, const std::vector<RecordedFusionGroup>& before,
                 const std::vector<RecordedFusionGroup>& after)
      : m_before(before), m_after(after), m_parent(before.size() + after.size()) {
    std::iota(m_parent.begin(), m_parent.end(), std::size_t(0));
    nameNodes(comparison);
    collect(m_before, 0, m_mineNames);
    collect(m_after, m_before.size(), m_theirNames);
    for (auto& [node, kernels] : m_kernelsOf)
      for (const std::size_t kernel : kernels) m_parent[root(kernel)] = root(kernels.front());
  }

  CaptureFindings findings() {
    std::map<std::size_t, std::vector<std::size_t>> clusters;
    for (std::size_t i = 0; i < m_parent.size(); ++i)
      if (!m_nodes[i].empty()) clusters[root(i)].push_back(i);
    Changes changes;
    for (const auto& [first, kernels] : clusters) add(kernels, changes);
    CaptureFindings findings;
    for (auto& [text, change] : changes) {
      if (change.times > 1) change.finding.text = fmt::format("{}× {}", change.times, change.finding.text);
      findings.push_back(std::move(change.finding));
    }
    return findings;
  }

 private:
  struct Change {
    CaptureFinding finding;
    int times = 0;
  };
  using Changes = std::map<std::string, Change>;

  /// Pairs of nodes get one number, other nodes one of their own.
  void nameNodes(const ModuleComparison& comparison) {
    const auto whole =
        std::ranges::find(comparison.diffs, std::string(), [](const auto& entry) { return entry.first; });
    if (whole == comparison.diffs.end()) return;
    const Correspondence links(whole->second);
    const Graph &before = comparison.before.graph, &after = comparison.after.graph;
    for (const NodeId id : after.order()) m_theirNames.emplace(after.node(id).name(), m_next++);
    for (const NodeId id : before.order()) {
      const auto& became = links.after(id);
      const bool one = became.size() == 1 && became.front().how != "merged" && became.front().how != "duplicated";
      m_mineNames.emplace(before.node(id).name(),
                          one ? m_theirNames.at(after.node(became.front().node).name()) : m_next++);
    }
  }

  void collect(const std::vector<RecordedFusionGroup>& groups, std::size_t first,
               const std::unordered_map<std::string, std::size_t>& names) {
    m_nodes.resize(std::max(m_nodes.size(), m_parent.size()));
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::string& name : groups[i].postGradNodes)
        if (const auto found = names.find(name); found != names.end() && !groups[i].kernel.empty()) {
          m_nodes[first + i].push_back(found->second);
          m_kernelsOf[found->second].push_back(first + i);
        }
    for (std::size_t i = 0; i < groups.size(); ++i) std::ranges::sort(m_nodes[first + i]);
  }

  std::size_t root(std::size_t at) {
    while (m_parent[at] != at) at = m_parent[at] = m_parent[m_parent[at]];
    return at;
  }

  bool isMine(std::size_t kernel) const { return kernel < m_before.size(); }
  const RecordedFusionGroup& group(std::size_t kernel) const {
    return isMine(kernel) ? m_before[kernel] : m_after[kernel - m_before.size()];
  }

  /// A cluster says something where its kernels hold the nodes otherwise; what only one side has is no fusion.
  void add(const std::vector<std::size_t>& kernels, Changes& changes) {
    std::vector<std::vector<std::size_t>> mine, theirs;
    std::vector<std::string> before, after;
    for (const std::size_t kernel : kernels) {
      (isMine(kernel) ? mine : theirs).push_back(shared(m_nodes[kernel]));
      (isMine(kernel) ? before : after).push_back(kernelName(group(kernel).kernel));
    }
    if (mine.empty() || theirs.empty()) return;
    for (auto* side : {&mine, &theirs}) {
      std::erase_if(*side, [](const auto& nodes) { return nodes.empty(); });
      std::ranges::sort(*side);
    }
    if (mine == theirs) return;
    std::ranges::sort(before);
    std::ranges::sort(after);
    std::string text = fmt::format("{} → {}", fmt::join(before, " + "), fmt::join(after, " + "));
    auto& [finding, times] = changes[text];
    if (times++ == 0) {
      finding = {.kind = CaptureFinding::Kind::Fusion, .text = text};
      for (const std::size_t kernel : kernels)
        finding.because.push_back(fmt::format("{} {}: {}", isMine(kernel) ? "before" : "now", group(kernel).kernel,
                                              fmt::join(group(kernel).postGradNodes, ", ")));
      limitCauses(finding);
    }
    finding.before += double(mine.size());
    finding.after += double(theirs.size());
  }

  /// The nodes that both graphs have.
  std::vector<std::size_t> shared(const std::vector<std::size_t>& nodes) const {
    std::vector<std::size_t> kept;
    for (const std::size_t node : nodes) {
      const auto& kernels = m_kernelsOf.at(node);
      const bool there = std::ranges::any_of(kernels, [&](std::size_t kernel) { return isMine(kernel); });
      const bool here = std::ranges::any_of(kernels, [&](std::size_t kernel) { return !isMine(kernel); });
      if (there && here) kept.push_back(node);
    }
    return kept;
  }

  const std::vector<RecordedFusionGroup>&m_before, &m_after;
  std::vector<std::size_t> m_parent;
  std::vector<std::vector<std::size_t>> m_nodes;  ///< by kernel
  std::unordered_map<std::string, std::size_t> m_mineNames, m_theirNames;
  std::unordered_map<std::size_t, std::vector<std::size_t>> m_kernelsOf;  ///< by node
  std::size_t m_next = 0;
};

}  // namespace

CaptureFindings decompositionFindings(const GraphModule& before, const GraphModule& loweredBefore,
                                      const GraphModule& after, const GraphModule& loweredAfter) {
  const Decompositions mine = decompositionsOf(before, loweredBefore), theirs = decompositionsOf(after, loweredAfter);
  CaptureFindings findings;
  for (const auto& [op, forms] : mine) {
    const auto other = theirs.find(op);
    if (other == theirs.end() || sameForms(forms, other->second)) continue;
    findings.push_back({.kind = CaptureFinding::Kind::Decomposition,
                        .subject = op,
                        .text = fmt::format("became {} and now becomes {}", formsText(forms, other->second),
                                            formsText(other->second, forms)),
                        .before = double(totalOf(forms)),
                        .after = double(totalOf(other->second))});
  }
  return findings;
}

CaptureFindings fusionFindings(const ModuleComparison& comparison, const std::vector<RecordedFusionGroup>& before,
                               const std::vector<RecordedFusionGroup>& after) {
  return KernelClusters(comparison, before, after).findings();
}

}  // namespace kerf::workbench
