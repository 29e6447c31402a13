#include "app/workbench/run/transposes.h"

#include <cmath>
#include <set>

#include "app/workbench/captures/aot_stage.h"
#include "engine/autograd/linearize.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/process/in_child.h"
#include "engine/verification/stage_run.h"

namespace kerf::workbench {

namespace {

constexpr double acceptedError = 1e-9;

struct DualCheck {
  double forward = 0, reverse = 0;
  double relativeError = 0;  ///< against the sum of the absolute terms
  std::int64_t inputs = 0, outputs = 0;

  KERF_FIELDS(forward, reverse, relativeError, inputs, outputs)
};

/// What both graphs run on: the inputs by name, a direction for each, a tangent for each output.
struct DualGraphs {
  GraphModule forward, joint;
  Stage forwardStage, jointStage;
  std::vector<std::size_t> forwardOutputs, jointOutputs;  ///< by tangent: the function's output
  std::vector<std::string> inputs;                        ///< that have directions
  SlotValues values;
};

/// Uniform in [-1, 1); zeros for what has no direction of real numbers.
Result<Tensor> directionLike(const Tensor& like, std::uint64_t seed) {
  if (!isFloating(like.dtype())) return Tensor::zeros(like.dtype(), like.sizes());
  KERF_TRY(Tensor direction, Tensor::zeros(DType::Float64, like.sizes()));
  double* const elements = direction.data<double>();
  for (std::int64_t i = 0; i < direction.numel(); ++i) {
    std::uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15u + std::uint64_t(i + 1) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 30)) * 0x94d049bb133111ebu;
    elements[i] = double((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1;
  }
  return direction;
}

std::size_t returnedCount(const Graph& graph) { return returnedItems(graph).size(); }

/// Names for what the joint graph takes and gives.
void nameJoint(const AotGraph& traced, DualGraphs& graphs) {
  Stage& stage = graphs.jointStage;
  stage.name = "joint";
  for (const AotInput& input : traced.metadata.inputs) stage.inputs.push_back("in:" + input.source);
  for (std::size_t k = 0; k < traced.tangents.size(); ++k) stage.inputs.push_back(fmt::format("tangent:{}", k));
  for (const std::string& name : traced.rngInputs) stage.inputs.push_back("in:" + name);
  stage.outputs.resize(traced.mutatedOutputs + traced.userOutputs);
  for (const AotInput& input : traced.metadata.inputs) stage.outputs.push_back("grad:" + input.source);
  graphs.jointOutputs = traced.tangents;
}

void nameForward(const LinearizedGraph& made, DualGraphs& graphs) {
  Stage& stage = graphs.forwardStage;
  stage.name = "linearize";
  for (const AotInput& input : made.inputs) stage.inputs.push_back("in:" + input.source);
  for (const std::size_t input : made.tangentInputs) {
    stage.inputs.push_back("v:" + made.inputs[input].source);
    graphs.inputs.push_back(made.inputs[input].source);
  }
  stage.outputs.resize(made.outputs);
  for (const std::size_t output : made.tangentOutputs) stage.outputs.push_back(fmt::format("jv:{}", output));
  stage.outputs.resize(returnedCount(graphs.forward.graph));
  graphs.forwardOutputs = made.tangentOutputs;
}

Result<DualGraphs> dualGraphs(Workbench& bench, GraphAddress address, const Job& job) {
  address.stage.clear();
  KERF_TRY(GraphSource found, resolveGraph(bench, address, job));
  KERF_CHECK(checkKernels(found.graph().module));
  const std::uint64_t seed = found.seed;
  KERF_TRY(GraphSource joint, stageOf(found, StageChoice{AotStage::Joint}, job));
  const auto traced = joint.aot;
  KERF_TRY(RunnableGraph ready, runnable(std::move(joint), job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  AotSubject subject = aotSubject(source.graph(), AotStage::Joint, job);
  std::set<std::string> chosen;
  for (const AotInput& input : traced->metadata.inputs)
    if (input.requiresGrad) chosen.insert(input.source);
  AotOptions options{.stage = AotStage::Functional, .stop = job.stop};
  options.requiresGrad = [&](const AotInput& input) { return chosen.contains(input.source); };
  KERF_TRY(LinearizedGraph made, linearize(subject.module, std::move(subject.inputs), options));
  DualGraphs graphs{std::move(made.jvp), ready.graph().module, {}, {}, {}, {}, {}, {}};
  nameJoint(*traced, graphs);
  nameForward(made, graphs);
  for (std::size_t i = 0; i < std::min(ready.inputs.size(), graphs.jointStage.inputs.size()); ++i)
    graphs.values.emplace(graphs.jointStage.inputs[i], ready.inputs[i]);
  for (std::size_t i = 0; i < graphs.inputs.size(); ++i) {
    const auto value = graphs.values.find("in:" + graphs.inputs[i]);
    if (value == graphs.values.end() || !value->second.isTensor()) continue;
    KERF_TRY(Tensor direction, directionLike(value->second.tensor(), seed + i));
    graphs.values.emplace("v:" + graphs.inputs[i], Value(std::move(direction)));
  }
  return graphs;
}

/// The sum of a[i] * b[i], and that of its terms' absolute values.
struct ProductSum {
  double terms = 0, absolute = 0;

  Result<void> add(const SlotValues& first, const std::string& a, const SlotValues& second, const std::string& b) {
    const auto x = first.find(a), y = second.find(b);
    if (x == first.end() || y == second.end() || !x->second.isTensor() || !y->second.isTensor()) return {};
    if (!isFloating(x->second.tensor().dtype()) || !isFloating(y->second.tensor().dtype())) return {};
    KERF_TRY(Tensor left, x->second.tensor().to(DType::Float64));
    KERF_TRY(Tensor right, y->second.tensor().to(DType::Float64));
    KERF_TRY(left, left.contiguous());
    KERF_TRY(right, right.contiguous());
    if (left.numel() != right.numel())
      return fail(ErrorCode::ShapeMismatch, "{} and {} have different numbers of elements", a, b);
    for (std::int64_t i = 0; i < left.numel(); ++i) {
      const double term = left.data<double>()[i] * right.data<double>()[i];
      terms += term;
      absolute += std::abs(term);
    }
    return {};
  }
};

Result<DualCheck> check(const DualGraphs& graphs, std::stop_token stop) {
  const StageRunOptions options{.prints = false, .stop = stop};
  KERF_TRY(const StageRun forward, runStage(graphs.forwardStage, graphs.forward, graphs.values, options));
  KERF_TRY(const StageRun reverse, runStage(graphs.jointStage, graphs.joint, graphs.values, options));
  ProductSum left, right;
  for (std::size_t k = 0; k < graphs.jointOutputs.size(); ++k)
    KERF_CHECK(left.add(forward.values, fmt::format("jv:{}", graphs.jointOutputs[k]), graphs.values,
                        fmt::format("tangent:{}", k)));
  for (const std::string& input : graphs.inputs)
    KERF_CHECK(right.add(graphs.values, "v:" + input, reverse.values, "grad:" + input));
  DualCheck result{.forward = left.terms, .reverse = right.terms};
  const double scale = std::max({left.absolute, right.absolute, 1e-300});
  result.relativeError = std::abs(left.terms - right.terms) / scale;
  result.inputs = std::int64_t(graphs.inputs.size());
  result.outputs = std::int64_t(graphs.jointOutputs.size());
  return result;
}

}  // namespace

Result<std::string> checkTransposes(Workbench& bench, const GraphAddress& address, const Job& job) {
  KERF_TRY(const DualGraphs graphs, dualGraphs(bench, address, job));
  const std::function body = [&]() -> Result<DualCheck> { return check(graphs, job.stop); };
  KERF_TRY(const DualCheck result,
           inChild(body, patientLimits({}), job.stop, "running forward and reverse mode", ErrorCode::RuntimeFailed));
  const std::string text = fmt::format(
      "<Jv, w> = {:.12g} by forward mode, <v, J^T w> = {:.12g} by the joint graph: {:.1e} apart in fp64, {} "
      "inputs with directions, {} outputs with tangents",
      result.forward, result.reverse, result.relativeError, result.inputs, result.outputs);
  if (result.inputs == 0 || result.outputs == 0)
    return fail(ErrorCode::UnsupportedOp, "no input and output of floats have gradients: there is nothing to check");
  if (!(result.relativeError <= acceptedError)) return fail(ErrorCode::Different, "{}", text);
  return text + "\n";
}

}  // namespace kerf::workbench
