#include "engine/tensor/npy.h"

#include <array>
#include <optional>
#include <span>
#include <string>

#include "engine/support/atomic_file.h"

namespace kerf::inline tensor {

namespace {

/// NumPy's name of a dtype on a little-endian machine; none where NumPy has none.
std::optional<std::string_view> numpyName(DType dtype) {
  constexpr std::pair<DType, std::string_view> names[] = {
      {DType::Float64, "<f8"},     {DType::Float32, "<f4"}, {DType::Float16, "<f2"}, {DType::Complex64, "<c8"},
      {DType::Complex128, "<c16"}, {DType::Int64, "<i8"},   {DType::Int32, "<i4"},   {DType::Int16, "<i2"},
      {DType::Int8, "|i1"},        {DType::UInt64, "<u8"},  {DType::UInt32, "<u4"},  {DType::UInt16, "<u2"},
      {DType::UInt8, "|u1"},       {DType::Bool, "|b1"}};
  for (const auto& [known, name] : names)
    if (known == dtype) return name;
  return std::nullopt;
}

/// "(2, 3)", "(2,)", "()"
std::string shapeText(const Sizes& sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

/// Magic, version, length and dict, padded so that the elements begin at a multiple of 64.
std::string headerOf(std::string_view name, const Sizes& sizes) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", name, shapeText(sizes));
  constexpr std::size_t prefix = 10, alignment = 64;
  dict.append(alignment - 1 - (prefix + dict.size()) % alignment, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(dict.size() & 0xff);
  header += char(dict.size() >> 8);
  return header + dict;
}

}  // namespace

Result<void> writeNpy(const std::filesystem::path& path, const Tensor& tensor) {
  KERF_TRY(Tensor dense, tensor.contiguous());
  auto name = numpyName(dense.dtype());
  if (!name) {
    KERF_TRY(dense, dense.to(isComplex(dense.dtype()) ? DType::Complex64 : DType::Float32));
    name = numpyName(dense.dtype());
  }
  const std::string header = headerOf(*name, dense.sizes());
  const auto start = std::size_t(dense.offset() * itemSize(dense.dtype()));
  const std::span<const std::byte> elements = dense.storage()->view().subspan(start, std::size_t(dense.byteSize()));
  const std::array pieces{std::as_bytes(std::span(header)), elements};
  return writeFileAtomically(path, pieces);
}

}  // namespace kerf::inline tensor
