#include "engine/capture/trace/triton_trace.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/capture/trace/made_log.h"

namespace kerf::inline capture {
namespace {

using namespace trace;
using TritonJson = nlohmann::ordered_json;

constexpr std::size_t mostGrids = 16, mostArgumentBytes = 4'000, mostKernels = 100'000;
constexpr std::string_view keptTexts[] = {"source", "ttir", "ttgir", "llir", "ptx", "amdgcn", "json"};

std::string textMember(std::string_view object, std::string_view name) {
  return jsonString(jsonMember(object, name)).value_or(std::string());
}

/// Frames of a stack, outermost first; those of Triton, PyTorch and tritonparse itself are no user's.
struct TritonFrame {
  std::string file, name, code;
  std::int64_t line = 0;
};
bool isLibrary(std::string_view file) {
  constexpr std::string_view folders[] = {"/triton/", "/torch/", "/tritonparse/"};
  return std::ranges::any_of(folders, [&](std::string_view folder) { return file.find(folder) != file.npos; });
}
std::optional<TritonFrame> userFrame(std::string_view stack) {
  std::optional<TritonFrame> user;
  for (JsonWalker frames(stack); frames.nextElement();) {
    TritonFrame frame{textMember(frames.value(), "filename"), textMember(frames.value(), "name"),
                      textMember(frames.value(), "loc"), jsonInteger(jsonMember(frames.value(), "line")).value_or(0)};
    if (!frame.file.empty() && frame.line > 0 && !isLibrary(frame.file)) user = std::move(frame);
  }
  return user;
}

/// Launches of one kernel.
struct Launched {
  std::string kernel, hash, arguments, where;
  std::int64_t count = 0, line = 0, otherGrids = 0;
  std::map<std::string, std::int64_t> grids;
};

class TritonEventReader {
 public:
  Result<LogRecords> run(std::string_view text, const ImportLimits& limits) {
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = trimmedText(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      ++number;
      if (line.empty()) continue;
      if (std::int64_t(line.size()) > limits.lineBytes)
        return fail(ErrorCode::TooLarge, "line {} has {} bytes, above the limit of {}", number, line.size(),
                    limits.lineBytes);
      if (!event(line, number)) ++m_broken;
      if (std::int64_t(m_made.text.size()) > limits.fileBytes)
        return fail(ErrorCode::TooLarge, "the texts of the log are beyond the limit of {} bytes", limits.fileBytes);
    }
    for (const auto& [key, launched] : m_launched) addLaunches(launched);
    return std::move(m_made);
  }

  std::int64_t broken() const { return m_broken; }
  std::int64_t others() const { return m_others; }
  /// Launches of kernels beyond the limit.
  std::int64_t dropped() const { return m_dropped; }

 private:
  bool event(std::string_view line, int number) {
    if (jsonValueLength(line) != line.size()) return false;
    const std::string kind = textMember(line, "event_type");
    if (kind == "compilation") {
      compilation(line, number);
    } else if (kind == "launch") {
      launch(line, number);
    } else {
      if (kind.empty()) return false;
      ++m_others;
    }
    return true;
  }

  void compilation(std::string_view line, int number) {
    const std::string_view payload = jsonMember(line, "payload"), metadata = jsonMember(payload, "metadata");
    const std::string_view source = jsonMember(payload, "python_source");
    TritonJson said{{"kernel", textMember(metadata, "name")}, {"hash", textMember(metadata, "hash")}};
    for (const std::string_view name : {"num_warps", "num_stages", "num_ctas", "shared", "maxnreg"})
      if (const auto value = jsonInteger(jsonMember(metadata, name))) said[std::string(name)] = *value;
    for (const std::string_view name : {"arch", "triton_version"})
      if (const std::string value = textMember(metadata, name); !value.empty()) said[std::string(name)] = value;
    const std::string file = textMember(source, "file_path");
    const auto start = jsonInteger(jsonMember(source, "start_line"));
    if (!file.empty() && start) said["source"] = fmt::format("{}:{}", file, *start);
    if (const auto user = userFrame(jsonMember(line, "stack"))) said["where"] = placeOf(*user);
    const std::string compile = compileNumbersOf(jsonMember(payload, "pt_info"));
    add("triton_compilation", std::move(said), compile, number, {});
    if (const std::string code = textMember(source, "code"); !code.empty())
      addText(textMember(metadata, "name") + ".py", code, compile, number);
    for (JsonWalker files(jsonMember(payload, "file_content")); files.nextMember();) {
      const std::string name = jsonString(files.key()).value_or(std::string());
      const auto text = jsonString(files.value());
      const std::string_view extension = std::string_view(name).substr(std::min(name.rfind('.') + 1, name.size()));
      if (text && std::ranges::find(keptTexts, extension) != std::end(keptTexts)) addText(name, *text, compile, number);
    }
  }

  void launch(std::string_view line, int number) {
    const std::string_view metadata = jsonMember(line, "compilation_metadata");
    std::string kernel = textMember(line, "name");
    if (kernel.empty()) kernel = textMember(metadata, "name");
    const std::string hash = textMember(metadata, "hash");
    const std::string key = hash + "|" + kernel;
    if (m_launched.size() >= mostKernels && !m_launched.contains(key)) {
      ++m_dropped;
      return;
    }
    Launched& launched = m_launched[key];
    if (launched.count++ == 0) {
      launched.kernel = kernel;
      launched.hash = hash;
      launched.line = number;
      launched.arguments = argumentsOf(jsonMember(line, "extracted_args"));
      if (const auto user = userFrame(jsonMember(line, "stack"))) launched.where = placeOf(*user);
    }
    const std::string grid(jsonMember(line, "grid"));
    if (grid.size() > 100 || (launched.grids.size() >= mostGrids && !launched.grids.contains(grid)))
      ++launched.otherGrids;
    else
      ++launched.grids[grid];
  }

