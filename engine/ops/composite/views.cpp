// Reshapes, conversions, differences and stacks as torch.export keeps them: programs over the rows that do the work.
#include <algorithm>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

// Reshapes

Result<Value> reshapeTo(const OpRunner& run, const Value& self, const SymSizes& sizes) {
  return run.value("aten.reshape.default"_op, {self, intList(sizes)}, {});
}

/// flatten.using_ints(self, start_dim, end_dim).
Result<Value> flattenProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t first, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const std::int64_t last, wrapDim(args, args.integer(2), self.dim()));
  if (first > last) return mismatch(args, "start_dim {} comes after end_dim {}", first, last);
  if (self.dim() == 0) return reshapeTo(run, args.values[0], {1});
  if (first == last) return args.values[0];
  const auto begin = self.symSizes().begin();
  KERF_TRY(const SymInt joined, checkedCount({begin + first, begin + last + 1}));
  SymSizes sizes(begin, begin + first);
  sizes.push_back(joined);
  sizes.append(begin + last + 1, self.symSizes().end());
  return reshapeTo(run, args.values[0], sizes);
}

/// unflatten.int(self, dim, sizes): one -1 is computed.
Result<Value> unflattenProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (self.dim() == 0) return mismatch(args, "self needs a dimension");
  SymSizes parts = args.symSizes(2), given;
  SymInt* open = nullptr;
  for (SymInt& part : parts) {
    const bool isOpen = guardOrFalse(part == -1);
    if (isOpen && open == nullptr) open = &part;
    if (!isOpen) given.push_back(part);
  }
  const auto known = checkedCount(given);
  if (!known || std::ranges::any_of(given, [](SymInt part) { return guardOrFalse(part < 0); }))
    return mismatch(args, "sizes cannot be [{}]", fmt::join(parts, ", "));
  if (open != nullptr) {
    if (guardOrFalse(*known == 0) || guardOrFalse(floorMod(self.symSize(dim), *known) != 0))
      return mismatch(args, "{} cannot be split into [{}]", self.symSize(dim), fmt::join(parts, ", "));
    *open = floorDiv(self.symSize(dim), *known);
  }
  SymSizes sizes(self.symSizes().begin(), self.symSizes().begin() + dim);
  sizes.append(parts.begin(), parts.end());
  sizes.append(self.symSizes().begin() + dim + 1, self.symSizes().end());
  return run.value("aten.view.default"_op, {args.values[0], intList(sizes)}, {});
}

/// The sizes of the second tensor for the first: expand_as, view_as, reshape_as.
Result<Value> sizesOfOther(const BoundArguments& args, const OpRunner& run) {
  return run.value(args.op->base, {args.values[0], intList(args.tensor(1).symSizes())}, {});
}

