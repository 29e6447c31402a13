#include "engine/capture/debug/graph_transforms.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/capture/common/import_source.h"
#include "engine/capture/debug/graph_dot.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/trace/torch_trace.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxFiles = 20000;

struct TransformFile {
  fs::path path;
  std::string pass;  ///< "3_remove_noop_ops"
  std::string side;  ///< "input" or "output"
  std::int64_t number = -1;
  auto key() const { return std::tuple(number, std::string_view(pass), std::string_view(side), path.native()); }
};

/// Takes "pass_<n>_<name>_<input|output>_graph.<extension>" apart; also without "pass_<n>_".
std::optional<TransformFile> transformFile(const fs::path& path) {
  constexpr std::array<std::string_view, 5> extensions = {".dot", ".gv", ".svg", ".py", ".txt"};
  if (std::ranges::find(extensions, path.extension().string()) == extensions.end()) return std::nullopt;
  TransformFile out;
  out.path = path;
  std::string stem = path.stem().string();
  for (const std::string_view side : {"input", "output"}) {
    const std::string ending = "_" + std::string(side) + "_graph";
    if (!stem.ends_with(ending)) continue;
    out.side = side;
    stem.resize(stem.size() - ending.size());
  }
  if (out.side.empty()) return std::nullopt;
  if (stem.starts_with("pass_")) stem.erase(0, 5);
  const auto parsed = std::from_chars(stem.data(), stem.data() + stem.size(), out.number);
  if (parsed.ec != std::errc()) out.number = -1;
  out.pass = std::move(stem);
  return out;
}

std::vector<TransformFile> transformFiles(const fs::path& directory) {
  std::vector<TransformFile> files;
  std::error_code problem;
  for (auto entry = fs::directory_iterator(directory, problem);
       !problem && entry != fs::directory_iterator() && files.size() < maxFiles; entry.increment(problem)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    if (auto file = transformFile(entry->path())) files.push_back(std::move(*file));
  }
  std::ranges::sort(files, {}, [](const TransformFile& file) { return file.key(); });
  return files;
}

class Transforms {
 public:
  Transforms(const fs::path& directory, const ImportLimits& limits, const ImportProgress& progress)
      : m_limits(limits), m_progress(progress), m_details(std::make_shared<CaptureDetails>()) {
    m_capture.kind = "graph_transforms";
    m_capture.path = directory;
  }

  Result<Capture> run() {
    const std::vector<TransformFile> files = transformFiles(m_capture.path);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (m_progress && !m_progress(double(i) / double(files.size())))
        return failHere(ErrorCode::Cancelled, "import cancelled");
      KERF_CHECK(add(files[i]));
    }
    if (m_capture.graphs.empty()) return failHere(ErrorCode::BadInput, "no graph of the folder could be read");
    m_capture.details = std::move(m_details);
    if (m_progress) m_progress(1.0);
    return std::move(m_capture);
  }

 private:
  std::unexpected<Error> failHere(ErrorCode code, std::string message) const {
    return fail(Error{code, std::move(message), m_capture.path.string(), 0, {}, {}});
  }

  Result<void> add(const TransformFile& file) {
    KERF_TRY(const ImportSource source, openSource(file.path, m_limits, looksLikeTorchTrace));
    m_total += std::int64_t(source.text.size());
    if (m_total > m_limits.fileBytes) return failHere(ErrorCode::TooLarge, "the folder's graphs are beyond the limit");
    m_capture.files.push_back(file.path);
    if (file.path.extension() == ".svg") {
      record(file, source);
      return {};
    }
    KERF_TRY(Capture one, looksLikeGraphDot(source.text) ? importGraphDot(source.text, file.path, m_limits)
                                                         : importGraphText(source.text, file.path, m_limits));
    for (CapturedGraph& graph : one.graphs) {
      graph.name = freeName(file.pass + "_" + file.side);
      graph.origin.stage = file.pass + " " + file.side;
      m_capture.graphs.push_back(std::move(graph));
    }
    for (const std::string& note : one.notes)
      if (std::ranges::find(m_capture.notes, note) == m_capture.notes.end() && m_capture.notes.size() < 20)
        m_capture.notes.push_back(note);
    return {};
  }

  void record(const TransformFile& file, const ImportSource& source) {
    CaptureRecord record;
    record.kind = "graph_picture";
    record.name = file.path.filename().string();
    record.origin.file = file.path;
    record.origin.line = 1;
    record.origin.stage = file.pass + " " + file.side;
    record.form = CaptureRecord::Form::Text;
    record.payload = {file.path, 0, std::int64_t(source.text.size())};
    m_details->records.push_back(std::move(record));
  }

  std::string freeName(const std::string& base) const {
    std::string name = base;
    const auto taken = [&](const CapturedGraph& graph) { return graph.name == name; };
    for (int number = 1; std::ranges::any_of(m_capture.graphs, taken); ++number)
      name = fmt::format("{}_{}", base, number);
    return name;
  }

  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  std::shared_ptr<CaptureDetails> m_details;
  Capture m_capture;
  std::int64_t m_total = 0;
};

}  // namespace

bool isGraphTransformDirectory(const fs::path& directory) { return !transformFiles(directory).empty(); }

Result<Capture> importGraphTransforms(const fs::path& directory, const ImportLimits& limits,
                                      const ImportProgress& progress) {
  return Transforms(directory, limits, progress).run();
}

}  // namespace kerf::inline capture
