#include "engine/audit/meaning_claims.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/audit/meaning/graph_run.h"
#include "engine/audit/meaning/program_run.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline audit {
namespace {

constexpr double mostGraphElements = 6e8;
constexpr std::int64_t mostLanes = std::int64_t(6) << 30;

using KindCounts = std::map<std::string, int, std::less<>>;

void countCalls(const SyntaxNode& node, KindCounts& counts) {
  if (node.is(SyntaxKind::Call)) {
    std::string callee = node.callee();
    if (constexpr std::string_view kernels = "extern_kernels."; callee.starts_with(kernels))
      callee = "aten." + callee.substr(kernels.size()) + ".default";
    if (const std::string kind = drawnKind(callee); !kind.empty()) ++counts[kind];
  }
  for (const SyntaxNode& each : node.items) countCalls(each, counts);
}

/// Operators that the program calls as often as the graph does: what they give may be drawn.
std::set<std::string, std::less<>> drawnKinds(const OutputProgram& program, const GraphModule& graph) {
  KindCounts called, nodes;
  countCalls(*program.call, called);
  for (const NodeId id : graph.graph.order())
    if (const std::string kind = drawnKind(graph.graph.node(id).target()); !kind.empty()) ++nodes[kind];
  std::set<std::string, std::less<>> kinds;
  for (const auto& [kind, count] : nodes)
    if (called[kind] == count) kinds.insert(kind);
  return kinds;
}

/// Where all would be NaN, nothing would be compared: all positive then.
ValueList positive(const ValueList& inputs) {
  ValueList made;
  for (const Value& input : inputs) {
    made.push_back(input);
    if (!input.isTensor() || !isFloating(input.tensor().dtype())) continue;
    auto numbers = numbersOf(input.tensor());
    if (!numbers) continue;
    for (double& each : numbers->values) each = std::isfinite(each) ? std::abs(each) + 0.05 : 1;
    auto tensor = tensorOf(*numbers);
    if (!tensor) continue;
    made.back() = Value(std::move(*tensor));
  }
  return made;
}

struct Difference {
  std::size_t element = 0;
  double given = 0, wanted = 0;
};

std::optional<Difference> firstDifference(const std::vector<double>& given, const std::vector<double>& wanted,
                                          bool isFloat) {
  double scale = 0;
  std::size_t counted = 0;
  for (const double each : wanted)
    if (std::isfinite(each) && std::abs(each) < 1e12) {
      scale += std::abs(each);
      ++counted;
    }
  scale = counted == 0 ? 0 : scale / double(counted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = given[i], b = wanted[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double slack = isFloat ? 1e-5 * (std::abs(a) + std::abs(b) + scale) : 0;
    if (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= slack) continue;
    return Difference{i, a, b};
  }
  return std::nullopt;
}

std::string placeText(std::size_t element, const Sizes& sizes) {
  std::vector<std::int64_t> at(sizes.size());
  auto rest = std::int64_t(element);
  for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
  return fmt::format("[{}]", fmt::join(at, ", "));
}

class Comparison {
 public:
  Comparison(const GraphRun& graph, const RunOutcome& run, ClaimList& claims) : m_graph(graph), m_run(run), m_claims(claims) {}

  void compare() {
    findGood();
    if (m_run.mismatchLine > 0) mismatch();
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i)
      compare(fmt::format("result {}", i), m_graph.outputs[i], i < m_run.returned.size() ? m_run.returned[i] : RunValue());
    for (std::size_t i = 0; i < m_graph.names.size(); ++i) {
      if (!isChanged(i)) continue;
      const auto input = m_run.inputs.find(m_graph.names[i]);
      compare(m_graph.names[i], m_graph.inputsAfter[i], input == m_run.inputs.end() ? RunValue() : input->second);
    }
  }

 private:
  bool isChanged(std::size_t input) const {
    const Value& before = m_graph.inputs[input];
    const Value& after = m_graph.inputsAfter[input];
    if (!before.isTensor() || !after.isTensor()) return false;
    const auto a = numbersOf(before.tensor()), b = numbersOf(after.tensor());
    return a && b && (a->sizes != b->sizes || firstDifference(a->values, b->values, true).has_value());
  }

  /// A call is good whose results are nodes', or go into good calls only.
  void findGood() {
    const std::size_t count = m_run.calls.size();
    m_isGood.assign(count, false);
    std::vector<bool> hasUse(count, false), hasBadUse(count, false);
    for (std::size_t i = count; i-- > 0;) {
      const RunCall& call = m_run.calls[i];
      m_isGood[i] = call.isNode || (hasUse[i] && !hasBadUse[i]);
      for (const int read : call.reads) {
        hasUse[std::size_t(read)] = true;
        if (!m_isGood[i]) hasBadUse[std::size_t(read)] = true;
      }
    }
  }

  /// The first call that `from` needs and that is not good.
  int blamed(int from) const {
    std::set<int> needed;
    std::vector<int> open{from};
    int first = m_isGood[std::size_t(from)] ? -1 : from;
    while (!open.empty()) {
      const int call = open.back();
      open.pop_back();
      if (call < 0 || !needed.insert(call).second) continue;
      if (!m_isGood[std::size_t(call)] && (first < 0 || call < first)) first = call;
      for (const int read : m_run.calls[std::size_t(call)].reads) open.push_back(read);
    }
    return first;
  }

  void mismatch() {
    const auto at = std::ranges::find(m_run.calls, m_run.mismatchLine, &RunCall::line);
    int cause = int(at - m_run.calls.begin());
    for (const int read : at->reads)
      if (const int earlier = blamed(read); earlier >= 0) cause = std::min(cause, earlier);
    refute(cause, m_run.mismatchLine, at->name, fmt::format("no node takes what {} is given", at->name), {});
  }

  void refute(int call, int otherLine, const std::string& subject, std::string reason, std::string example) {
    AuditClaim claim;
    claim.about = ClaimAbout::Meaning;
    claim.verdict = ClaimVerdict::Refuted;
    claim.line = call < 0 ? otherLine : m_run.calls[std::size_t(call)].line;
    claim.otherLine = claim.line == otherLine ? 0 : otherLine;
    claim.subject = call < 0 ? subject : m_run.calls[std::size_t(call)].name;
    claim.reason = std::move(reason);
    claim.example = std::move(example);
    m_claims.add(std::move(claim));
  }

  void unknown(const std::string& subject, std::string why) {
    m_claims.add({ClaimAbout::Meaning, ClaimVerdict::NotKnown, m_run.line, 0, subject, std::move(why), {}});
  }

  std::string whyUnknown() const {
    if (!m_run.problem.empty()) return m_run.problem;
    for (const RunCall& call : m_run.calls)
      if (!call.problem.empty()) return fmt::format("{} in line {} is not run: {}", call.name, call.line, call.problem);
    return "it depends on what is not computed here";
  }

  void compare(const std::string& subject, const Value& wanted, const RunValue& given) {
    if (!wanted.isTensor()) return;
    const auto numbers = numbersOf(wanted.tensor());
    if (!numbers) return unknown(subject, "values of its type are not compared");
    if (given.kind != RunValue::Kind::Tensor) return unknown(subject, whyUnknown());
    const DenseNumbers got = given.tensor.numbers();
    const auto writer = m_run.writers.find(given.tensor.memory.get());
    const int call = writer == m_run.writers.end() ? -1 : writer->second;
    if (got.sizes != numbers->sizes)
      return refute(-1, m_run.line, subject,
                    fmt::format("it has sizes ({}), the node ({})", fmt::join(got.sizes, ", "), fmt::join(numbers->sizes, ", ")), {});
    if (!got.isKnown) return unknown(subject, whyUnknown());
    const auto difference = firstDifference(got.values, numbers->values, isFloating(numbers->dtype));
    if (!difference) return m_claims.proved(ClaimAbout::Meaning);
    refute(call < 0 ? -1 : blamed(call), m_run.line, subject,
           fmt::format("it does not compute what the graph's nodes give: {} differs", subject),
           fmt::format("element {}: {:.6g}, the nodes give {:.6g}", placeText(difference->element, numbers->sizes),
                       difference->given, difference->wanted));
  }

  const GraphRun& m_graph;
  const RunOutcome& m_run;
  ClaimList& m_claims;
  std::vector<bool> m_isGood;
};

}  // namespace

