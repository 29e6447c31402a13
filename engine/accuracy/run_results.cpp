#include "engine/accuracy/run_results.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

namespace kerf::inline accuracy {
namespace {

using Answer = MemoryWrites::Answer;

/// Whether the elements are the same, bit by bit.
bool sameBytes(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.dtype() != b.dtype()) return true;  // the run in float64, which is not asked what changed
  if (a.sizes() != b.sizes()) return false;
  if (a.storage() == b.storage() && a.strides() == b.strides() && a.offset() == b.offset()) return true;
  const auto left = a.contiguous(), right = b.contiguous();
  if (!left || !right) return false;
  const std::int64_t bytes = left->byteSize(), item = itemSize(left->dtype());
  return bytes == 0 || std::memcmp(left->storage()->data() + item * left->offset(),
                                   right->storage()->data() + item * right->offset(), std::size_t(bytes)) == 0;
}

/// Whether two values hold the same bits; numbers and texts, which no run can change, do.
bool unchanged(const Value& before, const Value& after) {
  if (before.isTensor() && after.isTensor()) return sameBytes(before.tensor(), after.tensor());
  if (!before.isList() || !after.isList()) return true;
  return std::ranges::equal(before.list(), after.list(), unchanged);
}

/// Calls visit(name, tensor) for every tensor of a run's outputs, named as same() names it.
template <class Visit>
void forEachOutput(const std::string& name, const Value& value, const Visit& visit) {
  if (value.isTensor() && value.tensor().defined()) visit(name.empty() ? "out0" : name, value.tensor());
  if (!value.isList()) return;
  for (std::size_t i = 0; i < value.list().size(); ++i)
    forEachOutput(name.empty() ? fmt::format("out{}", i) : fmt::format("{}.{}", name, i), value.list()[i], visit);
}

void addOwner(std::map<const Storage*, std::string>& owners, const std::string& name, const Value& value) {
  if (value.isTensor() && value.tensor().defined() && value.tensor().numel() > 0)
    owners.try_emplace(value.tensor().storage().get(), name);
  if (value.isList())
    for (const Value& item : value.list()) addOwner(owners, name, item);
}

using Named = std::vector<std::pair<std::string, std::string>>;

OutputVerdict structural(std::string name, ResultKind kind, std::string reason) {
  OutputVerdict verdict;
  verdict.name = std::move(name);
  verdict.kind = kind;
  verdict.same = reason.empty();
  verdict.reason = std::move(reason);
  verdict.rmseRef = verdict.rmseRes = std::numeric_limits<double>::quiet_NaN();
  if (!verdict.same) verdict.ratioToLimit = std::numeric_limits<double>::infinity();
  return verdict;
}

std::string aliasText(const std::string& owner) {
  return owner.empty() ? "has memory of its own" : "is a view of " + owner;
}

void addAliasRows(const Named& ref, const Named& res, SameReport& report) {
  if (ref.size() != res.size()) return;  // another number of tensors: said already
  for (std::size_t i = 0; i < ref.size(); ++i) {
    const auto& [name, owner] = ref[i];
    if (owner.empty() && res[i].second.empty()) continue;
    std::string reason;
    if (owner != res[i].second)
      reason = fmt::format("Aliasing failed: in the compiled side it {}", aliasText(res[i].second));
    report.outputs.push_back(structural(fmt::format("{} {}", name, aliasText(owner)), ResultKind::Alias, reason));
  }
}

/// Strides of dimensions with more than one element: the others say nothing.
bool sameStrides(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return true;
  for (std::size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

void addStrideRows(const Value& ref, const Value& res, SameReport& report) {
  std::vector<std::pair<std::string, Tensor>> expected, got;
  forEachOutput("", ref, [&](const std::string& name, const Tensor& tensor) { expected.emplace_back(name, tensor); });
  forEachOutput("", res, [&](const std::string& name, const Tensor& tensor) { got.emplace_back(name, tensor); });
  if (expected.size() != got.size()) return;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, tensor] = expected[i];
    const Tensor& other = got[i].second;
    if (tensor.sizes() != other.sizes() || sameStrides(tensor, other)) continue;
    report.outputs.push_back(
        structural("strides " + name, ResultKind::Strides,
                   fmt::format("Strides failed: ({}) instead of ({})", fmt::join(other.strides(), ", "),
                               fmt::join(tensor.strides(), ", "))));
  }
}

void addMutationRows(const ResultNames& names, const RunResults& before, const RunResults& ref, const RunResults& res,
                     const RunResults* fp64, const SameOptions& options, SameReport& report) {
  const auto first = report.outputs.size();
  const auto values = mutatedValues(names, before, {&ref, &res, fp64 != nullptr ? fp64 : &ref});
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    const Value truth = fp64 != nullptr ? values[2][i].value : Value();
    SameReport rows = sameNamed("mutates " + values[0][i].name, values[0][i].value, values[1][i].value, truth, options);
    std::ranges::move(rows.outputs, std::back_inserter(report.outputs));
  }
  for (std::size_t i = first; i < report.outputs.size(); ++i) report.outputs[i].kind = ResultKind::Mutation;
}

