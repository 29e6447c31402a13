#include "engine/audit/meaning_claims.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/audit/meaning/changed_inputs.h"
#include "engine/audit/meaning/graph_run.h"
#include "engine/audit/meaning/kernel_texts.h"
#include "engine/audit/meaning/number_difference.h"
#include "engine/audit/meaning/program_run.h"
#include "engine/audit/meaning/redrawn_inputs.h"
#include "engine/audit/meaning/seen_results.h"
#include "engine/audit/meaning/split_fma.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline audit {
namespace {

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

std::string placeText(std::size_t element, const Sizes& sizes) {
  std::vector<std::int64_t> at(sizes.size());
  auto rest = std::int64_t(element);
  for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
  return fmt::format("[{}]", fmt::join(at, ", "));
}

/// What a result or changed input should be, and whether it is.
struct Finding {
  enum class State { Same, Different, Unknown };
  State state = State::Same;
  std::string subject, why, example;
  std::optional<std::size_t> output;  ///< in the graph's list of outputs
  NumberDifference difference;
  const RunMemory* memory = nullptr;
  int line = 0;  ///< of a call whose operands no node has
};

class Comparison {
 public:
  Comparison(const GraphRun& graph, const RunOutcome& run) : m_graph(graph), m_run(run) {}

  std::vector<Finding> findings() {
    if (m_run.mismatchLine > 0) {
      Finding finding;
      finding.state = Finding::State::Different;
      finding.line = m_run.mismatchLine;
      finding.why = m_run.mismatch;
      m_findings.push_back(std::move(finding));
    }
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i)
      compare(fmt::format("result {}", i), m_graph.outputs[i],
              i < m_run.returned.size() ? m_run.returned[i] : RunValue(), i);
    for (std::size_t i = 0; i < m_graph.names.size(); ++i) {
      if (!m_graph.isWritten(i)) continue;
      const auto input = m_run.inputs.find(m_graph.names[i]);
      compare(m_graph.names[i], m_graph.inputsAfter[i], input == m_run.inputs.end() ? RunValue() : input->second, {});
    }
    return std::move(m_findings);
  }

 private:
  std::string whyUnknown() const {
    if (!m_run.problem.empty()) return m_run.problem;
    for (const RunCall& call : m_run.calls)
      if (!call.problem.empty()) return fmt::format("{} in line {} is not run: {}", call.name, call.line, call.problem);
    return "it depends on what is not computed here";
  }

  void compare(const std::string& subject, const Value& wanted, const RunValue& given,
               std::optional<std::size_t> output) {
    if (!wanted.isTensor()) return;
    Finding finding;
    finding.subject = subject;
    finding.output = output;
    fill(finding, wanted.tensor(), given);
    m_findings.push_back(std::move(finding));
  }

  void fill(Finding& finding, const Tensor& wanted, const RunValue& given) const {
    const auto numbers = numbersOf(wanted);
    finding.state = Finding::State::Unknown;
    if (!numbers) {
      finding.why = "values of its type are not compared";
      return;
    }
    finding.why = whyUnknown();
    if (given.kind != RunValue::Kind::Tensor) return;
    const DenseNumbers got = given.tensor.numbers();
    finding.memory = given.tensor.memory.get();
    if (got.sizes != numbers->sizes) {
      finding.state = Finding::State::Different;
      finding.why = fmt::format("{} has sizes ({}), the node ({})", finding.subject, fmt::join(got.sizes, ", "),
                                fmt::join(numbers->sizes, ", "));
      finding.output = std::nullopt;
      return;
    }
    if (!got.isKnown) return;
    const auto difference = firstDifference(got.values, numbers->values, isFloating(numbers->dtype));
    if (!difference) {
      const bool isSure = isSameForSure(got.values, numbers->values, isFloating(numbers->dtype));
      finding.state = isSure ? Finding::State::Same : Finding::State::Unknown;
      finding.why = "it differs by what rounding may explain, and may not";
      return;
    }
    finding.state = Finding::State::Different;
    finding.difference = *difference;
    finding.why = fmt::format("it does not compute what the graph's nodes give: {} differs", finding.subject);
    finding.example =
        fmt::format("element {}: {:.6g}, the nodes give {:.6g}", placeText(difference->element, numbers->sizes),
                    difference->given, difference->wanted);
  }

  const GraphRun& m_graph;
  const RunOutcome& m_run;
  std::vector<Finding> m_findings;
};

