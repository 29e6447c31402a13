// Device, layout and memory format: the small enumerations that tensors and op arguments share.
#pragma once

#include <cstdint>
#include <string>

namespace kerf::inline tensor {

struct Device {
  std::string type = "cpu";  ///< "cpu", "cuda", "meta", …
  int index = -1;            ///< -1 when the text gave none
  bool operator==(const Device&) const = default;
  /// "cpu", "cuda:0": as print_readable writes it.
  std::string text() const { return index < 0 ? type : type + ":" + std::to_string(index); }
};

enum class Layout : std::uint8_t { Strided, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Mkldnn, Jagged };

enum class MemoryFormat : std::uint8_t { Contiguous, ChannelsLast, ChannelsLast3d, Preserve };

}  // namespace kerf::inline tensor
