// Inductor's provenance records to fusion groups: which graph nodes each generated kernel came from (formats B.1).
#pragma once

#include <algorithm>

#include "engine/capture/capture_details.h"

namespace kerf::trace {

/// What the provenance maps of one capture may still take. Maps refer to each other: a small text can name the same
/// long list for each of its kernels.
class NameRoom {
 public:
  explicit NameRoom(std::int64_t bytes = 128 << 20) : m_bytes(bytes) {}
  /// Whether `bytes` more are within it; once they are not, nothing is.
  bool take(std::size_t bytes) { return (m_bytes -= std::min(m_bytes, static_cast<std::int64_t>(bytes))) > 0; }

 private:
  std::int64_t m_bytes;
};

/// True for artifacts that hold provenance maps.
bool isProvenanceArtifact(std::string_view name);

/// Adds the maps of one such payload to details. `keyPrefix` stands before node names ("[0/0] "). False if it is no
/// JSON of that kind or `room` is used up (what was read before stays).
bool addProvenance(std::string_view json, std::string_view name, const GraphOrigin& origin,
                   const std::string& keyPrefix, CaptureDetails& details, NameRoom& room);

/// Reads {"preToPost": …, "postToPre": …, "cppCodeToPost": …, …} as TORCH_COMPILE_DEBUG writes it too.
bool addNodeMappings(std::string_view json, const GraphOrigin& origin, const std::string& keyPrefix,
                     CaptureDetails& details, NameRoom& room);

}  // namespace kerf::trace
