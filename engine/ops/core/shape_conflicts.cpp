#include "engine/ops/core/shape_conflicts.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ir/printer.h"

namespace kerf::inline ops {
namespace {

bool isKnownNumber(const Dim& dim) { return dim.text.empty() && dim.hint.has_value(); }

bool dimsDiffer(const Dim& a, const Dim& b) { return isKnownNumber(a) && isKnownNumber(b) && *a.hint != *b.hint; }

bool stridesDiffer(const TensorMeta& recorded, const TensorMeta& derived) {
  const std::size_t rank = recorded.sizes.size();
  if (recorded.strides.size() != rank || derived.strides.size() != rank) return false;
  const auto isEmpty = [](const Dim& size) { return isKnownNumber(size) && *size.hint == 0; };
  if (std::ranges::any_of(recorded.sizes, isEmpty)) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim& size = recorded.sizes[i];
    const bool counts = !isKnownNumber(size) || *size.hint > 1;
    if (counts && dimsDiffer(recorded.strides[i], derived.strides[i])) return true;
  }
  return false;
}

std::optional<std::string> contradictionOf(const TensorMeta& recorded, const TensorMeta& derived) {
  if (recorded.dtype != derived.dtype) return "dtype";
  if (recorded.sizes.size() != derived.sizes.size() ||
      !std::ranges::equal(recorded.sizes, derived.sizes, [](const Dim& a, const Dim& b) { return !dimsDiffer(a, b); }))
    return "shape";
  return stridesDiffer(recorded, derived) ? std::optional<std::string>("stride") : std::nullopt;
}

std::string recordedTextOf(const ValueMeta& meta) {
  if (const auto* list = meta.list()) {
    std::string text;
    for (const ValueMeta& item : *list) text += (text.empty() ? "" : ", ") + recordedTextOf(item);
    return "(" + text + ")";
  }
  NodeMeta node;
  node.value = meta;
  const std::string text = printAnnotation(node, true, false);
  return text.empty() ? "?" : text;
}

}  // namespace

std::optional<std::string> contradictionOf(const ValueMeta& recorded, const ValueMeta& derived) {
  const auto *list = recorded.list(), *other = derived.list();
  if (list != nullptr && other != nullptr) {
    for (std::size_t i = 0; i < std::min(list->size(), other->size()); ++i)
      if (auto what = contradictionOf((*list)[i], (*other)[i])) return what;
    return std::nullopt;
  }
  const TensorMeta *tensor = recorded.tensor(), *made = derived.tensor();
  return tensor != nullptr && made != nullptr ? contradictionOf(*tensor, *made) : std::nullopt;
}

std::string ShapeConflict::recordedText() const { return recordedTextOf(recorded); }
std::string ShapeConflict::derivedText() const { return recordedTextOf(derived); }
std::string ShapeConflict::text() const {
  return fmt::format("{}: recorded {}, {} gives {} ({})", node, recordedText(), op, derivedText(), what);
}

void restoreRecorded(const std::vector<ShapeConflict>& conflicts, Graph& graph) {
  for (const ShapeConflict& conflict : conflicts)
    if (const auto id = graph.find(conflict.node)) graph.setValueMeta(*id, conflict.recorded);
}

std::vector<std::string> conflictNotes(const std::vector<ShapeConflict>& conflicts, std::size_t most) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < std::min(most, conflicts.size()); ++i) notes.push_back(conflicts[i].text());
  if (conflicts.size() > most)
    notes.push_back(
        fmt::format("{} more nodes were recorded with another value than their op gives", conflicts.size() - most));
  return notes;
}

}  // namespace kerf::inline ops
