// Levels of vmap: tensors that look like one example, and calls on all of them.
#include <algorithm>

#include "engine/autograd/aot_tracer.h"
#include "engine/autograd/batch_rules.h"
#include "engine/autograd/restored_setting.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline autograd {
namespace {

bool holdsTensor(const Value& value) {
  return value.isTensor() || (value.isList() && std::ranges::any_of(value.list(), holdsTensor));
}

/// Whether a result is what all examples give: `look` with their number in front.
bool fits(const Value& look, const Value& physical, SymInt size) {
  if (look.isTensor() && physical.isTensor()) {
    const Tensor &one = look.tensor(), &all = physical.tensor();
    if (one.dtype() != all.dtype() || all.dim() != one.dim() + 1 || !guardOrTrue(all.symSize(0) == size)) return false;
    for (std::int64_t d = 0; d < one.dim(); ++d)
      if (!guardOrTrue(all.symSize(d + 1) == one.symSize(d))) return false;
    return true;
  }
  if (!look.isList() || !physical.isList()) return !holdsTensor(look);
  return std::ranges::equal(look.list(), physical.list(),
                            [&](const Value& a, const Value& b) { return fits(a, b, size); });
}

constexpr std::int64_t mostExamples = 200'000;

}  // namespace

/// What was written into the rows of an input is in the input afterwards.
Result<Value> FunctionLevels::closeBatch(const ValueList&, const KeywordValues&) {
  if (m_levels.empty() || m_levels.back().kind != Kind::Batch)
    return fail(ErrorCode::BadInput, "torch.func: a level of vmap is closed that is not the innermost one");
  const std::vector<Added> added = m_levels.back().added;
  for (const Added& one : added) {
    if (!m_tracer.aliases().isWritten(one.inside)) continue;
    KERF_TRY(const Value now, m_tracer.current(one.inside));
    KERF_TRY(
        const Value all,
        removeBatchDim({now, Value(std::int64_t(m_levels.size())), Value(m_levels.back().size), Value(one.dim)}, {}));
    const RestoredSetting below(m_depth, m_levels.size() - 1);
    KERF_CHECK(m_tracer.call("torch.ops.aten.copy_.default", {Value(one.whole), all}, {}));
  }
  std::erase_if(m_batched, [&](const auto& entry) { return entry.second.level == m_levels.size(); });
  m_levels.pop_back();
  m_depth = m_levels.size();
  return Value();
}

Value FunctionLevels::lookingLike(const Value& look, const Value& physical) {
  if (look.isList() && physical.isList()) {
    ValueList items;
    for (std::size_t i = 0; i < look.list().size(); ++i)
      items.push_back(lookingLike(look.list()[i], physical.list()[i]));
    return Value(std::move(items));
  }
  if (!look.isTensor() || !physical.isTensor()) return look;
  const Tensor& all = physical.tensor();
  Tensor one =
      metaTensor(all.dtype(), look.tensor().symSizes(), SymSizes(all.symStrides().begin() + 1, all.symStrides().end()));
  one.setDevice(all.device());
  one.traced = m_tracer.sameValue(all).traced;
  m_batched.insert_or_assign(one.traced, Batched{m_depth, all});
  return Value(std::move(one));
}

