// AccuracyIdentity: the parts of a fingerprint, and the ops on the way to a wrong result.
#include "minifier/core/accuracy_identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/ops/core/purity.h"
#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

namespace {

constexpr std::string_view prefix = "accuracy:", mutation = "mutation:", power = "10^";
constexpr std::array<std::string_view, 7> kinds{"magnitude", "nan", "inf", "shape", "dtype", "alias", "strides"};

/// The part before the next colon, which goes with it.
std::string_view takePart(std::string_view& text) {
  const std::size_t colon = text.find(':');
  const std::string_view part = text.substr(0, colon);
  text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  return part;
}

std::optional<int> numberOf(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isWhole = problem == std::errc() && end == text.data() + text.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

/// The nodes from which `wrong` come, they among them. Calls that write into memory are, too: what they leave is read
/// without an edge from them.
std::unordered_set<NodeId> wayTo(const Graph& graph, std::vector<NodeId> wrong) {
  for (const NodeId id : graph.order())
    if (isCallNode(graph.node(id)) && purityOf(graph.node(id)) != Purity::Pure) wrong.push_back(id);
  std::unordered_set<NodeId> way(wrong.begin(), wrong.end());
  while (!wrong.empty()) {
    const NodeId id = wrong.back();
    wrong.pop_back();
    for (const NodeId input : graph.node(id).inputs())
      if (way.insert(input).second) wrong.push_back(input);
  }
  return way;
}

using Names = std::set<std::string, std::less<>>;

/// The call's op, and those of graphs that it is given.
void addOps(const GraphModule& module, const Node& call, Names& names, int depth = 0) {
  constexpr int deepest = 64;
  names.emplace(opName(call.target()));
  if (depth == deepest) return;
  for (const NestedGraph& nested : nestedGraphs(module, call))
    for (const NodeId id : callNodes(nested.graph->graph))
      addOps(*nested.graph, nested.graph->graph.node(id), names, depth + 1);
}

}  // namespace

std::optional<AccuracyIdentity> AccuracyIdentity::parse(std::string_view fingerprint) {
  if (!fingerprint.starts_with(prefix)) return std::nullopt;
  fingerprint.remove_prefix(prefix.size());
  AccuracyIdentity identity;
  if (fingerprint.starts_with(mutation)) {
    identity.kind = mutation;
    fingerprint.remove_prefix(mutation.size());
  }
  const std::string_view kind = takePart(fingerprint);
  if (std::ranges::find(kinds, kind) == kinds.end()) return std::nullopt;
  identity.kind += kind;
  while (!fingerprint.empty()) {
    const std::string_view part = takePart(fingerprint);
    if (part.starts_with(power))
      identity.decade = numberOf(part.substr(power.size()));
    else
      identity.op = part;
  }
  return identity;
}

std::string AccuracyIdentity::text() const {
  std::string text = fmt::format("{}{}", prefix, kind);
  if (!op.empty()) text += ":" + op;
  if (decade) text += fmt::format(":{}{}", power, *decade);
  return text;
}

std::string failureName(std::string_view fingerprint) {
  auto identity = AccuracyIdentity::parse(fingerprint);
  if (!identity) return std::string(fingerprint);
  identity->decade.reset();
  return identity->text();
}

std::string failureKind(std::string_view fingerprint) {
  const auto identity = AccuracyIdentity::parse(fingerprint);
  return identity ? AccuracyIdentity{identity->kind, {}, {}}.text() : std::string(fingerprint);
}

std::optional<int> decadeOf(double ratio) {
  if (!std::isfinite(ratio) || ratio <= 0) return std::nullopt;
  constexpr double rounding = 2.18e-4;  // of 9995, which three digits show as 1e+04
  return int(std::floor(std::log10(ratio) + rounding));
}

std::string_view opName(std::string_view target) {
  constexpr std::string_view namespaces = "torch.ops.";
  if (target.starts_with(namespaces)) target.remove_prefix(namespaces.size());
  return target;
}

WantedFailure wantedIn(const GraphModule& module, std::string fingerprint, std::optional<int> first) {
  WantedFailure wanted{std::move(fingerprint), {}, first};
  const auto identity = AccuracyIdentity::parse(wanted.fingerprint);
  if (!identity || identity->op.empty()) return wanted;
  const Graph& graph = module.graph;
  const std::vector<NodeId> calls = callNodes(graph);
  std::vector<NodeId> wrong;
  std::ranges::copy_if(calls, std::back_inserter(wrong),
                       [&](NodeId id) { return opName(graph.node(id).target()) == identity->op; });
  const auto way = wayTo(graph, std::move(wrong));
  Names onTheWay, all;
  for (const NodeId id : calls) {
    addOps(module, graph.node(id), all);
    if (way.contains(id)) addOps(module, graph.node(id), onTheWay);
  }
  std::ranges::set_difference(all, onTheWay, std::inserter(wanted.elsewhere, wanted.elsewhere.end()));
  return wanted;
}

bool isSameWrongValue(const AccuracyIdentity& found, const WantedFailure& wanted) {
  const auto before = AccuracyIdentity::parse(wanted.fingerprint);
  if (!before || before->kind != found.kind) return false;
  if (found.op.empty() || found.op == before->op) return true;
  const bool isElsewhere = wanted.elsewhere.contains(found.op);
  if (!found.decade || !before->decade) return !isElsewhere;
  const bool isAsWrong = std::abs(*found.decade - *before->decade) <= mostAway;
  return *found.decade >= wanted.first.value_or(*before->decade) - mostFall && (!isElsewhere || isAsWrong);
}

}  // namespace kerf::inline minifier::inline core
