// Flight records as JSON: what torch._C._distributed_c10d._dump_nccl_trace_json gives, and what json.dump makes of a
// record that was unpickled.
#pragma once

#include <string_view>

#include "engine/capture/pt2/pickle.h"

namespace kerf::inline distributed::inline doctor {

/// Whether the head of a file is that of a JSON object with a flight record's keys: "entries" with sequence numbers, or
/// "pg_config". A list of such objects, or one object per line, is something else.
bool looksLikeFlightJson(std::string_view head);
/// The document as values that refer to each other like those of a pickle. BadInput where it is no JSON or nested deeper
/// than a record is, TooLarge beyond `maxValues` values.
Result<capture::pt2::Pickle> readFlightJson(std::string_view text, std::size_t maxValues);

}  // namespace kerf::inline distributed::inline doctor
