#include "engine/distributed/checks/rule_check.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "engine/conformance/recorded_calls.h"
#include "engine/distributed/checks/rule_sample.h"
#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/group/in_process.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline checks {
namespace {

constexpr std::size_t keptFindings = 3;

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

bool isMasked(const Placement& placement) { return placement.kind == Placement::Kind::MaskPartial; }

/// Reductions of different kinds do not commute, and a tensor comes from one lookup.
bool isMixed(const Placements& placements) {
  std::string seen;
  for (const Placement& placement : placements) {
    if (!placement.isPartial()) continue;
    if (!seen.empty() && seen != placement.reduction) return true;
    seen = placement.reduction;
  }
  return std::ranges::count_if(placements, isMasked) > 1;
}

struct Verdict {
  enum class Kind { Right, Wrong, Refused } kind = Kind::Right;
  std::string text;
  bool communicates = false;
};

/// The whole of a result.
Result<Value> wholeOf(const DTensorOps& ops, const Value& value) {
  if (!value.isTensor() || ops.specOf(value.tensor()) == nullptr) return value;
  KERF_TRY(Tensor whole, ops.full(value.tensor()));
  return Value(std::move(whole));
}

/// What the first result differs in that is not that of the call on whole tensors; empty: none.
Result<std::string> differenceOfRank(const DTensorOps& ops, const RuleSample& sample, const Value& result,
                                     const std::vector<Tensor>& handles) {
  ValueList outputs;
  collectResults(result, outputs);
  if (outputs.size() != sample.plain.size())
    return fmt::format("{} results instead of {}", outputs.size(), sample.plain.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    KERF_TRY(const Value whole, wholeOf(ops, outputs[i]));
    if (const std::string text = resultDifference(whole, sample.plain[i]); !text.empty())
      return fmt::format("result {}: {}", i, text);
  }
  for (std::size_t i = 0; i < sample.after.size(); ++i) {
    KERF_TRY(const Value whole, wholeOf(ops, handles[i]));
    if (const std::string text = resultDifference(whole, sample.after[i]); !text.empty())
      return fmt::format("operand {} after the call: {}", i, text);
  }
  return std::string();
}

/// The call on one rank's parts, with collectives.
Result<std::string> runOnRank(const RuleSample& sample, MeshRank& rank, const std::vector<Placements>& placements,
                              int& issued) {
  const DTensorOps ops(rank);
  std::vector<Tensor> handles;
  for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
    const Tensor& whole = sample.tensors[i];
    KERF_TRY(const Tensor copy, whole.clone());
    KERF_TRY(const RulePart part, partUnder(placements[i], copy, rank.mesh, rank.coordinate));
    handles.push_back(ops.fromLocal(part.local, metaTensor(whole.dtype(), whole.sizes()), part.placements));
  }
  const auto [args, kwargs] = sample.with(handles);
  KERF_TRY(const Value result, ops.call(sample.op->id, args, kwargs));
  for (const auto& [name, count] : rank.issued) issued += count;
  return differenceOfRank(ops, sample, result, handles);
}

