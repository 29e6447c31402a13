#include "engine/capture/pt2/writer.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/capture/common/json.h"
#include "engine/capture/common/storage_directory.h"
#include "engine/capture/pt2/argument_writer.h"
#include "engine/capture/pt2/audit.h"
#include "engine/capture/pt2/made_program.h"
#include "engine/capture/pt2/sample_writer.h"
#include "engine/capture/pt2/schema.h"
#include "engine/capture/pt2/signature_writer.h"
#include "engine/capture/pt2/stock_ops.h"
#include "engine/ir/value_meta.h"
#include "engine/support/atomic_file.h"
#include "engine/support/hash.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::inline capture {
namespace pt2 {
namespace {

constexpr std::string_view weightsFolder = "data/weights/", constantsFolder = "data/constants/";
constexpr std::string_view writtenTorchVersion = "2.11.0";  ///< whose schema this is
constexpr std::int64_t strided = 7;

/// Fields of a program that came from no archive.
const std::map<std::string, std::string>& defaultFields() {
  static const std::map<std::string, std::string> fields = {
      {"opset_version", fmt::format("{{\"aten\": {}}}", atenOpset)},
      {"verifiers", "[\"TRAINING\"]"},
      {"guards_code", "[]"}};
  return fields;
}

/// A call whose value is used and not described.
bool lacksMetas(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.op() == Opcode::CallFunction && !node.users().empty() && !node.meta().value.known();
  });
}

class ProgramWriter {
 public:
  ProgramWriter(CapturedGraph graph, const Pt2ExportOptions& options, std::string root, const ZipWriter::Sink& sink)
      : m_graph(std::move(graph)),
        m_options(options),
        m_root(std::move(root)),
        m_zip(sink),
        m_keeps(keepsProgram(m_graph)) {}

  Result<void> write() {
    const bool hasInputs = m_graph.inputs.size() == m_graph.module.graph.placeholders().size();
    if (!m_keeps && hasInputs) KERF_CHECK(m_graph.annotateShapes());
    if (!m_keeps) tellRewrites(useStockOps(m_graph.module.graph));
    if (!m_keeps || lacksMetas(m_graph.module.graph)) {
      if (hasInputs) KERF_CHECK(m_graph.annotateShapes());
    }
    KERF_CHECK(liftAttributes());
    KERF_TRY(const std::string program,
             programJson());  // before any byte is written: most graphs fail here or not at all
    KERF_CHECK(auditProgramJson(program, m_options.allowedCalls));
    KERF_CHECK(writePayloads(weightsFolder, "weights", m_keeps ? m_graph.program->weights : m_none));
    KERF_CHECK(writePayloads(constantsFolder, "constants", m_keeps ? m_graph.program->constants : m_none));
    KERF_CHECK(add("models/model.json", program));
    KERF_CHECK(writeSamples());
    if (m_keeps)
      for (const Pt2Member& member : m_graph.program->others)
        if (member.name.starts_with("extra/") && member.name.find("..") == std::string::npos)
          KERF_CHECK(copy(member.name, member.bytes, member.crc32));
    const Hash128 id = hashText(program);
    KERF_CHECK(add("archive_format", "pt2"));
    KERF_CHECK(add("archive_version", "0"));
    KERF_CHECK(add(".data/version", "6\n"));
    KERF_CHECK(add("byteorder", "little"));
    KERF_CHECK(add(".data/serialization_id", fmt::format("{:020}{:020}", id.high, id.low)));
    return m_zip.finish();
  }

 private:
  void tellRewrites(std::vector<std::string> rewrites) const {
    if (m_options.notes != nullptr) *m_options.notes = std::move(rewrites);
  }

  Result<void> add(std::string_view name, std::string_view text) { return m_zip.add(m_root + std::string(name), text); }

  Result<void> copy(std::string_view name, const FileRange& range, std::uint32_t crc32) {
    KERF_TRY(const StoragePtr bytes, mapFileRange(range.path, range.offset, range.length));
    return m_zip.add(m_root + std::string(name), bytes->view(), crc32);
  }

  /// Tensors that the module holds itself become constants of the program.
  Result<void> liftAttributes() {
    for (const NodeId id : m_graph.module.graph.order()) {
      const Node& node = m_graph.module.graph.node(id);
      if (node.op() != Opcode::GetAttr) continue;
      const TensorAttribute* attribute = m_graph.module.attribute(node.target());
      if (attribute == nullptr || !attribute->tensor.defined()) continue;
      m_lifted.push_back(id);
      m_lifts.emplace_back(node.name(), attribute->tensor);
    }
    for (std::size_t i = 0; i < m_lifted.size(); ++i)
      m_graph.module.graph.setValueMeta(m_lifted[i], {metaOf(m_lifts[i].second)});
    return {};
  }

