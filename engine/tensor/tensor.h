// Tensor: a strided, typed look at a Storage; a cheap handle, copied like torch.Tensor (copies share the storage).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/support/result.h"
#include "engine/symbolic/sym_sizes.h"
#include "engine/tensor/device.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/storage.h"

namespace kerf::inline tensor {

/// Row-major strides as torch computes them (size-0 and size-1 dims count as 1).
Sizes contiguousStrides(const Sizes& sizes);
SymSizes contiguousStrides(const SymSizes& sizes);
/// Product of sizes.
SymInt symProduct(const SymSizes& sizes);
/// Product of sizes, or TooLarge on overflow, BadInput on a negative size.
Result<std::int64_t> checkedNumel(const Sizes& sizes);

class Tensor {
 public:
  // Not inline: handles are copied and dropped all over the kernels' cold parts.
  Tensor();
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();
  /// Only a tensor without storage may have symbolic sizes.
  Tensor(StoragePtr storage, DType dtype, SymSizes sizes, SymSizes strides, SymInt offset = 0);

  /// Zero-filled contiguous tensor with storage of its own.
  static Result<Tensor> zeros(DType dtype, const Sizes& sizes);
  /// Zero-filled tensor with the given strides (non-negative); the storage is just large enough.
  static Result<Tensor> zerosStrided(DType dtype, const Sizes& sizes, const Sizes& strides);
  /// 0-d tensor holding `value` converted to `dtype`.
  static Tensor scalar(double value, DType dtype);
  static Tensor scalarInt(std::int64_t value, DType dtype);

  bool defined() const { return m_storage != nullptr; }
  const StoragePtr& storage() const { return m_storage; }
  DType dtype() const { return m_dtype; }
  /// The numbers. Of a symbolic tensor they are the hints, which become guards: shape rules ask for symSizes().
  const Sizes& sizes() const {
    if (m_isSymbolic) [[unlikely]]
      specialise();
    return m_sizes.numbers();
  }
  const Sizes& strides() const {
    if (m_isSymbolic) [[unlikely]]
      specialise();
    return m_strides.numbers();
  }
  std::int64_t size(std::int64_t dim) const { return m_sizes[std::size_t(dim)]; }
  std::int64_t stride(std::int64_t dim) const { return m_strides[std::size_t(dim)]; }
  std::int64_t offset() const { return m_offset; }  ///< in elements
  std::int64_t dim() const { return std::int64_t(m_sizes.size()); }
  std::int64_t numel() const;
  /// As they are, numbers or expressions; nothing is decided.
  const SymSizes& symSizes() const { return m_sizes; }
  const SymSizes& symStrides() const { return m_strides; }
  SymInt symSize(std::int64_t dim) const { return m_sizes[std::size_t(dim)]; }
  SymInt symStride(std::int64_t dim) const { return m_strides[std::size_t(dim)]; }
  SymInt symOffset() const { return m_offset; }
  SymInt symNumel() const { return symProduct(m_sizes); }
  bool isSymbolic() const { return m_isSymbolic; }
  std::int64_t byteSize() const { return numel() * itemSize(m_dtype); }
  /// Of a symbolic tensor this guards; one whose strides depend on data is not contiguous where it is not known.
  bool isContiguous() const;

  const Device& device() const { return m_device; }
  void setDevice(Device device) { m_device = std::move(device); }
  bool requiresGrad = false;
  bool isLeaf = false;
  /// Which value of a trace this handle stands for (see OpTracer); -1: none. Copies of the handle keep it, views and
  /// conversions, which are other values, do not.
  int traced = -1;

  /// First element; T must be the C++ type of dtype() (float, double, Half, BFloat16, intN_t, uintN_t, bool).
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(m_storage->data()) + m_offset;
  }

  /// Same storage seen with other sizes, strides and offset (as_strided). Does not check bounds; see inBounds().
  Tensor viewAs(SymSizes sizes, SymSizes strides, SymInt offset) const;
  /// Whether every element lies inside the storage. Importers must refuse a tensor that does not.
  bool inBounds() const;
  /// Contiguous copy, or this handle itself when it is contiguous already.
  Result<Tensor> contiguous() const;
  /// Deep copy that keeps sizes; contiguous strides.
  Result<Tensor> clone() const;
  /// Deep copy that keeps sizes and strides (overlapping or holey strides too).
  Result<Tensor> clonePreservingStrides() const;
  /// Converted copy (or this handle when the dtype matches). Rounds to nearest even, bool is `!= 0`,
  /// float to integer truncates.
  Result<Tensor> to(DType dtype) const;
  /// Element at a flat logical (row-major) index as double / int64: slow, for tests, printing and small checks.
  double itemAsDouble(std::int64_t index = 0) const;
  std::int64_t itemAsInt(std::int64_t index = 0) const;

 private:
  void specialise() const;
  bool isSymContiguous() const;

  StoragePtr m_storage;
  DType m_dtype = DType::Float32;
  mutable bool m_isSymbolic = false;
  mutable SymSizes m_sizes;  ///< specialise() puts numbers in, which is what a guard says they are
  mutable SymSizes m_strides;
  mutable SymInt m_offset = 0;
  Device m_device;
};

}  // namespace kerf::inline tensor
