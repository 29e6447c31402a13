// CapturedGraph::loadInputs: tensors for the interpreter, recorded, replaced or generated.
#include "engine/capture/inputs/input_loader.h"

#include <set>

#include "engine/capture/common/storage_directory.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/plausible/input_filler.h"
#include "engine/support/hash.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/torch_zip.h"

namespace kerf::inline capture {
namespace {

std::filesystem::path storageFile(const CapturedGraph& graph, const StorageRef& reference) {
  return graph.storageDirectory / reference.hash;
}

bool isMissing(const CapturedGraph& graph, const StorageRef& reference) {
  std::error_code ignored;
  return reference.hash.empty() || !std::filesystem::exists(storageFile(graph, reference), ignored);
}

/// "values that the graph can use" and the like, for notes.
std::string_view standInText(InputFill fill) {
  static constexpr std::string_view texts[] = {"values that fit the graph are used",
                                               "random floats and zero integers are used", "zeros are used",
                                               "ones are used"};
  return texts[std::size_t(fill)];
}

/// The graph with the sizes of its evaluated inputs as metadata, for what is made up after uses.
GraphModule sizedModule(const CapturedGraph& graph, const std::vector<GraphInput>& inputs) {
  GraphModule module = graph.module;
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), inputs.size()); ++i) {
    const GraphInput& input = inputs[i];
    if (input.kind == GraphInput::Kind::SymInt)
      module.graph.setValueMeta(placeholders[i], {SymMeta{{{}, input.sym.hint}}});
    if (input.kind != GraphInput::Kind::Tensor) continue;
    TensorMeta meta;
    meta.dtype = input.dtype;
    for (const std::int64_t size : input.sizes) meta.sizes.push_back(dim(size));
    for (const std::int64_t stride : input.strides) meta.strides.push_back(dim(stride));
    meta.storageOffset = input.storageOffset;
    meta.device = input.device;
    module.graph.setValueMeta(placeholders[i], {std::move(meta)});
  }
  return module;
}

/// Loads each storage once, when the first tensor asks for it.
class StorageLoader {
 public:
  StorageLoader(const CapturedGraph& graph, const LoadOptions& options, const EvaluatedInputs& evaluated)
      : m_graph(graph),
        m_options(options),
        m_evaluated(evaluated),
        m_filler(sizedModule(graph, evaluated.inputs), options.fill, options.seed),
        m_loaded(graph.storages.size()) {}

  /// Reads the files of all inputs at once; those that cannot be read are errors when they are asked for.
  void readAhead() {
    std::set<std::size_t> asked;
    for (const GraphInput& input : m_evaluated.inputs)
      if (input.kind == GraphInput::Kind::Tensor) asked.insert(std::size_t(input.storageIndex));
    std::erase_if(asked, [&](std::size_t i) {
      return isMadeUp(i) || m_graph.storages[i].data != nullptr || m_graph.storages[i].file.has_value();
    });
    const std::vector<std::size_t> indices(asked.begin(), asked.end());
    auto read = readNamedStorages(m_graph, indices);
    for (std::size_t i = 0; i < indices.size(); ++i) m_loaded[indices[i]] = std::move(read[i]);
  }

  Result<StoragePtr> load(std::size_t index) {
    StoragePtr& slot = m_loaded[index];
    if (slot) return slot;
    KERF_TRY(slot, fetch(index));
    return slot;
  }

  /// Whether there are no bytes of the size that is asked for.
  bool isMadeUp(std::size_t index) const {
    const StorageRef& reference = m_graph.storages[index];
    if (m_evaluated.storageBytes[index] != reference.bytes) return true;
    return !reference.data && !reference.file && isMissing(m_graph, reference);
  }

  std::vector<InputOrigin> origins() {
    std::vector<InputOrigin> origins;
    for (std::size_t i = 0; i < m_evaluated.inputs.size(); ++i) origins.push_back(originOf(i));
    return origins;
  }

