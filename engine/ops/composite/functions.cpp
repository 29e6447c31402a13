// Functions of torch.nn.functional and small tensor functions as torch.export keeps them: programs over other rows.
#include <algorithm>
#include <array>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t noReduction = 0, meanReduction = 1;

// Padding

Result<Value> circularPad(const BoundArguments& args, const OpRunner& run) {
  const SymSizes pad = args.symSizes(1);
  Value value = args.values[0];
  const std::int64_t rank = value.tensor().dim();
  if (pad.size() % 2 != 0 || std::int64_t(pad.size()) > 2 * rank)
    return mismatch(args, "pad has {} numbers for {} dimensions", pad.size(), rank);
  for (std::size_t i = 0; i < pad.size(); i += 2) {
    const std::int64_t dim = rank - 1 - std::int64_t(i / 2);
    const SymInt size = value.tensor().symSize(dim);
    if (guardOrFalse(pad[i] > size) || guardOrFalse(pad[i + 1] > size) || guardOrFalse(pad[i] < -size) ||
        guardOrFalse(pad[i + 1] < -size))
      return mismatch(args, "circular padding by {} of a dimension of {}", symMax(pad[i], pad[i + 1]), size);
    ValueList parts;
    if (guardOrTrue(pad[i] > 0)) {
      KERF_TRY(Value before, run.value("aten.slice.Tensor"_op, {value, dim, size - pad[i], size}, {}));
      parts.push_back(std::move(before));
    }
    KERF_TRY(Value middle,
             run.value("aten.slice.Tensor"_op, {value, dim, symMax(-pad[i], 0), size + symMin(pad[i + 1], 0)}, {}));
    parts.push_back(std::move(middle));
    if (guardOrTrue(pad[i + 1] > 0)) {
      KERF_TRY(Value after, run.value("aten.slice.Tensor"_op, {value, dim, std::int64_t{0}, pad[i + 1]}, {}));
      parts.push_back(std::move(after));
    }
    KERF_TRY(value, run.value("aten.cat.default"_op, {Value(parts), dim}, {}));
  }
  return value;
}

/// pad(self, pad, mode, value).
Result<Value> padProgram(const BoundArguments& args, const OpRunner& run) {
  const std::string mode = args.text(2);
  if (mode == "constant")
    return run.value("aten.constant_pad_nd.default"_op, {args.values[0], args.values[1], args.numberIf(3).value_or(0)},
                     {});
  if (args.numberIf(3).value_or(0) != 0) return mismatch(args, "mode '{}' takes no value", mode);
  if (mode == "circular") return circularPad(args, run);
  const std::size_t dims = args.symSizes(1).size() / 2;
  constexpr std::array<std::string_view, 3> reflection = {
      "aten.reflection_pad1d.default", "aten.reflection_pad2d.default", "aten.reflection_pad3d.default"};
  constexpr std::array<std::string_view, 3> replication = {
      "aten.replication_pad1d.default", "aten.replication_pad2d.default", "aten.replication_pad3d.default"};
  if ((mode != "reflect" && mode != "replicate") || dims < 1 || dims > 3)
    return mismatch(args, "cannot pad {} dimensions by '{}'", dims, mode);
  return run.value((mode == "reflect" ? reflection : replication)[dims - 1], {args.values[0], args.values[1]}, {});
}

// Losses

/// nll_loss_nd(self, target, weight, reduction, ignore_index): the class is dimension 1 (0 without a batch).
Result<Value> nllProgram(const OpRunner& run, const Value& self, const Value& target, const Value& weight,
                         std::int64_t reduction, const Value& ignored) {
  const std::int64_t rank = self.tensor().dim();
  if (rank <= 2) return run.first("aten.nll_loss_forward.default"_op, {self, target, weight, reduction, ignored}, {});
  if (rank == 4) return run.first("aten.nll_loss2d_forward.default"_op, {self, target, weight, reduction, ignored}, {});
  const SymSizes &sizes = self.tensor().symSizes(), &shape = target.tensor().symSizes();
  KERF_TRY(const SymInt rest, checkedCount({sizes.begin() + 2, sizes.end()}));
  KERF_TRY(const Value flat, run.value("aten.reshape.default"_op, {self, intList({sizes[0], sizes[1], 1, rest})}, {}));
  KERF_TRY(const Value flatTarget, run.value("aten.reshape.default"_op,
                                             {target, intList({shape.empty() ? SymInt(1) : shape[0], 1, rest})}, {}));
  KERF_TRY(const Value loss,
           run.first("aten.nll_loss2d_forward.default"_op, {flat, flatTarget, weight, reduction, ignored}, {}));
  return reduction == noReduction ? run.value("aten.reshape.default"_op, {loss, intList(shape)}, {})
                                  : Result<Value>(loss);
}

