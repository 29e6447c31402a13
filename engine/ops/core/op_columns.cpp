#include "engine/ops/core/op_columns.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

using enum ColumnSource;

constexpr OpTrait traitFlops = OpTrait::Pointwise | OpTrait::Reduction | OpTrait::View;

ColumnSource ownOrProgram(const OpInfo& op, bool own) { return op.composite ? Program : own ? Own : Missing; }

/// Columns that functionalization or the base row give to other forms of an op.
ColumnSource throughBase(const OpInfo& op, bool own, ColumnSource (*ofBase)(const OpInfo&)) {
  if (own) return Own;
  if (op.composite) return Program;
  const OpInfo* base = findOp(op.base);
  return base != nullptr && base != &op && ofBase(*base) != Missing ? Base : Missing;
}

ColumnSource kernel(const OpInfo& op) { return ownOrProgram(op, op.kernel != nullptr); }
ColumnSource shape(const OpInfo& op) { return ownOrProgram(op, op.shape != nullptr); }
ColumnSource decomposition(const OpInfo& op) { return ownOrProgram(op, op.decomposition != nullptr); }
ColumnSource lowering(const OpInfo& op) { return throughBase(op, bool(op.lowering), lowering); }
ColumnSource gradient(const OpInfo& op) { return throughBase(op, op.gradient != nullptr, gradient); }
ColumnSource jvp(const OpInfo& op) { return throughBase(op, op.jvp != nullptr, jvp); }
ColumnSource flops(const OpInfo& op) {
  if (!op.flops && has(op.traits, traitFlops)) return Trait;
  return throughBase(op, op.flops != nullptr, flops);
}
ColumnSource sharding(const OpInfo& op) {
  if (!op.sharding && has(op.traits, OpTrait::Pointwise)) return Trait;
  return throughBase(op, bool(op.sharding), sharding);
}

constexpr OpColumn columns[] = {
    {"kernel", "runs on CPU tensors", kernel},
    {"shape", "tells sizes, strides and dtype without running", shape},
    {"decomposition", "is written as other ops when a graph is decomposed", decomposition},
    {"lowering", "becomes part of a fused kernel", lowering},
    {"gradient", "has a reverse-mode formula", gradient},
    {"jvp", "has a forward-mode formula", jvp},
    {"flops", "has its floating point operations counted", flops},
    {"sharding", "says how it is placed on a device mesh", sharding},
};

}  // namespace

std::span<const OpColumn> opColumns() { return columns; }

const OpColumn* findOpColumn(std::string_view name) {
  const auto* found = std::ranges::find(columns, name, &OpColumn::name);
  return found == std::end(columns) ? nullptr : found;
}

std::span<const ColumnSource> opColumnSources() {
  static constexpr ColumnSource sources[] = {Missing, Own, ColumnSource::Program, Base, Trait};
  return sources;
}

std::string_view columnSourceName(ColumnSource source) {
  constexpr std::string_view names[] = {"", "own", "program", "base", "trait"};
  return names[std::size_t(source)];
}

}  // namespace kerf::inline ops
