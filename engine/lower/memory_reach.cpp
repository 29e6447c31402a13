#include "engine/lower/memory_reach.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline lower {
namespace {

/// Calls that look at a storage, or give a tensor another one.
constexpr std::string_view storageOps[] = {"aten::as_strided", "aten::as_strided_", "aten::set_", "aten::resize_",
                                           "aten::resize_as_"};

/// The place after the last element; none where sizes are expressions.
std::optional<std::int64_t> endOf(const SymSizes& sizes, const SymSizes& strides, SymInt offset) {
  if (sizes.isSymbolic() || strides.isSymbolic() || offset.isSymbolic()) return std::nullopt;
  std::int64_t last = offset.bits();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].bits() == 0) return 0;
    last += (sizes[d].bits() - 1) * strides[d].bits();
  }
  return last + 1;
}

bool isWithin(const BufferView& view, const BufferInfo& buffer) {
  const auto own = endOf(view.sizes, view.strides, view.offset), all = endOf(buffer.sizes, buffer.strides, 0);
  return own && all && *own <= *all && view.offset.bits() >= 0;
}

}  // namespace

bool staysWithinBuffers(const ValueTable& values, const BufferTable& buffers) {
  return std::ranges::all_of(values.graph().order(), [&](NodeId id) {
    const ValueInfo& info = values[id];
    const Node& node = values.graph().node(id);
    const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
    if (op == nullptr || std::ranges::find(storageOps, op->schema.name) == std::end(storageOps)) return true;
    const BufferView* view = info.kind == ValueKind::View ? buffers.view(id) : nullptr;
    return view != nullptr && isWithin(*view, buffers.buffers()[std::size_t(view->buffer)]);
  });
}

}  // namespace kerf::inline lower
