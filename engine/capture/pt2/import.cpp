#include "engine/capture/pt2/import.h"

#include <algorithm>
#include <unordered_map>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/pt2/payloads.h"
#include "engine/capture/pt2/program_reader.h"
#include "engine/capture/pt2/samples.h"

namespace kerf::inline capture {
namespace pt2 {
namespace {

std::vector<std::string> textsOf(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  bool symbolic = false;
  for (const Dim& dim : dims) {
    symbolic |= !dim.text.empty();
    texts.push_back(dim.text.empty() ? std::to_string(dim.hint.value_or(0)) : dim.text);
  }
  if (!symbolic) texts.clear();
  return texts;
}

constexpr std::int64_t unknownSize = 2, largestAssumed = 4096;

/// A value for every symbol of the inputs: the recorded one, else a small one of its range.
SymbolBindings symbolValues(const GraphModule& module) {
  SymbolBindings values;
  for (const SymExpr& symbol : placeholderSymbols(module)) {
    const auto range = std::ranges::find(module.symbolRanges, symbol.text, &SymbolRange::name);
    std::int64_t value = unknownSize;
    if (range != module.symbolRanges.end()) value = std::max(value, range->lower.value_or(value));
    if (range != module.symbolRanges.end()) value = std::min(value, range->upper.value_or(value));
    values[symbol.text] = symbol.hint.value_or(value <= largestAssumed ? value : unknownSize);
  }
  return values;
}

/// Sizes or strides as they were recorded, else with those values.
Sizes valuesOf(const std::vector<Dim>& dims, const SymbolBindings& symbols) {
  Sizes values;
  for (const Dim& dim : dims) {
    const auto value = dim.hint ? Result<std::int64_t>(*dim.hint) : evaluateSize(dim.text, symbols);
    values.push_back(value && *value >= 0 ? *value : unknownSize);
  }
  return values;
}

void setMeta(GraphInput& input, const TensorMeta& meta, const SymbolBindings& symbols) {
  input.kind = GraphInput::Kind::Tensor;
  input.dtype = meta.dtype;
  input.sizes = valuesOf(meta.sizes, symbols);
  input.strides = valuesOf(meta.strides, symbols);
  input.sizeTexts = textsOf(meta.sizes);
  input.strideTexts = textsOf(meta.strides);
  input.storageOffset = meta.storageOffset;
  input.device = meta.device;
  input.requiresGrad = meta.requiresGrad;
  input.isLeaf = true;
}

/// Builds the inputs of one graph from its signature, its weights and its samples.
class InputMaker {
 public:
  InputMaker(CapturedGraph& graph, Pt2Program& program, StorageTable& storages, std::vector<std::string>& notes)
      : m_graph(graph), m_storages(storages), m_notes(notes) {
    for (const auto* payloads : {&program.weights, &program.constants})
      for (const Pt2Payload& payload : *payloads) m_payloads.emplace(payload.name, &payload);
  }

  Result<void> add(const NodeId placeholder, std::size_t index, const std::string& constant) {
    const Node& node = m_graph.module.graph.node(placeholder);
    GraphInput input;
    input.name = node.name();
    const bool user = m_entries[index].kind == "user_input" || m_entries[index].kind == "constant_input";
    const std::optional<std::uint32_t> leaf = user ? nextLeaf() : std::nullopt;
    const ValueMeta& value = node.meta().value;
    if (value.tensor() != nullptr) {
      KERF_CHECK(addTensor(*value.tensor(), m_entries[index], leaf, input));
    } else if (value.sym() != nullptr) {
      addSymbol(*value.sym(), leaf, input);
    } else {
      input.kind = constant.empty() ? GraphInput::Kind::Opaque : GraphInput::Kind::Const;
      input.text = constant.empty() ? pythonString(m_entries[index].target) : constant;
    }
    m_graph.inputs.push_back(std::move(input));
    return {};
  }

  /// Samples are used if they are as many as the program's user inputs.
  void useSamples(const Samples& samples) {
    const auto users = std::ranges::count_if(m_entries, [](const GraphSignature::Entry& entry) {
      return entry.kind == "user_input" || entry.kind == "constant_input";
    });
    if (!samples.file || std::size_t(users) != samples.leaves.size()) {
      if (samples.file)
        m_notes.push_back(
            fmt::format("the archive has {} sample inputs for {} inputs: not used", samples.leaves.size(), users));
      return;
    }
    m_samples = &samples;
  }

