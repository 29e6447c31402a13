// CapturedGraph::loadInputs: tensors for the interpreter, recorded, replaced or generated.
#include "engine/capture/common/input_loader.h"
#include "engine/capture/common/generated_inputs.h"
#include "engine/capture/common/random_data.h"
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

/// Loads each storage once, when the first tensor asks for it.
class StorageLoader {
 public:
  StorageLoader(const CapturedGraph& graph, const LoadOptions& options, std::vector<std::int64_t> bytes)
      : m_graph(graph), m_options(options), m_bytes(std::move(bytes)), m_loaded(graph.storages.size()) {}

  Result<StoragePtr> load(std::size_t index) {
    StoragePtr& slot = m_loaded[index];
    if (slot) return slot;
    KERF_TRY(slot, fetch(index));
    return slot;
  }

  void report(std::vector<std::string>* notes) const {
    if (notes == nullptr) return;
    if (m_resized != 0)
      notes->push_back(
          fmt::format("{} storages were recorded for other sizes: random floats and zero integers used", m_resized));
    if (m_replaced == 0) return;
    if (m_firstReplaced.empty())
      notes->push_back(fmt::format("{} storages have no saved data: random floats and zero integers used", m_replaced));
    else
      notes->push_back(
          fmt::format("{} storages are missing in {} (the first is {}): random floats and zero integers used",
                      m_replaced, m_graph.storageDirectory.string(), m_firstReplaced));
  }

 private:
  Result<StoragePtr> fetch(std::size_t index) {
    const StorageRef& reference = m_graph.storages[index];
    if (m_bytes[index] != reference.bytes) {
      ++m_resized;
      return replacement(index);
    }
    if (reference.data) return reference.data;
    if (reference.file) return mapFileRange(reference.file->path, reference.file->offset, reference.file->length);
    if (!isMissing(m_graph, reference)) return readTorchStorage(storageFile(m_graph, reference), reference.bytes);
    if (m_options.strict) return missing(reference);
    ++m_replaced;
    if (m_firstReplaced.empty()) m_firstReplaced = reference.hash;
    return replacement(index);
  }

  Result<StoragePtr> replacement(std::size_t index) const {
    KERF_TRY(StoragePtr storage, Storage::allocate(m_bytes[index]));
    fillLikeRandStrided(*storage, m_graph.storages[index].dtypeHint.value_or(DType::Float32), m_options.seed + index);
    return storage;
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
  std::vector<std::int64_t> m_bytes;
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
  KERF_TRY(ValueList values, generateInputs(graph.module, options.symbols, options.seed));
  if (notes != nullptr)
    notes->push_back(fmt::format("the graph came without data: {} generated inputs used", values.size()));
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
  KERF_TRY(EvaluatedInputs evaluated, evaluateInputs(*this, options.symbols));
  StorageLoader loader(*this, options, std::move(evaluated.storageBytes));
  ValueList values;
  values.reserve(inputs.size());
  for (const GraphInput& input : evaluated.inputs) {
    auto value = loadInput(input, loader);
    if (!value) return fail(std::move(value.error().while_(fmt::format("loading the input '{}'", input.name))));
    values.push_back(std::move(*value));
  }
  loader.report(notes);
  return values;
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
