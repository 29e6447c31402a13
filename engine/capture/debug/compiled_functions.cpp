#include "engine/capture/debug/compiled_functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "engine/capture/common/import_source.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/trace/torch_trace.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostFiles = 20'000;
constexpr std::string_view functionMark = "__compiled_fn_";

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSeparator(char c) { return c == '.' || c == ' ' || c == '_'; }

/// Length of "_21e81a46_450c_41b6_b1ab_7ae4a859fc4b", with which newer versions tell functions apart; 0: none.
std::size_t uniqueSuffix(std::string_view text) {
  constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
  std::size_t at = 0;
  for (const std::size_t group : groups) {
    const std::string_view part = text.substr(std::min(at, text.size()), group + 1);
    if (part.size() != group + 1 || part[0] != '_' || part.substr(1).find_first_not_of("0123456789abcdef") != part.npos)
      return 0;
    at += group + 1;
  }
  return at;
}

struct StageName {
  std::string_view file, stage;
};
constexpr std::array stageNames{
    StageName{"Captured_Graph", "dynamo_output_graph"},      StageName{"Joint_graph", "aot_joint_graph"},
    StageName{"Forward_graph", "aot_forward_graph"},         StageName{"Backward_graph", "aot_backward_graph"},
    StageName{"BEFORE_PRE_GRAD", "before_pre_grad_graph"},   StageName{"AFTER_PRE_GRAD", "after_pre_grad_graph"},
    StageName{"BEFORE_JOINT_GRAPH", "before_joint_graph"},   StageName{"AFTER_JOINT_GRAPH", "after_joint_graph"},
    StageName{"BEFORE_POST_GRAD", "before_post_grad_graph"}, StageName{"AFTER_POST_GRAD", "after_post_grad_graph"}};

/// The stage as traces call it; other names as they are.
std::string stageOf(const CompiledFunctionFile& file) {
  constexpr std::string_view asserts = "pre_insert_deferred_runtime_asserts";
  if (file.stage.starts_with(asserts)) return std::string(asserts);
  const auto found = std::ranges::find(stageNames, file.stage, &StageName::file);
  return found == stageNames.end() ? file.stage : std::string(found->stage);
}

bool isCode(const CompiledFunctionFile& file) { return file.stage == "kernel"; }

/// Graphs before others, in the order in which compiling makes them.
std::size_t orderOf(const CompiledFunctionFile& file) {
  const auto found = std::ranges::find(stageNames, file.stage, &StageName::file);
  return isCode(file) ? stageNames.size() + 1 : std::size_t(found - stageNames.begin());
}

std::vector<fs::path> entriesOf(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code problem;
  for (auto entry = fs::directory_iterator(directory, problem);
       !problem && entry != fs::directory_iterator() && paths.size() < mostFiles; entry.increment(problem))
    paths.push_back(entry->path());
  std::ranges::sort(paths);
  return paths;
}

bool isRankFolder(const fs::path& path) {
  std::error_code ignored;
  return path.filename().string().starts_with("rank") && fs::is_directory(path, ignored) &&
         !fs::is_symlink(path, ignored);
}

/// N of "rank_N"; -1 if there is none.
int rankOf(const fs::path& directory) {
  const std::string name = directory.filename().string();
  const std::size_t digits = name.find_first_of("0123456789");
  int rank = -1;
  if (name.starts_with("rank") && digits != name.npos)
    std::from_chars(name.data() + digits, name.data() + name.size(), rank);
  return rank;
}

bool holdsFunctions(const fs::path& directory) {
  const auto paths = entriesOf(directory);
  return std::ranges::any_of(
      paths, [](const fs::path& path) { return compiledFunctionFile(path.filename().string()).has_value(); });
}

class FunctionDump {
 public:
  FunctionDump(const fs::path& root, const ImportLimits& limits, const ImportProgress& progress)
      : m_limits(limits), m_progress(progress), m_details(std::make_shared<CaptureDetails>()) {
    m_capture.kind = "compiled_functions";
    m_capture.path = root;
  }

