#include "app/workbench/run/model_runs.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

namespace {

/// The user's outputs of a joint graph, by their places among all that it returns, and whether a tangent belongs to each.
struct LossOutputs {
  std::vector<std::size_t> places;

  explicit LossOutputs(const AotGraph& traced) {
    for (const std::size_t place : traced.tangents)
      if (place >= traced.mutatedOutputs) places.push_back(place);
  }
  bool has(std::size_t place) const { return std::ranges::find(places, place) != places.end(); }
};

/// The loss's derivative by each element of the output at `place`; 0 where it does not depend on it.
double slopeOf(const AotGraph& traced, const LossChoice& loss, std::size_t place, const Tensor& output) {
  const LossOutputs outputs(traced);
  if (!outputs.has(place)) return 0;
  if (loss.kind == LossChoice::Kind::Output) return place == traced.mutatedOutputs + loss.output ? 1 : 0;
  if (loss.kind == LossChoice::Kind::Sum) return 1;
  return 1.0 / (double(std::max<std::int64_t>(output.numel(), 1)) * double(outputs.places.size()));
}

Result<Tensor> filled(const Tensor& like, double value) {
  KERF_TRY(const Tensor one, Tensor::zeros(DType::Float64, {1}));
  one.data<double>()[0] = value;
  KERF_TRY(const Tensor cast, one.to(like.dtype()));
  return cast.viewAs(like.sizes(), Sizes(like.sizes().size(), 0), 0).clonePreservingStrides();
}

Result<double> sumOf(const Tensor& tensor) {
  KERF_TRY(const Tensor wide, tensor.to(DType::Float64));
  KERF_TRY(const Tensor dense, wide.contiguous());
  double sum = 0;
  for (std::int64_t i = 0; i < dense.numel(); ++i) sum += dense.data<double>()[i];
  return sum;
}

bool isSameTensor(const GraphInput& a, const GraphInput& b) {
  return a.storageIndex >= 0 && a.storageIndex == b.storageIndex && a.storageOffset == b.storageOffset &&
         a.sizes == b.sizes && a.strides == b.strides;
}

/// The gradient of input `i`: the sum over all inputs that are the same tensor (tied weights).
Result<Value> sharedGradient(const GraphSource& source, const ValueList& outputs, std::size_t first, std::size_t i) {
  const auto& inputs = source.graph().inputs;
  Value total = outputs[first + i];
  for (std::size_t k = 0; i < inputs.size() && k < std::min(inputs.size(), outputs.size() - first); ++k) {
    if (k == i || !outputs[first + k].isTensor() || !isSameTensor(inputs[i], inputs[k])) continue;
    if (total.isTensor()) {
      KERF_TRY(total, referenceOps().call("aten.add.Tensor"_op, {total, outputs[first + k]}, {}));
    } else {
      total = outputs[first + k];
    }
  }
  return total;
}

}  // namespace

Result<LossChoice> parseLoss(const GraphSource& source, const std::string& text) {
  if (text.empty() || text == "mean") return LossChoice{};
  if (text == "sum") return LossChoice{LossChoice::Kind::Sum};
  std::vector<std::string> names;
  const auto& entries = source.graph().signature->outputs;
  std::size_t at = 0;
  for (const auto& entry : entries) {
    if (entry.kind != "user_output") continue;
    const std::string name = fmt::format("out{}", at);
    if (text == name || text == entry.name) return LossChoice{LossChoice::Kind::Output, at};
    names.push_back(fmt::format("{} ({})", name, entry.name));
    ++at;
  }
  return fail(ErrorCode::BadUsage, "there is no loss \"{}\": choose mean, sum or an output: {}", text,
              fmt::join(names, ", "));
}

Result<void> setTangents(const GraphSource& source, const LossChoice& loss, ValueList& inputs) {
  const AotGraph& traced = *source.aot;
  const std::size_t first = traced.metadata.inputs.size();
  for (std::size_t k = 0; k < traced.tangents.size() && first + k < inputs.size(); ++k) {
    const Tensor& like = inputs[first + k].tensor();
    KERF_TRY(inputs[first + k], filled(like, slopeOf(traced, loss, traced.tangents[k], like)));
  }
  return {};
}

Result<NamedValues> trainedValues(const GraphSource& source, const LossChoice& loss, const ValueList& outputs) {
  const AotGraph& traced = *source.aot;
  double total = 0;
  DType dtype = DType::Float32;
  for (const std::size_t place : LossOutputs(traced).places) {
    const Tensor& output = outputs[place].tensor();
    KERF_TRY(const double sum, sumOf(output));
    total += sum * slopeOf(traced, loss, place, output);
    dtype = output.dtype();
  }
  const std::size_t first = traced.mutatedOutputs + traced.userOutputs;
  NamedValues values{{"loss", Tensor::scalar(total, isComplex(dtype) ? DType::Float64 : dtype)}};
  for (std::size_t i = 0; i < traced.metadata.inputs.size(); ++i) {
    if (!traced.metadata.inputs[i].requiresGrad || first + i >= outputs.size()) continue;
    KERF_TRY(Value gradient, sharedGradient(source, outputs, first, i));
    values.emplace_back("grad." + traced.metadata.inputs[i].source, std::move(gradient));
  }
  return values;
}

}  // namespace kerf::workbench
