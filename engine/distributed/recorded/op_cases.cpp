#include "engine/distributed/recorded/op_cases.h"

#include <algorithm>

#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/recorded/programs.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline recorded {
namespace {

/// A result, as one rank has it.
struct Outcome {
  bool isDistributed = false;
  std::vector<std::string> placements;
  Sizes localSizes;
  Value full;  ///< the whole tensor; of other values the value
};

struct RankOutcome {
  std::vector<Outcome> outputs, after, gradients;
  std::map<std::string, int> comms, backwardComms;
};

struct OpCase {
  const Json& line;
  const SavedTensors& tensors;
  std::string id;
  DeviceMesh mesh;

  bool hasBackward() const { return line.contains("backward") && line["backward"].is_object(); }
  Result<Tensor> saved(const std::string& key) const {
    const Tensor* tensor = tensors.find(id + "." + key);
    if (tensor == nullptr) return fail(ErrorCode::NotFound, "{}: no tensor '{}'", id, key);
    return *tensor;
  }
};

void collect(const Value& value, ValueList& out) {
  if (!value.isList()) {
    out.push_back(value);
    return;
  }
  for (const Value& item : value.list()) collect(item, out);
}

Result<Outcome> outcomeOf(const DTensorOps& ops, const Value& value) {
  Outcome outcome;
  outcome.full = value;
  if (!value.isTensor()) return outcome;
  const sharding::Spec* spec = ops.specOf(value.tensor());
  outcome.localSizes = value.tensor().sizes();
  if (spec == nullptr) return outcome;
  outcome.isDistributed = true;
  outcome.placements = placementTexts(spec->placements);
  outcome.localSizes = ops.local(value.tensor()).sizes();
  const std::map<std::string, int> before = ops.rank().issued;
  KERF_TRY(Tensor full, ops.full(value.tensor()));
  ops.rank().issued = before;
  outcome.full = Value(std::move(full));
  return outcome;
}

Result<Value> makeInput(const OpCase& test, const DTensorOps& ops, const Json& input, std::size_t index) {
  KERF_TRY(const Tensor whole, test.saved(input.value("key", fmt::format("in{}", index))));
  KERF_TRY(const sharding::Placements placements, readPlacements(input["placements"], whole.dim()));
  const bool isPartial = std::ranges::any_of(placements, &sharding::Placement::isPartial);
  if (!isPartial) {
    KERF_TRY(const Tensor copy, whole.clone());
    KERF_TRY(Tensor tensor, ops.distribute(copy, placements));
    return Value(std::move(tensor));
  }
  KERF_TRY(const Tensor part, test.saved(fmt::format("rank{}.in{}", ops.rank().ranks.rank(), index)));
  KERF_TRY(const Tensor own, part.clone());
  return Value(ops.fromLocal(own, metaTensor(whole.dtype(), whole.sizes()), placements));
}

/// torch.distributed.tensor.zeros and its like: placed as asked, every rank makes its part.
Result<Value> makeFactory(const std::string& op, const ValueList& args, const KeywordValues& kwargs,
                          const DTensorOps& ops, const Json& line) {
  const std::string name = op.substr(op.rfind('.') + 1);
  Sizes sizes;
  ValueList rest;
  for (const Value& value : args) {
    if (value.isList())
      for (const Value& item : value.list()) sizes.push_back(*item.as<std::int64_t>());
    else if (name != "full" && value.as<std::int64_t>())
      sizes.push_back(*value.as<std::int64_t>());
    else
      rest.push_back(value);
  }
  KERF_TRY(const sharding::Placements placements,
           readPlacements(line.value("out_placements_asked", Json::array()), std::int64_t(sizes.size())));
  const sharding::Placements asked = placements.empty() ? sharding::Placements(ops.mesh().dims()) : placements;
  const Sizes own = localSizes({asked, sizes}, ops.mesh(), ops.rank().coordinate);
  ValueList operands{intList(own)};
  operands.insert(operands.end(), rest.begin(), rest.end());
  KERF_TRY(const Tensor local, callTensorOp("aten." + name + ".default", operands, kwargs));
  return Value(ops.fromLocal(local, metaTensor(local.dtype(), sizes), asked));
}

Result<Value> callCase(const OpCase& test, const ValueList& inputs, const OpCaller& ops, const DTensorOps* ranks) {
  KERF_TRY(const ValueList args, readValues(test.line["args"], inputs));
  KERF_TRY(KeywordValues kwargs, readKeywords(test.line.value("kwargs", Json::object()), inputs));
  const std::string op = test.line["op"].get<std::string>();
  std::erase_if(kwargs, [](const auto& entry) { return entry.first == "placements" || entry.first == "device_mesh"; });
  if (op == "X.full_tensor" || op == "X.to_local") {
    if (ranks == nullptr) return args[0];
    if (op == "X.to_local") return Value(ranks->local(args[0].tensor()));
    KERF_TRY(Tensor full, ranks->full(args[0].tensor()));
    return Value(std::move(full));
  }
  if (op.starts_with("torch.distributed.tensor.") && ranks != nullptr)
    return makeFactory(op, args, kwargs, *ranks, test.line);
  return callRecorded(op, args, kwargs, ops);
}

/// The sum of all differentiable results, or of their squares.
Result<Value> lossOf(const OpCaller& ops, const ValueList& outputs, const Tape& tape, bool ofSquares) {
  Value loss;
  for (const Value& output : outputs) {
    if (!output.isTensor() || !tape.tracks(output.tensor())) continue;
    Value term = output;
    if (ofSquares) {
      KERF_TRY(term, ops.call("aten.mul.Tensor", {term, term}, {}));
    }
    KERF_TRY(term, ops.call("aten.sum.default", {term}, {}));
    if (!loss.isNone()) {
      KERF_TRY(term, ops.call("aten.add.Tensor", {loss, term}, {}));
    }
    loss = term;
  }
  return loss;
}

/// Where nothing flows: full_tensor gives an ordinary tensor, whose gradient is the seed itself; else zeros.
Result<void> constantGradients(const OpCase& test, const DTensorOps& ops, const ValueList& inputs,
                               RankOutcome& outcome) {
  const bool isFull = test.line["op"] == "X.full_tensor";
  for (const Value& input : inputs) {
    const Tensor& whole = input.tensor();
    KERF_TRY(const Tensor seed, callTensorOp(isFull ? "aten.ones.default" : "aten.zeros.default",
                                             {intList(whole.sizes())}, {{"dtype", whole.dtype()}}));
    const sharding::Placements placements =
        isFull ? withoutPartials(ops.specOf(whole)->placements) : sharding::Placements(ops.mesh().dims());
    KERF_TRY(const Tensor gradient, ops.distribute(seed, placements));
    KERF_TRY(Outcome one, outcomeOf(ops, gradient));
    outcome.gradients.push_back(std::move(one));
  }
  return {};
}

Result<void> runBackward(const OpCase& test, const DTensorOps& ops, Tape& tape, const ValueList& inputs,
                         const ValueList& outputs, RankOutcome& outcome) {
  const bool ofSquares = test.line["backward"].value("loss", std::string()) == "sqsum";
  KERF_TRY(const Value total, lossOf(ops, outputs, tape, ofSquares));
  if (total.isNone()) return constantGradients(test, ops, inputs, outcome);
  const Tensor& loss = total.tensor();
  ops.setTape(nullptr);
  ops.rank().issued.clear();
  const OpRunner run(ops);
  Gradients gradients(tape.names());
  KERF_TRY(const Tensor seed, run("aten.ones_like.default"_op, {loss}));
  KERF_CHECK(gradients.add(loss, seed, run));
  KERF_CHECK(tape.walkBack(gradients, run, [](NodeId) {}));
  outcome.backwardComms = ops.rank().issued;
  for (const Value& input : inputs) {
    KERF_TRY(Outcome gradient, outcomeOf(ops, gradients.of(input.tensor())));
    outcome.gradients.push_back(std::move(gradient));
  }
  return {};
}

Result<void> runRank(const OpCase& test, Communicator& link, RankOutcome& outcome) {
  const RandomScope random(1);
  MeshRank rank(test.mesh, link);
  const DTensorOps ops(rank);
  Tape tape;
  ValueList inputs;
  const Json& given = test.line["inputs"];
  for (std::size_t i = 0; i < given.size(); ++i) {
    KERF_TRY(Value input, makeInput(test, ops, given[i], i));
    if (test.hasBackward() && mayHaveGradient(input)) tape.addLeaf(input.tensor());
    inputs.push_back(std::move(input));
  }
  if (test.hasBackward()) ops.setTape(&tape);
  KERF_TRY(const Value result, callCase(test, inputs, ops, &ops));
  outcome.comms = rank.issued;
  ValueList outputs;
  collect(result, outputs);
  for (const Value& output : outputs) {
    KERF_TRY(Outcome one, outcomeOf(ops, output));
    outcome.outputs.push_back(std::move(one));
  }
  if (test.line.value("mutates", false))
    for (const Value& input : inputs) {
      KERF_TRY(Outcome one, outcomeOf(ops, input));
      outcome.after.push_back(std::move(one));
    }
  if (!test.hasBackward() || !test.line["backward"]["error"].is_null()) return {};
  return runBackward(test, ops, tape, inputs, outputs, outcome);
}

/// The call on whole tensors, in one process.
Result<ValueList> runPlain(const OpCase& test) {
  const RandomScope random(1);
  ValueList inputs, outputs;
  for (std::size_t i = 0; i < test.line["inputs"].size(); ++i) {
    KERF_TRY(const Tensor whole, test.saved(test.line["inputs"][i].value("key", fmt::format("in{}", i))));
    KERF_TRY(Tensor copy, whole.clone());
    inputs.emplace_back(std::move(copy));
  }
  KERF_TRY(const Value result, callCase(test, inputs, referenceOps(), nullptr));
  collect(result, outputs);
  return outputs;
}

bool isWrong(const Json& recorded) {
  const Json& diff = recorded.value("plain_diff", Json());
  constexpr double most = 1e-3;
  return diff.is_object() || diff.is_string() || (diff.is_number() && diff.get<double>() > most);
}

std::string placementsDifference(const Outcome& own, const Json& recorded) {
  std::vector<std::string> asked;
  for (const Json& item : recorded) {
    const std::string text = item.get<std::string>();
    asked.push_back(text.starts_with("_NormPartial") ? "_NormPartial" : text);
  }
  if (own.placements == asked) return {};
  return fmt::format("[{}] instead of [{}]", fmt::join(own.placements, ", "), fmt::join(asked, ", "));
}

class Comparison {
 public:
  Comparison(const OpCase& test, const std::vector<RankOutcome>& ranks, RanksReport& report)
      : m_test(test), m_ranks(ranks), m_report(report) {}