Result<Value> nllLossProgram(const BoundArguments& args, const OpRunner& run) {
  return nllProgram(run, args.values[0], args.values[1], args.values[2], args.integer(3), args.values[4]);
}

Result<Value> reduced(const OpRunner& run, const Value& loss, std::int64_t reduction) {
  if (reduction == noReduction) return loss;
  return run.value(reduction == meanReduction ? "aten.mean.default"_op : "aten.sum.default"_op, {loss}, {});
}

/// What label_smoothing makes of a loss by class indices: a share of the loss in which each class is as likely. Ignored
/// targets count nothing.
Result<Value> smoothedLoss(const BoundArguments& args, const OpRunner& run, const Value& logs, const Value& plain) {
  const std::int64_t dim = logs.tensor().dim() == 1 ? 0 : 1;
  const SymInt classes = logs.tensor().symSize(dim);
  CompositeSteps s(run);
  Tensor terms = logs.tensor();
  if (!args.none(2)) {
    SymSizes wide(std::size_t(terms.dim()), SymInt(1));
    wide[std::size_t(dim)] = classes;
    terms = s("aten.mul.Tensor"_op, {terms, s("aten.reshape.default"_op, {args.values[2], intList(wide)})});
  }
  const Tensor sums = s("aten.sum.dim_IntList"_op, {s("aten.neg.default"_op, {terms}), intList({dim})});
  const Tensor kept = s("aten.ne.Scalar"_op, {args.values[1], args.values[4]});
  Tensor loss = s("aten.masked_fill.Scalar"_op, {sums, s("aten.logical_not.default"_op, {kept}), 0.0});
  if (args.integer(3) != noReduction) loss = s("aten.sum.default"_op, {loss});
  if (args.integer(3) == meanReduction) {
    Tensor counts = kept;
    if (!args.none(2)) {
      const Tensor safe = s("aten.mul.Tensor"_op, {args.values[1], kept});
      const Tensor each = s("aten.index.Tensor"_op, {args.values[2], Value(ValueList{safe})});
      counts = s("aten.mul.Tensor"_op, {each, kept});
    }
    loss = s("aten.div.Tensor"_op, {loss, s("aten.sum.default"_op, {counts})});
  }
  const double share = args.number(5);
  const Tensor most = s("aten.mul.Tensor"_op, {plain, 1 - share});
  const Tensor rest = s("aten.mul.Tensor"_op, {loss, share / double(std::int64_t(classes))});
  return s.done(s("aten.add.Tensor"_op, {most, rest}));
}

/// cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing): by class indices, or by
/// probabilities where the target has self's shape.
Result<Value> crossEntropyProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const std::int64_t classDim = self.dim() == 1 ? 0 : 1;
  if (self.dim() == 0) return mismatch(args, "self needs a dimension");
  const double smoothing = args.number(5);
  if (!(smoothing >= 0 && smoothing <= 1))
    return mismatch(args, "label_smoothing must be between 0.0 and 1.0, got {}", smoothing);
  KERF_TRY(const Value logs, run.value("aten.log_softmax.int"_op, {args.values[0], classDim}, {}));
  const bool byProbability = checkEqual(args.tensor(1).symSizes(), self.symSizes());
  if (byProbability && !isFloating(args.tensor(1).dtype()))
    return mismatch(args, "target must be floating point where it has self's shape");
  if (!byProbability) {
    KERF_TRY(const Value plain, nllProgram(run, logs, args.values[1], args.values[2], args.integer(3), args.values[4]));
    return smoothing == 0 ? plain : smoothedLoss(args, run, logs, plain);
  }
  if (smoothing != 0) {  // probabilities are smoothed themselves
    KERF_TRY(const Value kept, run.value("aten.mul.Tensor"_op, {args.values[1], 1 - smoothing}, {}));
    KERF_TRY(const Value target,
             run.value("aten.add.Tensor"_op, {kept, smoothing / double(std::int64_t(self.symSize(classDim)))}, {}));
    ValueList plain = args.values;
    plain[1] = target, plain[5] = Value(0.0);
    return crossEntropyProgram({args.op, std::move(plain)}, run);
  }
  Value weighted = logs;
  if (!args.none(2)) {
    SymSizes shape(std::size_t(self.dim()), 1);
    shape[std::size_t(classDim)] = args.tensor(2).symNumel();
    KERF_TRY(const Value weight, run.value("aten.reshape.default"_op, {args.values[2], intList(shape)}, {}));
    KERF_TRY(weighted, run.value("aten.mul.Tensor"_op, {logs, weight}, {}));
  }
  KERF_TRY(const Value products, run.value("aten.mul.Tensor"_op, {weighted, args.values[1]}, {}));
  if (args.integer(3) == meanReduction) {  // the mean is over the batch, not over the classes
    KERF_TRY(const Value sum, run.value("aten.sum.default"_op, {products}, {}));
    const SymInt items = floorDiv(self.symNumel(), symMax(self.symSize(classDim), 1));
    return run.value("aten.div.Scalar"_op, {sum, items.isSymbolic() ? Value(-items) : Value(-double(items))}, {});
  }
  KERF_TRY(const Value perItem, run.value("aten.sum.dim_IntList"_op, {products, intList({classDim}), false}, {}));
  KERF_TRY(const Value loss, run.value("aten.neg.default"_op, {perItem}, {}));
  return reduced(run, loss, args.integer(3));
}

/// kl_div(self, target, reduction, *, log_target).
Result<Value> klProgram(const BoundArguments& args, const OpRunner& run) {
  Value loss;
  if (args.boolean(3)) {
    KERF_TRY(const Value target, run.value("aten.exp.default"_op, {args.values[1]}, {}));
    KERF_TRY(const Value difference, run.value("aten.sub.Tensor"_op, {args.values[1], args.values[0]}, {}));
    KERF_TRY(loss, run.value("aten.mul.Tensor"_op, {target, difference}, {}));
  } else {
    KERF_TRY(const Value entropy, run.value("aten.xlogy.Tensor"_op, {args.values[1], args.values[1]}, {}));
    KERF_TRY(const Value cross, run.value("aten.mul.Tensor"_op, {args.values[1], args.values[0]}, {}));
    KERF_TRY(loss, run.value("aten.sub.Tensor"_op, {entropy, cross}, {}));
  }
  return reduced(run, loss, args.integer(2));
}

/// cosine_similarity(x1, x2, dim, eps): norms are those of what both are together, and are kept above eps.
Result<Value> cosineProgram(const BoundArguments& args, const OpRunner& run) {
  std::array<Value, 2> units{args.values[0], args.values[1]};
  const DType common = resultType(units);
  for (Value& unit : units)
    if (isIntegral(unit.tensor().dtype())) {  // the norm takes floats as they are
      KERF_TRY(unit, run.value("aten._to_copy.default"_op, {unit}, {{"dtype", Value(common)}}));
    }
  if (!checkEqual(args.tensor(0).symSizes(), args.tensor(1).symSizes())) {
    KERF_TRY(const SymSizes sizes, broadcastSizes(args.tensor(0).symSizes(), args.tensor(1).symSizes()));
    for (Value& unit : units) {
      KERF_TRY(unit, run.value("aten.expand.default"_op, {unit, intList(sizes)}, {}));
    }
  }
  for (Value& unit : units) {
    KERF_TRY(const Value norm,
             run.value("aten.linalg_vector_norm.default"_op, {unit, 2.0, intList({args.integer(2)}), true}, {}));
    KERF_TRY(const Value bounded, run.value("aten.clamp_min.default"_op, {norm, args.number(3)}, {}));
    KERF_TRY(unit, run.value("aten.div.Tensor"_op, {unit, bounded}, {}));
  }
  KERF_TRY(const Value products, run.value("aten.mul.Tensor"_op, {units[0], units[1]}, {}));
  return run.value("aten.sum.dim_IntList"_op, {products, intList({args.integer(2)}), false}, {});
}

