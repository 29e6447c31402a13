// Operators and calls on numbers that a program drew: tensors of the graph beside tensors, else numbers by .item().
#pragma once

#include <optional>
#include <string_view>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

class FrameTracer;

/// A drawn number, which is a tensor without dimensions in the graph.
bool isDrawnNumber(PyObject* object);
/// "iadd" is "add" where the left side is a number, which no operator changes in place; else the name itself.
std::string_view operatorOnLeft(std::string_view name, PyObject* left);
/// The operator with drawn numbers as Python has them. Nothing where there are none, and where a tensor of one dimension
/// or more makes the same of the number's tensor.
std::optional<Ref> computeOnDrawn(FrameTracer& tracer, std::string_view name, PyObject* args);
/// Arguments with numbers by .item() where drawn ones stand, in lists, tuples and dicts, too: themselves where there are
/// none. Null arguments stay null.
Ref withoutDrawn(FrameTracer& tracer, PyObject* args);

}  // namespace kerf::inline dynamo