  Result<std::string> programJson() const {
    const Pt2Program* program = m_keeps ? m_graph.program.get() : nullptr;
    KERF_TRY(const WrittenGraph written, pt2GraphJson(m_graph.module, program, m_lifted));
    std::vector<std::string> constants;
    for (const auto& [name, tensor] : m_lifts) constants.push_back(name);
    KERF_TRY(const std::string signature, signatureJson(m_graph, written, constants));
    std::map<std::string, std::string> inner =
        program != nullptr ? program->graphModuleFields : std::map<std::string, std::string>();
    std::vector<std::string> names;
    for (std::size_t i = constants.size(); i < written.inputs.size(); ++i)
      names.push_back(m_graph.module.graph.node(m_graph.module.graph.placeholders()[i - constants.size()]).name());
    inner.try_emplace("module_call_graph", moduleCallGraphJson(names, written.outputs.size()));
    inner.try_emplace("metadata", "{}");
    inner.try_emplace("treespec_namedtuple_fields", "{}");
    std::string text = fmt::format("{{\"graph_module\": {{\"graph\": {}, \"signature\": {}", written.json, signature);
    for (const auto& [key, value] : inner)
      if (isProgramField(key)) text += fmt::format(", {}: {}", quotedJson(key), value);
    std::map<std::string, std::string> outer =
        program != nullptr ? program->programFields : std::map<std::string, std::string>();
    for (const auto& [key, value] : defaultFields()) outer.try_emplace(key, value);
    outer.try_emplace("range_constraints", rangeConstraintsJson(m_graph.module));
    outer.try_emplace("torch_version", quotedJson(writtenTorchVersion));
    text += "}";
    for (const auto& [key, value] : outer)
      if (isProgramField(key)) text += fmt::format(", {}: {}", quotedJson(key), value);
    return text + fmt::format(", \"schema_version\": {{\"major\": {}, \"minor\": {}}}}}", schemaMajor,
                              program != nullptr ? program->schemaMinor : writtenMinor);
  }

  // Weights and constants

  Result<void> writePayloads(std::string_view folder, std::string_view what, const std::vector<Pt2Payload>& payloads) {
    std::vector<std::string> entries;
    std::set<std::string> done;
    for (const Pt2Payload& payload : payloads) {
      const std::string path = pathOf(folder, payload);
      if (done.insert(path).second) KERF_CHECK(writeBytes(std::string(folder) + path, payload));
      KERF_TRY(std::string entry,
               payload.text.empty() ? configEntry(path, payload) : Result<std::string>(payload.text));
      entries.push_back(quotedJson(payload.name) + ": " + entry);
    }
    if (folder == constantsFolder) KERF_CHECK(writeLifted(entries, done));
    const std::string config = fmt::format("{{\"config\": {{{}}}}}", joined(entries));
    KERF_CHECK(auditConfigJson(config));
    return add(fmt::format("{}model_{}_config.json", folder, what), config);
  }

  /// The member's name; payloads of older layouts, which had one file for all, get one per storage.
  static std::string pathOf(std::string_view folder, const Pt2Payload& payload) {
    if (!payload.pathName.empty()) return payload.pathName;
    return fmt::format("{}_{}", folder == weightsFolder ? "weight" : "tensor",
                       payload.storage < 0 ? 1'000'000 : payload.storage);
  }

  /// Older layouts may keep parameters as plain tensors; torch.export.load wants what the signature says.
  bool isParameter(const Pt2Payload& payload) const {
    if (payload.isParameter || !m_keeps) return payload.isParameter;
    return std::ranges::any_of(m_graph.signature->inputs, [&](const GraphSignature::Entry& entry) {
      return entry.kind == "parameter" && entry.target == payload.name;
    });
  }

  Result<std::string> configEntry(const std::string& path, const Pt2Payload& payload) const {
    if (!payload.meta) return fail(ErrorCode::BadInput, "'{}' has no description to be written", payload.name);
    KERF_TRY(const std::string meta, tensorMetaJson(*payload.meta, strided));
    return fmt::format("{{\"path_name\": {}, \"is_param\": {}, \"use_pickle\": false, \"tensor_meta\": {}}}",
                       quotedJson(path), isParameter(payload), meta);
  }

