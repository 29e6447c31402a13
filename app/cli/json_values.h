// Values of --json objects that several commands write alike.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// null instead of an empty text.
inline Json orNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace kerf::cli
