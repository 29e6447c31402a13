// OpId: the interned name of what a call_function node calls; one number for every spelling of one op.
//
//     "torch.ops.aten.relu", "torch.ops.aten.relu.default", "aten.relu.default"      →      one OpId
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace kerf::inline ir {

/// 0 is no op. Numbers differ from process to process: store names, never numbers.
struct OpId {
  std::uint32_t index = 0;
  explicit operator bool() const { return index != 0; }
  auto operator<=>(const OpId&) const = default;
};

/// "aten.relu.default" of "torch.ops.aten.relu", "operator.getitem" of "_operator.getitem"; other names stay.
std::string canonicalOpName(std::string_view target);

/// The number of a target, for good. For names that this program knows; graphs use `opIdOf`.
OpId internOp(std::string_view target);
/// The number of a target of a graph. Names that strangers' files invent are remembered up to a limit; OpId{} beyond
/// it.
OpId opIdOf(std::string_view target);
/// The number of a target that has one already, else OpId{}.
OpId knownOp(std::string_view target);
/// Canonical name; empty for OpId{}.
std::string_view opName(OpId op);

namespace detail {

/// Text of an op literal as a template argument.
template <std::size_t N>
struct OpText {
  char text[N];
  consteval OpText(const char (&literal)[N]) {  // NOLINT: a literal stands for itself
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
};

OpId internLiteral(std::string_view target);

/// Safe in initializers of other globals too.
template <OpText text>
OpId literalId() {
  static const OpId op = internLiteral({text.text, sizeof(text.text) - 1});
  return op;
}
/// Interns every literal of the program when it starts, used or not.
template <OpText text>
inline const OpId opLiteral = literalId<text>();

}  // namespace detail

/// `"aten.add.Tensor"_op`: interned once, when the program starts.
template <detail::OpText text>
OpId operator""_op() {
  (void)detail::opLiteral<text>;
  return detail::literalId<text>();
}

/// Every `_op` literal of this program; a test looks each of them up in the op table.
std::span<const OpId> opLiterals();

}  // namespace kerf::inline ir

template <>
struct std::hash<kerf::OpId> {
  std::size_t operator()(kerf::OpId op) const noexcept { return op.index; }
};