  void all() {
    outputs("outputs", &RankOutcome::outputs, 0);
    if (m_test.line.contains("post") && m_test.line["post"].is_array())
      outputs("post", &RankOutcome::after, m_test.line["outputs"].size());
    m_report.note(m_test.id, RanksField::Collectives,
                  commsDifference(m_ranks[0].comms, m_test.line["forward"].value("comms", Json::object())));
    if (m_test.hasBackward() && m_test.line["backward"]["error"].is_null()) gradients();
  }

 private:
  using Outcomes = std::vector<Outcome> RankOutcome::*;

  void note(RanksField field, const std::string& where, const std::string& difference) {
    m_report.note(m_test.id, field, difference.empty() ? "" : fmt::format("{}: {}", where, difference));
  }

  void outputs(const char* part, Outcomes own, std::size_t offset) {
    const Json& recorded = m_test.line[part];
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const std::string where = fmt::format("{} {}", part, i);
      const std::string type = recorded[i].value("type", std::string());
      if (i >= (m_ranks[0].*own).size()) {
        note(RanksField::Values, where, "is missing");
        continue;
      }
      const Outcome& outcome = (m_ranks[0].*own)[i];
      note(RanksField::Values, where, valueDifference(outcome, recorded[i], part, i, type));
      if (type == "dtensor")
        note(RanksField::Placements, where, placementsDifference(outcome, recorded[i]["placements"]));
      if (type == "dtensor" || type == "tensor")
        note(RanksField::LocalShapes, where, shapesDifference(own, i, offset + i));
    }
  }

