#include "engine/distributed/checks/rule_check.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/group/in_process.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline checks {
namespace {

constexpr std::size_t keptFindings = 3;
constexpr std::int64_t mostElements = 4096;

/// A recorded call whose tensors are in float64 where they were floating: rounding hides nothing then.
struct Sample {
  std::int64_t id = 0;
  const OpInfo* op = nullptr;
  ValueList args;
  KeywordValues kwargs;
  ValueList plain;  ///< results on whole tensors
  std::vector<Tensor> tensors;
};

Value inDoubles(const Value& value) {
  if (value.isTensor()) {
    const auto copy = value.tensor().clone();
    if (!copy) return value;
    if (!isFloating(copy->dtype())) return Value(*copy);
    const auto wide = copy->to(DType::Float64);
    return wide ? Value(*wide) : value;
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(inDoubles(item));
  return Value(std::move(items));
}

void collect(const Value& value, std::vector<Tensor>& out) {
  if (value.isTensor()) out.push_back(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) collect(item, out);
}

/// The same value with its tensors replaced in order.
Value replaced(const Value& value, const std::vector<Tensor>& tensors, std::size_t& at) {
  if (value.isTensor()) return Value(tensors[at++]);
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(replaced(item, tensors, at));
  return Value(std::move(items));
}

/// One rank's part of a pending sum (or mean, extremum) of `whole`: parts that cannot cancel by chance.
Result<Tensor> partOf(const Tensor& whole, const Placement& placement, std::int64_t count, std::int64_t index) {
  if (placement.isShard()) return shardOf(whole, placement, count, index);
  if (!placement.isPartial()) return whole;
  const double weights[] = {1.5, -0.75, 0.5};  // sums of them times float32 numbers are exact in float64
  double weight = weights[index % 3];
  if (index == count - 1) {
    weight = 1;
    for (std::int64_t i = 0; i + 1 < count; ++i) weight -= weights[i % 3];
  }
  if (placement.reduction == "sum") return callTensorOp("aten.mul.Scalar"_op, {whole, weight});
  if (placement.reduction == "avg") return callTensorOp("aten.mul.Scalar"_op, {whole, weight * double(count)});
  if (placement.reduction == "product") {  // powers of two: exact
    KERF_TRY(const Tensor ones, callTensorOp("aten.ones_like.default"_op, {whole}));
    if (index > 0) return callTensorOp("aten.mul.Scalar"_op, {ones, 2.0});
    return callTensorOp("aten.mul.Scalar"_op, {whole, std::ldexp(1.0, -int(count - 1))});
  }
  const double distance = index == 0 ? 0 : placement.reduction == "max" ? -1.0 : 1.0;
  return callTensorOp("aten.add.Scalar"_op, {whole, distance});
}

/// An infinite number is no sum of parts of itself.
bool isFinite(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    if (!std::isfinite(tensor.itemAsDouble(i))) return false;
  return true;
}

/// What an operand may be placed like along one dimension of a mesh.
std::vector<Placement> optionsOf(const Tensor& tensor, bool isWide) {
  constexpr std::int64_t factor = 2, leastStriped = 8;  // two stripes on four ranks
  std::vector<Placement> options{Placement::replicate()};
  for (std::int64_t d = 0; d < tensor.dim(); ++d) options.push_back(Placement::shard(d));
  for (std::int64_t d = 0; isWide && d < tensor.dim(); ++d)
    if (tensor.size(d) >= leastStriped) options.push_back(Placement::strided(d, factor));
  if (!isFloating(tensor.dtype()) || !isFinite(tensor)) return options;
  for (const char* op : {"sum", "avg", "max", "min"}) options.push_back(Placement::partial(op));
  if (isWide) options.push_back(Placement::partial("product"));
  return options;
}

/// Combination `k` of placements of all operands on the mesh.
std::vector<Placements> combination(const std::vector<std::vector<Placement>>& options, std::size_t meshDims,
                                    std::uint64_t k) {
  std::vector<Placements> result;
  for (const auto& own : options) {
    Placements placements;
    for (std::size_t d = 0; d < meshDims; ++d) {
      placements.push_back(own[k % own.size()]);
      k /= own.size();
    }
    result.push_back(std::move(placements));
  }
  return result;
}

/// Reductions of different kinds do not commute.
bool isMixed(const Placements& placements) {
  std::string seen;
  for (const Placement& placement : placements) {
    if (!placement.isPartial()) continue;
    if (!seen.empty() && seen != placement.reduction) return true;
    seen = placement.reduction;
  }
  return false;
}

std::string difference(const Tensor& own, const Tensor& whole) {
  if (own.sizes() != whole.sizes())
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(own.sizes(), ", "), fmt::join(whole.sizes(), ", "));
  for (std::int64_t i = 0; i < whole.numel(); ++i) {
    const double a = own.itemAsDouble(i), b = whole.itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= 1e-7 + 1e-6 * std::abs(b))) return fmt::format("element {}: {} instead of {}", i, a, b);
  }
  return {};
}

