#include "engine/distributed/recorded/redistribute_cases.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/distributed/dtensor/distributed_tensor.h"
#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/group/in_process.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline recorded {
namespace {

using sharding::Placement;
using sharding::Placements;

/// What one rank has in the end.
struct RankResult {
  std::optional<Tensor> local, full, gradient;
  Placements placements, gradientPlacements;
  std::map<std::string, int> comms, backwardComms;
};

struct Case {
  const Json& line;
  const SavedTensors& tensors;
  std::string id;
  DeviceMesh mesh;

  std::string text(const char* key) const {
    return line.contains(key) && line[key].is_string() ? line[key].get<std::string>() : std::string();
  }
  /// "rank*.in" with the rank's number.
  const Tensor* ofRank(const std::string& key, int rank) const {
    std::string name = key;
    if (const std::size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, std::to_string(rank));
    return tensors.find(id + "." + name);
  }
  Json backward() const {
    return line.contains("backward") && line["backward"].is_object() ? line["backward"] : Json();
  }
};

Result<Tensor> required(const Case& test, const std::string& key, int rank) {
  const Tensor* tensor = test.ofRank(key, rank);
  if (tensor == nullptr) return fail(ErrorCode::NotFound, "{}: no tensor '{}'", test.id, key);
  return tensor->clone();
}

Result<DistributedTensor> source(const Case& test, MeshRank& rank) {
  KERF_TRY(const Sizes sizes, readSizes(test.line["shape"]));
  KERF_TRY(const Placements placements, readPlacements(test.line["src"], std::int64_t(sizes.size())));
  const std::string localKey = test.text("in_local_key");
  KERF_TRY(const Tensor own, required(test, localKey.empty() ? test.text("in_key") : localKey, rank.ranks.rank()));
  if (!localKey.empty()) return DistributedTensor{own, {placements, sizes, own.dtype()}};
  KERF_TRY(Tensor local, localPart(rank, own, placements));
  return DistributedTensor{std::move(local), {placements, sizes, own.dtype()}};
}

Result<std::optional<DType>> optionDtype(const Case& test, const char* key) {
  const Json options = test.line.value("options", Json::object());
  if (!options.is_object() || !options.contains(key)) return std::nullopt;
  KERF_TRY(const Value value, readValue(options[key], {}));
  return *value.as<DType>();
}

Result<void> runRedistribute(const Case& test, MeshRank& rank, RankResult& result) {
  KERF_TRY(const DistributedTensor from, source(test, rank));
  KERF_TRY(const Placements to, readPlacements(test.line["dst"], from.spec.dims()));
  RedistributeOptions options;
  KERF_TRY(options.forwardDtype, optionDtype(test, "forward_dtype"));
  KERF_TRY(options.backwardDtype, optionDtype(test, "backward_dtype"));
  KERF_TRY(const DistributedTensor out, redistributed(rank, from, to, options));
  result.comms = rank.issued;
  result.local = out.local;
  result.placements = out.spec.placements;
  const Json backward = test.backward();
  if (!backward.is_object() || !backward.contains("grad_placements")) return {};
  // The loss is the sum of the result times a seed that is placed like it: the gradient is the seed, replicated where
  // the result is partial.
  KERF_TRY(const Tensor seed, required(test, backward.value("seed_key", std::string("seed")), rank.ranks.rank()));
  KERF_TRY(const Tensor typed, seed.to(out.spec.dtype));
  const Placements placed = withoutPartials(out.spec.placements);
  KERF_TRY(const Tensor part, localPart(rank, typed, placed));
  rank.issued.clear();
  KERF_TRY(const DistributedTensor gradient,
           redistributedBack(rank, {part, {placed, out.spec.sizes, part.dtype()}}, from, options));
  result.backwardComms = rank.issued;
  result.gradientPlacements = gradient.spec.placements;
  KERF_TRY(result.gradient, fullTensor(rank, gradient.local, gradient.spec));
  return {};
}

/// to_local and full_tensor: each rank's loss is the sum of what it sees times its number plus one.
Result<void> runLocalGradient(const Case& test, MeshRank& rank, RankResult& result) {
  KERF_TRY(const DistributedTensor from, source(test, rank));
  KERF_TRY(const Placements asked, readPlacements(test.line["grad_placements"], from.spec.dims()));
  const bool isFull = test.text("call") == "full_tensor";
  KERF_TRY(const Tensor seen, isFull ? fullTensor(rank, from.local, from.spec) : Result<Tensor>(from.local));
  result.comms = rank.issued;
  result.local = seen;
  rank.issued.clear();
  KERF_TRY(const Tensor ones, callTensorOp("aten.full_like.default"_op, {seen, double(rank.ranks.rank() + 1)}));
  const Placements whole(rank.mesh.dims());
  const Spec gradientSpec{asked.empty() ? (isFull ? whole : withoutPartials(from.spec.placements)) : asked,
                          from.spec.sizes, ones.dtype()};
  if (!isFull && asked.empty()) {  // gathered in the recording: the loss is summed over whole tensors
    KERF_TRY(result.gradient, fullTensor(rank, ones, gradientSpec));
    result.backwardComms = rank.issued;
    return {};
  }
  if (!isFull && test.line["grad_placements"].is_array()) {
    result.gradient = ones;
    return {};
  }
  KERF_TRY(const DistributedTensor gradient, redistributedBack(rank, {ones, gradientSpec}, from, {}));
  result.backwardComms = rank.issued;
  result.gradient = gradient.local;
  return {};
}

Result<void> runFromLocal(const Case& test, MeshRank& rank, RankResult& result) {
  KERF_TRY(const Tensor own, required(test, test.text("in_local_key"), rank.ranks.rank()));
  KERF_TRY(const Placements placements, readPlacements(test.line["placements"], own.dim()));
  KERF_TRY(const DistributedTensor made, fromLocal(rank, own, placements, test.line.value("run_check", false)));
  result.comms = rank.issued;
  result.local = made.local;
  result.placements = made.spec.placements;
  KERF_TRY(result.full, fullTensor(rank, made.local, made.spec));
  return {};
}

Result<void> runDistribute(const Case& test, MeshRank& rank, RankResult& result) {
  KERF_TRY(const Tensor own, required(test, test.text("in_local_key"), rank.ranks.rank()));
  KERF_TRY(const Placements placements, readPlacements(test.line["placements"], own.dim()));
  std::optional<int> from;
  if (test.line["src_data_rank"].is_number_integer()) from = test.line["src_data_rank"].get<int>();
  KERF_TRY(const DistributedTensor made, distributeTensor(rank, own, placements, from));
  result.comms = rank.issued;
  result.local = made.local;
  return {};
}

Result<void> runCase(const Case& test, MeshRank& rank, RankResult& result) {
  const std::string call = test.text("call");
  if (call == "to_local" || call == "full_tensor") return runLocalGradient(test, rank, result);
  if (call == "from_local") return runFromLocal(test, rank, result);
  if (call == "distribute_tensor") return runDistribute(test, rank, result);
  return runRedistribute(test, rank, result);
}

std::string placementsDifference(const Placements& own, const Json& asked) {
  std::vector<std::string> texts;
  for (const Json& item : asked) texts.push_back(item.get<std::string>());
  if (texts == placementTexts(own)) return {};
  return fmt::format("{} instead of [{}]", placementsText(own), fmt::join(texts, ", "));
}

/// Compares what every rank has; the first difference, with its rank.
std::string localDifference(const Case& test, const std::vector<RankResult>& ranks, const std::string& key,
                            std::optional<Tensor> RankResult::* part) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Tensor* asked = test.ofRank(key, int(r));
    if (asked == nullptr) continue;
    if (!(ranks[r].*part)) return fmt::format("rank {} has nothing", r);
    if (const std::string text = difference(*(ranks[r].*part), *asked); !text.empty())
      return fmt::format("rank {}: {}", r, text);
  }
  return {};
}

