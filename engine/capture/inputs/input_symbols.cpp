// Symbols of captured inputs: their names, their recorded values, and the inputs for other values.
#include <algorithm>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/inputs/input_loader.h"

namespace kerf::inline capture {
namespace {

bool isSymbolic(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") != std::string_view::npos;
}

void addEquations(const GraphInput& input, std::string_view what, const std::vector<std::string>& texts,
                  const Sizes& values, std::vector<SizeEquation>& into) {
  for (std::size_t i = 0; i < std::min(texts.size(), values.size()); ++i)
    if (isSymbolic(texts[i]))
      into.push_back({fmt::format("input '{}', {} {}", input.name, what, i), texts[i], values[i]});
}

std::vector<SizeEquation> equationsOf(const CapturedGraph& graph) {
  std::vector<SizeEquation> equations;
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == GraphInput::Kind::SymInt && input.sym.hint && isSymbolic(input.sym.text))
      equations.push_back({fmt::format("input '{}'", input.name), input.sym.text, *input.sym.hint});
    if (input.kind != GraphInput::Kind::Tensor) continue;
    addEquations(input, "dimension", input.sizeTexts, input.sizes, equations);
    addEquations(input, "stride", input.strideTexts, input.strides, equations);
    if (isSymbolic(input.offsetText))
      equations.push_back(
          {fmt::format("input '{}', storage offset", input.name), input.offsetText, input.storageOffset});
  }
  return equations;
}

std::string joined(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Result<void> checkNames(const SymbolBindings& given, const std::set<std::string>& names) {
  for (const auto& [name, value] : given) {
    if (names.contains(name)) continue;
    if (names.empty()) return fail(ErrorCode::BadUsage, "there is no symbol '{}': all sizes are numbers", name);
    return fail(ErrorCode::BadUsage, "there is no symbol '{}'; the graph has {}", name, joined(names));
  }
  return {};
}

Result<void> evaluateAll(const std::vector<std::string>& texts, Sizes& values, const SymbolBindings& bindings) {
  for (std::size_t i = 0; i < std::min(texts.size(), values.size()); ++i) {
    if (!isSymbolic(texts[i])) continue;
    KERF_TRY(values[i], evaluateSize(texts[i], bindings));
    if (values[i] < 0) return fail(ErrorCode::BadInput, "'{}' is {}, a negative size", texts[i], values[i]);
  }
  return {};
}

Result<void> evaluateInput(GraphInput& input, const SymbolBindings& recorded, const SymbolBindings& bindings) {
  if (input.kind == GraphInput::Kind::SymInt && isSymbolic(input.sym.text)) {
    KERF_TRY(input.sym.hint, evaluateSize(input.sym.text, bindings));
  } else if (input.kind == GraphInput::Kind::SymInt && input.sym.hint) {
    const std::string name = symbolOfNumber(recorded, *input.sym.hint);
    if (!name.empty()) input.sym.hint = bindings.at(name);
  }
  if (input.kind != GraphInput::Kind::Tensor) return {};
  KERF_CHECK(evaluateAll(input.sizeTexts, input.sizes, bindings));
  const bool newStrides = input.strideTexts.empty() && !input.explicitStrides && !input.sizeTexts.empty();
  if (newStrides) input.strides = contiguousStrides(input.sizes);
  KERF_CHECK(evaluateAll(input.strideTexts, input.strides, bindings));
  if (isSymbolic(input.offsetText)) {
    KERF_TRY(input.storageOffset, evaluateSize(input.offsetText, bindings));
    if (input.storageOffset < 0) return fail(ErrorCode::BadInput, "the storage offset is negative");
  }
  return {};
}

/// Bytes from the storage's start that the tensor reaches; TooLarge on overflow.
Result<std::int64_t> reachOf(const GraphInput& input) {
  std::int64_t last = input.storageOffset;
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    if (input.sizes[i] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(input.sizes[i] - 1, input.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return fail(ErrorCode::TooLarge, "the tensor '{}' is too large", input.name);
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, itemSize(input.dtype), &bytes))
    return fail(ErrorCode::TooLarge, "the tensor '{}' is too large", input.name);
  return bytes;
}

/// Sizes of storages for the evaluated inputs: by their own text, else what their symbolic tensors reach.
Result<std::vector<std::int64_t>> storageSizes(const CapturedGraph& graph, const std::vector<GraphInput>& inputs,
                                               const SymbolBindings& bindings) {
  std::vector<std::int64_t> bytes;
  for (const StorageRef& storage : graph.storages) {
    bytes.push_back(storage.bytes);
    if (!isSymbolic(storage.bytesText)) continue;
    KERF_TRY(bytes.back(), evaluateSize(storage.bytesText, bindings));
    if (bytes.back() < 0) return fail(ErrorCode::BadInput, "line {}: a storage of negative size", storage.line);
  }
  for (const GraphInput& input : inputs) {
    if (input.storageIndex < 0 || (input.sizeTexts.empty() && input.strideTexts.empty())) continue;
    const auto index = std::size_t(input.storageIndex);
    KERF_TRY(const std::int64_t reach, reachOf(input));
    if (!isSymbolic(graph.storages[index].bytesText)) bytes[index] = std::max(bytes[index], reach);
  }
  return bytes;
}

}  // namespace

