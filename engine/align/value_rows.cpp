// values.jsonl of `kerf record`: a row with the inputs of each call, then a row for each node of it.
#include <fstream>
#include <unordered_map>

#include "engine/align/read_recording.h"
#include "engine/capture/common/json_into.h"
#include "engine/tensor/safetensors.h"

namespace kerf::inline align {

namespace {

constexpr std::size_t mostRowBytes = 64 << 20;

std::string shortDtype(const std::string& torchName) {
  const auto dtype = dtypeFromTorchName(torchName);
  return dtype ? std::string(dtypeInfo(*dtype).shortCode) : torchName;
}

class ValueRow {
 public:
  ValueRow(std::string_view text, RecordSide side) : m_json(text, "a row of values", maxJsonDepth), m_side(side) {}

  std::string graph, node;
  std::int64_t call = 0;
  StepValue value;
  std::vector<StepValue> inputs;

  Result<void> read() {
    KERF_CHECK(m_json.forEachMember([this](const std::string& key) { return member(key); }));
    return m_json.end();
  }

 private:
  Result<void> member(const std::string& key) {
    if (key == "graph") return takeString(m_json, graph);
    if (key == "node") return takeString(m_json, node);
    if (key == "call" && m_json.peek() != '"') {
      KERF_TRY(call, m_json.integer());
      return {};
    }
    if (key == "inputs") return readInputs();
    if (key == (m_side == RecordSide::Compiled ? "compiled" : "eager")) return measured(value);
    return about(key, value);
  }

  Result<void> readInputs() {
    return m_json.forEachMember([this](const std::string& name) -> Result<void> {
      StepValue input;
      input.name = name;
      KERF_CHECK(m_json.forEachMember(
          [&](const std::string& key) -> Result<void> { return key == "hash" ? measured(input) : about(key, input); }));
      inputs.push_back(std::move(input));
      return {};
    });
  }

  Result<void> about(const std::string& key, StepValue& into_) {
    if (key == "dtype") {
      KERF_CHECK(takeString(m_json, into_.dtype));
      into_.dtype = shortDtype(into_.dtype);
      return {};
    }
    if (key != "shape" || m_json.peek() != '[') return passOver(m_json);
    into_.shaped = true;
    into_.shape.clear();
    return m_json.forEachElement([&]() -> Result<void> {
      KERF_TRY(const std::int64_t size, m_json.integer());
      if (size < 0) into_.shaped = false;
      into_.shape.push_back(size);
      return {};
    });
  }

  /// A checksum, or figures by name.
  Result<void> measured(StepValue& of) {
    if (m_json.peek() == '"') {
      KERF_TRY(const std::string hash, m_json.string());
      of.hash = "kerf:" + hash;
      return {};
    }
    if (m_json.peek() != '{') return passOver(m_json);
    ElementStats stats;
    const std::pair<std::string_view, double*> places[] = {{"min", &stats.min},   {"max", &stats.max},
                                                           {"mean", &stats.mean}, {"norm", &stats.norm},
                                                           {"nan", &stats.nan},   {"inf", &stats.inf}};
    KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
      const auto place = std::ranges::find(places, key, &std::pair<std::string_view, double*>::first);
      if (place == std::end(places)) return passOver(m_json);
      KERF_TRY(*place->second, m_json.number());
      return {};
    }));
    of.stats = stats;
    return {};
  }

  JsonCursor m_json;
  RecordSide m_side;
};

/// The files with values of the calls, opened when first asked for.
class ValueFiles {
 public:
  ValueFiles(std::filesystem::path folder, RecordSide side) : m_folder(std::move(folder)), m_side(side) {}

  void give(StepValue& value, const std::string& graph, std::int64_t call, const std::string& name, bool input) {
    const std::string part = input ? "inputs" : m_side == RecordSide::Compiled ? "compiled" : "eager";
    if (m_folder.empty() || graph.find('/') != std::string::npos) return;
    const std::string file = fmt::format("{}-call{}.{}.safetensors", graph, call, part);
    auto found = m_files.find(file);
    if (found == m_files.end()) {
      found = m_files.emplace(file, std::unordered_map<std::string, Tensor>()).first;
      std::error_code error;
      if (std::filesystem::exists(m_folder / file, error))
        if (auto opened = readSafetensors(m_folder / file))
          for (auto& [key, tensor] : opened->tensors) found->second.emplace(key, tensor);
    }
    const auto tensor = found->second.find(name);
    if (tensor != found->second.end()) value.data = tensor->second;
  }

 private:
  std::filesystem::path m_folder;
  RecordSide m_side;
  std::unordered_map<std::string, std::unordered_map<std::string, Tensor>> m_files;
};

class RowReader {
 public:
  RowReader(const std::filesystem::path& values, RecordSide side) : m_side(side), m_files(values, side) {
    m_recording.kind = "kerf record";
    m_recording.side = side == RecordSide::Compiled ? "compiled" : "eager";
  }

  Result<RunRecording> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
      if (m_recording.steps.size() > mostSteps || line.size() > mostRowBytes)
        return fail(ErrorCode::TooLarge, "the recording has too many rows, or one of {} bytes", line.size());
      add(line);
    }
    if (m_broken > 0)
      m_recording.notes.push_back(fmt::format("{} rows of values.jsonl cannot be read and are left out", m_broken));
    return std::move(m_recording);
  }

 private:
  void add(std::string_view line) {
    ValueRow row(line, m_side);
    if (!row.read() || row.graph.empty()) {
      ++m_broken;
      return;
    }
    const std::string prefix = row.call == 0 ? row.graph + "/" : fmt::format("{}@{}/", row.graph, row.call);
    for (StepValue& input : row.inputs) {
      RunStep step{.name = prefix + input.name, .op = "input", .input = true};
      m_files.give(input, row.graph, row.call, input.name, true);
      input.name.clear();
      step.outputs.push_back(std::move(input));
      m_recording.steps.push_back(std::move(step));
    }
    if (row.node.empty()) return;
    RunStep step{.name = prefix + row.node, .op = row.node};
    m_files.give(row.value, row.graph, row.call, row.node, false);
    step.outputs.push_back(std::move(row.value));
    m_recording.steps.push_back(std::move(step));
  }

  RecordSide m_side;
  ValueFiles m_files;
  RunRecording m_recording;
  std::size_t m_broken = 0;
};

}  // namespace

Result<RunRecording> readValueRows(std::string_view rows, const std::filesystem::path& values, RecordSide side) {
  return RowReader(values, side).read(rows);
}

Result<RunRecording> readNamedValues(const std::filesystem::path& file) {
  KERF_TRY(const SafetensorsFile opened, readSafetensors(file));
  RunRecording recording;
  recording.kind = "safetensors";
  for (const auto& [name, tensor] : opened.tensors) {
    StepValue value;
    value.dtype = dtypeInfo(tensor.dtype()).shortCode;
    value.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
    value.shaped = true;
    value.data = tensor;
    RunStep step{.name = name, .op = name};
    step.outputs.push_back(std::move(value));
    recording.steps.push_back(std::move(step));
  }
  return recording;
}

}  // namespace kerf::inline align