std::string shapeDifference(const Case& test, const std::vector<RankResult>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Json& shape = test.line["ranks"][r].value("out_local_shape", Json());
    if (!shape.is_array() || !ranks[r].local) continue;
    const auto asked = readSizes(shape);
    if (asked && ranks[r].local->sizes() != *asked)
      return fmt::format("rank {} has [{}] instead of [{}]", r, fmt::join(ranks[r].local->sizes(), ", "),
                         fmt::join(*asked, ", "));
  }
  return {};
}

void compare(const Case& test, const std::vector<RankResult>& ranks, RanksReport& report) {
  const auto note = [&](RanksField field, const std::string& text) { report.note(test.id, field, text); };
  if (const std::string key = test.text("out_local_key"); !key.empty())
    note(RanksField::Values, localDifference(test, ranks, key, &RankResult::local));
  if (const std::string key = test.text("full_key"); !key.empty())
    if (const Tensor* asked = test.ofRank(key, 0); asked != nullptr && ranks[0].full)
      note(RanksField::Values, difference(*ranks[0].full, *asked));
  if (test.line.contains("out_placements"))
    note(RanksField::Placements, placementsDifference(ranks[0].placements, test.line["out_placements"]));
  note(RanksField::LocalShapes, shapeDifference(test, ranks));
  note(RanksField::Collectives, commsDifference(ranks[0].comms, test.line.value("comms", Json::object())));
  const Json backward = test.backward();
  if (!backward.is_object()) return;
  if (backward.contains("grad_key") && ranks[0].gradient) {
    if (const Tensor* asked = test.ofRank(backward["grad_key"].get<std::string>(), 0))
      note(RanksField::Gradients, difference(*ranks[0].gradient, *asked));
    note(RanksField::Placements, placementsDifference(ranks[0].gradientPlacements, backward["grad_placements"]));
    note(RanksField::Collectives, commsDifference(ranks[0].backwardComms, backward.value("comms", Json::object())));
  }
  if (const std::string key = test.text("grad_local_key"); !key.empty() && ranks[0].gradient)
    note(RanksField::Gradients, localDifference(test, ranks, key, &RankResult::gradient));
}

}  // namespace

