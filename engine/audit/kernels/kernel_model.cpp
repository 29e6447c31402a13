#include "engine/audit/kernels/kernel_model.h"

#include <algorithm>
#include <array>

namespace kerf::inline audit {
namespace {

struct TypeName {
  std::string_view written, type;
  int bytes;
};

constexpr std::array<TypeName, 38> typeNames = {{
    {"float32", "float32", 4},
    {"fp32", "float32", 4},
    {"float", "float32", 4},
    {"float64", "float64", 8},
    {"fp64", "float64", 8},
    {"double", "float64", 8},
    {"float16", "float16", 2},
    {"fp16", "float16", 2},
    {"half", "float16", 2},
    {"at::Half", "float16", 2},
    {"c10::Half", "float16", 2},
    {"bfloat16", "bfloat16", 2},
    {"bf16", "bfloat16", 2},
    {"at::BFloat16", "bfloat16", 2},
    {"c10::BFloat16", "bfloat16", 2},
    {"int64", "int64", 8},
    {"i64", "int64", 8},
    {"int64_t", "int64", 8},
    {"long", "int64", 8},
    {"int32", "int32", 4},
    {"i32", "int32", 4},
    {"int32_t", "int32", 4},
    {"int", "int32", 4},
    {"int16", "int16", 2},
    {"i16", "int16", 2},
    {"int16_t", "int16", 2},
    {"int8", "int8", 1},
    {"i8", "int8", 1},
    {"int8_t", "int8", 1},
    {"uint8", "uint8", 1},
    {"u8", "uint8", 1},
    {"uint8_t", "uint8", 1},
    {"bool", "bool", 1},
    {"i1", "bool", 1},
    {"int1", "bool", 1},
    {"complex64", "complex64", 8},
    {"uint32", "uint32", 4},
    {"uint64", "uint64", 8},
}};

}  // namespace

std::string elementType(std::string_view name) {
  for (const std::string_view prefix : {"torch.", "tl.", "const ", "*"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  while (name.ends_with('*') || name.ends_with(' ')) name.remove_suffix(1);
  const auto found = std::ranges::find(typeNames, name, &TypeName::written);
  return found == typeNames.end() ? std::string() : std::string(found->type);
}

int elementBytes(std::string_view type) {
  const auto found = std::ranges::find(typeNames, type, &TypeName::type);
  return found == typeNames.end() ? 0 : found->bytes;
}

bool isFloatType(std::string_view type) { return type.starts_with("float") || type == "bfloat16"; }

bool addsByName(std::string_view kernel) {
  static constexpr std::array<std::string_view, 5> adding = {"scatter_add", "embedding_dense_backward", "index_add",
                                                             "scatter_reduce", "embedding_backward"};
  static constexpr std::array<std::string_view, 4> setting = {"index_put", "index_copy", "index_fill",
                                                              "masked_scatter"};
  const auto has = [&](std::string_view each) { return kernel.find(each) != std::string_view::npos; };
  std::size_t scatters = 0, adds = 0;  // scatter alone sets
  for (std::size_t at = kernel.find("scatter"); at != std::string_view::npos; at = kernel.find("scatter", at + 1)) {
    ++scatters;
    adds += kernel.substr(at).starts_with("scatter_add") || kernel.substr(at).starts_with("scatter_reduce") ? 1 : 0;
  }
  return std::ranges::any_of(adding, has) && std::ranges::none_of(setting, has) && scatters == adds;
}

int KernelModel::find(std::string_view parameter) const {
  const auto found = std::ranges::find(parameters, parameter, &KernelParameter::name);
  return found == parameters.end() ? -1 : int(found - parameters.begin());
}

bool KernelModel::isUsed(int parameter) const {
  return std::ranges::any_of(accesses, [&](const KernelAccess& each) { return each.parameter == parameter; });
}

}  // namespace kerf::inline audit