struct Verdict {
  enum class Kind { Right, Wrong, Refused } kind = Kind::Right;
  std::string text;
  bool communicates = false;
};

/// Runs the call on all ranks of the mesh and compares each rank's whole results.
Verdict runCombination(const Sample& sample, const DeviceMesh& mesh, const std::vector<Placements>& placements) {
  std::vector<std::string> texts(std::size_t(mesh.ranks()));
  std::vector<int> issued(std::size_t(mesh.ranks()));
  const auto results =
      runRanks(mesh.ranks(),
               [&](Communicator& link) -> Result<void> {
                 const RandomScope random;
                 MeshRank rank(mesh, link);
                 const DTensorOps ops(rank);
                 std::vector<Tensor> handles;
                 for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
                   KERF_TRY(Tensor part, sample.tensors[i].clone());
                   for (std::size_t d = 0; d < mesh.dims(); ++d) {
                     KERF_TRY(part, partOf(part, placements[i][d], mesh.size(d), rank.coordinate[d]));
                   }
                   handles.push_back(ops.fromLocal(
                       part, metaTensor(sample.tensors[i].dtype(), sample.tensors[i].sizes()), placements[i]));
                 }
                 std::size_t at = 0;
                 ValueList args;
                 KeywordValues kwargs;
                 for (const Value& value : sample.args) args.push_back(replaced(value, handles, at));
                 for (const auto& [name, value] : sample.kwargs)
                   kwargs.emplace_back(name, replaced(value, handles, at));
                 KERF_TRY(const Value result, ops.call(sample.op->id, args, kwargs));
                 for (const auto& [name, count] : rank.issued) issued[std::size_t(link.rank())] += count;
                 std::vector<Tensor> outputs;
                 collect(result, outputs);
                 for (std::size_t i = 0; i < std::min(outputs.size(), sample.plain.size()); ++i) {
                   if (!sample.plain[i].isTensor()) continue;
                   KERF_TRY(const Tensor whole,
                            ops.specOf(outputs[i]) != nullptr ? ops.full(outputs[i]) : Result<Tensor>(outputs[i]));
                   if (std::string text = difference(whole, sample.plain[i].tensor()); !text.empty())
                     texts[std::size_t(link.rank())] = fmt::format("result {}: {}", i, text);
                 }
                 return {};
               },
               {.timeout = std::chrono::seconds(10)});
  const Result<void> ran = firstCause(results);
  const bool isRefusal = !ran && ran.error().code == ErrorCode::UnsupportedOp;
  if (!ran) return {isRefusal ? Verdict::Kind::Refused : Verdict::Kind::Wrong, ran.error().text()};
  for (std::size_t r = 0; r < texts.size(); ++r)
    if (!texts[r].empty()) return {Verdict::Kind::Wrong, fmt::format("rank {}: {}", r, texts[r])};
  return {Verdict::Kind::Right, {}, issued[0] > 0};
}