Result<void> checkRedistributeCase(const Json& line, const SavedTensors& tensors, RanksReport& report) {
  Case test{line, tensors, line.value("id", std::string()), {}};
  ++report.cases;
  KERF_TRY(const Sizes sizes, readSizes(line["mesh"]));
  KERF_TRY(test.mesh, DeviceMesh::ofSizes(sizes));
  std::vector<RankResult> ranks{std::size_t(test.mesh.ranks())};
  const auto results = report.world.run(test.mesh.ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(test.mesh, link);
    return runCase(test, rank, ranks[std::size_t(link.rank())]);
  });
  const Result<void> ran = firstCause(results);
  if (!line["error"].is_null()) {
    report.note(test.id, RanksField::Refusals, ran ? std::string("runs where PyTorch refuses") : std::string());
    return {};
  }
  if (!ran) {
    report.note(test.id, RanksField::Values, "fails: " + ran.error().text());
    return {};
  }
  compare(test, ranks, report);
  return {};
}

namespace {

/// torch.nn.init's programs, and dropouts, on whole tensors or distributed ones.
Result<Value> drawn(const std::string& op, const Tensor& tensor, const OpCaller& ops) {
  const auto call = [&](const char* name, ValueList args) {
    args.insert(args.begin(), Value(tensor));
    return ops.call(name, args, {});
  };
  if (op == "randint_like") return call("aten.randint_like.default", {std::int64_t{10}});
  if (op == "bernoulli_") return call("aten.bernoulli_.float", {0.3});
  if (op == "dropout" || op == "alpha_dropout") return call(("torch.nn.functional." + op).c_str(), {0.5, true});
  if (op == "kaiming_uniform_") {
    const double bound = std::sqrt(3.0) * std::sqrt(2.0 / double(tensor.size(1)));
    return call("aten.uniform_.default", {-bound, bound});
  }
  if (op == "trunc_normal_") {
    const double low = std::erfc(std::numbers::sqrt2) / 2;  // the normal distribution's part below -2
    KERF_CHECK(call("aten.uniform_.default", {2 * low - 1, 2 * (1 - low) - 1}));
    KERF_CHECK(call("aten.erfinv_.default", {}));
    KERF_CHECK(call("aten.mul_.Tensor", {std::numbers::sqrt2}));
    return call("aten.clamp_.default", {-2.0, 2.0});
  }
  if (op == "feature_dropout") return call("torch.nn.functional.dropout1d", {0.5, true});
  return call(("aten." + op + ".default").c_str(), {});
}

/// Two draws of each rank, and what its generator gives afterwards.
Result<void> drawOn(const Case& test, MeshRank& rank, std::vector<std::optional<Tensor>>& drawnTensors) {
  const std::string seed = test.text("seed");
  const bool isOfRank = seed.find("rank") != std::string::npos;
  const RandomScope scope(std::uint64_t(std::atoll(seed.c_str())) + (isOfRank ? std::uint64_t(rank.ranks.rank()) : 0));
  KERF_TRY(const Sizes sizes, readSizes(test.line["shape"]));
  KERF_TRY(const Placements placements, readPlacements(test.line["placements"], std::int64_t(sizes.size())));
  const Spec spec{placements, sizes, DType::Float32};
  const DTensorOps ops(rank);
  const std::string op = test.text("op");
  if (op.starts_with("torch.distributed.tensor."))
    return fail(ErrorCode::UnsupportedOp, "{} needs a generator that all ranks share", op);
  for (int i = 0; i < 2; ++i) {
    KERF_TRY(const Tensor half,
             callTensorOp("aten.full.default", {intList(localSizes(spec, rank.mesh, rank.coordinate)), 0.5}));
    const Tensor whole = ops.fromLocal(half, metaTensor(DType::Float32, sizes), placements);
    KERF_TRY(const Value draw, drawn(op, whole, ops));
    KERF_TRY(Tensor local, ops.local(draw.tensor()).clone());
    drawnTensors.emplace_back(std::move(local));
  }
  KERF_TRY(Tensor after, callTensorOp("aten.rand.default", {intList({4})}));
  drawnTensors.emplace_back(std::move(after));
  return {};
}

}  // namespace