// Activations, normalisation, pooling

/// selu(self): elu with its two constants.
Result<Value> seluProgram(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.elu.default"_op,
                   {args.values[0], 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0}, {});
}

/// prelu(self, weight): one weight, or one per channel (dimension 1).
Result<Value> preluProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor &self = args.tensor(0), &weight = args.tensor(1);
  SymSizes shape(std::size_t(self.dim()), 1);
  if (guardOrTrue(weight.symNumel() != 1)) {
    if (self.dim() < 2 || weight.dim() != 1 || guardOrFalse(weight.symNumel() != self.symSize(1)))
      return mismatch(args, "{} weights do not fit the channels", weight.symNumel());
    shape[1] = weight.symNumel();
  }
  KERF_TRY(const Value wide, run.value("aten.reshape.default"_op, {weight, intList(shape)}, {}));
  return run.value("aten._prelu_kernel.default"_op, {self, wide}, {});
}

/// instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled) with
/// the input's own statistics: every channel of every item is a group.
Result<Value> instanceNormProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  if (input.dim() < 3) return mismatch(args, "input needs at least 3 dimensions, got {}", input.dim());
  if (!args.boolean(5) || !args.none(3))
    return fail(ErrorCode::UnsupportedOp, "{}: running statistics are not supported", args.opName());
  KERF_TRY(const SymInt positions, checkedCount({input.symSizes().begin() + 2, input.symSizes().end()}));
  KERF_TRY(const Tensor plain, run("aten.contiguous.default"_op, {input}));
  return run.first("aten.native_group_norm.default"_op,
                   {plain, args.values[1], args.values[2], input.symSize(0), input.symSize(1), positions,
                    input.symSize(1), args.values[7]},
                   {});
}

/// avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad) over a dimension of one.
Result<Value> averagePool1Program(const BoundArguments& args, const OpRunner& run) {
  const auto two = [&](std::size_t i, std::int64_t first) {
    const Sizes values = args.sizes(i);
    return values.empty() ? intList({}) : intList({first, values[0]});
  };
  KERF_TRY(const Value flat, run.value("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{-2}}, {}));
  KERF_TRY(const Value out, run.value("aten.avg_pool2d.default"_op,
                                      {flat, two(1, 1), two(2, 1), two(3, 0), args.values[4], args.values[5]}, {}));
  return run.value("aten.squeeze.dim"_op, {out, std::int64_t{-2}}, {});
}

// Pieces

/// The pieces [begin, end) of a dimension.
Result<Value> pieces(const OpRunner& run, const Value& self, std::int64_t dim, const SymSizes& ends) {
  ValueList parts;
  SymInt begin = 0;
  for (const SymInt end : ends) {
    const SymInt stop = guardOrFalse(end < begin) ? begin : end;
    KERF_TRY(Value part, run.value("aten.slice.Tensor"_op, {self, dim, begin, stop}, {}));
    parts.push_back(std::move(part));
    begin = end;
  }
  return Value(std::move(parts));
}

/// tensor_split.sections(self, sections, dim): the first pieces are longer by one.
Result<Value> splitSectionsProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const std::int64_t sections = args.integer(1);
  constexpr std::int64_t most = 1'000'000;
  if (self.dim() == 0 || sections < 1 || sections > most)
    return mismatch(args, "cannot split into {} pieces", sections);
  const SymInt least = floorDiv(self.symSize(dim), sections), longer = floorMod(self.symSize(dim), sections);
  SymSizes ends;
  SymInt end = 0;
  for (std::int64_t i = 0; i < sections; ++i) ends.push_back(end += i < longer ? least + 1 : least);
  return pieces(run, args.values[0], dim, ends);
}

/// tensor_split.indices(self, indices, dim).
Result<Value> splitIndicesProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  if (self.dim() == 0) return mismatch(args, "self needs a dimension");
  SymSizes ends;
  const SymInt size = self.symSize(dim);
  for (SymInt index : args.symSizes(1)) {
    if (guardOrFalse(index < 0)) index = guardOrFalse(index + size < 0) ? SymInt(0) : index + size;
    ends.push_back(guardOrFalse(index > size) ? size : index);
  }
  ends.push_back(size);
  return pieces(run, args.values[0], dim, ends);
}