  void report() {
    if (m_madeUp > 0)
      m_notes.push_back(fmt::format(
          "{} inputs have no saved data (the first is '{}'): made-up values are used unless inputs are given", m_madeUp,
          m_firstMadeUp));
  }

 private:
  std::optional<std::uint32_t> nextLeaf() {
    if (m_samples == nullptr || m_leaf >= m_samples->leaves.size()) return std::nullopt;
    return m_samples->leaves[m_leaf++];
  }

  Result<void> addTensor(const TensorMeta& meta, const GraphSignature::Entry& entry, std::optional<std::uint32_t> leaf,
                         GraphInput& input) {
    setMeta(input, meta, m_symbols);
    const auto payload = m_payloads.find(entry.target);
    if (!entry.target.empty() && payload != m_payloads.end() && payload->second->meta &&
        payload->second->storage >= 0) {
      setMeta(input, *payload->second->meta, m_symbols);
      input.requiresGrad = meta.requiresGrad;
      input.storageIndex = payload->second->storage;
      return {};
    }
    if (leaf && useLeaf(*leaf, input)) return {};
    if (m_madeUp++ == 0) m_firstMadeUp = input.name;
    TensorMeta sized = meta;
    for (std::size_t i = 0; i < sized.sizes.size(); ++i) sized.sizes[i].hint = input.sizes[i];
    for (std::size_t i = 0; i < sized.strides.size(); ++i) sized.strides[i].hint = input.strides[i];
    KERF_TRY(input.storageIndex, m_storages.missing(sized));
    return {};
  }

  /// Takes a sample's data if its dtype and rank are the graph's.
  bool useLeaf(std::uint32_t leaf, GraphInput& input) {
    const Pickle& pickle = m_samples->file->pickle;
    const PickleValue& value = pickle.values[leaf];
    if (value.kind != PickleValue::Kind::Tensor) return false;
    const PickledTensor& tensor = pickle.tensors[std::size_t(value.integer)];
    if (tensor.dtype != input.dtype || tensor.sizes.size() != input.sizes.size()) return false;
    const auto storage = m_storages.ofTorchFile(*m_samples->file, tensor, m_samples->place, m_samples->keep);
    if (!storage) return false;
    input.storageIndex = *storage;
    input.sizes = tensor.sizes;
    input.strides = tensor.strides;
    input.storageOffset = tensor.offset;
    return true;
  }

  void addSymbol(const SymMeta& meta, std::optional<std::uint32_t> leaf, GraphInput& input) const {
    input.kind = GraphInput::Kind::SymInt;
    input.sym = meta.expr;
    if (!leaf || input.sym.hint) return;
    const PickleValue& value = m_samples->file->pickle.values[*leaf];
    if (value.kind == PickleValue::Kind::Int) input.sym.hint = value.integer;
  }

  CapturedGraph& m_graph;
  StorageTable& m_storages;
  std::vector<std::string>& m_notes;
  const std::vector<GraphSignature::Entry>& m_entries = m_graph.signature->inputs;
  std::unordered_map<std::string_view, const Pt2Payload*> m_payloads;
  const SymbolBindings m_symbols = symbolValues(m_graph.module);
  const Samples* m_samples = nullptr;
  std::size_t m_leaf = 0, m_madeUp = 0;
  std::string m_firstMadeUp;
};

class ArchiveImporter {
 public:
  ArchiveImporter(const Pt2Archive& archive, const ImportLimits& limits, const ImportProgress& progress)
      : m_archive(archive), m_limits(limits), m_progress(progress) {}

  Result<Capture> read() {
    m_capture.kind = "pt2";
    m_capture.path = m_archive.path();
    const std::vector<std::string> models = m_archive.models();
    for (const std::string& model : models) {
      if (m_progress && !m_progress(0.1)) return fail(ErrorCode::Cancelled, "import cancelled");
      KERF_TRY(CapturedGraph graph, readModel(model, models.size() == 1));
      m_capture.graphs.push_back(std::move(graph));
    }
    if (m_progress && !m_progress(1.0)) return fail(ErrorCode::Cancelled, "import cancelled");
    return std::move(m_capture);
  }