  Result<Capture> run() {
    collect(m_capture.path);
    for (const fs::path& entry : entriesOf(m_capture.path))
      if (isRankFolder(entry)) collect(entry);
    std::ranges::stable_sort(m_files, {}, [](const File& file) {
      return std::tuple(file.rank, file.name.function.size(), file.name.function, orderOf(file.name), file.name.number);
    });
    for (const File& file : m_files)
      if (file.name.stage == "Backward_graph" || file.name.stage == "Joint_graph")
        m_trained.emplace(file.rank, file.name.function);
    for (std::size_t i = 0; i < m_files.size(); ++i) {
      if (m_progress && !m_progress(double(i) / double(m_files.size())))
        return failHere(ErrorCode::Cancelled, "import cancelled");
      KERF_CHECK(take(m_files[i]));
    }
    if (m_capture.graphs.empty() && m_failure) return fail(std::move(*m_failure));
    for (const fs::path& path : m_others) {
      if (m_progress && !m_progress(1.0)) return failHere(ErrorCode::Cancelled, "import cancelled");
      addOther(path);
    }
    return finished();
  }

 private:
  struct File {
    fs::path path;
    CompiledFunctionFile name;
    int rank = -1;
  };

  std::unexpected<Error> failHere(ErrorCode code, std::string message) const {
    return fail(Error{code, std::move(message), m_capture.path.string(), 0, {}, {}});
  }

  void collect(const fs::path& directory) {
    for (const fs::path& path : entriesOf(directory)) {
      std::error_code ignored;
      if (!fs::is_regular_file(path, ignored)) continue;
      if (auto name = compiledFunctionFile(path.filename().string()))
        m_files.push_back({path, std::move(*name), rankOf(directory)});
      else if (path.extension() == ".py")
        m_others.push_back(path);
    }
  }

  /// Without gradients the forward graph is all there is.
  bool isInference(const File& file) const {
    return file.name.stage == "Forward_graph" && !m_trained.contains({file.rank, file.name.function});
  }

  GraphOrigin originOf(const File& file) const {
    GraphOrigin origin;
    origin.file = file.path;
    origin.line = 1;
    origin.rank = file.rank;
    origin.compileId = file.name.function;
    origin.stage = isInference(file) ? "aot_inference_graph" : stageOf(file.name);
    if (isCode(file.name)) origin.stage = "inductor_output_code";
    return origin;
  }

  CompileEntry& entryOf(const GraphOrigin& origin) {
    // Files are in the order of their functions.
    if (!m_details->compiles.empty())
      if (CompileEntry& last = m_details->compiles.back(); last.id == origin.compileId && last.rank == origin.rank)
        return last;
    CompileEntry& entry = m_details->compiles.emplace_back();
    entry.id = origin.compileId;
    entry.rank = origin.rank;
    entry.status = CompileEntry::Status::Ok;
    return entry;
  }

  Result<void> take(const File& file) {
    m_capture.files.push_back(file.path);
    auto source = openSource(file.path, m_limits, looksLikeTorchTrace);
    if (!source) return note(std::move(source).error());
    m_total += std::int64_t(source->text.size());
    if (m_total > m_limits.fileBytes)
      return failHere(ErrorCode::TooLarge,
                      fmt::format("the folder's files are beyond the limit of {} bytes", m_limits.fileBytes));
    CaptureRecord record;
    record.origin = originOf(file);
    record.kind = record.origin.stage;
    record.name = file.path.filename().string();
    record.form = CaptureRecord::Form::Python;
    record.payload = {file.path, 0, std::int64_t(source->text.size())};
    CompileEntry& entry = entryOf(record.origin);
    if (!isCode(file.name)) {
      auto graph = capturedFromReadable(source->text, record.origin, m_limits);
      if (!graph) return note(std::move(graph).error());
      graph->name = nameOf(file);
      graph->origin = record.origin;
      record.graph = int(m_capture.graphs.size());
      entry.graphs.push_back(m_capture.graphs.size());
      m_capture.graphs.push_back(std::move(*graph));
    }
    entry.records.push_back(m_details->records.size());
    m_details->records.push_back(std::move(record));
    return {};
  }

  /// "__compiled_fn_1.AFTER_POST_GRAD", with number and rank where they are needed to tell graphs apart.
  std::string nameOf(const File& file) {
    std::string name = file.name.function + "." + file.name.stage;
    if (file.rank >= 0) name += fmt::format("@rank{}", file.rank);
    std::string unique = name;
    for (int number = 1; !m_names.insert(unique).second; ++number) unique = fmt::format("{}.{}", name, number);
    return unique;
  }

  Result<void> note(Error error) {
    m_capture.notes.push_back("not read: " + error.text());
    if (!m_failure) m_failure = std::move(error);
    return {};
  }