/// Whether parts put together in some way give the whole.
bool fitsTogether(const std::vector<Tensor>& parts, const Tensor& whole) {
  const auto is = [&](const Result<Tensor>& made) { return made && difference(*made, whole).empty(); };
  const bool isOnce = std::ranges::all_of(parts, [&](const Tensor& part) { return difference(part, whole).empty(); });
  if (isOnce) return true;
  for (std::int64_t d = 0; d < whole.dim(); ++d) {
    ValueList items(parts.begin(), parts.end());
    bool fits = true;
    for (std::size_t i = 0; i < parts.size(); ++i)
      fits = fits && parts[i].dim() == whole.dim() &&
             parts[i].size(d) ==
                 shardSize(Placement::shard(d), whole.size(d), std::int64_t(parts.size()), std::int64_t(i));
    if (fits && is(callTensorOp("aten.cat.default"_op, {Value(std::move(items)), d}))) return true;
  }
  if (!isFloating(whole.dtype())) return false;
  for (const char* op : {"sum", "avg", "max", "min"})
    if (std::ranges::all_of(parts, [&](const Tensor& part) { return part.sizes() == whole.sizes(); }) &&
        is(reduceTensors(op, parts)))
      return true;
  return false;
}

/// The call on the parts as they are: whether every result can be put together from what the ranks give.
bool needsNoCommunication(const Sample& sample, const std::vector<Placements>& placements, std::int64_t ranks) {
  std::vector<std::vector<Tensor>> results;
  for (std::int64_t r = 0; r < ranks; ++r) {
    std::vector<Tensor> parts, outputs;
    for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
      const auto copy = sample.tensors[i].clone();
      const auto part = copy ? partOf(*copy, placements[i][0], ranks, r) : copy;
      if (!part || part->numel() == 0) return false;
      parts.push_back(*part);
    }
    std::size_t at = 0;
    ValueList args;
    KeywordValues kwargs;
    for (const Value& value : sample.args) args.push_back(replaced(value, parts, at));
    for (const auto& [name, value] : sample.kwargs) kwargs.emplace_back(name, replaced(value, parts, at));
    const auto result = referenceOps().call(sample.op->id, args, kwargs);
    if (!result) return false;
    collect(*result, outputs);
    results.push_back(std::move(outputs));
  }
  for (std::size_t i = 0; i < sample.plain.size(); ++i) {
    std::vector<Tensor> parts;
    for (const auto& own : results)
      if (i < own.size()) parts.push_back(own[i]);
    if (!sample.plain[i].isTensor() || parts.size() != std::size_t(ranks)) return false;
    if (!fitsTogether(parts, sample.plain[i].tensor())) return false;
  }
  return !sample.plain.empty();
}

std::string placementsOf(const std::vector<Placements>& placements) {
  std::vector<std::string> texts;
  for (const Placements& one : placements) texts.push_back(placementsText(one));
  return fmt::format("{}", fmt::join(texts, " "));
}

void prove(const Sample& sample, const DeviceMesh& mesh, const RuleCheckOptions& options, RuleProof& proof) {
  std::vector<std::vector<Placement>> choices;
  double total = 1;
  for (const Tensor& tensor : sample.tensors) {
    choices.push_back(optionsOf(tensor, options.isWide));
    total *= std::pow(double(choices.back().size()), double(mesh.dims()));
  }
  const auto count = std::uint64_t(std::min(total, double(options.combinations)));
  const double step = total / double(count);  // spread over all of them where there are more
  for (std::uint64_t k = 0; k < count && !options.stop.stop_requested(); ++k) {
    const auto placements = combination(choices, mesh.dims(), std::uint64_t(double(k) * step));
    if (std::ranges::any_of(placements, isMixed)) continue;
    const Verdict verdict = runCombination(sample, mesh, placements);
    const auto note = [&](const char* what) {
      const auto at = verdict.kind == Verdict::Kind::Wrong ? proof.findings.begin() : proof.findings.end();
      if (proof.findings.size() < keptFindings || verdict.kind == Verdict::Kind::Wrong)
        proof.findings.insert(
            at, fmt::format("{}: call {}, mesh {}, {}{}{}", what, sample.id, mesh.text(), placementsOf(placements),
                            verdict.text.empty() ? "" : ": ", verdict.text));
    };
    if (verdict.kind == Verdict::Kind::Wrong) {
      if (++proof.wrong <= int(keptFindings)) note("wrong");
    } else if (verdict.kind == Verdict::Kind::Refused) {
      ++proof.refused;
    } else {
      ++proof.right;
      const auto partials = std::ranges::count_if(placements, [](const Placements& own) { return own[0].isPartial(); });
      const bool isLinear =
          partials <= 1 && std::ranges::none_of(placements, [](const Placements& own) {
            return own[0].isPartialOf("max") || own[0].isPartialOf("min");  // extrema fit together by chance
          });
      if (verdict.communicates && isLinear && mesh.dims() == 1 && mesh.size(0) == 2 &&
          needsNoCommunication(sample, placements, 2)) {
        ++proof.missing;
        note("missing");
      }
    }
  }
}

