#include "engine/autograd/pure_forms.h"

#include <algorithm>

#include "engine/ops/core/memory_use.h"

namespace kerf::inline autograd {
namespace {

const OpInfo& known(OpId op) { return *findOp(op); }

/// native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps), as PyTorch's
/// functionalization calls it: in training the new statistics are results, otherwise there are none.
PureForm batchNorm(const BoundArguments& call) {
  const ValueList& v = call.values;
  PureForm form{.op = nullptr, .arguments = {}, .writes = {}, .results = {0, 1, 2}};
  if (!call.boolean(5)) {
    form.op = &known("aten._native_batch_norm_legit_no_training.default"_op);
    form.arguments = {v[0], v[1], v[2], v[3], v[4], v[6], v[7]};
  } else if (call.none(3)) {
    form.op = &known("aten._native_batch_norm_legit.no_stats"_op);
    form.arguments = {v[0], v[1], v[2], v[5], v[6], v[7]};
  } else {
    form.op = &known("aten._native_batch_norm_legit_functional.default"_op);
    form.arguments = v;
    form.writes = {{3, 3}, {4, 4}};
  }
  return form;
}

PureForm batchNormWithUpdate(const BoundArguments& call) {
  return {.op = &known("aten._batch_norm_with_update_functional.default"_op),
          .arguments = call.values,
          .writes = {{3, 4}, {4, 5}},
          .results = {0, 1, 2, 3}};
}

struct Row {
  OpId op;
  PureForm (*form)(const BoundArguments&);
};

const Row* findRow(OpId op) {
  static const Row rows[] = {
      {"aten.native_batch_norm.default"_op, batchNorm},
      {"aten._native_batch_norm_legit.default"_op, batchNorm},
      {"aten._batch_norm_with_update.default"_op, batchNormWithUpdate},
  };
  const auto* found = std::ranges::find(rows, op, &Row::op);
  return found == std::end(rows) ? nullptr : found;
}

/// "aten.add.Tensor" of "aten.add_.Tensor": the op's base, or the op of that name with the same arguments.
const OpInfo* pureOpOf(const OpInfo& op) {
  if (const OpInfo* base = findOp(op.base)) return base;
  std::string name = op.schema.name;
  if (!name.ends_with('_')) return nullptr;
  name.pop_back();
  std::ranges::replace(name, ':', '.');
  name.erase(name.find('.'), 1);
  const std::string overload = op.schema.overload.empty() ? "default" : op.schema.overload;
  const OpInfo* found = findOp(OpTarget(name + "." + overload));
  return found != nullptr && found->schema.arguments.size() == op.schema.arguments.size() ? found : nullptr;
}

}  // namespace

bool mayWrite(const OpInfo& op) {
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i)
    if (writesTo(op, i)) return true;
  return false;
}

Result<PureForm> pureFormOf(const BoundArguments& call) {
  const OpInfo& op = *call.op;
  if (const Row* row = findRow(op.id)) return row->form(call);
  const OpInfo* pure = pureOpOf(op);
  const bool resizes = op.schema.name.starts_with("aten::resize") || op.schema.name.starts_with("aten::set_");
  if (pure == nullptr || resizes)
    return fail(ErrorCode::UnsupportedOp, "{} {}", op.schema.qualifiedName(),
                resizes ? "changes what memory a tensor has, which no functional graph can say"
                        : "writes into its argument and has no functional form");
  return PureForm{.op = pure,
                  .arguments = call.values,
                  .writes = {{0, 0}},
                  .results = {},
                  .restrides = has(pure->traits, OpTrait::View)};
}

}  // namespace kerf::inline autograd