/// meshgrid(tensors, *, indexing): "xy" swaps the first two, and their grids back.
Result<Value> meshgridProgram(const BoundArguments& args, const OpRunner& run) {
  std::vector<Tensor> tensors = args.tensors(0);
  const bool swaps = args.values.size() > 1 && args.text(1) == "xy" && tensors.size() >= 2;
  if (swaps) std::swap(tensors[0], tensors[1]);
  SymSizes shape;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != tensors[0].dtype()) return mismatch(args, "expects all tensors to have the same dtype");
    shape.push_back(tensor.symNumel());
  }
  ValueList grids;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    SymSizes own(shape.size(), 1);
    own[i] = shape[i];
    KERF_TRY(const Value flat, run.value("aten.reshape.default"_op, {tensors[i], intList(own)}, {}));
    KERF_TRY(Value grid, run.value("aten.expand.default"_op, {flat, intList(shape)}, {}));
    grids.push_back(std::move(grid));
  }
  if (swaps) std::swap(grids[0], grids[1]);
  return Value(std::move(grids));
}

/// one_hot(self, num_classes): num_classes -1 depends on the values.
Result<Value> oneHotProgram(const BoundArguments& args, const OpRunner& run) {
  SymInt classes = args.integer(1);
  if (classes == -1) {  // one more than the greatest
    KERF_TRY(const Value most, run.value("aten.max.default"_op, {args.values[0]}, {}));
    KERF_TRY(const Value number, run.value("aten._local_scalar_dense.default"_op, {most}, {}));
    if (!number.asSymInt()) return mismatch(args, "self must hold whole numbers");
    classes = *number.asSymInt() + 1;
  }
  if (guardOrFalse(classes < 1)) return mismatch(args, "num_classes must be positive, got {}", classes);
  SymSizes shape = args.tensor(0).symSizes();
  shape.push_back(classes);
  KERF_TRY(const Value zeros,
           run.value("aten.full.default"_op, {intList(shape), std::int64_t{0}}, {{"dtype", DType::Int64}}));
  KERF_TRY(const Value index, run.value("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{-1}}, {}));
  return run.value("aten.scatter.value"_op, {zeros, std::int64_t{-1}, index, std::int64_t{1}}, {});
}

Result<Value> ravelProgram(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.reshape.default"_op, {args.values[0], intList({args.tensor(0).symNumel()})}, {});
}

constexpr OpTrait none = OpTrait::None;

constexpr OpRow functionRows[] = {
    compositeRow(padProgram,
                 "aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor"),
    compositeRow(circularPad, "aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor"),
    compositeRow(nllLossProgram,
                 "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
                 "SymInt ignore_index=-100) -> Tensor"),
    compositeRow(nllLossProgram,
                 "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
                 "SymInt ignore_index=-100) -> Tensor"),
    compositeRow(crossEntropyProgram,
                 "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int "
                 "reduction=1, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor"),
    compositeRow(klProgram,
                 "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor"),
    compositeRow(cosineProgram, "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor"),
    compositeRow(seluProgram, "aten::selu(Tensor self) -> Tensor"),
    compositeRow(preluProgram, "aten::prelu(Tensor self, Tensor weight) -> Tensor"),
    compositeRow(
        instanceNormProgram,
        "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor"),
    compositeRow(averagePool1Program,
                 "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
                 "padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor"),
    compositeRow(splitSectionsProgram,
                 "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]"),
    compositeRow(splitIndicesProgram,
                 "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]"),
    compositeRow(meshgridProgram, "aten::meshgrid(Tensor[] tensors) -> Tensor[]", none),
    compositeRow(meshgridProgram, "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", none),
    compositeRow(oneHotProgram, "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor"),
    compositeRow(ravelProgram, "aten::ravel(Tensor(a) self) -> Tensor(a)"),
};

const OpRegistration functionOps({.rows = functionRows});

}  // namespace

}  // namespace kerf::inline ops