  static std::string placeOf(const TritonFrame& frame) {
    return fmt::format("{}:{} in {}", frame.file, frame.line, frame.name);
  }

  /// "a_ptr: float32[64] cuda:0, n: 64".
  static std::string argumentsOf(std::string_view arguments) {
    std::string text;
    for (JsonWalker walker(arguments); walker.nextMember() && text.size() < mostArgumentBytes;) {
      const std::string_view about = walker.value();
      std::string dtype = textMember(about, "dtype");
      if (dtype.starts_with("torch.")) dtype.erase(0, 6);
      const std::string_view shape = jsonMember(about, "shape"), value = jsonMember(about, "value");
      text += fmt::format("{}{}: ", text.empty() ? "" : ", ", jsonString(walker.key()).value_or(std::string()));
      text += shape.empty() ? std::string(value.substr(0, 100)) : fmt::format("{}{}", dtype, shape.substr(0, 100));
      if (const std::string device = textMember(about, "device"); !device.empty()) text += " " + device;
    }
    return text;
  }

  void addLaunches(const Launched& launched) {
    TritonJson grids = TritonJson::array();
    for (const auto& [grid, count] : launched.grids) grids.push_back({{"grid", grid}, {"count", count}});
    TritonJson said{{"kernel", launched.kernel},
                    {"hash", launched.hash},
                    {"count", launched.count},
                    {"grids", grids},
                    {"other_grids", launched.otherGrids},
                    {"arguments", launched.arguments},
                    {"where", launched.where}};
    add("triton_launches", std::move(said), {}, int(launched.line), {});
  }

  void addText(const std::string& name, std::string_view text, const std::string& compile, int line) {
    add("artifact", TritonJson{{"name", name}, {"encoding", "string"}}, compile, line, text);
  }

  /// The members of a header that name a compilation, as JSON without braces; empty: none.
  static std::string compileNumbersOf(std::string_view info) {
    const auto frame = jsonInteger(jsonMember(info, "frame_id"));
    const auto compile = jsonInteger(jsonMember(info, "frame_compile_id"));
    if (!frame || !compile || *frame < 0 || *compile < 0) return {};
    return fmt::format(R"("frame_id": {}, "frame_compile_id": {}, "attempt": {})", *frame, *compile,
                       std::max<std::int64_t>(0, jsonInteger(jsonMember(info, "attempt_id")).value_or(0)));
  }

  void add(std::string_view kind, const TritonJson& value, const std::string& compile, int line,
           std::string_view text) {
    RawRecord record;
    record.line = line;
    record.json = record.begin = std::int64_t(m_made.text.size());
    m_made.text +=
        fmt::format("{{\"{}\": {}, {}{}}}", kind, value.dump(-1, ' ', false, TritonJson::error_handler_t::replace),
                    compile.empty() ? "\"stack\": []" : compile, text.empty() ? "" : ", \"has_payload\": true");
    record.jsonLength = std::int64_t(m_made.text.size()) - record.json;
    m_made.text += '\n';
    if (!text.empty()) {
      record.payload = std::int64_t(m_made.text.size());
      record.payloadLine = line;
      while (!text.empty()) {
        const std::size_t end = text.find('\n');
        m_made.text += '\t';
        m_made.text += text.substr(0, end);
        m_made.text += '\n';
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      }
      record.payloadLength = std::int64_t(m_made.text.size()) - 1 - record.payload;
    }
    m_made.records.push_back(record);
  }

  LogRecords m_made;
  std::map<std::string, Launched> m_launched;
  std::int64_t m_broken = 0, m_others = 0, m_dropped = 0;
};

/// What was compiled has been compiled: the log has no other ends.
void settleTriton(CaptureDetails& details) {
  for (CompileEntry& entry : details.compiles)
    if (entry.status == CompileEntry::Status::Incomplete || entry.status == CompileEntry::Status::Empty)
      entry.status = CompileEntry::Status::Ok;
}

}  // namespace

bool looksLikeTritonTrace(std::string_view head) {
  const std::string_view line = trimmedText(head.substr(0, head.find('\n')));
  return line.starts_with('{') && line.find("\"event_type\"") != line.npos &&
         (line.find("\"compilation\"") != line.npos || line.find("\"launch\"") != line.npos ||
          line.find("\"autotune\"") != line.npos);
}

Result<Capture> importTritonTrace(std::string_view text, const std::filesystem::path& path,
                                  const ImportLimits& limits) {
  TritonEventReader reader;
  auto made = reader.run(text, limits);
  if (!made) return fail(std::move(made.error().atFile(path.string())));
  if (made->records.empty())
    return fail(
        Error{ErrorCode::BadInput, "no line is a compilation or a launch of tritonparse", path.string(), 0, {}, {}});
  Capture capture;
  KERF_TRY(const auto details, detailsOfMadeLog(*made, path, limits));
  settleTriton(*details);
  capture.kind = "tritonparse";
  capture.path = path;
  capture.details = details;
  if (reader.broken() > 0)
    capture.notes.push_back(fmt::format("{} lines are no events of tritonparse and are left out", reader.broken()));
  if (reader.others() > 0)
    capture.notes.push_back(fmt::format("{} events are neither compilations nor launches", reader.others()));
  if (reader.dropped() > 0)
    capture.notes.push_back(fmt::format("{} launches of kernels beyond the first {} that were launched are left out",
                                        reader.dropped(), mostKernels));
  capture.notes.emplace_back("the log holds kernels and no graphs");
  return capture;
}

}  // namespace kerf::inline capture
