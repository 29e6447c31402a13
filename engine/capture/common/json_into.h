// What readers of JSON in place do with a member's value: take it where it has the form, and pass over all else.
#pragma once

#include "engine/capture/common/json.h"

namespace kerf::inline capture {

/// Passes over one value, whatever it is.
inline Result<void> passOver(JsonCursor& json) {
  KERF_CHECK(json.skip());
  return {};
}

/// The string at the cursor; a value of another kind is passed over.
inline Result<void> takeString(JsonCursor& json, std::string& text) {
  if (json.peek() != '"') return passOver(json);
  KERF_TRY(text, json.string());
  return {};
}

}  // namespace kerf::inline capture
