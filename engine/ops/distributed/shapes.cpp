#include "engine/ops/distributed/shapes.h"

#include "engine/ops/core/strides.h"
#include "engine/ops/distributed/rank_link.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return std::nullopt;
}

Result<Tensor> emptyLike(const Tensor& tensor) {
  KERF_TRY(SymSizes strides, likeStrides(tensor, {}));
  return metaTensor(tensor.dtype(), tensor.symSizes(), std::move(strides));
}

Result<SymInt> groupSize(const BoundArguments& args) {
  const SymInt size = args.symInteger(args.position("group_size"));
  if (guardOrFalse(size < 1)) return mismatch(args, "group_size must be positive, got {}", size);
  return size;
}

Result<Tensor> gathered(const BoundArguments& args, const Tensor& tensor) {
  KERF_TRY(const SymInt ranks, groupSize(args));
  SymSizes sizes = tensor.symSizes();
  if (sizes.empty()) return mismatch(args, "the input has no dimension to gather");
  sizes[0] = sizes[0] * ranks;
  return metaTensor(tensor.dtype(), sizes);
}

Result<Tensor> scattered(const BoundArguments& args, const Tensor& tensor) {
  KERF_TRY(const SymInt ranks, groupSize(args));
  SymSizes sizes = tensor.symSizes();
  if (sizes.empty()) return mismatch(args, "the input has no dimension to scatter");
  sizes[0] = floorDiv(sizes[0], ranks);
  return metaTensor(tensor.dtype(), sizes);
}

template <typename Make>
Result<Value> ofEach(const BoundArguments& args, Make make) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : args.tensors(0)) {
    KERF_TRY(Tensor one, make(tensor));
    out.push_back(std::move(one));
  }
  return tensorList(std::move(out));
}

/// Whether the op says that its group has one rank only.
bool isAlone(const BoundArguments& args) {
  const auto size = find(args, "group_size");
  if (size) return args.integer(*size) == 1;
  return args.op->schema.name.ends_with("::wait_tensor");
}

Result<Tensor> copied(const Tensor& tensor, const Tensor& meta) {
  KERF_TRY(Tensor out, allocate(meta));
  KERF_CHECK(copyElements(tensor, out));
  return out;
}

}  // namespace

Result<Value> sameAsInput(const BoundArguments& args) {
  KERF_TRY(Tensor out, emptyLike(args.tensor(0)));
  return Value(std::move(out));
}

Result<Value> sameAsInputs(const BoundArguments& args) { return ofEach(args, emptyLike); }

Result<Value> gatheredShape(const BoundArguments& args) {
  KERF_TRY(Tensor out, gathered(args, args.tensor(0)));
  return Value(std::move(out));
}

Result<Value> gatheredShapes(const BoundArguments& args) {
  return ofEach(args, [&](const Tensor& tensor) { return gathered(args, tensor); });
}

Result<Value> scatteredShape(const BoundArguments& args) {
  KERF_TRY(Tensor out, scattered(args, args.tensor(0)));
  return Value(std::move(out));
}

Result<Value> scatteredShapes(const BoundArguments& args) {
  return ofEach(args, [&](const Tensor& tensor) { return scattered(args, tensor); });
}

Result<Value> exchangedShape(const BoundArguments& args) {
  SymSizes sizes = args.tensor(0).symSizes();
  if (sizes.empty()) return mismatch(args, "the input has no dimension to exchange");
  if (!args.none(1)) {
    SymInt total = 0;
    for (const SymInt part : args.symSizes(1)) total = total + part;
    sizes[0] = total;
  }
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

Result<Value> aloneKernel(const BoundArguments& args) {
  if (RankLink* link = RankLink::current()) return link->collective(args);
  if (!isAlone(args))
    return fail(ErrorCode::UnsupportedOp, "{} needs the other ranks of its group: Kerf runs one process",
                args.opName());
  KERF_TRY(const Value shapes, runShapeRule(args));
  if (!shapes.isList()) {
    KERF_TRY(Tensor out, copied(args.tensor(0), shapes.tensor()));
    return Value(std::move(out));
  }
  std::vector<Tensor> out;
  const std::vector<Tensor> inputs = args.tensors(0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    KERF_TRY(Tensor one, copied(inputs[i], shapes.list()[i].tensor()));
    out.push_back(std::move(one));
  }
  return tensorList(std::move(out));
}

}  // namespace kerf::inline ops