/// Runs the call on all ranks of the mesh and compares each rank's whole results.
Verdict runCombination(const RuleSample& sample, const DeviceMesh& mesh, const std::vector<Placements>& placements) {
  std::vector<std::string> texts(std::size_t(mesh.ranks()));
  std::vector<int> issued(std::size_t(mesh.ranks()));
  const auto results = runRanks(mesh.ranks(),
                                [&](Communicator& link) -> Result<void> {
                                  const RandomScope random;
                                  MeshRank rank(mesh, link);
                                  const auto at = std::size_t(link.rank());
                                  KERF_TRY(texts[at], runOnRank(sample, rank, placements, issued[at]));
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

/// The same of tensors.
bool fitsTogether(const std::vector<Tensor>& parts, const Tensor& whole) {
  const auto is = [&](const Result<Tensor>& made) { return made && resultDifference(*made, whole).empty(); };
  if (std::ranges::all_of(parts, [&](const Tensor& part) { return resultDifference(part, whole).empty(); }))
    return true;
  for (std::int64_t d = 0; d < whole.dim(); ++d) {
    bool fits = true;
    for (std::size_t i = 0; i < parts.size(); ++i)
      fits = fits && parts[i].dim() == whole.dim() &&
             parts[i].size(d) ==
                 shardSize(Placement::shard(d), whole.size(d), std::int64_t(parts.size()), std::int64_t(i));
    if (fits && is(callTensorOp("aten.cat.default"_op, {tensorList(parts), d}))) return true;
  }
  if (!isFloating(whole.dtype())) return false;
  for (const char* op : {"sum", "avg", "max", "min"})
    if (std::ranges::all_of(parts, [&](const Tensor& part) { return part.sizes() == whole.sizes(); }) &&
        is(reduceTensors(op, parts)))
      return true;
  return false;
}

/// Whether ranks' results put together in some way give the whole.
bool fitsTogether(const ValueList& values, const Value& result) {
  if (!result.isTensor() || !std::ranges::all_of(values, &Value::isTensor))
    return std::ranges::all_of(values, [&](const Value& value) { return resultDifference(value, result).empty(); });
  std::vector<Tensor> parts;
  for (const Value& value : values) parts.push_back(value.tensor());
  return fitsTogether(parts, result.tensor());
}

/// The call on the parts as they are: whether every result can be put together from what the ranks give.
bool needsNoCommunication(const RuleSample& sample, const std::vector<Placements>& placements, const DeviceMesh& mesh) {
  std::vector<ValueList> results;
  for (int r = 0; r < mesh.ranks(); ++r) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
      const auto copy = sample.tensors[i].clone();
      const auto part =
          copy ? partUnder(placements[i], *copy, mesh, mesh.coordinate(r)) : std::unexpected(copy.error());
      if (!part || part->local.numel() == 0) return false;
      parts.push_back(part->local);
    }
    const auto [args, kwargs] = sample.with(parts);
    const auto result = referenceOps().call(sample.op->id, args, kwargs);
    if (!result) return false;
    collectResults(*result, results.emplace_back());
    if (results.back().size() != sample.plain.size()) return false;
  }
  for (std::size_t i = 0; i < sample.plain.size(); ++i) {
    ValueList parts;
    for (const ValueList& own : results) parts.push_back(own[i]);
    if (!fitsTogether(parts, sample.plain[i])) return false;
  }
  return !sample.plain.empty();
}

std::string placementsOf(const std::vector<Placements>& placements) {
  std::vector<std::string> texts;
  for (const Placements& one : placements) texts.push_back(placementsText(one));
  return fmt::format("{}", fmt::join(texts, " "));
}

/// Whether a right result may be asked for a way that needs no communication: extrema and masked rows fit together by
/// chance, and so do two operands in parts.
bool mayBeCheaper(const std::vector<Placements>& placements, const DeviceMesh& mesh) {
  if (mesh.dims() != 1 || mesh.size(0) != 2) return false;
  const auto isPart = [](const Placement& one) { return one.isPartial(); };
  const auto isAlone = [](const Placement& one) {
    return one.isPartialOf("max") || one.isPartialOf("min") || isMasked(one);
  };
  std::int64_t partials = 0;
  for (const Placements& own : placements) {
    if (std::ranges::any_of(own, isAlone)) return false;
    partials += std::ranges::any_of(own, isPart) ? 1 : 0;
  }
  return partials <= 1;
}

void judge(const RuleSample& sample, const DeviceMesh& mesh, const std::vector<Placements>& placements,
           RuleProof& proof) {
  const Verdict verdict = runCombination(sample, mesh, placements);
  const auto finding = [&](const char* what) {
    return fmt::format("{}: call {}{}, mesh {}, {}{}{}", what, sample.id, sample.isComplex ? " in complex128" : "",
                       mesh.text(), placementsOf(placements), verdict.text.empty() ? "" : ": ", verdict.text);
  };
  if (verdict.kind == Verdict::Kind::Wrong) {
    if (++proof.wrong <= int(keptFindings)) proof.findings.insert(proof.findings.begin(), finding("wrong"));
  } else if (verdict.kind == Verdict::Kind::Refused) {
    ++proof.refused;
  } else {
    ++proof.right;
    if (!verdict.communicates || !mayBeCheaper(placements, mesh) || !needsNoCommunication(sample, placements, mesh))
      return;
    ++proof.missing;
    if (proof.findings.size() < keptFindings) proof.findings.push_back(finding("missing"));
  }
}

/// Whether a tensor has a dimension that two ranks cannot halve.
bool isUneven(const RuleSample& sample) {
  return std::ranges::any_of(sample.tensors, [](const Tensor& tensor) {
    return std::ranges::any_of(tensor.sizes(), [](std::int64_t size) { return size > 1 && size % 2 != 0; });
  });
}

/// Fewer of a sample that takes longer; never less than a few.
std::uint64_t combinationsOf(const RuleSample& sample, const RuleCheckOptions& options) {
  constexpr std::int64_t smallSample = 4096, fewest = 8;
  const std::int64_t elements = std::max(sample.elements(), smallSample);
  return std::uint64_t(
      std::max(options.combinations * smallSample / elements, std::min<std::int64_t>(fewest, options.combinations)));
}

void prove(const RuleSample& sample, const DeviceMesh& mesh, const RuleCheckOptions& options, RuleProof& proof) {
  std::vector<std::vector<Placement>> choices;
  double total = 1;
  for (const Tensor& tensor : sample.tensors) {
    choices.push_back(placementOptions(tensor, options.isWide));
    total *= std::pow(double(choices.back().size()), double(mesh.dims()));
  }
  const auto count = std::uint64_t(std::min(total, double(combinationsOf(sample, options))));
  const double step = total / double(count);  // spread over all of them where there are more
  // Brief proofs of many calls start at different ones.
  const double first = options.isBrief ? std::fmod(double(sample.id) * 7, std::floor(step)) : 0;
  for (std::uint64_t k = 0; k < count && !options.stop.stop_requested(); ++k) {
    const auto placements = combination(choices, mesh.dims(), std::uint64_t(first + double(k) * step));
    if (std::ranges::none_of(placements, isMixed)) judge(sample, mesh, placements, proof);
  }
}

/// The proofs of all ops, as their calls come.
class Proofs {
 public:
  Proofs(const RuleCheckOptions& options, std::vector<DeviceMesh> meshes)
      : m_options(options), m_meshes(std::move(meshes)) {}

  /// Whether a call of that op is to be read.
  bool wants(const std::string& name, const OpInfo& op) {
    if (!m_options.isWide && (!unprovable(op).empty() || !isPlacedAlone(op))) return false;
    const auto [row, fresh] = m_proofs.try_emplace(name);
    RuleProof& proof = row->second;
    proof.op = name;
    const std::string reason = unprovable(op);
    if (fresh && !reason.empty()) proof.left.push_back(reason);
    const int most = m_options.samples + (m_options.isBrief && proof.uneven == 0 ? moreForUneven : 0);
    return reason.empty() && proof.samples - proof.complex < most;
  }

  void add(const RecordedCall& call, const OpInfo& op) {
    RuleProof& proof = m_proofs[call.op];
    const auto sample = ruleSample(call, op, false);
    if (!sample) {
      ++m_left[call.op][sample.error().message];
      return;
    }
    if (isUneven(*sample)) ++proof.uneven;
    proveOn(*sample, proof);
    const bool hasFloats = std::ranges::any_of(sample->tensors, [](const Tensor& t) { return isFloating(t.dtype()); });
    if (!m_options.isWide || m_options.isBrief || !hasFloats) return;
    if (const auto complexSample = ruleSample(call, op, true)) {
      ++proof.complex;
      proveOn(*complexSample, proof);
    }
  }

  std::vector<RuleProof> all() {
    std::vector<RuleProof> result;
    for (auto& [name, proof] : m_proofs) {
      for (const auto& [reason, calls] : m_left[name])
        proof.left.push_back(fmt::format("{} call{}: {}", calls, calls == 1 ? "" : "s", reason));
      if (proof.samples > 0 || !proof.left.empty()) result.push_back(std::move(proof));
    }
    return result;
  }

 private:
  /// Ops without a rule are placed by their decompositions, or whole.
  static bool isPlacedAlone(const OpInfo& op) {
    return findShardingRule(op.id) != nullptr || has(op.traits, OpTrait::Pointwise);
  }
  void proveOn(const RuleSample& sample, RuleProof& proof) {
    const std::size_t turn = 1 + m_turn++ % (m_meshes.size() - 1);
    ++proof.samples;
    for (std::size_t i = 0; i < m_meshes.size(); ++i)
      if (!m_options.isBrief || i == 0 || i == turn) prove(sample, m_meshes[i], m_options, proof);
  }

  static constexpr int moreForUneven = 3;
  const RuleCheckOptions& m_options;
  std::size_t m_turn = 0;
  std::vector<DeviceMesh> m_meshes;
  std::map<std::string, RuleProof> m_proofs;
  std::map<std::string, std::map<std::string, int>> m_left;  ///< calls by op and reason
};

bool isAsked(const std::string& name, const RuleCheckOptions& options) {
  if (options.matches) return options.matches(name);
  return name.find(options.pattern) != std::string::npos;
}

/// The op of a line of recorded calls, without reading the rest of it.
std::string opOfLine(const std::string& line) {
  const std::size_t at = line.find("\"op\": \"");
  const std::size_t start = at == std::string::npos ? line.find("\"op\":\"") + 6 : at + 7;
  return line.substr(start, line.find('"', start) - start);
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
  Proofs proofs(options, std::move(meshes));
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && !options.stop.stop_requested()) {
    const std::string name = opOfLine(line);
    const OpInfo* op = isAsked(name, options) ? findOp(name) : nullptr;
    if (op == nullptr || !proofs.wants(name, *op)) continue;
    if (const auto call = readRecordedCall(line, tensors)) proofs.add(*call, *op);
  }
  return proofs.all();
}

}  // namespace kerf::inline distributed::inline checks
