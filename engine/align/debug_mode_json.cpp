// DebugMode.save_logs: one JSON document with a flat list of calls, each with its depth.
#include "engine/align/log_steps.h"
#include "engine/align/read_recording.h"
#include "engine/capture/common/json_into.h"

namespace kerf::inline align {

namespace {

constexpr std::string_view formatName = "torch.utils._debug_mode.DebugMode.logs";

/// Values are trees of {"type": "tuple", "items": […]} over {"type": "scalar", "value": 1.5}.
class HashTree {
 public:
  explicit HashTree(JsonCursor& json) : m_json(json) {}

  /// The leaves of the value at the cursor.
  Result<HashLeaves> leaves() {
    HashLeaves found;
    KERF_CHECK(value(found));
    return found;
  }

  /// The leaves under each key of the dict at the cursor.
  Result<std::vector<std::pair<std::string, HashLeaves>>> members() {
    std::vector<std::pair<std::string, HashLeaves>> found;
    if (m_json.null()) return found;
    KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key != "items") return passOver(m_json);
      return m_json.forEachElement([&]() -> Result<void> {
        std::string name;
        HashLeaves leaves;
        KERF_CHECK(pair(name, leaves));
        found.emplace_back(std::move(name), std::move(leaves));
        return {};
      });
    }));
    return found;
  }

 private:
  /// ["key", value]
  Result<void> pair(std::string& name, HashLeaves& leaves) {
    bool first = true;
    return m_json.forEachElement([&]() -> Result<void> {
      if (!std::exchange(first, false)) return value(leaves);
      KERF_TRY(name, m_json.string());
      return {};
    });
  }

  Result<void> value(HashLeaves& leaves) {
    if (m_json.peek() != '{') return passOver(m_json);
    return m_json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key == "value") return leaf(leaves);
      if (key != "items") return passOver(m_json);
      return m_json.forEachElement([&]() -> Result<void> {
        std::string name;
        return m_json.peek() == '[' ? pair(name, leaves) : value(leaves);
      });
    });
  }

  Result<void> leaf(HashLeaves& leaves) {
    const char first = m_json.peek();
    if (first == '"') {
      KERF_TRY(const std::string text, m_json.string());
      leaves.push_back(text == "nan" || text == "inf" || text == "-inf" ? text : '"' + text);
      return {};
    }
    KERF_TRY(const std::string_view text, m_json.skip());
    if (first == '-' || (first >= '0' && first <= '9')) leaves.emplace_back(text);
    return {};
  }

  JsonCursor& m_json;
};

class LogReader {
 public:
  explicit LogReader(std::string_view text) : m_json(text, "the log", maxJsonDepth) {}

  Result<RunRecording> read() {
    KERF_CHECK(m_json.forEachMember([this](const std::string& key) { return document(key); }));
    KERF_CHECK(m_json.end());
    if (m_format != formatName)
      return fail(ErrorCode::BadInput, "this is no log of DebugMode: its format is \"{}\"", m_format);
    if (m_version != 1)
      return fail(ErrorCode::BadInput, "version {} of DebugMode's logs is not known, only 1", m_version);
    return m_steps.finish();
  }

 private:
  Result<void> document(const std::string& key) {
    if (key == "format") return takeString(m_json, m_format);
    if (key == "version") {
      KERF_TRY(m_version, m_json.integer());
      return {};
    }
    if (key == "logs")
      return m_json.forEachElement([this]() -> Result<void> {
        if (++m_count > mostSteps) return fail(ErrorCode::TooLarge, "the log has more than {} calls", mostSteps);
        return call();
      });
    return passOver(m_json);
  }

  Result<void> call() {
    LogCall call;
    std::string type, keywords, stack, forward;
    KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key == "type") return takeString(m_json, type);
      if (key == "op_name" || key == "kernel_name" || key == "tag") return takeString(m_json, call.name);
      if (key == "header") return takeString(m_json, call.header);
      if (key == "args_str") return takeString(m_json, call.arguments);
      if (key == "kwargs_str") return takeString(m_json, keywords);
      if (key == "output_str") return takeString(m_json, call.output);
      if (key == "stack_trace") return takeString(m_json, stack);
      if (key == "fwd_stack_trace") return takeString(m_json, forward);
      if (key == "log") return hashes(call);
      if (key == "pre_hashes") return named(call.kernelBefore);
      if (key == "post_hashes") return named(call.kernelAfter);
      if (key == "call_depth" && m_json.peek() != 'n') {
        KERF_TRY(const std::int64_t depth, m_json.integer());
        call.depth = int(std::clamp<std::int64_t>(depth, 0, 1 << 20));
        return {};
      }
      return passOver(m_json);
    }));
    call.kind = type == "op"              ? LogCall::Kind::Op
                : type == "triton_kernel" ? LogCall::Kind::Kernel
                : type == "annotate"      ? LogCall::Kind::Marker
                                          : LogCall::Kind::Other;
    call.arguments += keywords;
    call.source = userLine(forward.empty() ? stack : forward);
    m_steps.add(std::move(call));
    return {};
  }

  Result<void> hashes(LogCall& call) {
    std::vector<std::pair<std::string, HashLeaves>> members;
    KERF_CHECK(named(members));
    for (auto& [name, leaves] : members) {
      if (name == "hash")
        call.outputHashes = std::move(leaves);
      else if (name == "input_hash")
        call.inputHashes = std::move(leaves);
    }
    return {};
  }

  Result<void> named(std::vector<std::pair<std::string, HashLeaves>>& found) {
    KERF_TRY(found, HashTree(m_json).members());
    return {};
  }

  JsonCursor m_json;
  LogSteps m_steps;
  std::string m_format;
  std::int64_t m_version = 0;
  std::size_t m_count = 0;
};

}  // namespace

bool isDebugModeJson(std::string_view head) {
  return head.starts_with('{') && head.substr(0, 512).find(formatName) != std::string_view::npos;
}

Result<RunRecording> readDebugModeJson(std::string_view text) {
  if (text.size() > mostLogBytes) return fail(ErrorCode::TooLarge, "the log has {} bytes", text.size());
  return LogReader(text).read();
}

}  // namespace kerf::inline align
