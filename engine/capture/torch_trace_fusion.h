// Inductor's provenance records to fusion groups: which graph nodes each generated kernel came from (formats B.1).
#pragma once

#include "engine/capture/capture_details.h"

namespace kerf::trace {

/// True for artifacts that hold provenance maps.
bool isProvenanceArtifact(std::string_view name);

/// Adds the maps of one such payload to details. `keyPrefix` stands before node names ("[0/0] "). False if it is no
/// JSON of that kind (what was read before the damage stays).
bool addProvenance(std::string_view json, std::string_view name, const GraphOrigin& origin,
                   const std::string& keyPrefix, CaptureDetails& details);

/// Reads {"preToPost": …, "postToPre": …, "cppCodeToPost": …, …} as TORCH_COMPILE_DEBUG writes it too.
bool addNodeMappings(std::string_view json, const GraphOrigin& origin, const std::string& keyPrefix,
                     CaptureDetails& details);

}  // namespace kerf::trace