/// movedim(self, source, destination), for one or several dimensions.
Result<Value> movedimProgram(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t rank = args.tensor(0).dim();
  const auto listOf = [&](std::size_t i) { return args.values[i].isList() ? args.sizes(i) : Sizes{args.integer(i)}; };
  KERF_TRY(const Sizes from, wrapDims(args, listOf(1), rank));
  KERF_TRY(const Sizes to, wrapDims(args, listOf(2), rank));
  if (from.size() != to.size()) return mismatch(args, "{} dimensions cannot move to {} places", from.size(), to.size());
  Sizes order(std::size_t(rank), -1);
  for (std::size_t i = 0; i < from.size() && rank > 0; ++i) order[std::size_t(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t& place : order) {
    if (place >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    place = next++;
  }
  return run.value("aten.permute.default"_op, {args.values[0], intList(order)}, {});
}

/// numpy_T (all dimensions reversed) and mT (the last two).
template <bool lastTwo>
Result<Value> turnedProgram(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t rank = args.tensor(0).dim();
  if (lastTwo && rank < 2) return mismatch(args, "self needs at least 2 dimensions, got {}", rank);
  Sizes order;
  for (std::int64_t d = 0; d < rank; ++d) order.push_back(lastTwo ? d : rank - 1 - d);
  if (lastTwo) std::swap(order.end()[-1], order.end()[-2]);
  return run.value("aten.permute.default"_op, {args.values[0], intList(order)}, {});
}

/// tile(self, dims): repeat after filling the shorter side with ones.
Result<Value> tileProgram(const BoundArguments& args, const OpRunner& run) {
  SymSizes repeats = args.symSizes(1);
  const auto rank = std::size_t(args.tensor(0).dim());
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return run.value("aten.repeat.default"_op, {args.values[0], intList(repeats)}, {});
}

// Conversions

bool sameDevice(const BoundArguments& args, const Device& wanted) {
  const Device& have = args.tensor(0).device();
  return wanted.type == have.type && (wanted.index < 0 || have.index < 0 || wanted.index == have.index);
}

/// The `to` family: self itself where nothing changes and no copy is asked for, else _to_copy.
Result<Value> convert(const BoundArguments& args, const OpRunner& run, std::optional<DType> dtype,
                      const Value& device) {
  const Tensor& self = args.tensor(0);
  const auto* wanted = device.as<Device>();
  const Value& format = args.values[args.position("memory_format")];
  const auto* layout = format.as<MemoryFormat>();
  const bool same = (!dtype || *dtype == self.dtype()) && (wanted == nullptr || sameDevice(args, *wanted)) &&
                    (layout == nullptr || *layout == MemoryFormat::Preserve);
  if (same && !args.boolean(args.position("copy"))) return args.values[0];
  KeywordValues kwargs{{"dtype", dtype.value_or(self.dtype())}};
  if (wanted != nullptr) kwargs.emplace_back("device", *wanted);
  if (layout != nullptr) kwargs.emplace_back("memory_format", format);
  return run.value("aten._to_copy.default"_op, {self}, kwargs);
}

Result<Value> toProgram(const BoundArguments& args, const OpRunner& run) {
  const auto& names = args.op->schema.arguments;
  const bool device =
      std::ranges::any_of(names, [](const SchemaArgument& argument) { return argument.name == "device"; });
  return convert(args, run, args.dtypeIf(args.position("dtype")),
                 device ? args.values[args.position("device")] : Value());
}

Result<Value> toOtherProgram(const BoundArguments& args, const OpRunner& run) {
  return convert(args, run, args.tensor(1).dtype(), args.tensor(1).device());
}

Result<Value> typeAsProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dtype() == args.tensor(1).dtype()) return args.values[0];
  return run.value("aten._to_copy.default"_op, {args.values[0]}, {{"dtype", args.tensor(1).dtype()}});
}

/// contiguous(self, *, memory_format): self itself if it has those strides already.
Result<Value> contiguousProgram(const BoundArguments& args, const OpRunner& run) {
  const KeywordValues format{{"memory_format", args.values[1]}};
  const auto* wanted = args.values[1].as<MemoryFormat>();
  if (wanted != nullptr && *wanted == MemoryFormat::Preserve)
    return mismatch(args, "preserve_format is not a format here");
  if (wanted == nullptr || *wanted == MemoryFormat::Contiguous)
    return args.tensor(0).isContiguous() ? Result<Value>(args.values[0])
                                         : run.value("aten.clone.default"_op, {args.values[0]}, format);
  KERF_TRY(const Value meta, inferShapes("aten.clone.default"_op, {args.values[0]}, format));
  const auto equal = [](SymInt a, SymInt b) { return guardOrFalse(a == b); };
  if (std::ranges::equal(meta.tensor().symStrides(), args.tensor(0).symStrides(), equal)) return args.values[0];
  return run.value("aten.clone.default"_op, {args.values[0]}, format);
}

// Differences, stacks

/// diff(self, n, dim, prepend, append): neighbours subtracted n times; booleans by xor.
Result<Value> diffProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "self needs a dimension");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  if (args.integer(1) < 0) return mismatch(args, "n is {}", args.integer(1));
  ValueList parts;
  for (const std::size_t i : {std::size_t{3}, std::size_t{0}, std::size_t{4}})
    if (!args.none(i)) parts.push_back(args.values[i]);
  Value value = args.values[0];
  if (parts.size() > 1) {
    KERF_TRY(value, run.value("aten.cat.default"_op, {Value(parts), dim}, {}));
  }
  const SymInt given = value.tensor().symSize(dim);
  const std::int64_t steps = given.isSymbolic() ? args.integer(1) : std::min<std::int64_t>(args.integer(1), given);
  for (std::int64_t i = 0; i < steps; ++i) {
    const SymInt size = value.tensor().symSize(dim);
    if (guardOrFalse(size == 0)) break;
    KERF_TRY(const Value later, run.value("aten.slice.Tensor"_op, {value, dim, std::int64_t{1}, size}, {}));
    KERF_TRY(const Value earlier, run.value("aten.slice.Tensor"_op, {value, dim, std::int64_t{0}, size - 1}, {}));
    const bool boolean = value.tensor().dtype() == DType::Bool;
    KERF_TRY(value, run.value(boolean ? "aten.logical_xor.default"_op : "aten.sub.Tensor"_op, {later, earlier}, {}));
  }
  return value;
}