  void report(std::vector<std::string>* notes) const {
    if (notes == nullptr) return;
    const std::string_view standIn = standInText(m_options.fill);
    if (m_resized != 0)
      notes->push_back(fmt::format("{} storages were recorded for other sizes: {}", m_resized, standIn));
    if (m_replaced == 0) return;
    if (m_firstReplaced.empty())
      notes->push_back(fmt::format("{} storages have no saved data: {}", m_replaced, standIn));
    else
      notes->push_back(fmt::format("{} storages are missing in {} (the first is {}): {}", m_replaced,
                                   m_graph.storageDirectory.string(), m_firstReplaced, standIn));
  }

 private:
  Result<StoragePtr> fetch(std::size_t index) {
    const StorageRef& reference = m_graph.storages[index];
    if (m_evaluated.storageBytes[index] != reference.bytes) {
      ++m_resized;
      return replacement(index);
    }
    if (reference.data) return reference.data;
    if (reference.file) return mapCheckedRange(reference);
    if (!isMissing(m_graph, reference)) return readNamedStorage(m_graph, reference, reference.bytes);
    if (m_options.strict) return missing(reference);
    ++m_replaced;
    if (m_firstReplaced.empty()) m_firstReplaced = reference.hash;
    return replacement(index);
  }

  Result<StoragePtr> replacement(std::size_t index) {
    KERF_TRY(StoragePtr storage, Storage::allocate(m_evaluated.storageBytes[index]));
    std::vector<InputFiller::View> views;
    for (std::size_t i = 0; i < m_evaluated.inputs.size(); ++i) {
      const GraphInput& input = m_evaluated.inputs[i];
      if (input.kind != GraphInput::Kind::Tensor || input.storageIndex != int(index)) continue;
      Tensor tensor(storage, input.dtype, input.sizes, input.strides, input.storageOffset);
      if (tensor.inBounds()) views.push_back({i, std::move(tensor)});
    }
    m_filler.fill(storage, views, m_graph.storages[index].dtypeHint.value_or(DType::Float32), index);
    return storage;
  }

  InputOrigin originOf(std::size_t i) {
    const GraphInput& input = m_evaluated.inputs[i];
    if (input.kind != GraphInput::Kind::Tensor) return {input.name, InputOrigin::Source::Absent, {}};
    if (!isMadeUp(std::size_t(input.storageIndex))) return {input.name, InputOrigin::Source::Stored, {}};
    return {input.name, InputOrigin::Source::Generated, m_filler.why(i, input.dtype)};
  }

  std::unexpected<Error> missing(const StorageRef& reference) const {
    if (reference.hash.empty())
      return fail(ErrorCode::NotFound, "line {}: this storage was saved without data", reference.line);
    Error error{ErrorCode::NotFound, "the storage file is missing", {}, 0, {}, {}};
    error.atFile(storageFile(m_graph, reference).string());
    return fail(std::move(error));
  }

  const CapturedGraph& m_graph;
  const LoadOptions& m_options;
  const EvaluatedInputs& m_evaluated;
  InputFiller m_filler;
  std::vector<StoragePtr> m_loaded;
  std::size_t m_replaced = 0, m_resized = 0;
  std::string m_firstReplaced;
};

Result<Value> loadTensor(const GraphInput& input, StorageLoader& storages) {
  KERF_TRY(StoragePtr storage, storages.load(std::size_t(input.storageIndex)));
  Tensor tensor(std::move(storage), input.dtype, input.sizes, input.strides, input.storageOffset);
  if (!tensor.inBounds())
    return fail(ErrorCode::BadInput, "line {}: the tensor '{}' reaches beyond its storage", input.line, input.name);
  tensor.setDevice(input.device);
  tensor.requiresGrad = input.requiresGrad;
  tensor.isLeaf = input.isLeaf;
  return Value(std::move(tensor));
}

Result<Value> loadInput(const GraphInput& input, StorageLoader& storages) {
  if (input.kind == GraphInput::Kind::Tensor) return loadTensor(input, storages);
  if (input.kind == GraphInput::Kind::SymInt) return Value(*input.sym.hint);
  return Value();  // None, as load_args appends
}

