#include "engine/capture/debug/directory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "engine/capture/common/import_source.h"
#include "engine/capture/debug/fusion_from_ir.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/trace/fusion.h"
#include "engine/capture/trace/torch_trace.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxEntries = 50'000;
constexpr int maxDepth = 6;

struct GraphFile {
  std::string_view name, stage;
  bool isRepro;
};
constexpr std::array graphFiles = {GraphFile{"fx_graph_runnable.py", "fx_graph_runnable", true},
                                   GraphFile{"fx_graph_readable.py", "fx_graph_readable", false},
                                   GraphFile{"fx_graph_transformed.py", "fx_graph_transformed", false}};
constexpr std::array<std::string_view, 2> irFiles = {"ir_pre_fusion.txt", "ir_post_fusion.txt"};
constexpr std::string_view provenanceFile = "inductor_provenance_tracking_node_mappings.json";

bool isThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}
bool isFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && !fs::is_symlink(path, ignored);
}

/// The number behind the last dot or in "run_…", "12.py": numbers sort as numbers.
std::int64_t trailingNumber(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string stem = name.ends_with(".py") ? path.stem().string() : name;
  const std::size_t digits = stem.find_last_not_of("0123456789") + 1;
  std::int64_t number = -1;
  std::from_chars(stem.data() + digits, stem.data() + stem.size(), number);
  return number;
}

std::vector<fs::path> entriesOf(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code problem;
  for (auto entry = fs::directory_iterator(directory, problem);
       !problem && entry != fs::directory_iterator() && paths.size() < maxEntries; entry.increment(problem))
    paths.push_back(entry->path());
  std::ranges::sort(paths, {}, [](const fs::path& path) { return std::tuple(trailingNumber(path), path.native()); });
  return paths;
}

bool isGraphFolder(const fs::path& directory) {
  return std::ranges::any_of(graphFiles, [&](const GraphFile& file) { return isThere(directory / file.name); }) ||
         std::ranges::any_of(irFiles, [&](std::string_view name) { return isThere(directory / name); });
}

bool isMinifierFolder(const fs::path& directory) {
  return directory.filename() == "minifier" &&
         (isThere(directory / "minifier_launcher.py") || isFolder(directory / "checkpoints"));
}

bool isRunFolder(const fs::path& directory) {
  return isFolder(directory / "torchinductor") || isFolder(directory / "torchdynamo") ||
         isMinifierFolder(directory / "minifier");
}

class DebugDirectory {
 public:
  DebugDirectory(const fs::path& root, const ImportLimits& limits, const ImportProgress& progress)
      : m_limits(limits), m_progress(progress), m_details(std::make_shared<CaptureDetails>()) {
    m_capture.kind = "debug_dir";
    m_capture.path = root;
  }

  Result<Capture> run() {
    collect(m_capture.path, 0);
    for (std::size_t i = 0; i < m_folders.size(); ++i) {
      if (m_progress && !m_progress(double(i) / double(m_folders.size())))
        return failHere(ErrorCode::Cancelled, "import cancelled");
      KERF_CHECK(folder(m_folders[i]));
    }
    if (m_capture.graphs.empty() && m_failure) return fail(std::move(*m_failure));
    if (m_capture.graphs.empty() && m_details->records.empty())
      return failHere(ErrorCode::BadInput, "the debug folder holds no graphs: was anything compiled?");
    finish();
    if (m_progress) m_progress(1.0);
    return std::move(m_capture);
  }

 private:
  std::unexpected<Error> failHere(ErrorCode code, std::string message) const {
    return fail(Error{code, std::move(message), m_capture.path.string(), 0, {}, {}});
  }

  void collect(const fs::path& directory, int depth) {
    if (depth > maxDepth || m_folders.size() >= maxEntries) return;
    m_folders.push_back(directory);
    for (const fs::path& entry : entriesOf(directory))
      if (isFolder(entry) && entry.filename() != "storages") collect(entry, depth + 1);
  }

