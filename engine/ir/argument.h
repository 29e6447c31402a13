// Argument: everything that may stand in the args or kwargs of an FX node, as one closed variant.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/support/python_float.h"
#include "engine/tensor/device.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline ir {

/// Names one node of one Graph. Stable for the node's life; never reused in the same Graph.
struct NodeId {
  std::uint32_t index = UINT32_MAX;
  bool valid() const { return index != UINT32_MAX; }
  auto operator<=>(const NodeId&) const = default;
};

/// A symbolic integer expression as PyTorch prints it ("s0", "2*s0 + 1") and its example value, if known.
struct SymExpr {
  std::string text;
  std::optional<std::int64_t> hint;
  bool operator==(const SymExpr&) const = default;
};

struct Ellipsis {
  bool operator==(const Ellipsis&) const = default;
};
struct ComplexNumber {
  double real = 0;
  double imag = 0;
  bool operator==(const ComplexNumber&) const = default;
};
/// Attribute path of a nested GraphModule (higher-order ops): prints as that path.
struct SubgraphRef {
  std::string path;
  bool operator==(const SubgraphRef&) const = default;
};
/// A dotted Python name kept as text (an op or an enum passed as a value, e.g. `torch.ops.aten.add.Tensor`).
struct PythonName {
  std::string text;
  bool operator==(const PythonName&) const = default;
};

class Argument;
using ArgumentList = std::vector<Argument>;

struct ListArgument {
  ArgumentList items;
  bool isTuple = false;
  bool operator==(const ListArgument&) const;
};
/// Always three items: start, stop, step (none where absent).
struct SliceArgument {
  ArgumentList items;
  bool operator==(const SliceArgument&) const;
};
struct DictArgument {
  std::vector<std::pair<std::string, Argument>> items;
  bool operator==(const DictArgument&) const;
};

class Argument {
 public:
  using Variant =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, NodeId, SymExpr, DType, Device, Layout,
                   MemoryFormat, Ellipsis, ComplexNumber, SubgraphRef, PythonName, std::shared_ptr<const ListArgument>,
                   std::shared_ptr<const SliceArgument>, std::shared_ptr<const DictArgument>>;

  Argument() = default;
  Argument(bool value);           // NOLINT: boxing, like Python
  Argument(std::int64_t value);   // NOLINT
  Argument(int value);            // NOLINT
  Argument(double value);         // NOLINT
  Argument(std::string value);    // NOLINT
  Argument(const char* value);    // NOLINT
  Argument(NodeId value);         // NOLINT
  Argument(SymExpr value);        // NOLINT
  Argument(DType value);          // NOLINT
  Argument(Device value);         // NOLINT
  Argument(Layout value);         // NOLINT
  Argument(MemoryFormat value);   // NOLINT
  Argument(Ellipsis value);       // NOLINT
  Argument(ComplexNumber value);  // NOLINT
  Argument(SubgraphRef value);    // NOLINT
  Argument(PythonName value);     // NOLINT
  Argument(ListArgument value);   // NOLINT
  Argument(SliceArgument value);  // NOLINT
  Argument(DictArgument value);   // NOLINT
  Argument(const Argument&);
  Argument(Argument&&) noexcept;
  Argument& operator=(const Argument&);
  Argument& operator=(Argument&&) noexcept;
  ~Argument();

  static Argument list(ArgumentList items) { return ListArgument{std::move(items), false}; }
  static Argument tuple(ArgumentList items) { return ListArgument{std::move(items), true}; }

  bool isNone() const { return std::holds_alternative<std::monostate>(m_value); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&m_value);
  }
  const ListArgument* asList() const { return pointee<ListArgument>(); }
  const SliceArgument* asSlice() const { return pointee<SliceArgument>(); }
  const DictArgument* asDict() const { return pointee<DictArgument>(); }
  const Variant& variant() const { return m_value; }

  /// Deep equality; NaN equals NaN, and 0.0 differs from -0.0 (so equal arguments print alike).
  bool operator==(const Argument& other) const;

 private:
  template <class T>
  const T* pointee() const {
    const auto* held = std::get_if<std::shared_ptr<const T>>(&m_value);
    return held ? held->get() : nullptr;
  }
  Variant m_value;
};

using KeywordArguments = std::vector<std::pair<std::string, Argument>>;

/// Calls visit(NodeId) for every node mentioned, in FX's order (left to right, depth first).
void forEachNode(const Argument& argument, const std::function<void(NodeId)>& visit);
/// Copy with every node replaced by map(node) (torch.fx.node.map_arg).
Argument mapNodes(const Argument& argument, const std::function<Argument(NodeId)>& map);

/// Python's repr() of a str.
std::string pythonString(std::string_view text);

}  // namespace kerf::inline ir

template <>
struct std::hash<kerf::NodeId> {
  std::size_t operator()(kerf::NodeId id) const noexcept { return id.index; }
};
