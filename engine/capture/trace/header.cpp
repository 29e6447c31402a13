#include "engine/capture/trace/header.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/json.h"

namespace kerf::inline capture::trace {
namespace {

struct NumberKey {
  std::string_view name;
  std::optional<std::int64_t> CompileNumbers::* field;
};

constexpr std::array numberKeys{
    NumberKey{"compiled_autograd_id", &CompileNumbers::autograd}, NumberKey{"frame_id", &CompileNumbers::frame},
    NumberKey{"frame_compile_id", &CompileNumbers::compile}, NumberKey{"attempt", &CompileNumbers::attempt}};

/// Names that tools which merge logs add to each record; never a kind.
constexpr std::array<std::string_view, 4> reservedKeys{"severity", "timestamp", "pathname", "thread"};

bool takeContext(std::string_view key, std::string_view value, TraceHeader& header) {
  for (const NumberKey& number : numberKeys)
    if (jsonKeyIs(key, number.name)) {
      header.id.*number.field = jsonInteger(value);
      return true;
    }
  if (jsonKeyIs(key, "rank")) {
    header.rank = jsonInteger(value);
  } else if (jsonKeyIs(key, "has_payload")) {
    header.announcesPayload = value != "null" && value != "false";
    if (value.size() >= 2 && value.front() == '"') header.checksum = value.substr(1, value.size() - 2);
  } else if (jsonKeyIs(key, "stack")) {
    header.stack = value;
  } else {
    return std::any_of(reservedKeys.begin(), reservedKeys.end(),
                       [&](std::string_view name) { return jsonKeyIs(key, name); });
  }
  return true;
}

}  // namespace

std::string CompileNumbers::text(bool withAttempt) const {
  if (!autograd && !frame && !compile) return {};
  std::string out = "[";
  if (autograd) out += fmt::format("!{}", *autograd);
  if (frame) out += fmt::format("{}{}", autograd ? "/" : "", *frame);
  if (compile) out += fmt::format("/{}", *compile);
  if (withAttempt && attempt && *attempt != 0) out += fmt::format("_{}", *attempt);
  return out + "]";
}

Result<TraceHeader> parseTraceHeader(std::string_view json) {
  TraceHeader header;
  bool found = false;
  JsonWalker members(json);
  while (members.nextMember()) {
    if (takeContext(members.key(), members.value(), header) || found) continue;
    header.kind = jsonString(members.key()).value_or("");
    header.value = members.value();
    found = true;
  }
  if (!members.complete()) return fail(ErrorCode::BadInput, "the record's JSON is malformed or nested too deep");
  if (header.kind.empty()) header.kind = "unknown";
  return header;
}

}  // namespace kerf::inline capture::trace