  std::string valueDifference(const Outcome& own, const Json& recorded, std::string_view part, std::size_t i,
                              const std::string& type) {
    if (type != "dtensor" && type != "tensor") {
      if (isWrong(recorded)) return againstPlain(own, i);
      const Json& values = m_test.line["ranks"][0].value("out_values", Json());
      if (!values.is_array() || i >= values.size()) return {};
      const auto expected = readValue(values[i], {});
      return expected ? difference(own.full, *expected) : std::string();
    }
    const std::string key = type == "dtensor" && recorded.contains("key") && recorded["key"].is_string()
                                ? recorded["key"].get<std::string>()
                            : type == "tensor" ? fmt::format("rank0.{}{}", part == "post" ? "post" : "out", i)
                                               : std::string();
    const Tensor* expected = key.empty() ? nullptr : m_test.tensors.find(m_test.id + "." + key);
    const bool isUsable = expected != nullptr && !isWrong(recorded);
    if (!isUsable) return againstPlain(own, i);
    return difference(own.full, Value(*expected));
  }

  /// Where PyTorch is wrong, or saved nothing, the whole tensor's result is the truth.
  std::string againstPlain(const Outcome& own, std::size_t i) {
    const auto whole = runPlain(m_test);
    return whole && i < whole->size() ? difference(own.full, (*whole)[i]) : std::string();
  }

