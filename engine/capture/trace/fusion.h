// Inductor's provenance records to fusion groups: which graph nodes each generated kernel came from (formats B.1).
#pragma once

#include <algorithm>

#include "engine/capture/common/details.h"

namespace kerf::inline capture::trace {

/// What the provenance maps of one capture may still take. Maps refer to each other: a small text can name the same
/// long list for each of its kernels. No text gets much more than its own size, and all together not all the memory.
class NameByteBudget {
 public:
  /// Begins a text of `bytes`.
  void begin(std::size_t bytes) { m_here = std::min(m_all, least + perByte * std::int64_t(bytes)); }
  /// Whether `bytes` more are within it; once they are not, nothing of this text is.
  bool take(std::size_t bytes) {
    const std::int64_t taken = std::min(m_here, std::int64_t(bytes));
    m_here -= taken;
    m_all -= taken;
    return m_here > 0;
  }

 private:
  static constexpr std::int64_t least = 64 << 10;
  static constexpr std::int64_t perByte = 64;  ///< real maps take about 5 bytes for each of theirs
  std::int64_t m_all = 512 << 20, m_here = 0;
};

/// True for artifacts that hold provenance maps.
bool isProvenanceArtifact(std::string_view name);

/// Adds the maps of one such payload to details. `keyPrefix` stands before node names ("[0/0] "). False if it is no
/// JSON of that kind or `budget` is used up (what was read before stays).
bool addProvenance(std::string_view json, std::string_view name, const GraphOrigin& origin,
                   const std::string& keyPrefix, CaptureDetails& details, NameByteBudget& budget);

/// Reads {"preToPost": …, "postToPre": …, "cppCodeToPost": …, …} as TORCH_COMPILE_DEBUG writes it too.
bool addNodeMappings(std::string_view json, const GraphOrigin& origin, const std::string& keyPrefix,
                     CaptureDetails& details, NameByteBudget& budget);

}  // namespace kerf::inline capture::trace
