#include "engine/ops/core/composite.h"

namespace kerf::inline ops {

Result<Tensor> OpRunner::operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const Value result, value(op, args, kwargs));
  if (!result.isTensor()) return fail(ErrorCode::Internal, "{} gave no tensor", op.text);
  return result.tensor();
}

Result<Value> OpRunner::first(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const Value results, value(op, args, kwargs));
  if (!results.isList() || results.list().empty()) return fail(ErrorCode::Internal, "{} gave no list", op.text);
  return results.list().front();
}

Result<Value> callRow(const OpInfo& op, const BoundArguments& args, const OpRunner& run) {
  ValueList positional;
  KeywordValues keywords;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    if (i < op.schema.arguments.size() && !op.schema.arguments[i].keywordOnly)
      positional.push_back(args.values[i]);
    else
      keywords.emplace_back(args.op->schema.arguments[i].name, args.values[i]);
  }
  return run.value(op.id, positional, keywords);
}

Result<Value> callBase(const BoundArguments& args, const OpRunner& run) {
  const OpInfo* base = findOp(args.op->base);
  if (!base) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", args.opName());
  auto result = callRow(*base, args, run);
  if (!result && result.error().message.find(args.opName()) == std::string::npos)
    return fail(result.error().code, "{}: {}", args.opName(), result.error().message);
  return result;
}

Tensor CompositeSteps::operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) {
  if (m_error) return {};
  auto result = m_run(op, args, kwargs);
  if (result) return std::move(*result);
  m_error = std::move(result).error();
  return {};
}

Result<Value> CompositeSteps::done(Tensor result) {
  if (m_error) return std::unexpected(std::move(*m_error));
  return Value(std::move(result));
}

}  // namespace kerf::inline ops
