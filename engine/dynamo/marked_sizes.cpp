#include "engine/dynamo/marked_sizes.h"

#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kerf::inline dynamo {
namespace {

std::optional<std::int64_t> wholeNumber(PyObject* object, const char* attribute) {
  const Ref held = attributeOf(object, attribute);
  if (!held || !PyLong_Check(held.get())) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(held.get(), &overflow);
  return overflow == 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

std::string boundText(std::int64_t value) {
  return value == ValueRange::greatest ? "int_oo" : value == ValueRange::least ? "-int_oo" : std::to_string(value);
}

/// "L['x'].size()[0] = L['x'].size()[0] in the specified range 4 <= L['x'].size()[0] <= 8"
std::string askedText(const MarkedSize& size) {
  const std::string name = size.source->name();
  const std::string least = size.asked.lower > 2 ? fmt::format("{} <= ", size.asked.lower) : "";
  const std::string most = size.asked.hasUpper() ? fmt::format(" <= {}", size.asked.upper) : "";
  const bool isBound = !least.empty() || !most.empty();
  return fmt::format("{} = {} in the specified range{}", name, name, isBound ? " " + least + name + most : "");
}

bool isBounded(const ValueRange& range) { return range.hasLower() || range.hasUpper(); }

}  // namespace

bool isMarkedDim(PyObject* tensor, const char* name, std::int64_t dim) {
  const Ref marks = attributeOf(tensor, name);
  if (!marks || !PyAnySet_Check(marks.get())) return false;
  const Ref key = Ref::steal(PyLong_FromLongLong(dim));
  const int found = PySet_Contains(marks.get(), key.get());
  PyErr_Clear();
  return found == 1;
}

ValueRange markedRange(PyObject* tensor, std::int64_t dim) {
  ValueRange range;
  const Ref rows = attributeOf(tensor, "_dynamo_dynamic_range");
  const Ref iterator = rows ? Ref::steal(PyObject_GetIter(rows.get())) : Ref();
  while (iterator) {
    const Ref row = Ref::steal(PyIter_Next(iterator.get()));
    if (!row) break;
    if (wholeNumber(row.get(), "dim") != dim) continue;
    range.lower = wholeNumber(row.get(), "min").value_or(range.lower);
    range.upper = wholeNumber(row.get(), "max").value_or(range.upper);
  }
  PyErr_Clear();
  return range;
}

std::string specialisedText(const MarkedSize& size) {
  const std::string name = size.source->name();
  if (isBounded(size.asked))
    return fmt::format("Not all values of {} are valid because {} was inferred to be a constant ({}).", askedText(size),
                       name, size.now);
  return fmt::format(
      "You marked {} as dynamic but your code specialized it to be a constant ({}). If you're using mark_dynamic, "
      "either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or "
      "Dim.AUTO.",
      name, size.now);
}

std::string narrowedText(const MarkedSize& size, const ValueRange& left) {
  const std::string name = size.source->name();
  std::vector<std::string> guards;
  if (left.lower > size.asked.lower && left.lower > 2) guards.push_back(fmt::format("{} <= {}", left.lower, name));
  if (left.upper < size.asked.upper) guards.push_back(fmt::format("{} <= {}", name, left.upper));
  return fmt::format("Not all values of {} satisfy the generated guard {}.", askedText(size),
                     fmt::join(guards, " and "));
}

std::string constraintsText(const std::vector<std::pair<std::string, std::string>>& violations) {
  std::set<std::string> names;
  std::string rows;
  for (const auto& [name, text] : violations) {
    names.insert(name);
    rows += "\n  - " + text;
  }
  return fmt::format("Constraints violated ({})! For more information, run with TORCH_LOGS=\"+dynamic\".{}",
                     fmt::join(names, ", "), rows);
}

void raiseOutOfRange(const MarkedSize& size) {
  throw ConstraintViolation{
      fmt::format("{} not in range [{}, {}]", size.now, boundText(size.asked.lower), boundText(size.asked.upper))};
}

void setConstraintError(const ConstraintViolation& violation) {
  PyErr_Clear();
  const Ref module = Ref::steal(PyImport_ImportModule("torch.fx.experimental.symbolic_shapes"));
  const Ref type = module ? attributeOf(module.get(), "ConstraintViolationError") : Ref();
  PyErr_Clear();
  PyErr_SetString(type ? type.get() : PyExc_RuntimeError, violation.text.c_str());
}

}  // namespace kerf::inline dynamo
