// JSON that fits: long lists and texts are cut, and say how much is missing.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

/// At most `most` bytes when written; what is cut says so in its place: {"left_out": 120}, "… 4000 more bytes".
Json boundedJson(const Json& value, std::size_t most);

/// "/nodes/3" of a document: BadUsage where nothing is there.
Result<Json> partOfJson(const Json& document, const std::string& pointer);

}  // namespace kerf::cli