/// Which call is to blame: the first whose results no node has, although what it reads is right.
class Blame {
 public:
  explicit Blame(const RunOutcome& run) : m_run(run), m_isGood(run.calls.size(), false) {
    // A call is good whose results are nodes', or go into good calls only.
    std::vector<bool> hasUse(run.calls.size(), false), hasBadUse(run.calls.size(), false);
    for (std::size_t i = run.calls.size(); i-- > 0;) {
      m_isGood[i] = run.calls[i].isNode || (hasUse[i] && !hasBadUse[i]);
      for (const int read : run.calls[i].reads) {
        hasUse[std::size_t(read)] = true;
        if (!m_isGood[i]) hasBadUse[std::size_t(read)] = true;
      }
    }
  }

  /// -1: none.
  int of(const Finding& finding) const {
    if (finding.line > 0) {
      const auto at = std::ranges::find(m_run.calls, finding.line, &RunCall::line);
      if (at == m_run.calls.end()) return -1;
      int first = int(at - m_run.calls.begin());
      for (const int read : at->reads)
        if (const int earlier = firstBad(read); earlier >= 0) first = std::min(first, earlier);
      return first;
    }
    const auto writer = m_run.writers.find(finding.memory);
    if (writer == m_run.writers.end()) return -1;
    const int bad = firstBad(writer->second);
    return bad < 0 ? writer->second : bad;
  }

 private:
  int firstBad(int from) const {
    std::set<int> needed;
    std::vector<int> open{from};
    int first = -1;
    while (!open.empty()) {
      const int call = open.back();
      open.pop_back();
      if (call < 0 || !needed.insert(call).second) continue;
      if (!m_isGood[std::size_t(call)] && (first < 0 || call < first)) first = call;
      for (const int read : m_run.calls[std::size_t(call)].reads) open.push_back(read);
    }
    return first;
  }

  const RunOutcome& m_run;
  std::vector<bool> m_isGood;
};

bool asksForSigns(const GraphModule& graph) {
  return std::ranges::any_of(graph.graph.order(), [&](NodeId id) {
    const std::string& target = graph.graph.node(id).target();
    return target.find("signbit") != std::string::npos || target.find("copysign") != std::string::npos;
  });
}

/// Constants that Inductor writes into its code are not in traces.
bool hasUnknownConstants(const GraphModule& graph) {
  return std::ranges::any_of(graph.graph.order(), [&](NodeId id) {
    const Node& node = graph.graph.node(id);
    const TensorAttribute* const constant = node.op() == Opcode::GetAttr ? graph.attribute(node.target()) : nullptr;
    return constant != nullptr && constant->tensor.numel() <= 8;
  });
}

std::vector<std::string_view> textsOf(const std::map<std::string, ProgramKernel, std::less<>>& kernels) {
  std::vector<std::string_view> texts;
  for (const auto& [name, kernel] : kernels)
    if (kernel.text != nullptr) texts.emplace_back(kernel.text->text);
  return texts;
}

class MeaningClaims {
 public:
  MeaningClaims(const OutputProgram& program, const AuditOptions& options, ClaimList& claims)
      : m_program(program), m_options(options), m_graph(withSplitFma(*options.graph.module)), m_claims(claims) {}

  /// False: stopped.
  bool make() {
    if (hasUnknownConstants(m_graph)) return unknown("constants of its graph are not recorded");
    const auto elements = graphElements(m_graph);
    if (!elements) return unknown("the sizes of its graph are not known");
    if (*elements > m_options.graph.mostElements) return unknown("its graph is too large to be run here");
    auto inputs = m_options.graph.inputs ? m_options.graph.inputs() : Result<ValueList>(ValueList());
    if (!inputs) return unknown("its graph has no inputs: " + inputs.error().message);
    m_inputs = asksForSigns(m_graph) ? withZeros(*inputs) : std::move(*inputs);
    auto problem = run(false);
    std::vector<Finding> ofSigned;
    if (!m_isStopped && problem.empty() && m_nodes.isMostlyNan) {
      ofSigned = Comparison(m_nodes, m_outcome).findings();
      m_isPositive = true;
      m_inputs = positive(m_inputs);
      problem = run(false);
    }
    if (m_isStopped) return false;
    if (!problem.empty()) return unknown(problem);
    std::vector<Finding> findings = Comparison(m_nodes, m_outcome).findings();
    if (hasDifferent(findings)) settleRounding(findings);
    if (m_isPositive) keepSame(findings, ofSigned, {});
    if (!m_isStopped) drawAgain(findings, *elements);
    if (m_isStopped) return false;
    claimSame(findings);
    if (!hasDifferent(findings)) return true;
    const bool isBlamed = run(true).empty() && !m_isStopped;
    if (isBlamed) refuteAll(Comparison(m_nodes, m_outcome).findings(), findings);
    return !m_isStopped;
  }

