// PrintedSchemas: what a text says of operators that only its author has, beside the graphs that call them.
//
//     mylib::norm(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
//     lib.define("norm(…) -> Tensor") needs its library's name: "mylib::norm" in front of it
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {

class PrintedSchemas {
 public:
  explicit PrintedSchemas(std::string_view text);

  /// Calls of these operators, unless Kerf knows them: a result that is one of the arguments has that argument's type.
  /// `notes` hears once of each operator that it is known by its schema, and what it writes to.
  void apply(Graph& graph, std::vector<std::string>* notes);

 private:
  struct Printed {
    OpSchema schema;
    bool told = false;
  };
  Printed* of(const Node& node);

  std::vector<Printed> m_schemas;
};

}  // namespace kerf::inline capture