Result<Value> FunctionLevels::addBatchDim(const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(const std::size_t level, levelNamed({argumentOf(args, kwargs, 2, "level")}, 0, Kind::Batch));
  const Value given = argumentOf(args, kwargs, 0, "x"), where = argumentOf(args, kwargs, 1, "in_dim");
  if (!given.isTensor() || !where.as<std::int64_t>() || given.tensor().dim() == 0)
    return fail(ErrorCode::BadInput, "_add_batch_dim takes a tensor with dimensions, and one of them");
  const std::int64_t rank = given.tensor().dim(), asked = *where.as<std::int64_t>();
  const std::int64_t dim = asked < 0 ? asked + rank : asked;
  if (dim < 0 || dim >= rank)
    return fail(ErrorCode::BadInput, "_add_batch_dim: dimension {} of a tensor that has {}", asked, rank);
  Value physical;
  {
    const RestoredSetting below(m_depth, level - 1);
    KERF_TRY(physical, m_tracer.current(given));
    if (dim != 0 || physical.tensor().traced < 0) {
      KERF_TRY(physical,
               m_tracer.call("torch.ops.aten.movedim.int", {physical, Value(dim), Value(std::int64_t{0})}, {}));
    }
  }
  const Tensor& all = physical.tensor();
  Level& owner = m_levels[level - 1];
  if (!guardOrTrue(all.symSize(0) == owner.size))
    return fail(ErrorCode::ShapeMismatch, "vmap: dimension {} has size {} where there are {} examples", dim,
                all.symSize(0), owner.size);
  const Tensor look = metaTensor(all.dtype(), SymSizes(all.symSizes().begin() + 1, all.symSizes().end()),
                                 SymSizes(all.symStrides().begin() + 1, all.symStrides().end()));
  const RestoredSetting inside(m_depth, level);
  Value one = lookingLike(Value(look), physical);
  owner.added.push_back({given.tensor(), dim, one.tensor()});
  return one;
}

Result<Value> FunctionLevels::removeBatchDim(const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(const std::size_t level, levelNamed({argumentOf(args, kwargs, 1, "level")}, 0, Kind::Batch));
  const Value out = argumentOf(args, kwargs, 3, "out_dim");
  KERF_TRY(Value value, m_tracer.current(argumentOf(args, kwargs, 0, "batched_output")));
  if (!value.isTensor() || !out.as<std::int64_t>())
    return fail(ErrorCode::BadInput, "_remove_batch_dim takes a tensor, and a dimension");
  const RestoredSetting below(m_depth, level - 1);
  if (const Batched* known = find(value.tensor(), level)) {
    value = Value(known->physical);
  } else {
    SymSizes sizes{m_levels[level - 1].size};
    sizes.append(value.tensor().symSizes().begin(), value.tensor().symSizes().end());
    KERF_TRY(value, m_tracer.call("torch.ops.aten.expand.default", {value, intList(sizes)}, {}));
  }
  if (*out.as<std::int64_t>() == 0) return value;
  return m_tracer.call("torch.ops.aten.movedim.int", {value, Value(std::int64_t{0}), out}, {});
}

const FunctionLevels::Batched* FunctionLevels::find(const Tensor& tensor, std::size_t level) const {
  const auto found = m_batched.find(tensor.traced);
  return found != m_batched.end() && found->second.level == level ? &found->second : nullptr;
}

bool FunctionLevels::anyBatched(const Value& value, std::size_t level) const {
  if (value.isTensor()) return find(value.tensor(), level) != nullptr;
  return value.isList() &&
         std::ranges::any_of(value.list(), [&](const Value& item) { return anyBatched(item, level); });
}

bool FunctionLevels::anyBatched(const ValueList& args, const KeywordValues& kwargs, std::size_t level) const {
  return anyBatched(Value(args), level) ||
         std::ranges::any_of(kwargs, [&](const auto& entry) { return anyBatched(entry.second, level); });
}

Result<void> FunctionLevels::checkWrite(const Tensor& target, const Tensor& value) const {
  const auto written = m_batched.find(target.traced), source = m_batched.find(value.traced);
  if (source == m_batched.end()) return {};
  if (written != m_batched.end() && written->second.level >= source->second.level) {
    const bool same = written->second.level == source->second.level;
    return checkWrite(written->second.physical, same ? source->second.physical : value);
  }
  return fail(ErrorCode::BadInput, "vmap: a tensor that all examples share cannot be written to with values of each");
}