  Result<void> folder(const fs::path& directory) {
    if (isGraphFolder(directory)) KERF_CHECK(graphFolder(directory));
    const bool isMinifier = isMinifierFolder(directory) || isMinifierFolder(directory.parent_path());
    for (const fs::path& path : entriesOf(directory)) {
      if (isFolder(path) || isKnownGraphFile(path)) continue;
      if (isMinifier && path.extension() == ".py") {
        const bool isCheckpoint = directory.filename() == "checkpoints";
        KERF_CHECK(repro(path, isCheckpoint ? "checkpoint" : "minifier",
                         (isCheckpoint ? "checkpoint_" : "") + path.stem().string()));
      } else {
        KERF_CHECK(file(path, directory));
      }
    }
    return {};
  }

  static bool isKnownGraphFile(const fs::path& path) {
    return isGraphFolder(path.parent_path()) &&
           std::ranges::find(graphFiles, path.filename().string(), &GraphFile::name) != graphFiles.end();
  }

  /// Graphs first, then what the kernels say of them.
  Result<void> graphFolder(const fs::path& directory) {
    const std::string name = directory.filename().string();
    for (const GraphFile& file : graphFiles) {
      const fs::path path = directory / file.name;
      if (!isThere(path)) continue;
      const std::string graph = name + "_" + std::string(file.stage.substr(9));
      KERF_CHECK(file.isRepro ? repro(path, file.stage, graph) : readable(path, file.stage, graph));
    }
    const std::size_t first = m_details->fusionGroups.size();
    KERF_CHECK(provenance(directory / provenanceFile, name));
    for (const std::string_view ir : irFiles) KERF_CHECK(irFile(directory / ir, first));
    return {};
  }

  /// A file's content, with a record of it; null if it cannot be read (noted).
  Result<const ImportSource*> open(const fs::path& path, std::string_view stage, CaptureRecord::Form form) {
    m_capture.files.push_back(path);
    auto source = openSource(path, m_limits, looksLikeTorchTrace);
    if (!source) {
      note(std::move(source).error());
      return nullptr;
    }
    m_source = std::move(*source);
    m_total += std::int64_t(m_source.text.size());
    if (m_total > m_limits.fileBytes)
      return failHere(ErrorCode::TooLarge,
                      fmt::format("the folder's files are beyond the limit of {} bytes", m_limits.fileBytes));
    CaptureRecord record;
    record.kind = stage;
    record.name = path.filename().string();
    record.origin = originOf(path, stage);
    record.form = form;
    record.payload = {path, 0, m_source.mapped->bytes()};
    m_details->records.push_back(std::move(record));
    return &m_source;
  }

  static GraphOrigin originOf(const fs::path& path, std::string_view stage) {
    GraphOrigin origin;
    origin.file = path;
    origin.line = 1;
    origin.stage = stage;
    return origin;
  }

  void note(Error error) {
    m_capture.notes.push_back("not read: " + error.text());
    if (!m_failure) m_failure = std::move(error);
  }

  void add(CapturedGraph graph, std::string name, GraphOrigin origin) {
    graph.name = std::move(name);
    for (int number = 1; !m_names.insert(graph.name).second; ++number) graph.name += fmt::format("_{}", number);
    graph.origin = std::move(origin);
    m_details->records.back().graph = int(m_capture.graphs.size());
    m_capture.graphs.push_back(std::move(graph));
  }

  Result<void> repro(const fs::path& path, std::string_view stage, const std::string& name) {
    KERF_TRY(const ImportSource* source, open(path, stage, CaptureRecord::Form::Python));
    if (source == nullptr) return {};
    auto one = importRepro(source->text, path, m_limits);
    if (!one) return note(std::move(one).error()), Result<void>();
    if (m_capture.torchVersion.empty()) m_capture.torchVersion = one->torchVersion;
    for (std::string& text : one->notes) m_capture.notes.push_back(name + ": " + text);
    CapturedGraph graph = std::move(one->graphs.front());
    graph.envelope = std::make_shared<const ReproEnvelope>(std::move(one->envelope));
    add(std::move(graph), name, originOf(path, stage));
    return {};
  }

  Result<void> readable(const fs::path& path, std::string_view stage, const std::string& name) {
    KERF_TRY(const ImportSource* source, open(path, stage, CaptureRecord::Form::Python));
    if (source == nullptr) return {};
    auto graph = capturedFromReadable(source->text, originOf(path, stage), m_limits);
    if (!graph) return note(std::move(graph).error()), Result<void>();
    add(std::move(*graph), name, originOf(path, stage));
    m_hasReadable = true;
    return {};
  }

