#include "engine/distributed/recorded/module_step.h"

#include <algorithm>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/data_parallel.h"
#include "engine/distributed/modules/loss_parallel.h"
#include "engine/distributed/modules/parallel_styles.h"
#include "engine/distributed/recorded/module_models.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline recorded {
namespace {

using sharding::Placement;
using sharding::Placements;

Result<std::optional<Placement>> placementAt(const Json& style, const char* key) {
  if (!style.contains(key) || !style[key].is_array() || style[key].empty() || !style[key][0].is_string())
    return std::nullopt;
  KERF_TRY(Placement placement, parsePlacement(style[key][0].get<std::string>()));
  return placement;
}

Result<ParallelStyle> readStyle(const Json& json) {
  ParallelStyle style;
  KERF_TRY(style.kind, parallelStyleNamed(json.value("style", std::string())));
  KERF_TRY(style.input, placementAt(json, "input_layouts"));
  KERF_TRY(style.desiredInput, placementAt(json, "desired_input_layouts"));
  KERF_TRY(style.output, placementAt(json, "output_layouts"));
  KERF_TRY(style.desiredOutput, placementAt(json, "desired_output_layouts"));
  style.givesLocal = json.value("use_local_output", true);
  if (style.kind == ParallelStyle::Kind::Sequence) {
    KERF_TRY(style.input, placementAt(json, "sequence_sharding"));
  }
  if (style.kind == ParallelStyle::Kind::ModuleInput) style.takesLocal = json.value("use_local_output", false);
  if (style.kind == ParallelStyle::Kind::ModuleInputOutput) style.takesLocal = json.value("use_local_input", false);
  return style;
}

/// How the line's ranks share the work.
struct RankLayout {
  std::size_t tensorDim = 0;              ///< of the mesh: tensor parallelism
  std::optional<std::size_t> dataDim;     ///< its ranks have different inputs
  std::optional<std::size_t> replicaDim;  ///< of HSDP
  bool averages = false;                  ///< DistributedDataParallel
  bool splitsWorld = false;               ///< every rank has an input of its own
};

RankLayout layoutOf(const Json& line, std::size_t meshDims) {
  const std::string kind = line.value("kind", std::string());
  RankLayout layout;
  if (line.contains("bucket_cap_mb")) return {.dataDim = 0, .averages = true, .splitsWorld = true};
  if (line.contains("mesh_dim_names") && !line.contains("sharded_layers"))
    return {.tensorDim = 1, .dataDim = 0, .averages = true};
  if (!line.contains("sharded_layers")) return {.tensorDim = meshDims - 1};
  if (kind == "hsdp") return {.dataDim = 1, .replicaDim = 0, .splitsWorld = true};
  if (kind == "tp") return {.tensorDim = 1, .dataDim = 0};
  return {.dataDim = 0, .splitsWorld = true};
}

/// The usual plan of a perceptron, for lines that say only that there is tensor parallelism.
const std::vector<std::pair<std::string, ParallelStyle>>& perceptronPlan() {
  static const std::vector<std::pair<std::string, ParallelStyle>> plan{
      {"fc1", {.kind = ParallelStyle::Kind::Colwise, .input = Placement::replicate(), .output = Placement::shard(-1)}},
      {"fc2", {.kind = ParallelStyle::Kind::Rowwise, .input = Placement::shard(-1), .output = Placement::replicate()}}};
  return plan;
}

Result<void> applyStyles(const Json& line, const RankLayout& layout, ModuleRun& run) {
  if (line.contains("plan")) {
    for (auto entry = line["plan"].begin(); entry != line["plan"].end(); ++entry) {
      KERF_TRY(const ParallelStyle style, readStyle(entry.value()));
      KERF_CHECK(parallelize(run, entry.key(), style, layout.tensorDim));
    }
    return {};
  }
  if (line.contains("vocabulary"))
    return parallelize(
        run, "",
        {.kind = ParallelStyle::Kind::Rowwise, .input = Placement::replicate(), .output = Placement::replicate()},
        layout.tensorDim);
  if (layout.dataDim && *layout.dataDim != layout.tensorDim && !layout.splitsWorld)
    for (const auto& [path, style] : perceptronPlan()) KERF_CHECK(parallelize(run, path, style, layout.tensorDim));
  if (line.contains("input_placement")) return distributeModule(run, "", {});
  return {};
}

Result<void> applySharding(const Json& line, const RankLayout& layout, ModuleRun& run) {
  for (const Json& path : line.value("sharded_layers", Json::array()))
    KERF_CHECK(fullyShard(run, path.get<std::string>(), {*layout.dataDim, layout.replicaDim}));
  return {};
}

Result<Tensor> ownInput(const ModuleCase& test, const RankLayout& layout, const DTensorOps& ops) {
  const Tensor* whole = test.find("in0");
  if (whole == nullptr) return fail(ErrorCode::NotFound, "{} has no input", test.id);
  if (test.line.contains("input_placement")) {
    KERF_TRY(Placement placement, parsePlacement(test.line["input_placement"].get<std::string>()));
    Placements placements(ops.mesh().dims());
    placements.back() = placement;
    return ops.distribute(*whole, placements);
  }
  const Json split = test.line.value("input_shard", Json());
  const int rank = ops.rank().ranks.rank();
  Tensor own = *whole;
  if (split.is_number_integer()) {
    KERF_TRY(own, chunkOf(*whole, split.get<std::int64_t>(), ops.mesh().ranks(), rank));
  } else if (layout.splitsWorld) {
    KERF_TRY(own, chunkOf(*whole, 0, ops.mesh().ranks(), rank));
  } else if (layout.dataDim) {
    KERF_TRY(own, chunkOf(*whole, 0, ops.mesh().size(*layout.dataDim), ops.rank().coordinate[*layout.dataDim]));
  }
  return ops.asLocal(own);
}

Result<StepTensor> stepTensor(const DTensorOps& ops, const Tensor& tensor) {
  const sharding::Spec* spec = ops.specOf(tensor);
  if (spec == nullptr) return StepTensor{std::nullopt, tensor, tensor};
  const auto before = ops.rank().issued;
  KERF_TRY(Tensor whole, ops.full(tensor));
  ops.rank().issued = before;
  return StepTensor{placementTexts(spec->placements), ops.local(tensor), std::move(whole)};
}

Result<void> addParameters(const ModuleCase& test, ModuleRun& run) {
  for (const std::string& name : test.tensors.namesAfter(test.id + ".param.")) {
    KERF_TRY(const Tensor copy, test.find("param." + name)->clone());
    run.addParameter(name, copy);
  }
  run.embeddings = embeddingsOf(test.line);
  return {};
}

/// Walks back from the loss and keeps the gradients of all parameters and of the input.
Result<void> walk(const ModuleRun& run, Tape& tape, const Tensor& loss, const Tensor& input, const RankLayout& layout,
                  ModuleStep& step) {
  const DTensorOps& ops = run.ops();
  const OpRunner calls(ops);
  ops.setTape(nullptr);
  ops.rank().issued.clear();
  Gradients gradients(tape.names());
  KERF_TRY(const Tensor seed, calls("aten.ones_like.default"_op, {loss}));
  KERF_CHECK(gradients.add(loss, seed, calls));
  KERF_CHECK(tape.walkBack(gradients, calls, [](NodeId) {}));
  std::vector<Tensor> own;
  for (const auto& [name, parameter] : run.parameters()) {
    const Value gradient = gradients.of(parameter);
    if (!gradient.isTensor()) continue;
    own.push_back(ops.specOf(gradient.tensor()) != nullptr ? ops.local(gradient.tensor()) : gradient.tensor());
    if (layout.averages) continue;
    KERF_TRY(step.gradients[name], stepTensor(ops, gradient.tensor()));
  }
  if (layout.averages) {
    KERF_TRY(const auto mean, averagedGradients(ops.rank(), *layout.dataDim, own));
    std::size_t at = 0;
    for (const auto& [name, parameter] : run.parameters())
      if (gradients.of(parameter).isTensor()) step.gradients[name] = {std::nullopt, mean[at], mean[at]}, ++at;
  }
  step.backwardComms = ops.rank().issued;
  if (const Value gradient = gradients.of(input); gradient.isTensor()) {
    KERF_TRY(step.inputGradient, stepTensor(ops, gradient.tensor()));
  }
  return {};
}

/// Logits alone, with the loss that the line's options say.
Result<ModuleStep> lossStep(const ModuleCase& test, const DTensorOps& ops, Tape& tape, const Tensor& logits) {
  const Json options = test.line.value("options", Json::object());
  CrossEntropyOptions how;
  const std::string reduction = options.value("reduction", std::string("mean"));
  how.reduction = reduction == "none"  ? CrossEntropyOptions::Reduction::None
                  : reduction == "sum" ? CrossEntropyOptions::Reduction::Sum
                                       : CrossEntropyOptions::Reduction::Mean;
  how.ignoredIndex = options.value("ignore_index", how.ignoredIndex);
  if (const Tensor* weight = test.find("weight")) how.weight = *weight;
  if (options.value("label_smoothing", 0.0) != 0)
    return fail(ErrorCode::UnsupportedOp, "loss_parallel has no label smoothing");
  ModuleStep step;
  KERF_TRY(const Tensor loss, lossParallelCrossEntropy(ops, logits, *test.find("target"), how));
  step.forwardComms = ops.rank().issued;
  KERF_TRY(step.loss, stepTensor(ops, loss));
  KERF_TRY(const Value total, ops.call("aten.sum.default", {loss}, {}));
  const ModuleRun nothing(ops);
  KERF_CHECK(walk(nothing, tape, total.tensor(), logits, {}, step));
  return step;
}

Result<ModuleStep> stepOf(const ModuleCase& test, ModuleRun& run, Tape& tape, const Tensor& input,
                          const RankLayout& layout) {
  const DTensorOps& ops = run.ops();
  for (const auto& [name, parameter] : run.parameters())
    if (mayHaveGradient(parameter)) tape.addLeaf(parameter);
  const bool asksInput = test.find("rank0.in_grad") != nullptr || test.line.contains("input_placement");
  if (asksInput && mayHaveGradient(input)) tape.addLeaf(input);
  ops.rank().issued.clear();
  ops.setTape(&tape);
  ModuleStep step;
  KERF_TRY(const Value output, runModule(test.line, run, input));
  KERF_TRY(const Value loss, moduleLoss(test.line, run, output, test.find("target")));
  step.forwardComms = ops.rank().issued;
  KERF_TRY(step.output, stepTensor(ops, output.tensor()));
  KERF_TRY(step.loss, stepTensor(ops, loss.tensor()));
  for (const auto& [name, parameter] : run.parameters()) {
    KERF_TRY(step.parameters[name], stepTensor(ops, parameter));
  }
  KERF_CHECK(walk(run, tape, loss.tensor(), input, layout, step));
  return step;
}

}  // namespace