  Result<void> writeBytes(const std::string& name, const Pt2Payload& payload) {
    if (payload.usesPickle) KERF_CHECK(checkPickle(payload));
    if (payload.bytes && !payload.pathName.empty()) return copy(name, *payload.bytes, payload.crc32);
    if (!payload.content.empty()) return add(name, payload.content);
    if (payload.storage < 0) return add(name, "");
    const StorageRef& storage = m_graph.storages[std::size_t(payload.storage)];
    if (storage.file && storage.crc32) return copy(name, *storage.file, *storage.crc32);
    if (storage.data) return m_zip.add(m_root + name, storage.data->view());
    std::error_code missing;
    const bool isNamed =
        !storage.hash.empty() && std::filesystem::is_regular_file(m_graph.storageDirectory / storage.hash, missing);
    if (!isNamed) return add(name, "");
    KERF_TRY(const StoragePtr bytes, readNamedStorage(m_graph, storage, -1));
    return m_zip.add(m_root + name, bytes->view());
  }

  static Result<void> checkPickle(const Pt2Payload& payload) {
    StoragePtr bytes;
    if (payload.bytes) {
      KERF_TRY(bytes, mapFileRange(payload.bytes->path, payload.bytes->offset, payload.bytes->length));
    }
    if (isPlainTorchFile(bytes ? bytes->view() : std::as_bytes(std::span(payload.content)))) return {};
    return fail(ErrorCode::BadInput,
                "'{}' is a pickled object, which may not be exported: torch.export.load would build it, whatever it is",
                payload.name);
  }

  Result<void> writeLifted(std::vector<std::string>& entries, const std::set<std::string>& taken) {
    std::map<const Storage*, std::string> paths;
    for (const auto& [name, tensor] : m_lifts) {
      std::string& path = paths[tensor.storage().get()];
      if (path.empty()) {
        std::size_t number = paths.size() - 1;
        while (taken.contains(fmt::format("tensor_{}", number))) ++number;
        path = fmt::format("tensor_{}", number);
        KERF_CHECK(m_zip.add(m_root + std::string(constantsFolder) + path, tensor.storage()->view()));
      }
      Pt2Payload payload;
      payload.name = name;
      payload.meta = metaOf(tensor);
      KERF_TRY(const std::string entry, configEntry(path, payload));
      entries.push_back(quotedJson(name) + ": " + entry);
    }
    return {};
  }

  Result<void> writeSamples() {
    constexpr std::string_view name = "data/sample_inputs/model.pt";
    if (m_keeps) {
      for (const Pt2Member& member : m_graph.program->others)
        if (member.name.starts_with("data/sample_inputs/")) return copySamples(name, member);
      if (!m_graph.program->isMade) return add(name, "");
    }
    if (!m_options.sampleInputs || m_graph.inputs.empty()) return add(name, "");
    KERF_TRY(ValueList values, m_graph.loadInputs(false, nullptr));
    if (m_keeps) values = ofTheUser(std::move(values));
    KERF_TRY(const std::string file, sampleInputsFile(values));
    return add(name, file);
  }

  /// Without parameters and buffers, which the archive has.
  ValueList ofTheUser(ValueList values) const {
    const auto& entries = m_graph.signature->inputs;
    if (values.size() != entries.size()) return values;
    ValueList own;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (entries[i].kind == "user_input") own.push_back(std::move(values[i]));
    return own;
  }

  Result<void> copySamples(std::string_view name, const Pt2Member& member) {
    KERF_TRY(const StoragePtr bytes, mapFileRange(member.bytes.path, member.bytes.offset, member.bytes.length));
    return isPlainTorchFile(bytes->view()) ? copy(name, member.bytes, member.crc32) : add(name, "");
  }

  CapturedGraph m_graph;
  const Pt2ExportOptions& m_options;
  std::string m_root;
  ZipWriter m_zip;
  bool m_keeps;
  std::vector<NodeId> m_lifted;
  std::vector<std::pair<std::string, Tensor>> m_lifts;
  const std::vector<Pt2Payload> m_none;
};

/// The folder in the archive: the file's name without its ending, as PyTorch's writer does.
std::string rootFor(const std::filesystem::path& path) {
  std::string root;
  for (const char c : path.stem().string())
    root += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '_';
  return (root.empty() ? std::string("model") : root) + "/";
}

}  // namespace
}  // namespace pt2

Result<void> exportPt2(const CapturedGraph& graph, const std::filesystem::path& path, const Pt2ExportOptions& options) {
  CapturedGraph loaded = graph;
  KERF_CHECK(loaded.ensureLoaded());
  KERF_CHECK(pt2::makeProgram(loaded, pt2::writtenMinor));
  KERF_TRY(AtomicFile file, AtomicFile::create(path));
  const ZipWriter::Sink sink = [&](std::span<const std::byte> bytes) { return file.write(bytes); };
  KERF_CHECK(pt2::ProgramWriter(std::move(loaded), options, pt2::rootFor(path), sink).write());
  return file.commit();
}

}  // namespace kerf::inline capture
