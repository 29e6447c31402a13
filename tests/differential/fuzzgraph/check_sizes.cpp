// One compilation of a symbolic graph, run at other sizes.
#include <algorithm>
#include <cstring>

#include "engine/accuracy/same_two_models.h"
#include "engine/backend/input_symbols.h"
#include "engine/ops/random/state.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::fuzzgraph {
namespace {

/// The values of `recorded`, over and over: what was an index within bounds stays one where sizes only grow.
Result<Tensor> resized(const Tensor& recorded, const TensorMeta& meta, const SymbolBindings& values) {
  Sizes sizes;
  for (const Dim& dim : meta.sizes) {
    KERF_TRY(const std::int64_t size,
             dim.text.empty() ? Result<std::int64_t>(*dim.hint) : evaluateSize(dim.text, values));
    sizes.push_back(size);
  }
  KERF_TRY(const Tensor dense, recorded.contiguous());
  KERF_TRY(const Tensor result, Tensor::zeros(recorded.dtype(), sizes));
  const auto width = std::size_t(itemSize(recorded.dtype()));
  const std::byte* from = dense.storage()->data() + std::size_t(dense.offset()) * width;
  for (std::int64_t i = 0; i < result.numel() && dense.numel() > 0; ++i)
    std::memcpy(result.storage()->data() + std::size_t(i) * width, from + std::size_t(i % dense.numel()) * width,
                width);
  return result;
}

Result<ValueList> inputsAt(const Candidate& candidate, const SymbolBindings& values) {
  ValueList inputs;
  const auto placeholders = candidate.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const TensorMeta* meta = candidate.module.graph.node(placeholders[i]).meta().value.tensor();
    if (!meta || !candidate.inputs[i].isTensor()) {
      inputs.push_back(candidate.inputs[i]);
      continue;
    }
    KERF_TRY(Tensor tensor, resized(candidate.inputs[i].tensor(), *meta, values));
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

std::optional<Disagreement> compareAt(const Candidate& candidate, CompiledGraph& compiled, const SymbolBindings& values,
                                      int& runs) {
  const auto inputs = inputsAt(candidate, values);
  const auto numbers = withNumbers(candidate.module, values);
  if (!inputs || !numbers) return {};
  const auto reference = interpreted(*numbers, *inputs, false);
  if (!reference) return {};  // sizes that the graph does not take
  std::optional<RunResult> fp64;
  if (auto result = interpreted(*numbers, *inputs, true)) fp64 = std::move(*result);
  auto clones = cloneInputs(*inputs, false);
  const RandomScope random;
  auto outputs = compiled.run(*clones);
  ++runs;
  if (!outputs) return Disagreement{"", "runtime error", outputs.error().text()};
  return disagreement(*reference, {std::move(*outputs), std::move(*clones)}, fp64);
}

}  // namespace

std::vector<Disagreement> checkSizes(const Candidate& candidate, const CompileOptions& options, int& runs) {
  std::vector<Disagreement> found;
  const InputSymbols symbols(candidate.module);
  const auto example = symbols.bind(symbols.example());
  const auto compiled = compileFx(candidate.module, options);
  if (!example || !compiled) return found;  // the other checks say so
  const auto at = [&](const char* what, auto&& change) {
    SymbolBindings values = *example;
    for (auto& [name, value] : values) value = change(value);
    if (auto item = compareAt(candidate, **compiled, values, runs)) {
      item->what = fmt::format("{}: {}", what, item->what);
      found.push_back(std::move(*item));
    }
  };
  at("larger", [](std::int64_t value) { return value * 2 + 1; });
  at("equal", [](std::int64_t) { return std::int64_t{16}; });
  at("smaller", [](std::int64_t value) { return value / 2; });
  at("one", [](std::int64_t) { return std::int64_t{1}; });
  at("as compiled", [](std::int64_t value) { return value; });
  return found;
}

}  // namespace kerf::fuzzgraph
