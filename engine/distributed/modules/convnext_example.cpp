#include "engine/distributed/modules/convnext_example.h"

#include <algorithm>
#include <cmath>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/layers.h"

namespace kerf::inline distributed::inline modules {
namespace {

/// Waves of a scale, around an offset: the same in every world and dtype.
Result<Tensor> waves(const Sizes& sizes, double scale, double offset, std::size_t seed, DType dtype) {
  KERF_TRY(const Tensor tensor, Tensor::zeros(DType::Float64, sizes));
  auto* values = tensor.data<double>();
  const double phase = double(seed) * 0.61;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values[i] = offset + scale * std::sin(double(i) * 0.7391 + phase);
  return tensor.to(dtype);
}

/// Norms and scales of blocks are about 1, the others small enough for signals to keep their size.
Result<Tensor> parameterValue(const ConvNextParameter& parameter, std::size_t seed, DType dtype) {
  const bool isUnit = parameter.name.ends_with(".w") || parameter.name.ends_with(".n.weight");
  if (isUnit) return waves(parameter.sizes, 0.2, 1, seed, dtype);
  if (parameter.name.ends_with(".g")) return waves(parameter.sizes, 0.1, 0.3, seed, dtype);
  std::int64_t fanIn = 1;
  for (std::size_t d = 1; d < parameter.sizes.size(); ++d) fanIn *= parameter.sizes[d];
  return waves(parameter.sizes, fanIn > 1 ? std::sqrt(2.0 / double(fanIn)) : 0.1, 0, seed, dtype);
}

Result<Tensor> targetsOf(const ConvNextExample& example) {
  KERF_TRY(const Tensor targets, Tensor::zeros(DType::Int64, {example.images[0]}));
  for (std::int64_t i = 0; i < targets.numel(); ++i)
    targets.data<std::int64_t>()[i] = (3 * i + 1) % example.model.classes;
  return targets;
}

Result<void> walkBack(const ModuleRun& run, const Tape& tape, const Tensor& loss, ExampleStep& step) {
  const DTensorOps& ops = run.ops();
  const OpRunner calls(ops);
  Gradients gradients(tape.names());
  KERF_TRY(const Tensor seed, calls("aten.ones_like.default"_op, {loss}));
  KERF_CHECK(gradients.add(loss, seed, calls));
  KERF_CHECK(tape.walkBack(gradients, calls, [](NodeId) {}));
  step.collectives = ops.rank().issued;
  for (const auto& [name, parameter] : run.parameters()) {
    const Value gradient = gradients.of(parameter);
    if (!gradient.isTensor()) return fail(ErrorCode::RuntimeFailed, "no gradient flows to {}", name);
    KERF_TRY(step.gradients[name], ops.full(gradient.tensor()));
  }
  return {};
}

}  // namespace

ConvNextExample ConvNextExample::small() {
  ConvNextExample example;
  example.model.depths = {1, 1, 2, 1};
  example.model.widths = {4, 8, 8, 12};
  example.model.classes = 5;
  example.images = {2, 3, 32, 128};
  return example;
}

Result<ExampleStep> trainConvNext(MeshRank& rank, const ConvNextExample& example) {
  if (rank.mesh.dims() != 1) return fail(ErrorCode::BadUsage, "the example runs on a mesh of one dimension");
  const DTensorOps ops(rank);
  Tape tape;
  ModuleRun run(ops);
  std::size_t seed = 0;
  for (const ConvNextParameter& parameter : convNextParameters(example.model)) {
    KERF_TRY(const Tensor value, parameterValue(parameter, ++seed, example.dtype));
    run.addParameter(parameter.name, value);
  }
  KERF_CHECK(distributeModule(run, "", {}));
  for (const auto& [name, parameter] : run.parameters()) tape.addLeaf(parameter);
  KERF_TRY(const Tensor whole, waves(example.images, 1, 0, ++seed, example.dtype));
  KERF_TRY(const Tensor images, ops.distribute(whole, {Placement::shard(3)}));
  KERF_TRY(const Tensor labels, targetsOf(example));
  KERF_TRY(const Tensor targets, ops.distribute(labels, {Placement::replicate()}));
  ops.setTape(&tape);
  KERF_TRY(const Value logits, convNext(run, images, example.model));
  KERF_TRY(const Value loss, callOn(run, "torch.nn.functional.cross_entropy", {logits, targets}));
  ops.setTape(nullptr);
  ExampleStep step;
  const auto before = rank.issued;
  KERF_TRY(const Tensor full, ops.full(loss.tensor()));
  rank.issued = before;
  step.loss = full.itemAsDouble(0);
  KERF_CHECK(walkBack(run, tape, loss.tensor(), step));
  return step;
}

Result<ExampleStep> trainConvNextWhole(const ConvNextExample& example) {
  ExampleStep step;
  const DeviceMesh mesh = *DeviceMesh::ofSizes({1});
  const auto results = runRanks(1, [&](Communicator& link) -> Result<void> {
    MeshRank rank(mesh, link);
    KERF_TRY(step, trainConvNext(rank, example));
    return {};
  });
  KERF_CHECK(firstCause(results));
  return step;
}

double gradientDifference(const ExampleStep& own, const ExampleStep& whole) {
  if (own.gradients.size() != whole.gradients.size()) return HUGE_VAL;
  double worst = 0;
  for (const auto& [name, gradient] : whole.gradients) {
    const auto found = own.gradients.find(name);
    if (found == own.gradients.end() || found->second.sizes() != gradient.sizes()) return HUGE_VAL;
    double largest = 0, difference = 0;
    for (std::int64_t i = 0; i < gradient.numel(); ++i) {
      const double a = found->second.itemAsDouble(i), b = gradient.itemAsDouble(i);
      largest = std::max(largest, std::abs(b));
      difference = std::isnan(a - b) ? HUGE_VAL : std::max(difference, std::abs(a - b));
    }
    worst = std::max(worst, largest > 0 ? difference / largest : difference);
  }
  return worst;
}

}  // namespace kerf::inline distributed::inline modules