std::set<std::string> inputSymbolNames(const CapturedGraph& graph) {
  std::set<std::string> names;
  const auto add = [&](const std::string& text) {
    if (isSymbolic(text)) collectSymbols(text, names);
  };
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == GraphInput::Kind::SymInt) add(input.sym.text);
    std::ranges::for_each(input.sizeTexts, add);
    std::ranges::for_each(input.strideTexts, add);
    add(input.offsetText);
  }
  for (const StorageRef& storage : graph.storages) add(storage.bytesText);
  return names;
}

std::string symbolOfNumber(const SymbolBindings& recorded, std::int64_t number) {
  std::string found;
  for (const auto& [name, value] : recorded) {
    if (value != number || number < 2) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

Result<SymbolBindings> recordedSymbols(const CapturedGraph& graph) { return solveSizes(equationsOf(graph)); }

Result<EvaluatedInputs> evaluateInputs(const CapturedGraph& graph, const SymbolBindings& given) {
  const std::set<std::string> names = inputSymbolNames(graph);
  KERF_CHECK(checkNames(given, names));
  EvaluatedInputs result{graph.inputs, {}};
  SymbolBindings bindings = given;
  if (!given.empty()) {
    KERF_TRY(const SymbolBindings recorded, recordedSymbols(graph));
    bindings.insert(recorded.begin(), recorded.end());  // given values stay
    std::set<std::string> missing;
    for (const std::string& name : names)
      if (!bindings.contains(name)) missing.insert(name);
    if (!missing.empty())
      return fail(ErrorCode::BadInput, Hint{Advice::GiveSizes}, "give values for the symbols {}", joined(missing));
    for (GraphInput& input : result.inputs) {
      auto evaluated = evaluateInput(input, recorded, bindings);
      if (!evaluated) return fail(std::move(evaluated.error().while_(fmt::format("sizing '{}'", input.name))));
    }
  }
  std::set<std::string> valueless;
  for (const GraphInput& input : result.inputs)
    if (input.kind == GraphInput::Kind::SymInt && !input.sym.hint) collectSymbols(input.sym.text, valueless);
  if (!valueless.empty())
    return fail(ErrorCode::BadInput, Hint{Advice::GiveSizes}, "give values for the symbols {}", joined(valueless));
  if (given.empty()) {
    for (const StorageRef& storage : graph.storages) result.storageBytes.push_back(storage.bytes);
    return result;
  }
  KERF_TRY(result.storageBytes, storageSizes(graph, result.inputs, bindings));
  return result;
}

Result<CapturedGraph> withSymbolValues(const CapturedGraph& graph, const SymbolBindings& values) {
  CapturedGraph sized = graph;
  SymbolBindings all = values;
  for (const SymExpr& symbol : graph.symbols())
    if (symbol.hint) all.emplace(symbol.text, *symbol.hint);
  bindAnnotations(sized.module, all);
  if (graph.inputs.empty() || values.empty()) return sized;
  KERF_TRY(EvaluatedInputs evaluated, evaluateInputs(graph, values));
  sized.inputs = std::move(evaluated.inputs);
  for (std::size_t i = 0; i < sized.storages.size(); ++i) {
    StorageRef& storage = sized.storages[i];
    if (storage.bytes == evaluated.storageBytes[i]) continue;
    storage.bytes = evaluated.storageBytes[i];
    storage.hash.clear();
    storage.data.reset();
    storage.file.reset();
    storage.crc32.reset();
  }
  return sized;
}

}  // namespace kerf::inline capture