SameReport outputRows(const Value& ref, const Value& res, const Value& fp64, const SameOptions& options,
                      const ReadyRows& ready) {
  if (ready.empty()) return same(ref, res, fp64, options);
  SameReport report;
  for (std::size_t i = 0; i < ref.list().size(); ++i) {
    const auto found = ready.find(i);
    const Value truth = fp64.isList() && i < fp64.list().size() ? fp64.list()[i] : Value();
    SameReport rows = found == ready.end()
                          ? sameNamed(fmt::format("out{}", i), ref.list()[i], res.list()[i], truth, options)
                          : SameReport{true, found->second};
    std::ranges::move(rows.outputs, std::back_inserter(report.outputs));
  }
  return report;
}

const Value* attributeOf(const RunResults& run, std::size_t i) {
  return i < run.attributes.size() ? &run.attributes[i].second : nullptr;
}

}  // namespace

OutputVerdict strayWrite(const std::string& input) {
  OutputVerdict row;
  row.name = "mutates " + input;
  row.kind = ResultKind::Mutation;
  row.reason = "Mutation failed: the compiled side wrote into it, and the graph does not";
  row.rmseRef = row.rmseRes = std::numeric_limits<double>::quiet_NaN();
  row.ratioToLimit = std::numeric_limits<double>::infinity();
  return row;
}

ResultNames::ResultNames(const GraphModule& module) : writes(memoryWrites(module)) {
  for (const NodeId id : module.graph.placeholders()) inputs.push_back(module.graph.node(id).name());
  for (const auto& [path, answer] : writes.attributes) {
    const TensorAttribute* found = module.attribute(path);
    if (found != nullptr && found->tensor.defined()) attributes.push_back(path);
  }
}

bool ResultNames::writesAnything() const {
  return !attributes.empty() || std::ranges::any_of(writes.placeholders, [](Answer a) { return a != Answer::No; });
}

bool ResultNames::writesAttribute(std::size_t i) const {
  const auto found = std::ranges::find(writes.attributes, attributes[i], &std::pair<std::string, Answer>::first);
  return found != writes.attributes.end() && found->second == Answer::Yes;
}

std::vector<std::vector<MutatedValue>> mutatedValues(const ResultNames& names, const RunResults& before,
                                                     const std::vector<const RunResults*>& runs) {
  std::vector<std::vector<MutatedValue>> found(runs.size());
  const auto add = [&](const std::string& name, bool surely, const Value& old, const auto& valueIn) {
    const auto differs = [&](const RunResults* run) {
      const Value* value = valueIn(*run);
      return value != nullptr && !unchanged(old, *value);
    };
    if (old.isNone() || (!surely && std::ranges::none_of(runs, differs))) return;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Value* value = valueIn(*runs[r]);
      found[r].push_back({name, value != nullptr ? *value : Value()});
    }
  };
  for (std::size_t i = 0; i < before.inputs.size() && i < names.inputs.size(); ++i)
    add(names.inputs[i], names.writes.placeholders[i] == Answer::Yes, before.inputs[i],
        [&](const RunResults& run) { return i < run.inputs.size() ? &run.inputs[i] : nullptr; });
  for (std::size_t i = 0; i < before.attributes.size() && i < names.attributes.size(); ++i)
    add(names.attributes[i], names.writesAttribute(i), before.attributes[i].second,
        [&](const RunResults& run) { return attributeOf(run, i); });
  return found;
}

std::vector<std::pair<std::string, std::string>> outputAliases(const ResultNames& names, const RunResults& run) {
  std::map<const Storage*, std::string> owners;
  for (std::size_t i = 0; i < run.inputs.size() && i < names.inputs.size(); ++i)
    addOwner(owners, names.inputs[i], run.inputs[i]);
  for (const auto& [name, value] : run.attributes) addOwner(owners, name, value);
  Named aliases;
  forEachOutput("", run.outputs, [&](const std::string& name, const Tensor& tensor) {
    std::string owner;
    if (tensor.numel() > 0) {
      const auto [known, isNew] = owners.try_emplace(tensor.storage().get(), name);
      if (!isNew) owner = known->second;
    }
    aliases.emplace_back(name, std::move(owner));
  });
  return aliases;
}

std::vector<OutputVerdict> structureRows(const ResultNames& names, const RunResults& ref, const RunResults& res) {
  SameReport report;
  addAliasRows(outputAliases(names, ref), outputAliases(names, res), report);
  addStrideRows(ref.outputs, res.outputs, report);
  return std::move(report.outputs);
}

SameReport compareValues(const ResultNames& names, const RunResults& before, const RunResults& ref,
                         const RunResults& res, const RunResults* fp64, const SameOptions& options,
                         const ReadyRows& ready) {
  SameReport report = outputRows(ref.outputs, res.outputs, fp64 != nullptr ? fp64->outputs : Value(), options, ready);
  addMutationRows(names, before, ref, res, fp64, options, report);
  report.same = std::ranges::all_of(report.outputs, &OutputVerdict::same);
  return report;
}

void forgetOutput(RunResults& run, std::size_t i) {
  ValueList items = run.outputs.list();
  items[i] = {};
  run.outputs = Value(std::move(items));
}

}  // namespace kerf::inline accuracy
