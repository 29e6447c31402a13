// Arguments by type and name, for ops that need no recipe and for what recipes leave open.
#include <algorithm>

#include "tests/differential/fuzzgraph/call_draft.h"

namespace kerf::fuzzgraph {
namespace {

using Draw = std::optional<Operand> (*)(CallDraft&, const SchemaArgument&);

Operand value(const Value& constant) { return CallDraft::constant(constant); }
std::int64_t drawnDim(CallDraft& draft) {
  const std::int64_t rank = std::max<std::int64_t>(draft.firstRank(), 1);
  return draft.dice.between(-rank, rank - 1);
}

/// Of the dimension that has been drawn, or of one.
std::int64_t extent(CallDraft& draft) {
  const Tensor* first = draft.first();
  if (first == nullptr || first->dim() == 0) return 1;
  const Operand* dim = draft.find("dim");
  const std::int64_t* given = dim ? dim->value.as<std::int64_t>() : nullptr;
  std::int64_t at = given ? *given : 0;
  if (at < 0) at += first->dim();
  return first->size(std::clamp<std::int64_t>(at, 0, first->dim() - 1));
}

std::optional<Operand> drawDim(CallDraft& draft, const SchemaArgument&) { return value(Value(drawnDim(draft))); }

/// Into the dimension, from either end.
std::optional<Operand> drawPlace(CallDraft& draft, const SchemaArgument&) {
  const std::int64_t size = extent(draft);
  return value(Value(draft.dice.between(-size, std::max<std::int64_t>(size - 1, 0))));
}

std::optional<Operand> drawCount(CallDraft& draft, const SchemaArgument&) {
  return value(Value(draft.dice.between(1, std::max<std::int64_t>(extent(draft), 1))));
}

std::optional<Operand> drawEnd(CallDraft& draft, const SchemaArgument&) {
  const std::int64_t size = extent(draft);
  if (draft.dice.chance(30)) return value(Value(std::int64_t{INT64_MAX}));
  return value(Value(draft.dice.between(-1, size + 1)));
}

std::optional<Operand> drawSmall(CallDraft& draft, const SchemaArgument&) {
  return value(Value(draft.dice.between(1, 4)));
}

std::optional<Operand> drawSigned(CallDraft& draft, const SchemaArgument&) {
  return value(Value(draft.dice.between(-2, 4)));
}

struct NamedDraw {
  std::string_view name;
  Draw draw;
};
constexpr NamedDraw integerDraws[] = {
    {"dim", drawDim},
    {"dim0", drawDim},
    {"dim1", drawDim},
    {"dim2", drawDim},
    {"axis", drawDim},
    {"axis0", drawDim},
    {"axis1", drawDim},
    {"start_dim", drawDim},
    {"end_dim", drawDim},
    {"source", drawDim},
    {"destination", drawDim},
    {"dimension", drawDim},
    {"batch_dim", drawDim},
    {"start", drawPlace},
    {"index", drawPlace},
    {"end", drawEnd},
    {"length", drawCount},
    {"k", drawCount},
    {"size", drawCount},
    {"step", drawSmall},
    {"n", drawSmall},
    {"groups", drawSmall},
    {"chunks", drawSmall},
    {"sections", drawSmall},
    {"split_size", drawSmall},
    {"repeats", drawSmall},
    {"steps", drawSmall},
    {"num_classes", drawSmall},
    {"upscale_factor", drawSmall},
    {"downscale_factor", drawSmall},
    {"window_length", drawSmall},
    {"N", drawSmall},
};

std::optional<Operand> drawInteger(CallDraft& draft, const SchemaArgument& argument) {
  const auto found = std::ranges::find(integerDraws, argument.name, &NamedDraw::name);
  return (found == std::end(integerDraws) ? drawSigned : found->draw)(draft, argument);
}

std::optional<Operand> drawScalar(CallDraft& draft, const SchemaArgument&) {
  const Tensor* first = draft.first();
  const bool whole = first != nullptr && isIntegral(first->dtype());
  if (draft.dice.chance(whole ? 85 : 35))
    return value(Value(draft.dice.pick<std::int64_t>({-2, -1, 0, 1, 1, 2, 2, 3})));
  if (draft.dice.chance(2)) return value(Value(draft.dice.chance(50)));
  return value(Value(draft.dice.pick({0.5, 1.5, -0.25, 2.0, draft.dice.real(-2, 2), draft.dice.real(0, 1)})));
}

std::optional<Operand> drawFloat(CallDraft& draft, const SchemaArgument& argument) {
  if (argument.name.find("eps") != std::string::npos) return value(Value(1e-5));
  if (argument.name == "p" || argument.name == "dropout_p" || argument.name == "momentum")
    return value(Value(draft.dice.pick({0.0, 0.5, 0.25, 1.0, 0.1})));
  return value(Value(draft.dice.pick({0.5, 1.0, 2.0, draft.dice.real(-2, 2), draft.dice.real(0, 1)})));
}

std::optional<Operand> drawBool(CallDraft& draft, const SchemaArgument&) { return value(Value(draft.dice.chance(50))); }

/// Quantizing gives small integers; viewing other bytes than 0 and 1 as bools is undefined.
std::optional<Operand> drawDType(CallDraft& draft, const SchemaArgument&) {
  const OpSchema& schema = draft.op().schema;
  if (schema.name.find("quantize") != std::string::npos)
    return value(Value(draft.dice.pick({DType::Int8, DType::UInt8})));
  const DType dtype = draft.build.randomDType();
  const bool views = schema.name.find("view") != std::string::npos;
  return value(Value(views && dtype == DType::Bool ? DType::UInt8 : dtype));
}

struct NamedTexts {
  std::string_view name;
  std::initializer_list<const char*> texts;
};
const NamedTexts textDraws[] = {
    {"reduce", {"sum", "mean", "amax", "amin", "prod"}},
    {"rounding_mode", {"floor", "trunc"}},
    {"approximate", {"none", "tanh"}},
    {"padding", {"valid", "same"}},
    {"mode", {"constant", "reflect", "replicate", "circular", "reduced", "complete"}},
    {"ord", {"fro", "nuc"}},
    {"indexing", {"ij", "xy"}},
    {"norm", {"forward", "backward", "ortho"}},
    {"side", {"left", "right"}},
    {"driver", {"gels", "gelsy", "gelsd"}},
    {"interpolation", {"linear", "lower", "higher", "midpoint", "nearest"}},
};

std::optional<Operand> drawText(CallDraft& draft, const SchemaArgument& argument) {
  const auto found = std::ranges::find(textDraws, argument.name, &NamedTexts::name);
  if (found == std::end(textDraws)) return {};
  return value(Value(std::string(found->texts.begin()[draft.dice.below(found->texts.size())])));
}

std::optional<Operand> drawMemoryFormat(CallDraft& draft, const SchemaArgument&) {
  const bool fits = draft.firstRank() == 4 && draft.dice.chance(50);
  return value(
      Value(fits ? MemoryFormat::ChannelsLast : draft.dice.pick({MemoryFormat::Contiguous, MemoryFormat::Preserve})));
}

std::optional<Operand> drawDevice(CallDraft&, const SchemaArgument&) { return value(Value(Device())); }

constexpr NamedDraw typeDraws[] = {
    {"Tensor", drawTensorArgument}, {"int", drawInteger}, {"SymInt", drawInteger},
    {"Scalar", drawScalar},         {"float", drawFloat}, {"bool", drawBool},
    {"ScalarType", drawDType},      {"str", drawText},    {"MemoryFormat", drawMemoryFormat},
    {"Device", drawDevice},
};

/// Different dimensions, in any order.
Sizes someDims(CallDraft& draft) {
  const std::int64_t rank = draft.firstRank();
  Sizes dims;
  for (std::int64_t d = 0; d < rank; ++d)
    if (draft.dice.chance(55)) dims.push_back(draft.dice.chance(30) ? d - rank : d);
  if (dims.empty() && rank > 0) dims.push_back(draft.dice.between(0, rank - 1));
  if (dims.size() > 1 && draft.dice.chance(40)) std::swap(dims.front(), dims.back());
  return dims;
}

Sizes allDims(CallDraft& draft) {
  Sizes dims;
  for (std::int64_t d = 0; d < draft.firstRank(); ++d)
    dims.insert(dims.begin() + std::ptrdiff_t(draft.dice.below(dims.size() + 1)), d);
  return dims;
}

bool isDimList(std::string_view name) { return name == "dim" || name == "dims" || name == "axis" || name == "axes"; }
bool isSizeList(std::string_view name) { return name == "size" || name == "shape"; }

std::optional<Operand> drawIntegers(CallDraft& draft, const SchemaArgument& argument, std::size_t fixed) {
  if (argument.name == "dims" && fixed == 0 && draft.dice.chance(50)) return CallDraft::listOf(allDims(draft));
  if (isDimList(argument.name) && (fixed <= 1 || draft.dice.chance(70))) return CallDraft::listOf(someDims(draft));
  if (isSizeList(argument.name)) {
    draft.setSymSizes(argument.name, draft.build.randomSizes());
    return *draft.find(argument.name);
  }
  Sizes values(fixed > 0 ? fixed : std::size_t(std::max<std::int64_t>(draft.firstRank(), 1)));
  for (std::int64_t& item : values)
    item = draft.dice.between(argument.name.find("pad") != std::string::npos ? 0 : 1, 3);
  return CallDraft::listOf(values);
}

/// As many as the list of tensors before has, of the same sizes; else a few alike.
std::optional<Operand> drawTensors(CallDraft& draft, const SchemaArgument& argument) {
  const Operand* before = nullptr;
  for (const SchemaArgument& other : draft.op().schema.arguments)
    if (other.type.starts_with("Tensor[]") && draft.find(other.name)) before = draft.find(other.name);
  const std::size_t count = before ? before->value.list().size() : std::size_t(draft.dice.between(1, 3));
  ArgumentList items;
  ValueList values;
  bool rounded = false;
  for (std::size_t i = 0; i < count; ++i) {
    SchemaArgument item{argument.name, "Tensor", {}, false, {}};
    auto operand =
        draft.find(argument.name) == nullptr && before
            ? std::optional(draft.build.fresh(before->value.list()[i].tensor().dtype(),
                                              before->value.list()[i].tensor().sizes(), draft.build.randomRange()))
            : drawTensorArgument(draft, item);
    if (!operand) return {};
    items.push_back(operand->argument);
    values.push_back(operand->value);
    rounded = rounded || operand->rounded;
    if (!before) draft.set(argument.name, Operand{Argument::list(items), Value(values), rounded});
  }
  return Operand{Argument::list(std::move(items)), Value(std::move(values)), rounded};
}

std::optional<Operand> drawScalars(CallDraft& draft, const SchemaArgument& argument) {
  std::size_t count = 2;
  for (const SchemaArgument& other : draft.op().schema.arguments)
    if (other.type.starts_with("Tensor[]") && draft.find(other.name))
      count = draft.find(other.name)->value.list().size();
  ValueList values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(drawScalar(draft, argument)->value);
  return value(Value(std::move(values)));
}

std::optional<Operand> drawFlags(CallDraft& draft, std::size_t count) {
  ValueList values;
  for (std::size_t i = 0; i < count; ++i) values.emplace_back(draft.dice.chance(75));
  return value(Value(std::move(values)));
}

/// "int[2]?" → 2; 0 without a number.
std::size_t fixedLength(std::string_view type) {
  const auto open = type.find('[');
  return open + 1 < type.size() && type[open + 1] != ']' ? std::size_t(type[open + 1] - '0') : 0;
}

std::optional<Operand> drawList(CallDraft& draft, const SchemaArgument& argument, std::string_view element) {
  if (element == "int" || element == "SymInt") return drawIntegers(draft, argument, fixedLength(argument.type));
  if (element == "Tensor") return drawTensors(draft, argument);
  if (element == "Scalar") return drawScalars(draft, argument);
  if (element == "bool") return drawFlags(draft, fixedLength(argument.type));
  return {};
}

}  // namespace

std::optional<Operand> drawArgument(CallDraft& draft, const SchemaArgument& argument) {
  std::string_view type = argument.type;
  const bool optional = type.ends_with('?');
  if (optional && draft.dice.chance(40)) return Operand{};
  if (optional) type.remove_suffix(1);
  if (const auto open = type.find('['); open != type.npos) {
    auto drawn = drawList(draft, argument, type.substr(0, open));
    return !drawn && optional ? Operand{} : drawn;
  }
  const auto found = std::ranges::find(typeDraws, type, &NamedDraw::name);
  if (found != std::end(typeDraws)) {
    auto drawn = found->draw(draft, argument);
    return !drawn && optional ? Operand{} : drawn;
  }
  return optional ? std::optional(Operand{}) : std::nullopt;
}

}  // namespace kerf::fuzzgraph
