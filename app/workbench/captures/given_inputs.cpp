#include "app/workbench/captures/given_inputs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>

#include "engine/accuracy/expectation.h"
#include "engine/capture/pt2/inputs.h"

namespace kerf::workbench {

namespace {

/// The i of "in<i>"; nothing for another name.
std::optional<std::size_t> inputNumber(const std::string& name) {
  std::size_t number = 0;
  const char* end = name.data() + name.size();
  if (!name.starts_with("in") || name.size() < 3) return std::nullopt;
  const auto [at, problem] = std::from_chars(name.data() + 2, end, number);
  return problem == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

struct GivenInput {
  std::string name;       ///< "in0"
  std::size_t place = 0;  ///< among the placeholders
  const Tensor* tensor = nullptr;
};

/// Placeholders that a user gives values for; where only annotations say what they take, all of them.
std::vector<std::size_t> givenPlaces(const CapturedGraph& graph) {
  if (!graph.inputs.empty()) return userInputs(graph);
  std::vector<std::size_t> places(graph.module.graph.placeholders().size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// The placeholder of that name.
std::optional<std::size_t> placeOf(const Graph& graph, const std::string& name) {
  const auto placeholders = graph.placeholders();
  const auto found = std::ranges::find_if(placeholders, [&](NodeId id) { return graph.node(id).target() == name; });
  return found == placeholders.end() ? std::nullopt : std::optional(std::size_t(found - placeholders.begin()));
}

Result<std::vector<GivenInput>> match(const CapturedGraph& graph, const SafetensorsFile& file) {
  const auto users = givenPlaces(graph);
  std::vector<GivenInput> given;
  for (const auto& [name, tensor] : file.tensors) {
    if (const auto place = placeOf(graph.module.graph, name)) {
      given.push_back({name, *place, &tensor});
      continue;
    }
    const auto number = inputNumber(name);
    if (!number) continue;
    if (*number >= users.size()) {
      return fail(ErrorCode::BadInput, "the recording has an input \"{}\", but the graph takes {} from its user", name,
                  users.size());
    }
    given.push_back({name, users[*number], &tensor});
  }
  if (given.empty())
    return fail(ErrorCode::BadInput, "the file holds no inputs; they are named in0, in1, … or after placeholders");
  return given;
}

/// "[2, s0]" as people read it.
std::string sizesText(const TensorMeta& meta) {
  std::vector<std::string> parts;
  for (const auto& size : meta.sizes)
    parts.push_back(size.text.empty() ? fmt::format("{}", size.hint.value_or(-1)) : size.text);
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

Result<void> checkAgainst(const GivenInput& input, const std::string& placeholder, const TensorMeta& meta,
                          std::vector<SizeEquation>& equations) {
  const auto& tensor = *input.tensor;
  bool fits = tensor.dtype() == meta.dtype && tensor.sizes().size() == meta.sizes.size();
  for (std::size_t i = 0; fits && i < meta.sizes.size(); ++i) {
    const auto& size = meta.sizes[i];
    if (!size.text.empty())
      equations.push_back({fmt::format("{}, dimension {}", input.name, i), size.text, tensor.sizes()[i]});
    else
      fits = !size.hint || *size.hint == tensor.sizes()[i];
  }
  if (fits) return {};
  return fail(ErrorCode::ShapeMismatch, "{} is {}[{}], but the input {} is {}{}", input.name,
              dtypeInfo(tensor.dtype()).torchName, fmt::join(tensor.sizes(), ", "), placeholder,
              dtypeInfo(meta.dtype).torchName, sizesText(meta));
}

/// Symbols that the given tensors' sizes settle, beside those that were given.
Result<SymbolBindings> settledSymbols(const ShapedGraph& source, const std::vector<GivenInput>& given) {
  const auto& graph = source.graph().module.graph;
  const auto placeholders = graph.placeholders();
  std::vector<SizeEquation> equations;
  for (const auto& input : given) {
    const auto& node = graph.node(placeholders[input.place]);
    if (const auto* meta = node.meta().value.tensor()) KERF_CHECK(checkAgainst(input, node.name(), *meta, equations));
    const auto* number = node.meta().value.sym();
    if (number != nullptr && !number->expr.text.empty() && isIntegral(input.tensor->dtype()) &&
        input.tensor->numel() == 1)
      equations.push_back({input.name, number->expr.text, input.tensor->itemAsInt()});
  }
  return solveSizes(equations, source.symbols);
}

/// Whether every placeholder that is no number has a given value.
bool givesAll(const CapturedGraph& graph, const std::vector<GivenInput>& given) {
  const auto placeholders = graph.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const bool isNumber = graph.module.graph.node(placeholders[i]).meta().value.sym() != nullptr;
    if (!isNumber && std::ranges::find(given, i, &GivenInput::place) == given.end()) return false;
  }
  return true;
}

}  // namespace

Result<InputChoice> parseInputChoice(const std::string& text) {
  if (const auto fill = inputFillFromName(text)) return InputChoice{*fill, {}};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) return InputChoice{InputFill::Plausible, text};
  return fail(ErrorCode::BadUsage,
              "inputs \"{}\": neither plausible, random, zeros nor ones, nor a .safetensors file that is there", text);
}

bool hasInputs(const SafetensorsFile& file) { return file.find("in0") != nullptr; }

Result<RunnableGraph> runnableOn(GraphSource source, const SafetensorsFile& file, const Job& job) {
  KERF_TRY(const auto given, match(source.graph(), file));
  // Shapes may need these sizes: what is not known yet is no error before they are.
  const ShapedGraph known = shapedAsKnown(source);
  KERF_TRY(source.symbols, settledSymbols(known, given));
  source.allGiven = givesAll(known.graph(), given);
  KERF_TRY(RunnableGraph ready, runnableOnRecorded(std::move(source), job));
  for (const auto& input : given) {
    if (input.place >= ready.inputs.size()) return fail(ErrorCode::Internal, "{} has no place", input.name);
    auto& slot = ready.inputs[input.place];
    if (slot.as<std::int64_t>() != nullptr)
      slot = Value(input.tensor->itemAsInt());
    else
      slot = Value(*input.tensor);
    if (input.place < ready.origins.size()) {
      ready.origins[input.place].source = InputOrigin::Source::Given;
      ready.origins[input.place].why = input.name;
    }
  }
  return ready;
}

Result<RunnableGraph> runnableOnFile(GraphSource source, const std::string& path, const Job& job) {
  KERF_TRY(const auto file, readSafetensors(path));
  auto ready = runnableOn(std::move(source), file, job);
  if (!ready && ready.error().file.empty()) ready.error().atFile(path);
  return ready;
}

std::vector<InputRow> inputRows(const std::vector<InputOrigin>& origins, const ValueList& inputs) {
  std::vector<InputRow> rows;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const InputOrigin& origin = origins[i];
    InputRow row{origin.name, {}, std::string(sourceName(origin.source)), origin.why};
    if (i < inputs.size() && inputs[i].isTensor())
      row.value = tensorText(inputs[i].tensor());
    else if (const auto* number = i < inputs.size() ? inputs[i].as<std::int64_t>() : nullptr)
      row.value = std::to_string(*number);
    rows.push_back(std::move(row));
  }
  return rows;
}

ValueList userValues(const CapturedGraph& graph, const ValueList& outputs) {
  ValueList values;
  for (const auto place : userOutputs(graph, outputs.size())) values.push_back(outputs[place]);
  return values;
}

}  // namespace kerf::workbench
