// Lines that a block sorts in its shared memory: what sort, topk and writes along lines do where lines are short.
#pragma once

#include <optional>

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

/// How a block of `warps` warps holds a line: `each` keys of every thread.
struct LineForm {
  int warps = 16, each = 8;
  std::int64_t most() const { return std::int64_t{32} * warps * each; }
};
/// The smallest block for lines of so many keys; none where they do not fit into shared memory.
std::optional<LineForm> lineFormOf(std::int64_t size, std::int64_t keyBytes);
/// W and EACH of sources that begin with lineSource().
KernelMacros lineMacros(LineForm form);

/// kerf_before<WARPS>: the sum of what a block's threads have before each of them.
std::string_view prefixSource();
/// That and kerf_sort_block: K own[EACH] of every thread, sorted by some of their bits; equal keys stay in their order.
std::string_view lineSource();

/// kerf_ordered(x): a value's key K in the order of values.
std::string_view keySource();
/// T and K, the key of values of this type.
KernelMacros orderMacros(DType dtype);

/// Lines along one dimension of a tensor, in the order of their values.
struct OrderedLines {
  DeviceAddress from = 0, values = 0, places = 0;  ///< values: 0 where nobody wants them
  DeviceShape lines, valueLines, placeLines;
  std::int64_t size = 0, step = 0, valueStep = 0, placeStep = 0, first = 0, kept = 0, count = 0;  ///< count: of lines
  int descending = 0, low = 0, high = 32;  ///< bits that tell keys apart
  int unused = 0;
};
/// The places from `first` on of each line's order, `kept` of them, by one block for each line. False where lines are
/// too long for that, or too few to keep the device busy.
Result<bool> orderLines(const DeviceCall& call, const OrderedLines& lines, const KernelMacros& macros,
                        std::int64_t keyBytes);

}  // namespace kerf::inline backend
