// What a trace record's JSON line says: its kind, compile id, rank and payload checksum.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline capture::trace {

struct CompileNumbers {
  std::optional<std::int64_t> autograd, frame, compile, attempt;

  /// "[0/0]", "[0/0_1]", "[!1/0/2_1]", "[!0]"; empty without any number. As tlparse prints it: attempt 0 and an absent
  /// attempt are the same.
  std::string text(bool withAttempt = true) const;
};

struct TraceHeader {
  std::string kind;        ///< "aot_joint_graph"; "unknown" if the record has context only, or no name for it
  std::string_view value;  ///< the kind's JSON value as written
  CompileNumbers id;
  std::optional<std::int64_t> rank;
  std::string_view checksum;  ///< hex MD5 of the payload; empty if it announces none
  bool announcesPayload = false;
  std::string_view stack;  ///< JSON list of frames of a record without a compile id
};

/// BadInput if the line is no JSON object, is unbalanced or nested too deep.
Result<TraceHeader> parseTraceHeader(std::string_view json);

}  // namespace kerf::inline capture::trace
