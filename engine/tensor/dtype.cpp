#include "engine/tensor/dtype.h"

#include <array>
#include <utility>

namespace kerf::inline tensor {
namespace {

using enum DTypeKind;

// In the order of the enum, so that a dtype is its own row number.
constexpr std::array<DTypeInfo, 21> dtypeTable{{
    {DType::Float64, "torch.float64", "f64", "F64", 8, Float},
    {DType::Float32, "torch.float32", "f32", "F32", 4, Float},
    {DType::Float16, "torch.float16", "f16", "F16", 2, Float},
    {DType::BFloat16, "torch.bfloat16", "bf16", "BF16", 2, Float},
    {DType::Float8E4M3FN, "torch.float8_e4m3fn", "f8e4m3fn", "F8_E4M3", 1, Float},
    {DType::Float8E5M2, "torch.float8_e5m2", "f8e5m2", "F8_E5M2", 1, Float},
    {DType::Float8E4M3FNUZ, "torch.float8_e4m3fnuz", "f8e4m3fnuz", "F8_E4M3FNUZ", 1, Float},
    {DType::Float8E5M2FNUZ, "torch.float8_e5m2fnuz", "f8e5m2fnuz", "F8_E5M2FNUZ", 1, Float},
    {DType::Float8E8M0FNU, "torch.float8_e8m0fnu", "f8e8m0fnu", "F8_E8M0", 1, Float},
    {DType::Complex32, "torch.complex32", "c32", "", 4, Complex},
    {DType::Complex64, "torch.complex64", "c64", "C64", 8, Complex},
    {DType::Complex128, "torch.complex128", "c128", "C128", 16, Complex},
    {DType::Int64, "torch.int64", "i64", "I64", 8, Integer},
    {DType::Int32, "torch.int32", "i32", "I32", 4, Integer},
    {DType::Int16, "torch.int16", "i16", "I16", 2, Integer},
    {DType::Int8, "torch.int8", "i8", "I8", 1, Integer},
    {DType::UInt64, "torch.uint64", "u64", "U64", 8, Integer},
    {DType::UInt32, "torch.uint32", "u32", "U32", 4, Integer},
    {DType::UInt16, "torch.uint16", "u16", "U16", 2, Integer},
    {DType::UInt8, "torch.uint8", "u8", "U8", 1, Integer},
    {DType::Bool, "torch.bool", "b8", "BOOL", 1, Bool},
}};

constexpr bool tableFollowsEnum() {
  for (std::size_t i = 0; i < dtypeTable.size(); ++i)
    if (std::size_t(dtypeTable[i].dtype) != i) return false;
  return std::size_t(DType::Bool) + 1 == dtypeTable.size();
}
static_assert(tableFollowsEnum());

constexpr std::array<std::pair<std::string_view, DType>, 11> aliases{{
    {"double", DType::Float64},
    {"float", DType::Float32},
    {"half", DType::Float16},
    {"long", DType::Int64},
    {"int", DType::Int32},
    {"short", DType::Int16},
    {"chalf", DType::Complex32},
    {"cfloat", DType::Complex64},
    {"cdouble", DType::Complex128},
    {"char", DType::Int8},
    {"byte", DType::UInt8},
}};

std::optional<DType> find(std::string_view DTypeInfo::* field, std::string_view name) {
  if (name.empty()) return {};
  for (const auto& row : dtypeTable)
    if (row.*field == name) return row.dtype;
  return {};
}

}  // namespace

const DTypeInfo& dtypeInfo(DType dtype) { return dtypeTable[std::size_t(dtype)]; }

std::optional<DType> dtypeFromTorchName(std::string_view name) {
  constexpr std::string_view prefix = "torch.";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  for (const auto& row : dtypeTable)
    if (row.torchName.substr(prefix.size()) == name) return row.dtype;
  for (const auto& [alias, dtype] : aliases)
    if (alias == name) return dtype;
  return {};
}

std::optional<DType> dtypeFromShortCode(std::string_view code) { return find(&DTypeInfo::shortCode, code); }

std::optional<DType> dtypeFromSafetensorsName(std::string_view name) { return find(&DTypeInfo::safetensorsName, name); }

}  // namespace kerf::inline tensor
