// Views of DTensors: the shards of some had to move first, so that they are copies. What is written into one copy, or into
// its base, reaches the others by the calls that made them.
#include <algorithm>
#include <array>

#include "engine/distributed/dtensor/distributed_tensor.h"
#include "engine/ops/core/op_call.h"
#include "engine/torch_distributed/placed_parts.h"

namespace kerf::inline torch_distributed {
namespace {

/// The call that puts a view's values into its base.
struct ViewScatter {
  OpId op;
  ValueList rest;  ///< arguments behind base and view
};

std::int64_t integerAt(const ValueList& values, std::size_t at, std::int64_t otherwise) {
  const auto* integer = at < values.size() ? values[at].as<std::int64_t>() : nullptr;
  return integer != nullptr ? *integer : otherwise;
}

ViewScatter scatterRows(const PlacedViewStep& step, std::int64_t dim, std::int64_t start, std::int64_t size) {
  const std::int64_t end = std::min(start + size, step.of.size(dim < 0 ? dim + step.of.dim() : dim));
  return {"aten.slice_scatter.default"_op, {dim, start, end}};
}

ViewScatter scatterSelect(const PlacedViewStep& step) { return {"aten.select_scatter.default"_op, step.rest}; }
ViewScatter scatterSlice(const PlacedViewStep& step) { return {"aten.slice_scatter.default"_op, step.rest}; }
ViewScatter scatterDiagonal(const PlacedViewStep& step) { return {"aten.diagonal_scatter.default"_op, step.rest}; }

ViewScatter scatterUnbound(const PlacedViewStep& step) {
  return {"aten.select_scatter.default"_op, {integerAt(step.rest, 0, 0), std::int64_t(step.index)}};
}

ViewScatter scatterSplit(const PlacedViewStep& step) {
  const std::int64_t size = integerAt(step.rest, 0, 1);
  return scatterRows(step, integerAt(step.rest, 1, 0), size * std::int64_t(step.index), size);
}

ViewScatter scatterSizes(const PlacedViewStep& step) {
  const ValueList sizes = !step.rest.empty() && step.rest[0].isList() ? step.rest[0].list() : ValueList();
  std::int64_t start = 0;
  for (std::size_t i = 0; i < step.index; ++i) start += integerAt(sizes, i, 0);
  return scatterRows(step, integerAt(step.rest, 1, 0), start, integerAt(sizes, step.index, 0));
}

struct ScatterOfView {
  OpId view;
  ViewScatter (*scatter)(const PlacedViewStep&);
};

const auto& scatters() {
  static const std::array table{ScatterOfView{"aten.select.int"_op, scatterSelect},
                                ScatterOfView{"aten.slice.Tensor"_op, scatterSlice},
                                ScatterOfView{"aten.diagonal.default"_op, scatterDiagonal},
                                ScatterOfView{"aten.unbind.int"_op, scatterUnbound},
                                ScatterOfView{"aten.split.Tensor"_op, scatterSplit},
                                ScatterOfView{"aten.split_with_sizes.default"_op, scatterSizes}};
  return table;
}

Result<ViewScatter> scatterOf(const PlacedViewStep& step) {
  const auto& table = scatters();
  const auto found = std::ranges::find(table, step.op->id, &ScatterOfView::view);
  if (found != table.end()) return found->scatter(step);
  return fail(ErrorCode::UnsupportedOp,
              "a view by {} is a copy here, since its shards had to move: what is written into it cannot be brought "
              "back; redistribute the DTensor before",
              step.op->schema.qualifiedName());
}

Result<Tensor> oneOf(const Value& results, std::size_t index) {
  const Value& one = results.isList() && index < results.list().size() ? results.list()[index] : results;
  if (!one.isTensor()) return fail(ErrorCode::Internal, "a view of a DTensor gave no tensor");
  return one.tensor();
}

/// Results in the same memory as before.
Result<void> overwrite(PlacedPart& part, const PlacedPart& now) {
  KERF_TRY(const DistributedTensor moved, redistributed(part.mesh->rank, {now.local, now.spec}, part.spec.placements));
  KERF_CHECK(callTensorOp("aten.copy_.default"_op, {part.local, moved.local}));
  return {};
}

ValueList withFirst(const Tensor& first, const ValueList& rest) {
  ValueList args{Value(first)};
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}

}  // namespace

bool PlacedParts::share(const Tensor& one, const Tensor& other) const {
  const PlacedPart *a = find(one), *b = find(other);
  return a != nullptr && b != nullptr && a->writes == b->writes;
}

ViewReplay PlacedParts::replay(const Tensor& view, const Tensor& base) const {
  std::vector<std::shared_ptr<const PlacedViewStep>> steps;
  Tensor at = view;
  while (at.storage() != base.storage()) {
    const PlacedPart* part = find(at);
    if (part == nullptr || part->step == nullptr) return nullptr;
    steps.push_back(part->step);
    at = part->step->of;
  }
  std::ranges::reverse(steps);
  return [steps](const Tensor& of, const OpRunner& run) -> Result<Tensor> {
    Tensor now = of;
    for (const auto& step : steps) {
      KERF_TRY(const Value results, run.value(step->op->id, withFirst(now, step->rest), step->kwargs));
      KERF_TRY(now, oneOf(results, step->index));
    }
    return now;
  };
}

Result<void> PlacedParts::refresh(const Tensor& handle) {
  const PlacedPart* found = find(handle);
  if (found == nullptr || found->step == nullptr || found->seen == *found->writes) return {};
  const auto step = found->step;
  KERF_CHECK(refresh(step->of));
  if (step->isCopy) {
    KERF_TRY(const Value results, call(*step->op, withFirst(step->of, step->rest), step->kwargs));
    KERF_TRY(const Tensor now, oneOf(results, step->index));
    KERF_CHECK(overwrite(m_parts.at(handle.storage().get()), *find(now)));
  }
  PlacedPart& part = m_parts.at(handle.storage().get());
  part.seen = *part.writes;
  return {};
}

Result<void> PlacedParts::checkWrite(const Tensor& handle) const {
  const PlacedPart* part = find(handle);
  while (part != nullptr && part->step != nullptr) {
    if (part->step->isCopy) KERF_CHECK(scatterOf(*part->step));
    part = find(part->step->of);
  }
  return {};
}

Result<void> PlacedParts::bringBack(const PlacedViewStep& step, const Tensor& view) {
  KERF_TRY(const ViewScatter scatter, scatterOf(step));
  ValueList args{Value(step.of), Value(view)};
  args.insert(args.end(), scatter.rest.begin(), scatter.rest.end());
  const OpInfo* op = findOp(scatter.op);
  if (op == nullptr) return fail(ErrorCode::Internal, "{}: its scatter has no row", step.op->schema.qualifiedName());
  KERF_TRY(const Value now, call(*op, args, {}));
  KERF_TRY(const Tensor whole, oneOf(now, 0));
  return overwrite(m_parts.at(step.of.storage().get()), *find(whole));
}

Result<void> PlacedParts::wrote(const Tensor& handle) {
  Tensor at = handle;
  {
    PlacedPart& part = m_parts.at(handle.storage().get());
    part.seen = ++*part.writes;
  }
  while (const auto step = m_parts.at(at.storage().get()).step) {
    if (step->isCopy) KERF_CHECK(bringBack(*step, at));
    PlacedPart& base = m_parts.at(step->of.storage().get());
    base.seen = *base.writes;
    at = step->of;
  }
  return {};
}

}  // namespace kerf::inline torch_distributed