bool claimMeaning(const OutputProgram& program, const AuditOptions& options, ClaimList& claims) {
  const GraphModule& graph = *options.graph.module;
  const auto unknown = [&](std::string why) {
    claims.add({ClaimAbout::Meaning, ClaimVerdict::NotKnown, program.call->line, 0, "the program", std::move(why), {}});
    return true;
  };
  const auto elements = graphElements(graph);
  if (!elements || *elements > mostGraphElements) return unknown("its graph is too large to be run here");
  bool isStopped = false;
  const auto goesOn = [&] {
    isStopped = isStopped || (options.progress && !options.progress(1));
    return !isStopped;
  };
  ValueList inputs = options.graph.inputs;
  for (int attempt = 0;; ++attempt) {
    DrawnOperators ops(referenceOps(), drawnKinds(program, graph));
    auto nodes = runGraph(graph, inputs, ops, goesOn);
    if (isStopped) return false;
    if (!nodes) return unknown("its graph cannot be run: " + nodes.error().message);
    if (nodes->isMostlyNan && attempt == 0) {
      inputs = positive(inputs);
      continue;
    }
    ops.close();
    RunBudget budget{mostLanes};
    RunContext context{program, ops, graph, {}, [&](const ValueMark& mark) { return nodes->hasNode(mark); }, budget};
    for (std::size_t i = 0; i < nodes->names.size() && i < nodes->inputs.size(); ++i)
      context.inputs[nodes->names[i]] = nodes->inputs[i];
    Comparison(*nodes, runProgram(context), claims).compare();
    return goesOn();
  }
}

}  // namespace kerf::inline audit