  /// Transformed bytecode as source, and the guards with it, by the function's name.
  void addOther(const fs::path& path) {
    const std::string name = path.filename().string();
    std::error_code problem;
    const auto size = fs::file_size(path, problem);
    if (problem) return;
    CaptureRecord record;
    record.kind = name.starts_with("__transformed_code_") ? "transformed_code"
                  : name.starts_with("full_code_for_")    ? "guards_and_code"
                                                          : path.stem().string();
    record.name = name;
    record.origin.file = path;
    record.origin.line = 1;
    record.origin.rank = rankOf(path.parent_path());
    record.origin.stage = record.kind;
    record.form = CaptureRecord::Form::Python;
    record.payload = {path, 0, std::int64_t(size)};
    if (record.kind == "transformed_code") nameFrame(record);
    m_details->records.push_back(std::move(record));
    m_capture.files.push_back(path);
  }

  /// "__transformed_code_0_for_f.py" calls the compiled functions that f became.
  void nameFrame(const CaptureRecord& record) {
    const std::size_t mark = record.name.find("_for_");
    const auto text = record.text(1 << 20);
    if (!text || mark == std::string::npos) return;
    const std::string function = record.name.substr(mark + 5, record.name.size() - mark - 5 - 3);
    const std::set<std::string> called = calledFunctions(*text);
    for (CompileEntry& entry : m_details->compiles)
      if (entry.rank == record.origin.rank && called.contains(entry.id)) {
        if (entry.frame.empty()) entry.frame = function;
        entry.records.push_back(m_details->records.size());
      }
  }

  /// "__compiled_fn_1" of every "__compiled_fn_1(" and "__compiled_fn_1_21e81a46_…(" in a text.
  static std::set<std::string> calledFunctions(std::string_view text) {
    std::set<std::string> names;
    for (std::size_t at = text.find(functionMark); at != text.npos; at = text.find(functionMark, at)) {
      std::size_t end = at + functionMark.size();
      while (end < text.size() && isDigit(text[end])) ++end;
      const std::string_view name = text.substr(at, end - at);
      end += uniqueSuffix(text.substr(end));
      if (name.size() > functionMark.size() && end < text.size() && text[end] == '(') names.emplace(name);
      at = end;
    }
    return names;
  }

  Result<Capture> finished() {
    m_capture.details = std::move(m_details);
    m_capture.notes.emplace_back("the graphs hold no values: inputs are made up from the annotations");
    if (m_progress) m_progress(1.0);
    return std::move(m_capture);
  }

  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  std::shared_ptr<CaptureDetails> m_details;
  Capture m_capture;
  std::vector<File> m_files;
  std::vector<fs::path> m_others;
  std::set<std::pair<int, std::string>> m_trained;  ///< ranks and functions that have a graph of gradients
  std::set<std::string> m_names;
  std::optional<Error> m_failure;
  std::int64_t m_total = 0;
};

}  // namespace

std::optional<CompiledFunctionFile> compiledFunctionFile(const std::string& name) {
  if (!name.starts_with(functionMark) || !name.ends_with(".py")) return std::nullopt;
  std::string_view rest = std::string_view(name).substr(0, name.size() - 3);
  std::size_t at = functionMark.size();
  while (at < rest.size() && isDigit(rest[at])) ++at;
  if (at == functionMark.size()) return std::nullopt;
  CompiledFunctionFile file;
  file.function = rest.substr(0, at);
  rest.remove_prefix(at);
  rest.remove_prefix(uniqueSuffix(rest));
  const std::size_t digits = rest.find_last_not_of("0123456789") + 1;
  if (rest.size() < 4 || digits == rest.size() || digits < 3 || !isSeparator(rest[0]) || !isSeparator(rest[digits - 1]))
    return std::nullopt;
  std::from_chars(rest.data() + digits, rest.data() + rest.size(), file.number);
  file.stage = rest.substr(1, digits - 2);
  std::ranges::replace(file.stage, ' ', '_');
  return file;
}

bool isCompiledFunctionDump(const fs::path& directory) {
  if (holdsFunctions(directory)) return true;
  const auto paths = entriesOf(directory);
  return std::ranges::any_of(paths, [](const fs::path& path) { return isRankFolder(path) && holdsFunctions(path); });
}

Result<Capture> importCompiledFunctions(const fs::path& directory, const ImportLimits& limits,
                                        const ImportProgress& progress) {
  return FunctionDump(directory, limits, progress).run();
}

}  // namespace kerf::inline capture