Result<ModuleStep> rankStep(const ModuleCase& test, MeshRank& rank) {
  const RandomScope random(1);
  const DTensorOps ops(rank);
  Tape tape;
  const RankLayout layout = layoutOf(test.line, rank.mesh.dims());
  KERF_TRY(const Tensor input, ownInput(test, layout, ops));
  if (!test.line.contains("module") && !test.line.contains("vocabulary")) {
    if (test.find("target") == nullptr)
      return fail(ErrorCode::UnsupportedOp, "{} has neither module nor target", test.id);
    tape.addLeaf(input);
    ops.setTape(&tape);
    KERF_TRY(ModuleStep step, lossStep(test, ops, tape, input));
    return step;
  }
  if (test.line.contains("optimizer")) return fail(ErrorCode::UnsupportedOp, "steps of optimizers are not run");
  ModuleRun run(ops);
  KERF_CHECK(addParameters(test, run));
  KERF_CHECK(applyStyles(test.line, layout, run));
  KERF_CHECK(applySharding(test.line, layout, run));
  return stepOf(test, run, tape, input, layout);
}

Result<ModuleStep> plainStep(const ModuleCase& test) {
  ModuleStep step;
  const DeviceMesh mesh = *DeviceMesh::ofSizes({1});
  const auto results = runRanks(1, [&](Communicator& link) -> Result<void> {
    const RandomScope random(1);
    MeshRank rank(mesh, link);
    const DTensorOps ops(rank);
    Tape tape;
    ModuleRun run(ops);
    KERF_CHECK(addParameters(test, run));
    const Tensor* whole = test.find("in0");
    if (whole == nullptr) return fail(ErrorCode::NotFound, "{} has no input", test.id);
    KERF_TRY(step, stepOf(test, run, tape, ops.asLocal(*whole), {}));
    return {};
  });
  KERF_CHECK(firstCause(results));
  return step;
}

}  // namespace kerf::inline distributed::inline recorded
