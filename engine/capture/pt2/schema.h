// Numbers that torch.export's schema gives to dtypes, layouts and memory formats (not those of c10), and its versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/tensor/device.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline capture::pt2 {

inline constexpr std::int64_t schemaMajor = 8;    ///< read; any minor
inline constexpr std::int64_t writtenMinor = 17;  ///< of archives that did not come from one
inline constexpr std::int64_t atenOpset = 10;     ///< torch._C._get_max_operator_version() of 2.11
inline constexpr std::int64_t positionalKind = 1, keywordKind = 2;

std::optional<DType> dtypeOf(std::int64_t number);
/// 0 (unknown) for a dtype that the schema lacks.
std::int64_t numberOf(DType dtype);
std::optional<Layout> layoutOf(std::int64_t number);
std::int64_t numberOf(Layout layout);
std::optional<MemoryFormat> memoryFormatOf(std::int64_t number);
std::int64_t numberOf(MemoryFormat format);

/// Dotted Python identifiers: what may stand as a target or another name of Python in a graph.
bool isDottedName(std::string_view text);
/// Letters, digits, operators and brackets of one symbolic expression as SymPy prints it ("2*s0 + 1", "Eq(u0, 4)").
bool isExpression(std::string_view text);

}  // namespace kerf::inline capture::pt2
