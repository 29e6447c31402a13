// The JSON header of a safetensors file, parsed without trusting it. Private to engine/tensor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::Float32;
  Sizes sizes;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// BadInput when the text is not JSON, nests deeper than the format, lacks a field, or names a tensor twice.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view text);

}  // namespace kerf::inline tensor