 private:
  Result<CapturedGraph> readModel(const std::string& model, bool only) {
    const ZipMember& member = *m_archive.program(model);
    std::string unpacked;
    KERF_TRY(const std::string_view text, m_archive.text(member, m_limits.fileBytes, unpacked));
    KERF_TRY(ReadProgram read, readPt2Program(text, member.name, m_limits, m_progress));
    CapturedGraph graph;
    graph.name = model;
    graph.origin.file = m_archive.path();
    graph.origin.stage = "exported_program";
    graph.module = std::move(read.module);
    graph.signature = std::move(read.signature);
    if (m_capture.torchVersion.empty()) m_capture.torchVersion = read.torchVersion;
    StorageTable storages(graph.storages, m_limits);
    KERF_CHECK(readWeights(model, storages, read.program));
    KERF_CHECK(makeInputs(model, storages, read, graph));
    if (only) keepOthers(model, read.program);
    graph.program = std::make_shared<const Pt2Program>(std::move(read.program));
    return graph;
  }

  Result<void> readWeights(const std::string& model, StorageTable& storages, Pt2Program& program) {
    const PayloadSource weights{"data/weights/", fmt::format("data/weights/{}_weights_config.json", model),
                                m_archive.savedWeights(model)};
    const PayloadSource constants{"data/constants/", fmt::format("data/constants/{}_constants_config.json", model),
                                  m_archive.savedConstants(model)};
    KERF_TRY(program.weights, readPayloads(m_archive, weights, storages, m_limits, m_capture.notes));
    KERF_TRY(program.constants, readPayloads(m_archive, constants, storages, m_limits, m_capture.notes));
    return {};
  }

  Result<void> makeInputs(const std::string& model, StorageTable& storages, ReadProgram& read, CapturedGraph& graph) {
    const std::vector<NodeId> placeholders = graph.module.graph.placeholders();
    if (placeholders.size() != graph.signature->inputs.size())
      return fail(ErrorCode::BadInput, "the graph has {} inputs, its signature {}", placeholders.size(),
                  graph.signature->inputs.size());
    Samples samples;
    if (const ZipMember* member = m_archive.sampleInputs(model)) {
      auto opened = readSamples(m_archive, *member, read.program.graphModuleFields["module_call_graph"], m_limits);
      if (opened)
        samples = std::move(*opened);
      else
        m_capture.notes.push_back(fmt::format("the sample inputs are not read: {}", opened.error().message));
    }
    InputMaker maker(graph, read.program, storages, m_capture.notes);
    maker.useSamples(samples);
    for (std::size_t i = 0; i < placeholders.size(); ++i) KERF_CHECK(maker.add(placeholders[i], i, read.constants[i]));
    maker.report();
    return {};
  }

  void keepOthers(const std::string& model, Pt2Program& program) const {
    for (const ZipMember& member : m_archive.directory().members()) {
      const std::string_view name = m_archive.localName(member);
      const bool sample = &member == m_archive.sampleInputs(model);
      if (!sample && !name.starts_with("extra/")) continue;
      const auto place = m_archive.range(member);
      if (!place) continue;
      program.others.push_back(
          {sample ? fmt::format("data/sample_inputs/{}.pt", model) : std::string(name), *place, member.crc32});
    }
  }

  const Pt2Archive& m_archive;
  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  Capture m_capture;
};

Result<Capture> importArchive(Result<Pt2Archive> archive, const std::filesystem::path& path, const ImportLimits& limits,
                              const ImportProgress& progress) {
  auto capture = archive ? ArchiveImporter(*archive, limits, progress).read()
                         : Result<Capture>(std::unexpected(std::move(archive.error())));
  if (!capture && capture.error().file.empty()) capture.error().file = path.string();
  return capture;
}

}  // namespace

Result<Capture> importPt2Bytes(std::span<const std::byte> bytes, const std::filesystem::path& path,
                               const ImportLimits& limits) {
  const StoragePtr view = Storage::borrow(const_cast<std::byte*>(bytes.data()), std::int64_t(bytes.size()),
                                          nullptr);  // only read
  return importArchive(Pt2Archive::open(view, path), path, limits, {});
}

}  // namespace pt2

Result<Capture> importPt2(const std::filesystem::path& path, const ImportLimits& limits,
                          const ImportProgress& progress) {
  std::error_code problem;
  std::filesystem::path absolute = std::filesystem::absolute(path, problem);
  if (problem) absolute = path;
  auto capture = pt2::importArchive(pt2::Pt2Archive::open(absolute), path, limits, progress);
  if (capture) capture->path = path;
  return capture;
}

}  // namespace kerf::inline capture