Result<void> checkRandomCase(const Json& line, const SavedTensors& tensors, RanksReport& report) {
  Case test{line, tensors, line.value("id", std::string()), {}};
  ++report.cases;
  KERF_TRY(const Sizes sizes, readSizes(line["mesh"]));
  KERF_TRY(test.mesh, DeviceMesh::ofSizes(sizes));
  std::vector<std::vector<std::optional<Tensor>>> ranks{std::size_t(test.mesh.ranks())};
  const auto results = report.world.run(test.mesh.ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(test.mesh, link);
    return drawOn(test, rank, ranks[std::size_t(link.rank())]);
  });
  const Result<void> ran = firstCause(results);
  if (!line["error"].is_null()) {
    report.note(test.id, RanksField::Refusals, ran ? "runs where PyTorch refuses" : "");
    return {};
  }
  if (!ran) {
    report.note(test.id, RanksField::Values, "fails: " + ran.error().text());
    return {};
  }
  constexpr const char* names[] = {"first", "second", "after"};
  for (std::size_t k = 0; k < 3; ++k) {
    std::string text;
    for (std::size_t r = 0; r < ranks.size() && text.empty(); ++r)
      if (const Tensor* asked = test.ofRank(fmt::format("rank*.{}", names[k]), int(r)))
        if (text = difference(*ranks[r][k], *asked); !text.empty())
          text = fmt::format("{} of rank {}: {}", names[k], r, text);
    report.note(test.id, RanksField::Values, text);
  }
  report.note(test.id, RanksField::Collectives, "");
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