/// hstack and vstack: cat along 1 (0 for vectors) or 0 (after giving vectors a first dimension).
template <bool vertical>
Result<Value> stackProgram(const BoundArguments& args, const OpRunner& run) {
  ValueList parts;
  bool vectors = true;
  for (const Tensor& tensor : args.tensors(0)) {
    Value part = tensor;
    if (tensor.dim() == 0) {
      KERF_TRY(part, reshapeTo(run, part, {1}));
    }
    if (vertical && part.tensor().dim() == 1) {
      KERF_TRY(part, run.value("aten.unsqueeze.default"_op, {part, std::int64_t{0}}, {}));
    }
    vectors = vectors && part.tensor().dim() == 1;
    parts.push_back(std::move(part));
  }
  return run.value("aten.cat.default"_op, {Value(parts), std::int64_t{vertical || vectors ? 0 : 1}}, {});
}

/// outer(self, vec2): every product.
Result<Value> outerProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() != 1 || args.tensor(1).dim() != 1) return mismatch(args, "both arguments must be vectors");
  KERF_TRY(const Value column, run.value("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{1}}, {}));
  return run.value("aten.mul.Tensor"_op, {column, args.values[1]}, {});
}

/// Results that may be self itself: the schema's alias annotation says so. The trait View would promise more, that they
/// always look at self's memory.
constexpr OpTrait view = OpTrait::None;

constexpr OpRow reshapeRows[] = {
    compositeRow(flattenProgram,
                 "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", view),
    compositeRow(unflattenProgram, "aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", view),
    compositeRow(sizesOfOther, "aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", view,
                 "aten.expand.default"),
    compositeRow(sizesOfOther, "aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", view, "aten.view.default"),
    compositeRow(sizesOfOther, "aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", view,
                 "aten.reshape.default"),
    aliasRow("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", "aten.expand.default", view),
    compositeRow(movedimProgram, "aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", view),
    compositeRow(movedimProgram, "aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                 view),
    aliasRow("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", "aten.transpose.int", view),
    aliasRow("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "aten.transpose.int", view),
    compositeRow(turnedProgram<false>, "aten::numpy_T(Tensor(a) self) -> Tensor(a)", view),
    compositeRow(turnedProgram<true>, "aten::mT(Tensor(a) self) -> Tensor(a)", view),
    compositeRow(tileProgram, "aten::tile(Tensor self, SymInt[] dims) -> Tensor"),
    compositeRow(toProgram,
                 "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
                 "MemoryFormat? memory_format=None) -> Tensor(a)",
                 view),
    compositeRow(toProgram,
                 "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
                 "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
                 view),
    compositeRow(toProgram,
                 "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                 "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
                 "memory_format=None) -> Tensor(a)",
                 view),
    compositeRow(toOtherProgram,
                 "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
                 "MemoryFormat? memory_format=None) -> Tensor(a)",
                 view),
    compositeRow(typeAsProgram, "aten::type_as(Tensor(a) self, Tensor other) -> Tensor(a)", view),
    compositeRow(contiguousProgram,
                 "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
                 view),
    compositeRow(diffProgram,
                 "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"),
    compositeRow(stackProgram<false>, "aten::hstack(Tensor[] tensors) -> Tensor"),
    compositeRow(stackProgram<true>, "aten::vstack(Tensor[] tensors) -> Tensor"),
    compositeRow(outerProgram, "aten::outer(Tensor self, Tensor vec2) -> Tensor"),
};

const OpRegistration reshapeOps({.rows = reshapeRows});

}  // namespace

}  // namespace kerf::inline ops