/// Ops without a rule are placed by their decompositions, or whole; a call without results proves nothing.
bool isProvable(const OpInfo& op, bool isWide) {
  if (has(op.traits, OpTrait::Random | OpTrait::DataDependent | OpTrait::Impure)) return false;
  return findShardingRule(op.id) != nullptr || has(op.traits, OpTrait::Pointwise) || isWide;
}

bool isAsked(const std::string& name, const RuleCheckOptions& options) {
  if (options.matches) return options.matches(name);
  return name.find(options.pattern) != std::string::npos;
}

std::optional<Sample> sampleOf(const RecordedCall& call, const OpInfo& op) {
  Sample sample{call.id, &op, {}, {}, {}, {}};
  for (const Value& value : call.args) sample.args.push_back(inDoubles(value));
  for (const auto& [name, value] : call.kwargs) sample.kwargs.emplace_back(name, inDoubles(value));
  for (const Value& value : sample.args) collect(value, sample.tensors);
  for (const auto& [name, value] : sample.kwargs) collect(value, sample.tensors);
  if (sample.tensors.empty()) return std::nullopt;
  for (const Tensor& tensor : sample.tensors)
    if (tensor.numel() > mostElements || isComplex(tensor.dtype())) return std::nullopt;
  std::vector<Tensor> copies;
  for (const Tensor& tensor : sample.tensors) copies.push_back(*tensor.clone());
  std::size_t at = 0;
  ValueList args;
  KeywordValues kwargs;
  for (const Value& value : sample.args) args.push_back(replaced(value, copies, at));
  for (const auto& [name, value] : sample.kwargs) kwargs.emplace_back(name, replaced(value, copies, at));
  const auto plain = referenceOps().call(op.id, args, kwargs);
  if (!plain) return std::nullopt;
  std::vector<Tensor> outputs;
  collect(*plain, outputs);
  sample.plain.assign(outputs.begin(), outputs.end());
  return sample;
}

}  // namespace

Result<std::vector<RuleProof>> checkShardingRules(const std::filesystem::path& recordings,
                                                  const RuleCheckOptions& options) {
  KERF_TRY(const std::filesystem::path file, recordedCallsFile(recordings));
  KERF_TRY(const SafetensorsFile tensors,
           readSafetensors(std::filesystem::path(file).replace_extension(".safetensors")));
  std::vector<DeviceMesh> meshes;
  for (const Sizes& sizes : {Sizes{2}, Sizes{4}, Sizes{2, 2}}) {
    KERF_TRY(DeviceMesh mesh, DeviceMesh::ofSizes(sizes));
    meshes.push_back(std::move(mesh));
  }
  std::map<std::string, RuleProof> proofs;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && !options.stop.stop_requested()) {
    const std::size_t at = line.find("\"op\": \"");
    const std::size_t start = at == std::string::npos ? line.find("\"op\":\"") + 6 : at + 7;
    const std::string name = line.substr(start, line.find('"', start) - start);
    if (!isAsked(name, options)) continue;
    const OpInfo* op = findOp(name);
    if (op == nullptr || !isProvable(*op, options.isWide)) continue;
    RuleProof& proof = proofs[name];
    proof.op = name;
    if (proof.samples >= options.samples) continue;
    const auto call = readRecordedCall(line, tensors);
    const auto sample = call ? sampleOf(*call, *op) : std::nullopt;
    if (!sample) continue;
    ++proof.samples;
    for (const DeviceMesh& mesh : meshes) prove(*sample, mesh, options, proof);
  }
  std::vector<RuleProof> result;
  for (auto& [name, proof] : proofs)
    if (proof.samples > 0) result.push_back(std::move(proof));
  return result;
}

}  // namespace kerf::inline distributed::inline checks
