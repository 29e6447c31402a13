// DevicePut: writes by index on the device: rows for one place are sorted to lie together and combined in their order, in
// pieces of 32 whose parts are combined in pieces again, so that no two runs differ and many rows for one place take no longer.
#pragma once

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

enum class PutKind : std::uint8_t { Assign, Sum, Product, Mean, Max, Min };

/// "sum", "add", "prod", "multiply", "mean", "amax", "amin"; none for other names.
std::optional<PutKind> putKindNamed(std::string_view reduction);

/// out[places[n], :] = self[...] combined with values[n, :] for all rows n. `out` is seen as places × a rest of dimensions.
struct DevicePut {
  PutKind kind = PutKind::Sum;
  double factor = 1;             ///< that values are multiplied by; a whole number for integers
  bool includesSelf = true;      ///< where not, places that get something forget what they had
  const Tensor* self = nullptr;  ///< null: zeros. `out` itself where it is written in place
  const Tensor* out = nullptr;

  /// Index tensors and their strides over `rows`; tensor k names a place of dimension `indexed[k]` of out.
  std::vector<const Tensor*> indices;
  std::vector<Sizes> indexStrides;
  std::vector<std::size_t> indexed;
  bool wraps = true;          ///< a negative index counts from the end
  std::int64_t skipped = -1;  ///< an index that is left out; negative: none

  Sizes rows;                        ///< what the index tensors are seen with
  std::vector<std::size_t> along;    ///< dimensions of out whose place is the one in `rows`
  std::vector<std::size_t> rowDims;  ///< for each of `along`: which dimension of `rows`
  std::vector<std::size_t> rest;     ///< all other dimensions of out, in order

  DeviceAddress values = 0;    ///< of out's dtype
  Sizes valueRows, valueRest;  ///< strides over rows, and over the rest
};

/// False where the kernels do not take it: nothing has been done.
Result<bool> putRows(const DeviceCall& call, const DevicePut& put);

/// Elements along lines, each line by one block. False where that does not take it: nothing has been done.
Result<bool> putAlongLines(const DeviceCall& call, const DevicePut& put);

/// Places that a thread has under way at once, and values of each that it reads ahead.
struct PutDepth {
  int places = 1, ahead = 1;
};
/// What putSource() and its like are compiled with.
KernelMacros putMacros(DType dtype, PutKind kind, std::int64_t keyBytes, std::int64_t vector, bool simple,
                       PutDepth depth);

/// Whether rows can be written into tensors of this type.
bool putTakes(DType dtype, PutKind kind);

/// Whether writing `self` in place would write over the values.
inline bool sharesWrites(const Tensor& self, const Tensor& out, const Tensor& values) {
  return self.storage() == out.storage() && values.storage() == out.storage();
}

/// One element of `dtype` on the device: a number that a call was given.
Result<DeviceAddress> numberOnDevice(const DeviceParts& on, DType dtype, const Value& number);

/// Strides of a tensor seen with these sizes, which end as its own do or repeat them.
std::optional<Sizes> repeatedStrides(const Tensor& tensor, const Sizes& sizes);

/// `from`, seen with `to`'s sizes and these strides, becomes `to`: of one dtype.
Result<void> copyInto(const DeviceCall& call, const Tensor& from, const Sizes& fromStrides, const Tensor& to);

std::string_view putSource();

}  // namespace kerf::inline backend