Result<Value> FunctionLevels::batched(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const Level& level = m_levels[m_depth - 1];
  const bool random = has(op.traits, OpTrait::Random), any = anyBatched(args, kwargs, m_depth);
  if (random && level.randomness == "error")
    return fail(ErrorCode::BadInput, "{}: vmap with randomness='error' draws no random numbers",
                op.schema.qualifiedName());
  if (!any && !(random && level.randomness == "different")) {
    const RestoredSetting below(m_depth, m_depth - 1);
    return m_tracer.emit(op, args, kwargs);
  }
  if (random && level.randomness == "same")
    return fail(ErrorCode::UnsupportedOp, "{}: vmap with randomness='same' over examples that differ",
                op.schema.qualifiedName());
  KERF_TRY(const Value look, inferShapes(op.id, args, kwargs));
  if (!holdsTensor(look)) return look;
  KERF_TRY(const Value physical, physicalResult(op, args, kwargs, look));
  return lookingLike(look, physical);
}

Result<Value> FunctionLevels::physicalResult(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                                             const Value& look) {
  const std::size_t level = m_depth;
  const SymInt size = m_levels[level - 1].size;
  if (!has(op.traits, OpTrait::Random)) {
    KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
    const BatchedCall call{bound,
                           [&](const Tensor& tensor) {
                             const Batched* known = find(tensor, level);
                             return known == nullptr ? nullptr : &known->physical;
                           },
                           size};
    const RestoredSetting below(m_depth, level - 1);
    const auto done = callOnExamples(call, OpRunner(m_tracer));
    if (done && *done && fits(look, **done, size)) return *done;
  }
  KERF_TRY(Value each, eachExample(op, args, kwargs));
  if (!fits(look, each, size))
    return fail(ErrorCode::UnsupportedOp, "{}: its results differ between the examples of vmap",
                op.schema.qualifiedName());
  return each;
}

Result<Value> FunctionLevels::exampleOf(const Value& value, std::int64_t example) const {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value one, exampleOf(item, example));
      items.push_back(std::move(one));
    }
    return Value(std::move(items));
  }
  const Batched* known = value.isTensor() ? find(value.tensor(), m_depth + 1) : nullptr;
  if (known == nullptr) return value;
  return m_tracer.call("torch.ops.aten.select.int", {Value(known->physical), Value(std::int64_t{0}), Value(example)},
                       {});
}

/// The op on one example after the other, its results stacked.
Result<Value> FunctionLevels::eachExample(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const std::int64_t count = m_levels[m_depth - 1].size;
  if ((m_examples += count) > mostExamples)
    return fail(ErrorCode::TooLarge, "{}: vmap makes more than {} calls of single examples", op.schema.qualifiedName(),
                mostExamples);
  if (count < 1) return fail(ErrorCode::UnsupportedOp, "{}: vmap over no examples", op.schema.qualifiedName());
  const RestoredSetting below(m_depth, m_depth - 1);
  std::vector<ValueList> columns;
  bool isList = false;
  for (std::int64_t i = 0; i < count; ++i) {
    KERF_TRY(const Value given, exampleOf(Value(args), i));
    KeywordValues keywords;
    for (const auto& [name, value] : kwargs) {
      KERF_TRY(Value one, exampleOf(value, i));
      keywords.emplace_back(name, std::move(one));
    }
    KERF_TRY(const Value result, m_tracer.emit(op, given.list(), keywords));
    isList = result.isList();
    const ValueList parts = isList ? result.list() : ValueList{result};
    columns.resize(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) columns[k].push_back(parts[k]);
  }
  ValueList stacked;
  for (ValueList& column : columns) {
    Value all;
    if (column[0].isTensor()) {
      KERF_TRY(all, m_tracer.call("torch.ops.aten.stack.default", {Value(std::move(column))}, {}));
    }
    stacked.push_back(std::move(all));
  }
  return isList ? Value(std::move(stacked)) : stacked[0];
}

}  // namespace kerf::inline autograd