  std::string shapesDifference(Outcomes own, std::size_t i, std::size_t recordedIndex) {
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
      const Json& shapes = m_test.line["ranks"][r].value("out_local_shapes", Json::array());
      if (recordedIndex >= shapes.size() || !shapes[recordedIndex].is_array()) continue;
      const Sizes& mine = (m_ranks[r].*own)[i].localSizes;
      const auto asked = readSizes(shapes[recordedIndex]);
      if (asked && mine != *asked)
        return fmt::format("rank {} has [{}] instead of [{}]", r, fmt::join(mine, ", "), fmt::join(*asked, ", "));
    }
    return {};
  }

  void gradients() {
    const Json& backward = m_test.line["backward"];
    const Json& grads = backward.value("grads", Json::array());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].is_object()) continue;
      const std::string where = fmt::format("gradient {}", i);
      if (i >= m_ranks[0].gradients.size() || !m_ranks[0].gradients[i].isDistributed) {
        note(RanksField::Gradients, where, "is missing");
        continue;
      }
      const Outcome& own = m_ranks[0].gradients[i];
      const Tensor* expected = m_test.tensors.find(m_test.id + "." + grads[i].value("key", fmt::format("grad{}", i)));
      if (expected != nullptr && !isWrong(grads[i]))
        note(RanksField::Gradients, where, difference(own.full, Value(*expected)));
      note(RanksField::Placements, where, placementsDifference(own, grads[i]["placements"]));
    }
    m_report.note(m_test.id, RanksField::Collectives,
                  commsDifference(m_ranks[0].backwardComms, backward.value("comms", Json::object())));
  }

  const OpCase& m_test;
  const std::vector<RankOutcome>& m_ranks;
  RanksReport& m_report;
};

/// Where PyTorch refuses, refusing is right, and so is the whole tensor's result.
std::string refusalDifference(const OpCase& test, const std::vector<RankOutcome>& ranks) {
  const auto whole = runPlain(test);
  if (!whole) return {};
  for (std::size_t i = 0; i < std::min(whole->size(), ranks[0].outputs.size()); ++i)
    if (const std::string text = difference(ranks[0].outputs[i].full, (*whole)[i]); !text.empty())
      return fmt::format("runs where PyTorch refuses, and result {} is wrong: {}", i, text);
  return {};
}

}  // namespace

Result<void> checkOpCase(const Json& line, const SavedTensors& tensors, RanksReport& report) {
  OpCase test{line, tensors, line.value("id", std::string()), {}};
  ++report.cases;
  const bool isRefused = line.contains("error") && !line["error"].is_null();
  if (!line.contains("op")) return {};  // the recording's own processes died
  KERF_TRY(const Sizes sizes, readSizes(line["mesh"]));
  KERF_TRY(test.mesh, DeviceMesh::ofSizes(sizes));
  std::vector<RankOutcome> ranks{std::size_t(test.mesh.ranks())};
  const auto results = report.world.run(test.mesh.ranks(), [&](Communicator& link) -> Result<void> {
    return runRank(test, link, ranks[std::size_t(link.rank())]);
  });
  if (report.ran(test.id, isRefused, firstCause(results), [&] { return refusalDifference(test, ranks); }))
    Comparison(test, ranks, report).all();
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
