// Inputs that are otherwise, and what is saved for the backward graph.
#include <algorithm>
#include <optional>

#include <fmt/ranges.h>

#include "app/workbench/stages/capture_findings.h"
#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

/// Sizes that are numbers may have no text.
bool isNumber(const Dim& size) { return size.text.find_first_not_of("-0123456789") == std::string::npos; }

std::string sizeText(const Dim& size) {
  return size.text.empty() && size.hint ? std::to_string(*size.hint) : size.text;
}

/// "size 0 is symbolic now (8 → s77)", and the like of each size whose kind is another.
std::vector<std::string> sizeChanges(const TensorMeta& before, const TensorMeta& after) {
  std::vector<std::string> changes;
  if (before.sizes.size() != after.sizes.size()) return changes;
  for (std::size_t i = 0; i < before.sizes.size(); ++i) {
    const bool was = !isNumber(before.sizes[i]), is = !isNumber(after.sizes[i]);
    if (was != is)
      changes.push_back(fmt::format("size {} is {} now ({} → {})", i, is ? "symbolic" : "a number",
                                    sizeText(before.sizes[i]), sizeText(after.sizes[i])));
  }
  return changes;
}

const GraphDiff* wholeDiff(const ModuleComparison& comparison) {
  const auto whole = std::ranges::find(comparison.diffs, std::string(), [](const auto& entry) { return entry.first; });
  return whole == comparison.diffs.end() ? nullptr : &whole->second;
}

std::optional<CaptureFinding> changedInput(const Node& before, const Node& after) {
  CaptureFinding finding{.kind = CaptureFinding::Kind::Input, .subject = after.name()};
  const TensorMeta *mine = before.meta().value.tensor(), *theirs = after.meta().value.tensor();
  if (mine != nullptr && theirs != nullptr) {
    const auto sizes = sizeChanges(*mine, *theirs);
    finding.after = double(sizes.size());
    if (!sizes.empty()) finding.text = fmt::format("{}", fmt::join(sizes, ", "));
  }
  const std::string was = printAnnotation(before.meta(), true, true), is = printAnnotation(after.meta(), true, true);
  // A symbol of another number is none of a difference to look at.
  if (finding.text.empty() && was != is && !was.empty() && !is.empty() && (mine == nullptr) == (theirs == nullptr))
    if (mine == nullptr || mine->dtype != theirs->dtype || mine->device != theirs->device ||
        mine->sizes.size() != theirs->sizes.size() || std::ranges::all_of(mine->sizes, isNumber))
      finding.text = fmt::format("{} → {}", was, is);
  if (finding.text.empty() && (mine == nullptr) != (theirs == nullptr)) finding.text = fmt::format("{} → {}", was, is);
  return finding.text.empty() ? std::nullopt : std::optional(std::move(finding));
}

std::optional<double> bytesOfSaved(const ValueMeta& value) {
  const TensorMeta* tensor = value.tensor();
  if (tensor == nullptr) return 0.0;  // a size
  double bytes = double(itemSize(tensor->dtype));
  for (const Dim& size : tensor->sizes) {
    if (!size.hint || *size.hint < 0) return std::nullopt;
    bytes *= double(*size.hint);
  }
  return bytes;
}

struct SavedTotal {
  std::size_t count = 0;
  double bytes = 0;
  bool known = true;  ///< every size has a number
};

bool isGradientInput(const Node& node) { return node.name().starts_with("tangents"); }

SavedTotal savedIn(const Graph& backward) {
  SavedTotal total;
  for (const NodeId id : backward.placeholders()) {
    const Node& node = backward.node(id);
    if (isGradientInput(node)) continue;
    ++total.count;
    const auto bytes = bytesOfSaved(node.meta().value);
    total.bytes += bytes.value_or(0);
    total.known &= bytes.has_value();
  }
  return total;
}

std::string bytesText(const SavedTotal& total) {
  return fmt::format("{}{:.4g} MB in {} values", total.known ? "" : "at least ", total.bytes / 1e6, total.count);
}

}  // namespace

CaptureFindings inputFindings(const ModuleComparison& comparison) {
  CaptureFindings findings;
  const GraphDiff* diff = wholeDiff(comparison);
  if (diff == nullptr) return findings;
  const Graph &before = comparison.before.graph, &after = comparison.after.graph;
  for (const NodeDelta& delta : diff->nodes) {
    if (!delta.before.valid() || !delta.after.valid() || delta.rewritten()) continue;
    const Node &mine = before.node(delta.before), &theirs = after.node(delta.after);
    if (mine.op() != Opcode::Placeholder || theirs.op() != Opcode::Placeholder) continue;
    if (auto finding = changedInput(mine, theirs)) findings.push_back(std::move(*finding));
  }
  return findings;
}

CaptureFindings savedFindings(const ModuleComparison& comparison) {
  const Graph &before = comparison.before.graph, &after = comparison.after.graph;
  const SavedTotal mine = savedIn(before), theirs = savedIn(after);
  const GraphDiff* diff = wholeDiff(comparison);
  if (diff == nullptr) return {};
  CaptureFinding finding{.kind = CaptureFinding::Kind::Saved};
  const auto note = [&](const Graph& graph, NodeId id, std::string_view what) {
    const Node& node = graph.node(id);
    if (node.op() != Opcode::Placeholder || isGradientInput(node)) return;
    finding.because.push_back(fmt::format("{} {}: {}", what, node.name(), printAnnotation(node.meta(), false, false)));
  };
  for (const NodeDelta& delta : diff->nodes) {
    const bool both = delta.before.valid() && delta.after.valid() && !delta.rewritten() && !delta.given;
    if (both) continue;
    if (delta.after.valid()) note(after, delta.after, "now saved");
    if (delta.before.valid()) note(before, delta.before, "saved no more");
  }
  if (finding.because.empty() && mine.count == theirs.count && mine.bytes == theirs.bytes) return {};
  finding.text = fmt::format("{} → {}", bytesText(mine), bytesText(theirs));
  finding.before = mine.bytes;
  finding.after = theirs.bytes;
  limitCauses(finding);
  return {std::move(finding)};
}

}  // namespace kerf::workbench
