#include "engine/capture/pt2/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/ir/graph.h"

namespace kerf::inline capture::pt2 {
namespace {

template <class T>
using Row = std::pair<std::int64_t, T>;

constexpr auto dtypes = std::to_array<Row<DType>>({{1, DType::UInt8},           {2, DType::Int8},
                                                   {3, DType::Int16},           {4, DType::Int32},
                                                   {5, DType::Int64},           {6, DType::Float16},
                                                   {7, DType::Float32},         {8, DType::Float64},
                                                   {9, DType::Complex32},       {10, DType::Complex64},
                                                   {11, DType::Complex128},     {12, DType::Bool},
                                                   {13, DType::BFloat16},       {28, DType::UInt16},
                                                   {29, DType::Float8E4M3FN},   {30, DType::Float8E5M2},
                                                   {31, DType::Float8E4M3FNUZ}, {32, DType::Float8E5M2FNUZ},
                                                   {33, DType::Float8E8M0FNU},  {34, DType::UInt32},
                                                   {35, DType::UInt64}});
constexpr auto layouts = std::to_array<Row<Layout>>({{1, Layout::SparseCoo},
                                                     {2, Layout::SparseCsr},
                                                     {3, Layout::SparseCsc},
                                                     {4, Layout::SparseBsr},
                                                     {5, Layout::SparseBsc},
                                                     {6, Layout::Mkldnn},
                                                     {7, Layout::Strided}});
constexpr auto memoryFormats = std::to_array<Row<MemoryFormat>>({{1, MemoryFormat::Contiguous},
                                                                 {2, MemoryFormat::ChannelsLast},
                                                                 {3, MemoryFormat::ChannelsLast3d},
                                                                 {4, MemoryFormat::Preserve}});

template <class Table>
auto valueOf(const Table& table, std::int64_t number) {
  const auto found = std::ranges::find(table, number, [](const auto& row) { return row.first; });
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

template <class Table, class T>
std::int64_t numberIn(const Table& table, T value) {
  const auto found = std::ranges::find(table, value, [](const auto& row) { return row.second; });
  return found == table.end() ? 0 : found->first;
}

}  // namespace

std::optional<DType> dtypeOf(std::int64_t number) { return valueOf(dtypes, number); }
std::int64_t numberOf(DType dtype) { return numberIn(dtypes, dtype); }
std::optional<Layout> layoutOf(std::int64_t number) { return valueOf(layouts, number); }
std::int64_t numberOf(Layout layout) { return numberIn(layouts, layout); }
std::optional<MemoryFormat> memoryFormatOf(std::int64_t number) { return valueOf(memoryFormats, number); }
std::int64_t numberOf(MemoryFormat format) { return numberIn(memoryFormats, format); }

bool isDottedName(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const bool ascii = std::ranges::all_of(part, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    // A keyword is no identifier but may be an attribute's name in the schema ("torch.ops.aten.lambda" does not exist).
    if (!ascii || !isPythonIdentifier(part)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool isExpression(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ +-*/%(),.<>=!&|~^";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace kerf::inline capture::pt2
