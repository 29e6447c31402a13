#include "engine/distributed/recorded/dtensor_cases.h"

#include <algorithm>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/convnext.h"
#include "engine/distributed/modules/layers.h"

namespace kerf::inline distributed::inline recorded {
namespace {

using sharding::Placement;
using sharding::Placements;

/// What an operation of the recording calls after its tensors.
struct NamedCall {
  std::string_view name, op;
  ValueList rest = {};
};

const std::vector<NamedCall>& namedCalls() {
  static const std::vector<NamedCall> all{
      {"relu", "aten.relu.default"},
      {"uneven_relu", "aten.relu.default"},
      {"sum", "aten.sum.default"},
      {"sum0", "aten.sum.dim_IntList", {intList({0})}},
      {"sum1", "aten.sum.dim_IntList", {intList({1})}},
      {"softmax0", "aten.softmax.int", {std::int64_t{0}}},
      {"softmax1", "aten.softmax.int", {std::int64_t{1}}},
      {"t", "aten.t.default"},
      {"view", "aten.view.default", {intList({4, 12})}},
      {"mm", "aten.mm.default"},
      {"mm2d", "aten.mm.default"},
      {"add", "aten.add.Tensor"},
      {"layer_norm", "aten.layer_norm.default", {intList({16})}},
      {"conv", "aten.conv2d.default", {Value(), intList({1, 1}), intList({1, 1})}},
      {"conv_wsharded", "aten.conv2d.default", {Value(), intList({1, 1}), intList({1, 1})}},
      {"conv_width", "aten.conv2d.default", {Value(), intList({1, 1}), intList({1, 1})}},
  };
  return all;
}

/// Values that no sum cancels.
Result<Tensor> madeUp(const Sizes& sizes, std::int64_t seed) {
  KERF_TRY(const Tensor tensor, Tensor::zeros(DType::Float32, sizes));
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data<float>()[i] = float((i * 37 + seed * 11) % 29) / 14.0F - 0.9F;
  return tensor;
}

Result<Value> callNamed(const std::string& op, const ValueList& inputs, const OpCaller& ops) {
  const auto found = std::ranges::find(namedCalls(), op, &NamedCall::name);
  if (found == namedCalls().end()) return fail(ErrorCode::NotFound, "the operation {} is not known", op);
  ValueList args = inputs;
  args.insert(args.end(), found->rest.begin(), found->rest.end());
  return ops.call(found->op, args, {});
}

struct PlacedResult {
  std::vector<std::string> placements;
  Sizes local;
  Tensor whole;
  std::map<std::string, int> comms;
};

Result<Value> runPlaced(const Json& line, const DTensorOps& ops, const ValueList& whole) {
  const std::string op = line["op"].get<std::string>();
  ValueList inputs;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    KERF_TRY(const Placements placements, readPlacements(line["placements"][i], whole[i].tensor().dim()));
    KERF_TRY(Tensor input, ops.distribute(whole[i].tensor(), placements));
    inputs.emplace_back(std::move(input));
  }
  if (!op.starts_with("to_")) return callNamed(op, inputs, ops);
  KERF_TRY(const Placement to, parsePlacement(op.substr(3)));
  KERF_TRY(Tensor moved, ops.redistribute(inputs[0].tensor(), {to}));
  return Value(std::move(moved));
}

Result<PlacedResult> placedResult(const Json& line, MeshRank& rank, const ValueList& whole) {
  const DTensorOps ops(rank);
  KERF_TRY(const Value result, runPlaced(line, ops, whole));
  PlacedResult placed{
      placementTexts(ops.specOf(result.tensor())->placements), ops.local(result.tensor()).sizes(), {}, rank.issued};
  KERF_TRY(placed.whole, ops.full(result.tensor()));
  return placed;
}

Result<ValueList> wholeInputs(const Json& line) {
  ValueList inputs;
  for (const Json& shape : line["inputs"]) {
    KERF_TRY(const Sizes sizes, readSizes(shape));
    KERF_TRY(Tensor tensor, madeUp(sizes, std::int64_t(inputs.size())));
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

std::string shapesText(const Json& asked, const std::vector<PlacedResult>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto sizes = readSizes(asked[r][0]);
    if (sizes && ranks[r].local != *sizes)
      return fmt::format("rank {} has [{}] instead of [{}]", r, fmt::join(ranks[r].local, ", "),
                         fmt::join(*sizes, ", "));
  }
  return {};
}

std::string placementsText(const Json& asked, const std::vector<std::string>& own) {
  std::vector<std::string> texts;
  for (const Json& item : asked) texts.push_back(item.get<std::string>());
  return texts == own ? std::string()
                      : fmt::format("[{}] instead of [{}]", fmt::join(own, ", "), fmt::join(texts, ", "));
}

/// stem, norm, block, norm, downsampling, block; the mean of the squares.
Result<Value> smallConvNext(const ModuleRun& run, const Value& images) {
  constexpr double epsilon = 1e-6;
  KERF_TRY(Value x, convolutionLayer(run, "0", images, {.stride = 4}));
  KERF_TRY(x, channelNorm(run, "1", x, epsilon));
  KERF_TRY(x, convNextBlock(run, "2", x, epsilon));
  KERF_TRY(x, channelNorm(run, "3", x, epsilon));
  KERF_TRY(x, convolutionLayer(run, "4", x, {.stride = 2}));
  KERF_TRY(x, convNextBlock(run, "5", x, epsilon));
  KERF_TRY(const Value squares, callOn(run, "aten.mul.Tensor", {x, x}));
  return callOn(run, "aten.mean.default", {squares});
}

struct TrainedModel {
  double loss = 0;
  std::map<std::string, Tensor> gradients;
  std::map<std::string, int> comms;
};

Result<TrainedModel> trainedStep(MeshRank& rank, const SavedTensors& tensors, const Placement& images) {
  const DTensorOps ops(rank);
  Tape tape;
  ModuleRun run(ops);
  for (const std::string& name : tensors.namesAfter("param.")) run.addParameter(name, *tensors.find("param." + name));
  KERF_CHECK(distributeModule(run, "", {}));
  for (const auto& [name, parameter] : run.parameters()) tape.addLeaf(parameter);
  const Tensor* whole = tensors.find("x");
  if (whole == nullptr) return fail(ErrorCode::NotFound, "there are no images");
  KERF_TRY(const Tensor input, ops.distribute(*whole, {images}));
  ops.setTape(&tape);
  KERF_TRY(const Value loss, smallConvNext(run, input));
  ops.setTape(nullptr);
  const OpRunner calls(ops);
  Gradients gradients(tape.names());
  KERF_TRY(const Tensor seed, calls("aten.ones_like.default"_op, {loss}));
  KERF_CHECK(gradients.add(loss.tensor(), seed, calls));
  KERF_CHECK(tape.walkBack(gradients, calls, [](NodeId) {}));
  TrainedModel trained;
  trained.comms = rank.issued;
  KERF_TRY(const Tensor full, ops.full(loss.tensor()));
  trained.loss = full.itemAsDouble(0);
  for (const auto& [name, parameter] : run.parameters()) {
    const Value gradient = gradients.of(parameter);
    if (!gradient.isTensor()) return fail(ErrorCode::RuntimeFailed, "{} has no gradient", name);
    KERF_TRY(trained.gradients[name], ops.full(gradient.tensor()));
  }
  return trained;
}

void checkTrained(const std::string& id, const Json& recorded, const SavedTensors& tensors, const TrainedModel& trained,
                  RanksReport& report) {
  report.note(id, RanksField::Values, difference(Value(trained.loss), Value(recorded["ref_loss"].get<double>())));
  for (const auto& [name, gradient] : trained.gradients) {
    const Tensor* saved = tensors.find("grad." + name);
    if (saved == nullptr) continue;
    const auto shaped = callTensorOp("aten.reshape.default", {gradient, intList(saved->sizes())});
    const std::string text = shaped ? difference(*shaped, *saved) : shaped.error().text();
    report.note(id, RanksField::Gradients, text.empty() ? text : name + ": " + text);
  }
}

}  // namespace

Result<void> checkPlacementCase(const Json& line, RanksReport& report) {
  if (!line.contains("inputs")) return {};  // a refusal, without the sizes that were refused
  const std::string id = line.value("id", line.value("op", std::string()));
  ++report.cases;
  KERF_TRY(const Sizes sizes, readSizes(line["mesh"]));
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes(sizes));
  KERF_TRY(const ValueList whole, wholeInputs(line));
  std::vector<PlacedResult> ranks{std::size_t(mesh.ranks())};
  const auto results = report.world.run(mesh.ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(mesh, link);
    KERF_TRY(ranks[std::size_t(link.rank())], placedResult(line, rank, whole));
    return {};
  });
  if (const Result<void> ran = firstCause(results); !ran) {
    report.note(id, RanksField::Values, "fails: " + ran.error().text());
    return {};
  }
  const std::string op = line["op"].get<std::string>();
  KERF_TRY(const Value plain, op.starts_with("to_") ? Result<Value>(whole[0]) : callNamed(op, whole, referenceOps()));
  report.note(id, RanksField::Values,
              difference(ranks[0].whole, plain.isList() ? plain.list()[0].tensor() : plain.tensor()));
  report.note(id, RanksField::Placements, placementsText(line["out_placements"][0], ranks[0].placements));
  report.note(id, RanksField::LocalShapes, shapesText(line["local_shapes"], ranks));
  report.note(id, RanksField::Collectives, commsDifference(ranks[0].comms, line["comms"]));
  return {};
}

Result<void> checkConvNextCase(const Json& recorded, const SavedTensors& tensors, RanksReport& report) {
  struct Way {
    const char* name;
    Placement images;
  };
  const DeviceMesh mesh = *DeviceMesh::ofSizes({4});
  for (const Way& way : {Way{"batch_S0", Placement::shard(0)}, Way{"width_S3", Placement::shard(3)}}) {
    ++report.cases;
    std::vector<TrainedModel> ranks(4);
    const auto results = report.world.run(4, [&](Communicator& link) -> Result<void> {
      MeshRank rank(mesh, link);
      KERF_TRY(ranks[std::size_t(link.rank())], trainedStep(rank, tensors, way.images));
      return {};
    });
    const std::string id = std::string("convnext_") + way.name;
    if (const Result<void> ran = firstCause(results); !ran) {
      report.note(id, RanksField::Values, "fails: " + ran.error().text());
      continue;
    }
    checkTrained(id, recorded, tensors, ranks[0], report);
    const Json known = recorded.value(way.name, Json::object());
    if (known.contains("comms"))
      report.note(id, RanksField::Collectives, commsDifference(ranks[0].comms, known["comms"]));
  }
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