/// Whether only annotations say what the placeholders take.
bool hasOnlyAnnotations(const CapturedGraph& graph) {
  return graph.inputs.empty() && !graph.module.graph.placeholders().empty();
}

Result<ValueList> generated(const CapturedGraph& graph, const LoadOptions& options, std::vector<std::string>* notes) {
  if (options.strict) return fail(ErrorCode::NotFound, "the graph '{}' came without input data", graph.name);
  KERF_TRY(ValueList values, generateInputs(graph.module, options));
  if (notes != nullptr)
    notes->push_back(
        fmt::format("the graph has no data for its {} inputs: {}", values.size(), standInText(options.fill)));
  return values;
}

}  // namespace

Result<ValueList> CapturedGraph::loadInputs(bool strict, std::vector<std::string>* notes) const {
  LoadOptions options;
  options.strict = strict;
  return loadInputs(options, notes);
}

Result<ValueList> CapturedGraph::loadInputs(const LoadOptions& options, std::vector<std::string>* notes) const {
  if (hasOnlyAnnotations(*this)) return generated(*this, options, notes);
  KERF_TRY(const EvaluatedInputs evaluated, evaluateInputs(*this, options.symbols));
  StorageLoader loader(*this, options, evaluated);
  loader.readAhead();
  ValueList values;
  values.reserve(inputs.size());
  for (const GraphInput& input : evaluated.inputs) {
    auto value = loadInput(input, loader);
    if (!value) return fail(std::move(value.error().while_(fmt::format("loading the input '{}'", input.name))));
    values.push_back(std::move(*value));
  }
  loader.report(notes);
  if (options.origins != nullptr) *options.origins = loader.origins();
  return values;
}

Result<std::vector<InputOrigin>> CapturedGraph::inputOrigins(const LoadOptions& options) const {
  if (hasOnlyAnnotations(*this)) return generatedOrigins(module, options);
  KERF_TRY(const EvaluatedInputs evaluated, evaluateInputs(*this, options.symbols));
  return StorageLoader(*this, options, evaluated).origins();
}

Result<CapturedGraph> withGeneratedData(const CapturedGraph& graph, const LoadOptions& options) {
  if (options.fill == InputFill::Random) return graph;
  CapturedGraph out = withInputs(graph);
  KERF_TRY(const EvaluatedInputs evaluated, evaluateInputs(out, options.symbols));
  StorageLoader loader(out, options, evaluated);
  std::vector<StoragePtr> made(out.storages.size());
  for (const GraphInput& input : evaluated.inputs) {
    if (input.kind != GraphInput::Kind::Tensor) continue;
    const auto index = std::size_t(input.storageIndex);
    if (!made[index] && loader.isMadeUp(index)) {
      KERF_TRY(made[index], loader.load(index));
    }
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i]) continue;
    out.storages[i].data = made[i];
    out.storages[i].bytes = made[i]->bytes();
    out.storages[i].hash = sha1Hex(made[i]->view());
  }
  if (std::ranges::none_of(made, [](const StoragePtr& data) { return data != nullptr; })) return out;
  for (std::size_t i = 0; i < made.size(); ++i) {  // all storages of a repro are named alike
    if (made[i] || out.storages[i].hash.empty() || loader.isMadeUp(i)) continue;
    KERF_TRY(out.storages[i].data, loader.load(i));
    out.storages[i].hash = sha1Hex(out.storages[i].data->view());
  }
  return out;
}

std::vector<SymExpr> CapturedGraph::symbols() const {
  if (hasOnlyAnnotations(*this)) return placeholderSymbols(module);
  const auto recorded = recordedSymbols(*this);
  std::vector<SymExpr> result;
  for (const std::string& name : inputSymbolNames(*this)) {
    SymExpr symbol{name, {}};
    if (recorded && recorded->contains(name)) symbol.hint = recorded->at(name);
    result.push_back(std::move(symbol));
  }
  return result;
}

}  // namespace kerf::inline capture
