#include "engine/distributed/recorded/programs.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline distributed::inline recorded {
namespace {

/// One call of a program: its arguments, and what it calls.
struct Program {
  const ValueList& args;
  const OpCaller& ops;
  Result<Value> operator()(const char* name, const ValueList& values, const KeywordValues& keywords = {}) const {
    return ops.call(name, values, keywords);
  }
  const Value& operator[](std::size_t i) const { return args[i]; }
};

Value integer(std::int64_t value) { return Value(value); }

/// "2:4", ":,1:5:2", "..., None" as index values.
Value indexOf(const std::string& text) {
  ValueList items;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, comma - at);
    std::erase(item, ' ');
    at = comma + 1;
    if (item.empty()) continue;
    if (item == "...") {
      items.emplace_back(std::string("..."));
      continue;
    }
    if (item == "None") {
      items.emplace_back();
      continue;
    }
    std::vector<Value> parts;
    std::size_t from = 0;
    while (from <= item.size()) {
      const std::size_t colon = std::min(item.find(':', from), item.size());
      const std::string part = item.substr(from, colon - from);
      parts.push_back(part.empty() ? Value() : integer(std::atoll(part.c_str())));
      from = colon + 1;
    }
    if (item.find(':') == std::string::npos) {
      items.push_back(parts[0]);
      continue;
    }
    parts.resize(3);
    items.emplace_back(ValueList{std::string("slice"), parts[0], parts[1], parts[2]});
  }
  return items.size() == 1 ? items[0] : Value(std::move(items));
}

/// Null stands for a full slice.
Value fancyIndex(const ValueList& args) {
  ValueList items;
  for (std::size_t i = 1; i < args.size(); ++i)
    items.push_back(args[i].isNone() ? Value(ValueList{std::string("slice"), Value(), Value(), Value()}) : args[i]);
  return items.size() == 1 ? items[0] : Value(std::move(items));
}

Result<Value> getItem(const Program& p) { return p("operator.getitem", {p[0], indexOf(*p[1].as<std::string>())}); }
Result<Value> setItem(const Program& p) {
  KERF_CHECK(p("operator.setitem", {p[0], indexOf(*p[1].as<std::string>()), p[2]}));
  return p[0];
}
Result<Value> setIndex(const Program& p) {
  KERF_CHECK(p("operator.setitem", {p[0], p[1], p[2]}));
  return p[0];
}
Result<Value> index(const Program& p) { return p("operator.getitem", {p[0], fancyIndex(p.args)}); }
Result<Value> iadd(const Program& p) { return p("operator.iadd", {p[0], p[1]}); }
Result<Value> imul(const Program& p) { return p("operator.imul", {p[0], p[1]}); }
Result<Value> reluView(const Program& p) {
  KERF_TRY(const Value flat, p("aten.view.default", {p[0], ValueList{integer(-1)}}));
  return p("aten.relu_.default", {flat});
}
Result<Value> chain(const Program& p) {
  KERF_TRY(const Value product, p("torch.matmul", {p[0], p[1]}));
  KERF_TRY(const Value gelu, p("torch.nn.functional.gelu", {product}));
  return p("torch.sum", {gelu, integer(0)});
}
Result<Value> softmaxMatmul(const Program& p) {
  KERF_TRY(const Value k, p("torch.transpose", {p[1], integer(-1), integer(-2)}));
  KERF_TRY(const Value scores, p("torch.matmul", {p[0], k}));
  return p("torch.softmax", {scores, integer(-1)});
}
Result<Value> normDiv(const Program& p) {
  KERF_TRY(const Value norm, p("aten.linalg_vector_norm.default", {p[0], 2.0, ValueList{integer(-1)}, true}));
  return p("aten.div.Tensor", {p[0], norm});
}
Result<Value> meanSub(const Program& p) {
  KERF_TRY(const Value mean, p("torch.mean", {p[0], integer(0)}));
  return p("aten.sub.Tensor", {p[0], mean});
}
Result<Value> rmul(const Program& p) { return p("aten.mul.Tensor", {p[0], 2.0}); }
Result<Value> rsub(const Program& p) { return p("aten.rsub.Scalar", {p[0], 1.0}); }
Result<Value> rdiv(const Program& p) {
  KERF_TRY(const Value inverse, p("aten.reciprocal.default", {p[0]}));
  return p("aten.mul.Tensor", {inverse, 1.0});
}
Result<Value> item(const Program& p) {
  KERF_TRY(const Value sum, p("aten.sum.default", {p[0]}));
  return p("aten._local_scalar_dense.default", {sum});
}
Result<Value> boolOf(const Program& p) {
  KERF_TRY(const Value sum, p("aten.sum.default", {p[0]}));
  KERF_TRY(const Value positive, p("aten.gt.Scalar", {sum, integer(0)}));
  return p("aten._local_scalar_dense.default", {positive});
}
Result<Value> unflattenFlatten(const Program& p) {
  KERF_TRY(const Value parts, p("torch.unflatten", {p[0], integer(0), ValueList{integer(2), integer(-1)}}));
  return p("torch.flatten", {parts, integer(1)});
}
Result<Value> splitCat(const Program& p) {
  KERF_TRY(const Value parts, p("torch.split", {p[0], p[1], p[2]}));
  return p("aten.cat.default", {parts, p[2]});
}
Result<Value> equal(const Program& p) { return p("aten.equal.default", {p[0], p[1]}); }
Result<Value> allclose(const Program& p) { return p("torch.allclose", {p[0], p[1]}); }
Result<Value> detachSum(const Program& p) {
  KERF_TRY(const Value value, p("aten.detach.default", {p[0]}));
  return p("aten.sum.default", {value});
}
Result<Value> sortValues(const Program& p) {
  KERF_TRY(const Value both, p("torch.sort", {p[0]}, {{"dim", integer(0)}}));
  return both.list()[0];
}

