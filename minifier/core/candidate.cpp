// Candidates: their size, their hash, and small facts about their graphs.
#include "minifier/core/candidate.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/ranges.h>

#include "engine/ops/core/memory_writes.h"
#include "engine/symbolic/symbolic.h"
#include "minifier/core/call_units.h"
#include "minifier/core/complexity.h"

namespace kerf::inline minifier::inline core {

namespace {

/// Of each storage the elements, or what the largest tensor shows of it, if that is more: a smaller expanded tensor is
/// smaller too.
using StorageElements = std::unordered_map<const Storage*, std::int64_t>;

void countStorages(const Value& value, StorageElements& seen, CandidateSize& size) {
  if (value.isList()) {
    for (const Value& item : value.list()) countStorages(item, seen, size);
  } else if (value.isTensor() && value.tensor().defined()) {
    const Tensor& tensor = value.tensor();
    size.dtypes += std::size_t(dtypeComplexity(tensor.dtype()));
    size.ranks += tensor.sizes().size();
    size.values += std::size_t(valueComplexity(value));
    const std::int64_t bytes = tensor.storage()->bytes();
    const auto [entry, isNew] = seen.try_emplace(tensor.storage().get(), 0);
    if (isNew) size.inputBytes += bytes;
    const std::int64_t elements =
        std::max({tensor.numel(), bytes / std::max<std::int64_t>(1, itemSize(tensor.dtype())), entry->second});
    size.elements += elements - std::exchange(entry->second, elements);
  }
}

std::size_t countSymbols(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : graph.placeholders()) {
    const ValueMeta& meta = graph.node(id).meta().value;
    if (const SymMeta* sym = meta.sym()) collectSymbols(sym->expr.text, names);
    if (const TensorMeta* tensor = meta.tensor())
      for (const auto* dims : {&tensor->sizes, &tensor->strides})
        for (const Dim& dim : *dims)
          if (!dim.text.empty()) collectSymbols(dim.text, names);
  }
  return names.size();
}

}  // namespace

bool writesMemory(const GraphModule& module) {
  const MemoryWrites writes = memoryWrites(module);
  return !writes.attributes.empty() ||
         std::ranges::any_of(writes.placeholders, [](auto answer) { return answer != MemoryWrites::Answer::No; });
}

std::vector<NodeId> returnedNodes(const Graph& graph) {
  const NodeId output = graph.outputNode();
  return output.valid() ? graph.node(output).inputs() : std::vector<NodeId>{};
}

CandidateSize measure(const Candidate& candidate) {
  CandidateSize size{.calls = countCalls(candidate.module), .nodes = candidate.module.graph.size()};
  StorageElements seen;
  for (const Value& input : candidate.inputs) countStorages(input, seen, size);
  size.outputs = returnedNodes(candidate.module.graph).size();
  size.symbols = countSymbols(candidate.module.graph);
  size.ops = opComplexity(candidate.module.graph);
  size.arguments = argumentComplexity(candidate.module.graph);
  return size;
}

Hash128 CandidateHasher::storageHash(const StoragePtr& storage) {
  Known& known = m_known[storage.get()];
  if (known.storage.lock() != storage) known = {storage, hashBytes(storage->view())};
  return known.hash;
}

void CandidateHasher::appendValue(const Value& value, std::string& text) {
  if (value.isList()) {
    text += '[';
    for (const Value& item : value.list()) appendValue(item, text);
    text += ']';
  } else if (value.isTensor() && value.tensor().defined()) {
    const Tensor& tensor = value.tensor();
    text += fmt::format("T{} {} {} {} {} {};", int(tensor.dtype()), fmt::join(tensor.sizes(), ","),
                        fmt::join(tensor.strides(), ","), tensor.offset(), tensor.requiresGrad,
                        storageHash(tensor.storage()).hex());
  } else if (const auto* integer = value.as<std::int64_t>()) {
    text += fmt::format("I{};", *integer);
  } else if (const auto* real = value.as<double>()) {
    text += fmt::format("F{:a};", *real);
  } else if (const auto* flag = value.as<bool>()) {
    text += *flag ? "B1;" : "B0;";
  } else if (const auto* string = value.as<std::string>()) {
    text += fmt::format("S{}:{};", string->size(), *string);
  } else {
    text += fmt::format("V{};", value.variant().index());
  }
}

Hash128 CandidateHasher::hash(const Candidate& candidate) {
  std::string text = candidate.module.contentHash().hex();
  for (const Value& input : candidate.inputs) appendValue(input, text);
  return hashText(text);
}

}  // namespace kerf::inline minifier::inline core