  Result<void> provenance(const fs::path& path, const std::string& graph) {
    if (!isThere(path)) return {};
    KERF_TRY(const ImportSource* source, open(path, "provenance", CaptureRecord::Form::Json));
    if (source == nullptr) return {};
    if (!trace::addNodeMappings(source->text, originOf(path, "provenance"), graph + " ", *m_details, m_budget))
      note(Error{ErrorCode::BadInput, "this is not a provenance map, or only part of one", path.string(), 1, {}, {}});
    return {};
  }

  Result<void> irFile(const fs::path& path, std::size_t first) {
    if (!isThere(path)) return {};
    const std::string stage = path.stem().string();
    KERF_TRY(const ImportSource* source, open(path, stage, CaptureRecord::Form::Text));
    if (source == nullptr) return {};
    auto nodes = readInductorIr(source->text, m_limits.nodes);
    if (!nodes) return note(std::move(nodes.error().atFile(path.string(), nodes.error().line))), Result<void>();
    const bool before = stage == "ir_pre_fusion";
    CaptureDetails apart;  // groups before fusion must not be taken for kernels
    addIrGroups(*nodes, originOf(path, stage), before ? 0 : first, before ? apart : *m_details);
    m_beforeFusion.insert(m_beforeFusion.end(), apart.fusionGroups.begin(), apart.fusionGroups.end());
    return {};
  }

  /// Any other file: kept as a record under its own name.
  Result<void> file(const fs::path& path, const fs::path& directory) {
    const std::string name = path.filename().string();
    if (isGraphFolder(directory) && (name == provenanceFile || std::ranges::find(irFiles, name) != irFiles.end()))
      return {};
    struct Row {
      std::string_view extension;
      CaptureRecord::Form form;
    };
    static constexpr Row rows[] = {{".py", CaptureRecord::Form::Python},
                                   {".json", CaptureRecord::Form::Json},
                                   {".log", CaptureRecord::Form::Text},
                                   {".txt", CaptureRecord::Form::Text},
                                   {".svg", CaptureRecord::Form::Text}};
    auto form = CaptureRecord::Form::None;
    for (const Row& row : rows)
      if (name.ends_with(row.extension)) form = row.form;
    std::error_code problem;
    const auto size = fs::file_size(path, problem);
    if (problem) return {};
    CaptureRecord record;
    record.kind = name == "output_code.py" ? "inductor_output_code" : path.stem().string();
    record.name = name;
    record.origin = originOf(path, record.kind);
    record.form = form;
    record.payload = {path, 0, std::int64_t(size)};
    m_details->records.push_back(std::move(record));
    m_capture.files.push_back(path);
    return {};
  }

  void finish() {
    m_details->fusionGroups.insert(m_details->fusionGroups.end(), m_beforeFusion.begin(), m_beforeFusion.end());
    m_capture.details = std::move(m_details);
    if (m_hasReadable)
      m_capture.notes.emplace_back(
          "readable and transformed graphs hold no values: inputs are made up from the annotations");
  }

  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  std::shared_ptr<CaptureDetails> m_details;
  Capture m_capture;
  std::vector<fs::path> m_folders;
  std::vector<RecordedFusionGroup> m_beforeFusion;
  ImportSource m_source;
  trace::NameByteBudget m_budget;  ///< of provenance maps
  std::set<std::string> m_names;
  std::optional<Error> m_failure;
  std::int64_t m_total = 0;
  bool m_hasReadable = false;
};

}  // namespace

bool isDebugDirectory(const fs::path& directory) {
  if (isGraphFolder(directory) || isMinifierFolder(directory) || isRunFolder(directory)) return true;
  const bool isRoot = directory.filename() == "torch_compile_debug";
  const std::vector<fs::path> entries = entriesOf(directory);
  return std::ranges::any_of(entries, [&](const fs::path& entry) {
    if (!isFolder(entry)) return false;
    return isGraphFolder(entry) || ((isRoot || entry.filename().string().starts_with("run_")) && isRunFolder(entry));
  });
}

Result<Capture> importDebugDirectory(const fs::path& directory, const ImportLimits& limits,
                                     const ImportProgress& progress) {
  return DebugDirectory(directory, limits, progress).run();
}

}  // namespace kerf::inline capture
