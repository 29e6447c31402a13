// spoiled(): wrong arguments by what the right ones are.
#include <limits>

#include "engine/tensor/dispatch.h"
#include "tests/differential/fuzzgraph/random_values.h"
#include "tests/differential/wrongcalls/draw_call.h"

namespace kerf::wrongcalls {

using fuzzgraph::Dice;

namespace {

struct Spoiler {
  Dice& dice;
  const CallCase& call;
};

using Change = std::pair<Value, const char*>;

constexpr DType dtypes[] = {DType::Float32, DType::Float64, DType::Float16,   DType::BFloat16, DType::Int64,
                            DType::Int32,   DType::Int16,   DType::Int8,      DType::UInt8,    DType::Bool,
                            DType::Bool,    DType::Int64,   DType::Complex64, DType::Float32};

Tensor made(Dice& dice, DType dtype, const Sizes& sizes) {
  return fuzzgraph::randomTensor(dice, dtype, sizes, {-2, 2}, fuzzgraph::Arrangement::RowMajor);
}

// Tensors

Change resized(Spoiler& s, const Tensor& t) {
  Sizes sizes = t.sizes();
  if (sizes.empty()) return {Value(made(s.dice, t.dtype(), {s.dice.between(0, 3)})), "a dimension more"};
  std::int64_t& size = sizes[s.dice.below(sizes.size())];
  size = s.dice.pick(
      {std::int64_t(0), std::int64_t(1), size + 1, std::max<std::int64_t>(size - 1, 0), size * 2, size + 5});
  return {Value(made(s.dice, t.dtype(), sizes)), "another size"};
}

Change otherRank(Spoiler& s, const Tensor& t) {
  Sizes sizes = t.sizes();
  if (sizes.empty() || s.dice.chance(40)) {
    sizes.insert(sizes.begin() + std::int64_t(s.dice.below(sizes.size() + 1)), s.dice.between(1, 3));
    return {Value(made(s.dice, t.dtype(), sizes)), "a dimension more"};
  }
  if (s.dice.chance(30)) return {Value(made(s.dice, t.dtype(), {})), "no dimensions"};
  sizes.erase(sizes.begin() + std::int64_t(s.dice.below(sizes.size())));
  return {Value(made(s.dice, t.dtype(), sizes)), "a dimension less"};
}

Change emptied(Spoiler& s, const Tensor& t) {
  Sizes sizes = t.sizes();
  if (sizes.empty() || s.dice.chance(30)) return {Value(made(s.dice, t.dtype(), {0})), "empty"};
  sizes[s.dice.below(sizes.size())] = 0;
  return {Value(made(s.dice, t.dtype(), sizes)), "empty"};
}

Change otherDtype(Spoiler& s, const Tensor& t) {
  const DType dtype = dtypes[s.dice.below(std::size(dtypes))];
  const auto converted =
      isComplex(t.dtype()) || isComplex(dtype) ? Result<Tensor>(made(s.dice, dtype, t.sizes())) : t.to(dtype);
  return {converted ? Value(*converted) : Value(made(s.dice, dtype, t.sizes())), "another dtype"};
}

Change expandedTensor(Spoiler& s, const Tensor& t) {
  Sizes strides = t.strides();
  if (strides.empty()) return resized(s, t);
  if (s.dice.chance(50))
    std::ranges::fill(strides, 0);
  else
    strides[s.dice.below(strides.size())] = 0;
  return {Value(t.viewAs(t.sizes(), strides, t.offset())), "expanded"};
}

/// One element (or all) as nothing in the tensor was.
Change oddContents(Spoiler& s, const Tensor& t) {
  auto copied = t.clone();
  if (!copied || copied->numel() == 0) return resized(s, t);
  const bool all = s.dice.chance(15);
  const std::int64_t at = std::int64_t(s.dice.below(std::size_t(copied->numel())));
  const auto number = s.dice.pick({-1.0, 7.0, -100.0, 1e6, 3e9, 1e18, double(INFINITY), double(NAN), -9e18, 0.0});
  const auto done = dispatchAllAndComplex(t.dtype(), [&]<class T>() {
    T* const data = copied->data<T>();
    for (std::int64_t i = all ? 0 : at; i < (all ? copied->numel() : at + 1); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        data[i] = number > 0;
      else if constexpr (std::is_integral_v<T>)
        data[i] = std::isfinite(number) && std::abs(number) < double(std::numeric_limits<T>::max()) &&
                          (number >= 0 || std::is_signed_v<T>)
                      ? T(number)
                      : std::numeric_limits<T>::max();
      else if constexpr (requires { typename T::value_type; })
        data[i] = T(typename T::value_type(number), 0);
      else
        data[i] = T(float(number));
    }
  });
  return done ? Change{Value(*copied), "odd contents"} : resized(s, t);
}

void collect(const Value& value, std::vector<Tensor>& tensors) {
  if (value.isTensor()) tensors.push_back(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) collect(item, tensors);
}

/// Memory of another argument, shifted now and then.
Change aliased(Spoiler& s, const Tensor& t) {
  std::vector<Tensor> others;
  for (const Value& value : s.call.args) collect(value, others);
  for (const auto& [name, value] : s.call.kwargs) collect(value, others);
  if (others.empty()) return resized(s, t);
  const Tensor& other = s.dice.pick(others);
  if (s.dice.chance(60) || other.dim() == 0 || other.size(0) < 2) return {Value(other), "another argument's tensor"};
  Sizes sizes = other.sizes();
  --sizes[0];
  const std::int64_t offset = s.dice.chance(50) ? other.stride(0) : 0;
  return {Value(other.viewAs(sizes, other.strides(), other.offset() + offset)), "a part of another argument"};
}

Change noTensor(Spoiler& s, const Tensor&) {
  const std::size_t way = s.dice.below(6);
  if (way < 3) return {Value(), "None"};
  if (way == 3) return {Value(std::int64_t(2)), "an int"};
  if (way == 4) return {Value(0.5), "a float"};
  return {Value(ValueList{}), "an empty list"};
}

using TensorSpoiler = Change (*)(Spoiler&, const Tensor&);
constexpr TensorSpoiler tensorSpoilers[] = {resized,        resized,     otherRank,   emptied, otherDtype, otherDtype,
                                            expandedTensor, oddContents, oddContents, aliased, noTensor};

// Numbers

Change oddInteger(Spoiler& s, std::int64_t old) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t value =
      s.dice.pick({std::int64_t(0), std::int64_t(-1), std::int64_t(1), old + 1, old - 1, std::int64_t(-2),
                   std::int64_t(2), std::int64_t(3), std::int64_t(7), std::int64_t(100), std::int64_t(-100),
                   std::int64_t(1) << 31, std::int64_t(1) << 40, most, -most - 1});
  return {Value(value), "another int"};
}

Change noInteger(Spoiler& s) {
  const std::size_t way = s.dice.below(5);
  if (way < 2) return {Value(), "None"};
  if (way == 2) return {Value(1.5), "a float"};
  if (way == 3) return {Value(std::string("x")), "a str"};
  return {Value(ValueList{Value(std::int64_t(1)), Value(std::int64_t(2))}), "a list"};
}

Change oddNumber(Spoiler& s) {
  return {Value(s.dice.pick(
              {0.0, -0.0, -1.0, 1.5, -0.5, 2.0, 300.0, 1e300, double(INFINITY), -double(INFINITY), double(NAN)})),
          "another float"};
}

Change oddNumberOrType(Spoiler& s) {
  const std::size_t way = s.dice.below(10);
  if (way < 6) return oddNumber(s);
  if (way < 8) return oddInteger(s, 0);
  if (way == 8) return {Value(s.dice.chance(50)), "a bool"};
  return noInteger(s);
}

Change oddText(Spoiler& s) {
  return {Value(std::string(s.dice.pick({"", "bogus", "mean", "sum", "none", "linear", "constant", "prod"}))),
          "another text"};
}

Change oddList(Spoiler& s, const ValueList& list);

Change spoiledValue(Spoiler& s, const Value& value, const SchemaArgument& argument) {
  if (value.isTensor()) return tensorSpoilers[s.dice.below(std::size(tensorSpoilers))](s, value.tensor());
  if (value.isList()) return oddList(s, value.list());
  if (const auto* integer = value.as<std::int64_t>()) {
    if (argument.type.starts_with("Scalar")) return oddNumberOrType(s);
    return s.dice.chance(85) ? oddInteger(s, *integer) : noInteger(s);
  }
  if (value.as<double>()) return oddNumberOrType(s);
  if (const auto* flag = value.as<bool>())
    return s.dice.chance(80) ? Change{Value(!*flag), "the other bool"} : noInteger(s);
  if (value.as<std::string>()) return oddText(s);
  if (value.as<DType>() || argument.type.starts_with("ScalarType"))
    return {Value(dtypes[s.dice.below(std::size(dtypes))]), "another dtype"};
  if (argument.type.starts_with("Tensor") && argument.type.find('[') == std::string::npos)
    return {Value(made(s.dice, dtypes[s.dice.below(std::size(dtypes))], {s.dice.between(0, 4)})), "a tensor"};
  if (argument.type.starts_with("int[") || argument.type.starts_with("SymInt["))
    return {Value(ValueList{oddInteger(s, 0).first}), "a list"};
  if (argument.type.starts_with("int") || argument.type.starts_with("SymInt")) return oddInteger(s, 0);
  if (argument.type.starts_with("float") || argument.type.starts_with("Scalar")) return oddNumberOrType(s);
  if (argument.type.starts_with("str")) return oddText(s);
  if (argument.type.starts_with("bool")) return {Value(s.dice.chance(50)), "a bool"};
  return noInteger(s);
}

Change oddList(Spoiler& s, const ValueList& list) {
  ValueList items = list;
  const std::size_t way = s.dice.below(10);
  if (way == 0) return {Value(ValueList{}), "an empty list"};
  if (way == 1) return {Value(), "None"};
  if (way == 2 && !items.empty()) {
    items.pop_back();
    return {Value(std::move(items)), "an item less"};
  }
  if (way == 3) {
    items.push_back(items.empty() ? Value(std::int64_t(1)) : items[s.dice.below(items.size())]);
    return {Value(std::move(items)), "an item more"};
  }
  if (way == 4 && !items.empty()) return {items[0], "an item in the place of the list"};
  if (items.empty()) return {Value(ValueList{oddInteger(s, 0).first}), "an item more"};
  Value& item = items[s.dice.below(items.size())];
  const SchemaArgument plain;
  auto [changed, what] = spoiledValue(s, item, plain);
  item = changed;
  return {Value(std::move(items)), what};
}

/// Too many arguments, too few, or one that no schema has.
bool spoilForm(CallCase& call, Dice& dice) {
  const std::size_t way = dice.below(3);
  if (way == 0) {
    call.args.emplace_back(std::int64_t(1));
    call.wrongs.emplace_back("an argument more");
  } else if (way == 1 && !call.args.empty()) {
    call.args.pop_back();
    call.wrongs.emplace_back("an argument less");
  } else {
    call.kwargs.emplace_back("bogus", Value(std::int64_t(1)));
    call.wrongs.emplace_back("an unknown argument");
  }
  return true;
}

void spoilOne(CallCase& call, Dice& dice) {
  const auto& arguments = call.op->schema.arguments;
  const std::size_t count = call.args.size() + call.kwargs.size();
  if (count == 0 || dice.chance(2)) {
    spoilForm(call, dice);
    return;
  }
  // Arguments that were left out count too.
  const bool adds = call.args.size() < arguments.size() && !arguments[call.args.size()].keywordOnly && dice.chance(15);
  if (adds) {
    call.args.push_back(call.op->defaults[call.args.size()].value_or(Value()));
  }
  const std::size_t at = adds ? call.args.size() - 1 : dice.below(count);
  Spoiler spoiler{dice, call};
  const bool positional = at < call.args.size();
  Value& value = positional ? call.args[at] : call.kwargs[at - call.args.size()].second;
  SchemaArgument argument;
  if (positional && at < arguments.size()) argument = arguments[at];
  if (!positional) argument.name = call.kwargs[at - call.args.size()].first;
  for (const SchemaArgument& known : arguments)
    if (known.name == argument.name) argument = known;
  auto [changed, what] = spoiledValue(spoiler, value, argument);
  value = std::move(changed);
  call.wrongs.push_back(fmt::format("{}: {}", argument.name, what));
}

}  // namespace

CallCase spoiled(CallCase call, Dice& dice) {
  spoilOne(call, dice);
  if (dice.chance(25)) spoilOne(call, dice);
  return call;
}

}  // namespace kerf::wrongcalls
