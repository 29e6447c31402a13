// The shape reading of the op table.

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_numbers.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

class ShapeOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const ShapeEnv* env = ShapeEnv::current();
    if (env != nullptr && !env->symbols().empty() && holdsSymbolic(args))
      if (auto result = callOnSymbols(target, args, kwargs)) return std::move(*result);
    const OpInfo* op = findOp(target);
    if (!op && callsWithoutRow().isPython(target.text))
      return callsWithoutRow().python(target.text, args, kwargs, *this);
    if (op != nullptr)
      if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
    return inferShapes(target, args, kwargs);
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callsWithoutRow().higherOrder(target.text, args, kwargs, subgraphs, *this, true);
  }
};

}  // namespace

const OpCaller& shapeOps() {
  static const ShapeOps instance;
  return instance;
}

}  // namespace kerf::inline ops
