// CallDraft: one attempt at a call: arguments set by a recipe of the op's family, the rest drawn by type and name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/fuzzgraph/graph_builder.h"

namespace kerf::fuzzgraph {

class CallDraft {
 public:
  CallDraft(GraphBuilder& builder, const OpInfo& op) : build(builder), dice(builder.dice), m_op(op) {}

  GraphBuilder& build;
  Dice& dice;

  const OpInfo& op() const { return m_op; }
  bool has(std::string_view name) const;
  /// The operand of that name, if it is set or drawn by now.
  const Operand* find(std::string_view name) const;
  void set(std::string_view name, Operand operand);
  /// A number, a list of sizes, …: what is the same in the graph and when it runs.
  void set(std::string_view name, const Value& value);
  void setSizes(std::string_view name, const Sizes& values) { set(name, listOf(values)); }
  /// As setSizes; in a symbolic graph the sizes are nodes.
  void setSymSizes(std::string_view name, const Sizes& values);

  static Operand constant(const Value& value);
  static Operand listOf(const Sizes& values);

  // Tensors
  /// The first tensor among what is set; null if none is.
  const Tensor* first() const;
  std::int64_t firstRank() const { return first() ? first()->dim() : 0; }
  /// A tensor of the graph for which `fitting` holds, or nothing.
  std::optional<Operand> existing(const std::function<bool(const Tensor&)>& fitting);
  /// Floating (the theme's dtype, else float32) of that rank: of the graph if it has one, else new.
  Operand floatOfRank(std::size_t rank, Sizes sizes = {});
  Operand floats(const Sizes& sizes, Interval range = {-2, 2});
  /// Integers in [0, bound).
  Operand indices(const Sizes& sizes, std::int64_t bound, DType dtype = DType::Int64);
  Operand bools(const Sizes& sizes) { return build.fresh(DType::Bool, sizes, {}); }
  DType floatDType() const { return m_floatDType; }

  /// Draws what is missing. False where there is nothing to draw.
  bool complete();
  bool keep();

 private:
  bool draw(const SchemaArgument& argument);
  PlannedCall plan() const;

  const OpInfo& m_op;
  std::map<std::string, Operand, std::less<>> m_operands;
  DType m_floatDType = isFloating(build.theme.dtype) ? build.theme.dtype : DType::Float32;
};

/// Sets some of the arguments of ops of its family; false where nothing in the graph or of its making would do.
using CallRecipe = bool (*)(CallDraft&);
/// The recipe for an op; null where drawing by type and name is enough.
CallRecipe findRecipe(const OpInfo& op);

/// Draws by the type of the argument and by its name.
std::optional<Operand> drawArgument(CallDraft& draft, const SchemaArgument& argument);
std::optional<Operand> drawTensorArgument(CallDraft& draft, const SchemaArgument& argument);

}  // namespace kerf::fuzzgraph
