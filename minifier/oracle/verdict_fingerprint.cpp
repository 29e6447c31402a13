// Fingerprints: phases and classes of errors, and the kind of an accuracy failure.
#include "minifier/oracle/verdict_fingerprint.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/capture/common/fusion_pattern.h"
#include "minifier/core/accuracy_identity.h"
#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline oracle {

namespace {

enum class Difference { None, Magnitude, Inf, Nan, Shape, DType };
constexpr std::array<std::string_view, 6> DifferenceNames{"", "magnitude", "inf", "nan", "shape", "dtype"};

/// How same() begins to say that shapes and types fit and values do not.
constexpr std::array<std::string_view, 4> ValueReasons{"RMSE", "Accuracy failed", "IoU", "Similarity"};

Difference differenceOf(const OutputVerdict& output) {
  if (output.same) return Difference::None;
  if (output.reason.starts_with("dtype mismatch")) return Difference::DType;
  const auto begins = [&](std::string_view start) { return output.reason.starts_with(start); };
  if (!output.reason.empty() && std::ranges::none_of(ValueReasons, begins)) return Difference::Shape;
  if (output.nanRes != output.nanRef) return Difference::Nan;
  return output.infRes != output.infRef ? Difference::Inf : Difference::Magnitude;
}

/// What the graph returns as "out2" or "out2.1".
const Node* returnedAs(const Graph& graph, std::string_view name) {
  constexpr std::string_view prefix = "out";
  if (!name.starts_with(prefix) || !graph.outputNode().valid()) return nullptr;
  const ArgumentList args = graph.node(graph.outputNode()).args();
  const Argument* at = args.empty() ? nullptr : &args[0];
  for (name.remove_prefix(prefix.size()); at != nullptr && at->asList() != nullptr && !name.empty();) {
    std::size_t index = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (problem != std::errc() || index >= at->asList()->items.size()) return nullptr;
    at = &at->asList()->items[index];
    name.remove_prefix(std::size_t(end - name.data()));
    if (name.starts_with('.')) name.remove_prefix(1);
  }
  const NodeId* id = at == nullptr ? nullptr : at->as<NodeId>();
  return id == nullptr ? nullptr : &graph.node(*id);
}

/// The call that computed what `node` returns: behind items of its results, views of them and copies in other dtypes or
/// layouts, which are never what is wrong. `node` itself where there is no call behind them.
const Node& producerBehind(const Graph& graph, const Node& node) {
  constexpr std::string_view copies[] = {"torch.ops.aten.clone.default", "torch.ops.aten._to_copy.default",
                                         "torch.ops.prims.convert_element_type.default", "operator.getitem",
                                         "_operator.getitem"};
  const auto passesOn = [&](const Node& at) {
    return isCallNode(at) && !at.inputs().empty() &&
           (isViewCall(at) || std::ranges::find(copies, at.target()) != std::end(copies));
  };
  const Node* at = &node;
  while (passesOn(*at)) at = &graph.node(at->inputs().front());
  return isCallNode(*at) ? *at : node;
}

/// " of torch.ops.aten.relu.default (float32)".
std::string makerOf(const OutputVerdict& output, const Graph& graph) {
  const Node* node = returnedAs(graph, output.name);
  if (node == nullptr) return {};
  const TensorMeta* tensor = node->meta().value.tensor();
  return fmt::format(" of {}{}", node->target(),
                     tensor ? fmt::format(" ({})", dtypeInfo(tensor->dtype).torchName) : "");
}

/// " (10^3)" of 1234.
std::string powerOf(double ratio) {
  const auto decade = decadeOf(ratio);
  return decade ? fmt::format(" (10^{})", *decade) : std::string();
}

/// The worst of those results of a kind that differ most gravely, the first of equals; null: none differs.
const OutputVerdict* gravest(const ComparisonReport& report, ResultKind kind) {
  const auto badness = [](const OutputVerdict& output) { return std::pair(differenceOf(output), output.ratioToLimit); };
  const OutputVerdict* worst = nullptr;
  for (const OutputVerdict& output : report.outputs) {
    if (output.kind != kind || differenceOf(output) == Difference::None) continue;
    if (worst == nullptr || badness(*worst) < badness(output)) worst = &output;
  }
  return worst;
}

std::string kindName(ResultKind kind, Difference difference) {
  if (kind == ResultKind::Alias || kind == ResultKind::Strides) return std::string(resultKindName(kind));
  return fmt::format("{}{}", kind == ResultKind::Mutation ? "mutation:" : "", DifferenceNames[std::size_t(difference)]);
}

/// NaN equals NaN, so a graph that drowns in it passes: worth saying.
std::string sameDetail(const ComparisonReport& report) {
  std::int64_t nans = 0;
  for (const OutputVerdict& output : report.outputs) nans += output.nanRef;
  if (nans == 0) return "all outputs are the same";
  return fmt::format("all outputs are the same, but {} elements are NaN on both sides and may hide a difference", nans);
}

}  // namespace

std::string errorFingerprint(std::string_view phase, const Error& error) {
  return fmt::format("{}:{}:{}", phase, errorCodeName(error.code), maskedMessage(error.message));
}

std::string accuracyFingerprint(const ComparisonReport& report, const Graph& graph) {
  AccuracyIdentity identity;
  for (const ResultKind kind : {ResultKind::Output, ResultKind::Mutation, ResultKind::Alias, ResultKind::Strides}) {
    const OutputVerdict* worst = gravest(report, kind);
    if (worst == nullptr) continue;
    const Difference difference = differenceOf(*worst);
    identity.kind = kindName(kind, difference);
    if (const Node* node = returnedAs(graph, worst->name); node && isCallNode(*node))
      identity.op = opName(producerBehind(graph, *node).target());
    if (difference == Difference::Magnitude) identity.decade = decadeOf(worst->ratioToLimit);
    return identity.text();
  }
  return report.same ? std::string() : "accuracy:shape";
}

std::string accuracyDetail(const ComparisonReport& report, const Graph& graph) {
  const OutputVerdict* worst = nullptr;
  for (const OutputVerdict& output : report.outputs) {
    if (!output.same && (!worst || output.ratioToLimit > worst->ratioToLimit)) worst = &output;
  }
  if (!worst && report.same) return sameDetail(report);
  if (!worst) return "the outputs differ in number";
  return fmt::format("{}{}: max error {:.3g}, {:.3g} times the limit{}; {}", worst->name, makerOf(*worst, graph),
                     worst->maxAbsError, worst->ratioToLimit, powerOf(worst->ratioToLimit), worst->reason);
}

}  // namespace kerf::inline minifier::inline oracle