 private:
  static bool hasDifferent(const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [](const Finding& each) { return each.state == Finding::State::Different; });
  }

  bool unknown(std::string why) {
    m_claims.add(
        {ClaimAbout::Meaning, ClaimVerdict::NotKnown, m_program.call->line, 0, "the program", std::move(why), {}});
    return true;
  }

  bool goesOn() {
    m_isStopped = m_isStopped || (m_options.progress && !m_options.progress(1));
    return !m_isStopped;
  }

  /// Both once; empty, or why not.
  std::string run(bool marks) {
    m_ops = std::make_unique<DrawnOperators>(referenceOps(), drawnKinds(m_program, m_graph));
    auto nodes = runGraph(m_graph, m_inputs, *m_ops, marks, [this] { return goesOn(); });
    if (!nodes) return "its graph cannot be run: " + nodes.error().message;
    m_nodes = std::move(*nodes);
    m_ops->close();
    RunBudget budget{mostLanes};
    RunContext context{m_program, *m_ops, m_graph, {}, {}, {}, budget};
    if (marks) context.isNode = [this](const ValueMark& mark) { return m_nodes.hasNode(mark); };
    for (std::size_t i = 0; i < m_nodes.names.size() && i < m_nodes.inputs.size(); ++i) {
      context.inputs[m_nodes.names[i]] = m_nodes.inputs[i];
      if (m_nodes.isWritten(i)) context.kept.insert(m_nodes.names[i]);
    }
    m_outcome = runProgram(context);
    return {};
  }

  /// What is the nodes' on one draw of inputs may be so by chance: it is known where it is on others, too, and where
  /// they change it. A large graph is run once.
  void drawAgain(std::vector<Finding>& findings, double elements) {
    constexpr double mostDrawnAgain = 4e6;
    constexpr std::chrono::seconds mostTime{60};
    const auto end = std::chrono::steady_clock::now() + mostTime;
    const auto hasTime = [&] { return std::chrono::steady_clock::now() < end; };
    SeenResults seen(m_graph);
    seen.add(m_nodes.outputs);
    const bool isAgain = elements <= mostDrawnAgain;
    const ValueList given = m_inputs;
    RedrawnInputs inputs(m_graph, textsOf(kernelTexts(m_program.module)), given, m_isPositive);
    if (isAgain) inputs.fit([&](const ValueList& values) { return hasTime() && canRun(values); });
    for (int which = 1; isAgain && which < inputs.draws() && goesOn(); ++which) {
      m_inputs = inputs.draw(which);
      const std::string problem = hasTime() ? run(false) : "there is no time to run it on enough inputs";
      if (m_isStopped) break;
      if (problem.empty()) seen.add(m_nodes.outputs);
      keepSame(findings, problem.empty() ? Comparison(m_nodes, m_outcome).findings() : std::vector<Finding>(), problem);
    }
    m_inputs = given;
    keepSeen(findings, seen, isAgain);
    keepDrawn(findings, inputs, isAgain);
  }

  /// What depends on an input that was not drawn again may be right by chance: of which whole numbers a graph takes none
  /// but those given, or one flag or index of a graph that is run once.
  void keepDrawn(std::vector<Finding>& findings, const RedrawnInputs& inputs, bool isAgain) const {
    std::set<NodeId> fixed;
    const auto placeholders = m_graph.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size() && i < m_inputs.size(); ++i)
      if (isAgain ? inputs.isFixed(i) : isSingleChoice(m_inputs[i]) && isComputedWith(placeholders[i]))
        fixed.insert(placeholders[i]);
    if (fixed.empty()) return;
    const SeenResults dependent(m_graph, fixed);
    for (Finding& finding : findings) {
      if (finding.state != Finding::State::Same || (finding.output && !dependent.isDependent(*finding.output)))
        continue;
      finding.state = Finding::State::Unknown;
      finding.why = "an input that it depends on could be drawn once only";
    }
  }

  /// Not only handed to operators whose results are drawn, such as the seed of an attention's dropout.
  bool isComputedWith(NodeId input) const {
    return std::ranges::any_of(m_graph.graph.node(input).users(), [&](NodeId user) {
      const Node& node = m_graph.graph.node(user);
      return node.op() != Opcode::Output && drawnKind(node.target()).empty();
    });
  }

  static bool isSingleChoice(const Value& input) {
    return input.isTensor() && input.tensor().numel() == 1 && !isFloating(input.tensor().dtype());
  }

  bool canRun(const ValueList& values) {
    const DrawnOperators ops(referenceOps(), drawnKinds(m_program, m_graph));
    return runGraph(m_graph, values, ops, false, [this] { return goesOn(); }).has_value();
  }

  /// `there`: what was found on other inputs.
  static void keepSame(std::vector<Finding>& findings, const std::vector<Finding>& there, const std::string& problem) {
    for (Finding& finding : findings) {
      if (finding.state != Finding::State::Same) continue;
      const auto other = std::ranges::find(there, finding.subject, &Finding::subject);
      if (problem.empty() && (other == there.end() || other->state == Finding::State::Same)) continue;
      finding.state = Finding::State::Unknown;
      finding.why = !problem.empty() ? problem
                    : other->state == Finding::State::Different
                        ? "it is what the nodes give on some inputs only: " +
                              (other->example.empty() ? other->why : other->example)
                        : other->why;
    }
    if (!problem.empty()) return;
    // A call whose operands no node has is a finding of its own.
    const auto mismatch = std::ranges::find_if(there, [](const Finding& each) { return each.line > 0; });
    if (mismatch == there.end()) return;
    for (Finding& finding : findings) {
      if (finding.state != Finding::State::Same) continue;
      finding.state = Finding::State::Unknown;
      finding.why = "it is what the nodes give on some inputs only: " + mismatch->why;
    }
  }

  static void keepSeen(std::vector<Finding>& findings, const SeenResults& seen, bool isAgain) {
    for (Finding& finding : findings) {
      if (finding.state != Finding::State::Same || !finding.output) continue;
      std::string why = seen.whyNotTold(*finding.output, isAgain);
      if (why.empty()) continue;
      finding.state = Finding::State::Unknown;
      finding.why = std::move(why);
    }
  }

  /// What another rounding would change is not known.
  void settleRounding(std::vector<Finding>& findings) {
    for (int which = 0; which < 4 && goesOn() && hasDifferent(findings); ++which) {
      const auto other = runGraph(m_graph, perturbed(m_inputs, which), *m_ops, false, [this] { return goesOn(); });
      for (Finding& finding : findings) {
        if (finding.state != Finding::State::Different || (other && isStable(finding, *other))) continue;
        finding.state = Finding::State::Unknown;
        finding.why = "rounding decides what it is";
      }
    }
  }

  static bool isStable(const Finding& finding, const GraphRun& other) {
    if (!finding.output) return true;
    const auto numbers = numbersOf(other.outputs[*finding.output].tensor());
    const NumberDifference& apart = finding.difference;
    if (!numbers || apart.element >= numbers->values.size()) return false;
    const double there = numbers->values[apart.element];
    const double moved = std::abs(there - apart.wanted), missed = std::abs(apart.given - apart.wanted);
    return there == apart.wanted || (std::isnan(there) && std::isnan(apart.wanted)) || moved < 0.1 * missed ||
           (std::isfinite(there) && std::isfinite(apart.wanted) && !std::isfinite(missed));
  }

  /// One claim for all that is not known for the same reason.
  void claimSame(const std::vector<Finding>& findings) {
    std::map<std::string, std::vector<std::string>> reasons;
    for (const Finding& finding : findings) {
      if (finding.state == Finding::State::Same) m_claims.proved(ClaimAbout::Meaning);
      if (finding.state == Finding::State::Unknown) reasons[finding.why].push_back(finding.subject);
    }
    for (auto& [why, subjects] : reasons) {
      const std::size_t count = subjects.size();
      if (count > 4) subjects.resize(4);
      m_claims.add(
          {ClaimAbout::Meaning,
           ClaimVerdict::NotKnown,
           m_outcome.line,
           0,
           fmt::format("{}{}", fmt::join(subjects, ", "), count > 4 ? fmt::format(" and {} more", count - 4) : ""),
           why,
           {}});
    }
  }

  void refuteAll(const std::vector<Finding>& marked, const std::vector<Finding>& settled) {
    const Blame blame(m_outcome);
    for (std::size_t i = 0; i < marked.size() && i < settled.size(); ++i) {
      if (settled[i].state != Finding::State::Different || marked[i].state != Finding::State::Different) continue;
      const Finding& finding = marked[i];
      const int call = blame.of(finding);
      const int end = finding.line > 0 ? finding.line : m_outcome.line;
      AuditClaim claim;
      claim.about = ClaimAbout::Meaning;
      claim.verdict = ClaimVerdict::Refuted;
      claim.line = call < 0 ? end : m_outcome.calls[std::size_t(call)].line;
      claim.otherLine = claim.line == end ? 0 : end;
      claim.subject = call < 0 ? finding.subject : m_outcome.calls[std::size_t(call)].name;
      claim.reason = finding.why;
      claim.example = finding.example;
      m_claims.add(std::move(claim));
    }
  }

  const OutputProgram& m_program;
  const AuditOptions& m_options;
  const GraphModule m_graph;
  ClaimList& m_claims;
  std::unique_ptr<DrawnOperators> m_ops;
  ValueList m_inputs;
  GraphRun m_nodes;
  RunOutcome m_outcome;
  bool m_isStopped = false, m_isPositive = false;
};

}  // namespace

bool claimMeaning(const OutputProgram& program, const AuditOptions& options, ClaimList& claims) {
  return MeaningClaims(program, options, claims).make();
}

}  // namespace kerf::inline audit
