// JSON of the small unions of torch.export's schema.
#pragma once

#include <functional>
#include <string>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace kerf::inline capture::pt2 {

/// {"as_int": 4} or {"as_expr": …}; `hint` is the key of the hint ("as_int", "as_bool", "as_float").
std::string symbolJson(const SymExpr& symbol, std::string_view hint = "as_int");
std::string deviceJson(const Device& device);
/// `layout` is the schema's number. BadInput for a dtype that the schema lacks and for sizes without a value.
Result<std::string> tensorMetaJson(const TensorMeta& meta, std::int64_t layout);
/// {"name": "relu"}.
std::string nameJson(std::string_view name);
/// "a, b" of JSON texts.
std::string joined(const std::vector<std::string>& items);

/// How nodes appear in arguments; the graph writer knows.
class ArgumentNames {
 public:
  virtual ~ArgumentNames() = default;
  /// The union key of a node ("as_tensor", "as_sym_int", "as_sym_float", "as_sym_bool", "as_custom_obj", "as_graph").
  virtual std::string keyOf(NodeId node) const = 0;
  /// The value under that key.
  virtual Result<std::string> valueOf(NodeId node) const = 0;
};

/// One Argument object. BadInput for values that the schema has no place for.
Result<std::string> argumentJson(const Argument& argument, const ArgumentNames& names);

}  // namespace kerf::inline capture::pt2