// Functions whose overload depends on a type of argument, or that are several ops.
Result<Value> normalize(const Program& p) {
  KERF_TRY(const Value norm, p("aten.linalg_vector_norm.default", {p[0], 2.0, ValueList{integer(1)}, true}));
  KERF_TRY(const Value least, p("aten.clamp_min.default", {norm, 1e-12}));
  const Sizes& sizes = p[0].tensor().sizes();
  ValueList to;
  for (const std::int64_t size : sizes) to.push_back(integer(size));
  KERF_TRY(const Value wide, p("aten.expand.default", {least, Value(std::move(to))}));
  return p("aten.div.Tensor", {p[0], wide});
}
Result<Value> logSigmoid(const Program& p) { return p("aten.log_sigmoid.default", {p[0]}); }
Result<Value> copyInto(const Program& p) { return p("aten.copy_.default", {p[0], p[1]}); }
Result<Value> fill(const Program& p) { return p("aten.fill_.Scalar", {p[0], p[1]}); }
Result<Value> einsum(const Program& p) {
  ValueList tensors(p.args.begin() + 1, p.args.end());
  return p("aten.einsum.default", {p[0], tensors.size() == 1 && tensors[0].isList() ? tensors[0] : Value(tensors)});
}
Result<Value> tensordot(const Program& p) {
  const std::int64_t count = *p[2].as<std::int64_t>();
  ValueList left, right;
  for (std::int64_t i = 0; i < count; ++i) {
    left.push_back(integer(p[0].tensor().dim() - count + i));
    right.push_back(integer(i));
  }
  return p("aten.tensordot.default", {p[0], p[1], Value(std::move(left)), Value(std::move(right))});
}

using Run = Result<Value> (*)(const Program&);
const std::map<std::string, Run, std::less<>>& programs() {
  static const std::map<std::string, Run, std::less<>> all{
      {"X.getitem", getItem},
      {"X.setitem", setItem},
      {"X.setindex", setIndex},
      {"X.index", index},
      {"X.iadd", iadd},
      {"X.imul", imul},
      {"X.relu_view", reluView},
      {"X.chain", chain},
      {"X.softmax_matmul", softmaxMatmul},
      {"X.norm_div", normDiv},
      {"X.mean_sub", meanSub},
      {"X.rmul", rmul},
      {"X.rsub", rsub},
      {"X.rdiv", rdiv},
      {"X.item", item},
      {"X.bool", boolOf},
      {"X.unflatten_flatten", unflattenFlatten},
      {"X.split_cat", splitCat},
      {"X.equal", equal},
      {"F.normalize", normalize},
      {"F.logsigmoid", logSigmoid},
      {"T.copy_", copyInto},
      {"T.fill_", fill},
      {"torch.einsum", einsum},
      {"torch.tensordot", tensordot},
      {"X.allclose", allclose},
      {"X.detach_sum", detachSum},
      {"X.sort_values", sortValues},
  };
  return all;
}

}  // namespace

Result<Value> callRecorded(const std::string& op, const ValueList& args, const KeywordValues& kwargs,
                           const OpCaller& ops) {
  for (const std::string_view moments : {"torch.var", "torch.std", "torch.var_mean", "torch.std_mean"})
    if (op == moments && args.size() == 2 && args[1].as<std::int64_t>())
      return ops.call("aten." + op.substr(6) + ".correction", {args[0], ValueList{args[1]}}, kwargs);
  if (op == "torch.scatter" && args.size() == 4 && !args[3].isTensor())
    return ops.call("aten.scatter.value", args, kwargs);
  const auto program = programs().find(op);
  if (program != programs().end()) return program->second({args, ops});
  if (op.starts_with("F.")) return ops.call("torch.nn.functional." + op.substr(2), args, kwargs);
  if (op.starts_with("T.")) return ops.call("method." + op.substr(2), args, kwargs);
  return ops.call(op, args, kwargs);
}

}  // namespace kerf::inline distributed::inline recorded
